"""Eventflit and Pusher in tools/interop: real clients against pusher_server.py, live, through record, and from replay."""

import json
import os
import sys
import time

from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.peers import HERE, complaint, last_line
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port

SUCCEEDED = "pusher:subscription_succeeded"
SAY = {"do": "trigger", "channel": "private-room", "event": "client-say", "data": {"text": 'héllo 🌍 "q" \\ /'}}
HEAR = [{"do": "wait", "for": "private-room said"}, {"do": "wait", "for": "private-room plain"}]


def join(channel, count=1):
    return [{"do": "subscribe", "channel": channel}, {"do": "wait", "for": f"{channel} {SUCCEEDED}", "count": count}]


def count(to, total):
    return [
        {"do": "trigger", "channel": "private-room", "event": "client-count", "data": {"on": "room", "to": to}},
        {"do": "wait", "for": "room tick", "count": total},
    ]


TALK = [
    *join("room"), *join("private-room"), *join("presence-lobby"), *count(3, 3), SAY, *HEAR,
    {"do": "trigger", "channel": "private-room", "event": "client-invite", "data": {"to": "presence-lobby"}},
    {"do": "wait", "for": "presence-lobby client-wave"}, {"do": "wait", "for": "presence-lobby pusher:member_removed"},
    {"do": "trigger", "channel": "presence-lobby", "event": "client-nod", "data": {"n": 1.5, "who": None}},
    {"do": "unsubscribe", "channel": "room"}, *join("room", 2), *count(2, 5),
]  # fmt: skip
FORGED = [{"do": "subscribe", "channel": "private-forged"}, {"do": "wait", "for": "error"}]
# The cut comes between the ticks; what is said then is heard after it.
CUT = [
    *join("room"), *join("private-room"), count(6, 6)[0], {"do": "sleep", "ms": 600}, SAY, *HEAR,
]  # fmt: skip
# The server ends the connection itself.
END = [
    *join("room"), *join("private-room"),
    {"do": "trigger", "channel": "private-room", "event": "client-end", "data": {"code": 4200}},
    {"do": "wait", "for": "connected", "count": 2}, {"do": "wait", "for": f"private-room {SUCCEEDED}", "count": 2},
    SAY, *HEAR,
]  # fmt: skip


def served(stage, *options):
    """The server, as a Program; its port is `port`."""
    port = free_port()
    program = Program("pusher_server", [sys.executable, HERE / "pusher_server.py", str(port), *options], stage.path(".server.log"))
    try:
        wait_for_port(port, program)
    except BaseException:
        program.kill()
        raise
    program.port = port
    return program


def script(stage, steps, **more):
    path = stage.path(".script.json")
    path.write_text(json.dumps({"user": "ada", "endpoint": True, "steps": steps, **more}), encoding="utf-8")
    return path


def command(stage, client, url, script):
    kind, _, transport = client.partition(" ")
    environment = dict(os.environ)
    if kind == "pusher-js":
        environment["NODE_PATH"] = stage.peers.node_path
        return ["node", HERE / "pusher.js", url, script, transport or "ws"], environment
    return [sys.executable, HERE / f"client_{kind}.py", url, script], environment


def observe(stage, client, url, script):
    words, environment = command(stage, client, url, script)
    code, out, err = run(words, seconds=40, env=environment)
    if code != 0:
        raise Failed(f"{client} ended with {code}: {complaint(out) if out else ''} {last_line(out)[-300:]} {err[-500:]}")
    return chains([json.loads(line) for line in out.splitlines()])


def replayed(stage, client, tape, script, *options, code=0):
    report = stage.path(".report.json")
    report.unlink(missing_ok=True)
    with Wiretape(["replay", tape, "--report", report, *options], stage.path(".log")) as proxy:
        try:
            seen = observe(stage, client, proxy.url, script)
        except Failed as failure:
            raise Failed(f"{failure}\n      {proxy.said()}") from None
        if (ended := proxy.stop()) != code:
            raise Failed(f"replay ended with {ended}: {proxy.said()}")
    return seen, json.loads(report.read_text(encoding="utf-8"))


def record(stage, tape, client, steps, *options, **more):
    """Makes the tape of one client; what it observes."""
    path = script(stage, steps, **more)
    with served(stage, *options) as server, stage.record(server.port, tape) as proxy:
        return observe(stage, client, proxy.url, path)


def recorded(stage, client, steps, *options, least=10, **more):
    """What the client observes live and through record, which must be equal; and the tape."""
    path, tape = script(stage, steps, **more), stage.tape()
    with served(stage, *options) as server:
        live = observe(stage, client, f"http://127.0.0.1:{server.port}", path)
    seen = record(stage, tape, client, steps, *options, **more)
    if sum(map(len, live.values())) < least:
        raise Failed(f"only {sum(map(len, live.values()))} observations: the script did not run")
    compare(live, seen, "through record")
    return live, path, tape


def judge(report, sessions=1, transport="ws"):
    told = [(s["finished"], s["transports"]) for s in report["sessions"]]
    if report["verdict"] != "pass" or told != [(True, [transport])] * sessions:
        raise Failed(f"the report tells {report['verdict']} and (finished, transports) {told}")


def talk(client, steps, *options, transport="ws", **more):
    def case(stage):
        live, path, tape = recorded(stage, client, steps, *options, **more)
        seen, report = replayed(stage, client, tape, path)
        compare(live, seen, "replay")
        judge(report, transport=transport)
        fast, report = replayed(stage, client, tape, path, "--speed", "instant")
        compare(live, fast, "replay at once")
        judge(report, transport=transport)
        return f"{sum(map(len, live.values()))} observations equal, live, recorded and replayed twice"

    return case


def cut(policy):
    """A reset in the middle: everything is subscribed again; what was published meanwhile comes later, or is lost."""

    def case(stage):
        live, path, tape = recorded(stage, "eventflit", CUT, "--prefix", "eventflit", reconnect=0.2)
        options = ["--on-reconnect", policy, "--fault", "reset after tick[3]"]
        seen, report = replayed(stage, "eventflit", tape, path, *options)
        room, before = seen["room"], live["room"]
        succeeded, ticks = before[:1], before[1:]
        kept = ticks if policy == "resume" else ticks[:3]
        wanted = {**live, "room": succeeded + ticks[:3] + succeeded + kept[3:]}
        wanted["private-room"] = live["private-room"][:1] * 2 + live["private-room"][1:]
        hello = live["connection"][0]
        lost = json.dumps({"chain": "connection", "lost": True}, sort_keys=True)
        wanted["connection"] = [hello, lost, hello, live["connection"][-1]]
        compare(wanted, seen, f"replay under {policy}")
        if report["verdict"] != "pass" or len(report["sessions"][0]["attempts"]) != 2:
            raise Failed(f"the report tells {report['verdict']}, {report['sessions']}")
        return f"{len(room)} of {len(before)} messages on room, both channels subscribed again"

    return case


def own_reconnect(stage):
    """The tape has an end of the server and the client's way back: two sessions, which replay plays one after the other."""
    live, path, tape = recorded(stage, "eventflit", END, "--prefix", "eventflit", least=8, reconnect=0.2)
    seen, report = replayed(stage, "eventflit", tape, path)
    compare(live, seen, "replay")
    judge(report, sessions=2)
    return "close 4200 and the second connection as recorded"


def fresh_ids(stage):
    """Every connection has another socket id; the endpoint's signatures are made anew and checked."""
    live, path, tape = recorded(stage, "eventflit", TALK, "--prefix", "eventflit")
    seen, report = replayed(stage, "eventflit", tape, path, "--fresh-ids", "--secret", "key=secret")
    compare(live, seen, "replay with fresh ids")
    judge(report)
    seen, report = replayed(stage, "eventflit", tape, path, "--fresh-ids")
    compare(live, seen, "replay with fresh ids, unchecked")
    judge(report)
    # Signatures that another secret made are refused in the server's words.
    with_other = ["--secret", "key=other", "--on-divergence", "warn"]
    seen, report = replayed(stage, "eventflit", tape, path, *with_other, code=2)
    if report["verdict"] != "diverged":
        raise Failed(f"the verdict is {report['verdict']}")
    return "signatures made anew, unchecked, and refused"


def two_clients(stage):
    """ada stays while bob comes and goes: each hears of the other; both are replayed."""
    tape = stage.tape()
    _, both = room(stage)
    options = ["--prefix", "eventflit"]
    with served(stage, *options) as server:
        live = both(f"http://127.0.0.1:{server.port}")
    through = record_room(stage, tape)
    with Wiretape(["replay", tape], stage.path(".log")) as proxy:
        again = both(proxy.url)
        if (ended := proxy.stop()) != 0:
            raise Failed(f"replay ended with {ended}: {proxy.said()}")
    for i, name in enumerate(["ada", "bob"]):
        compare(live[i], through[i], f"{name} through record")
        compare(live[i], again[i], f"{name} in replay")
    return "member_added, a client event with its user, member_removed: equal for both"


def record_room(stage, tape):
    with served(stage, "--prefix", "eventflit") as server, stage.record(server.port, tape) as proxy:
        return room(stage)[1](proxy.url)


def room(stage):
    """The scripts of ada and bob, and what runs both."""
    ada = [*join("presence-lobby"), {"do": "wait", "for": "presence-lobby pusher:member_added"},
           {"do": "wait", "for": "presence-lobby client-hi"},
           {"do": "wait", "for": "presence-lobby pusher:member_removed"}]  # fmt: skip
    bob = [*join("presence-lobby"), {"do": "trigger", "channel": "presence-lobby", "event": "client-hi", "data": {"n": 1}},
           {"do": "sleep", "ms": 100}, {"do": "unsubscribe", "channel": "presence-lobby"}, {"do": "sleep", "ms": 100}]  # fmt: skip
    scripts = [script(stage, ada), script(stage, bob, user="bob")]

    def both(url):
        words, environment = command(stage, "eventflit", url, scripts[0])
        first = Program("ada", words, stage.path(".ada.log"), env=environment)
        try:
            end = time.monotonic() + 10
            while "subscription_succeeded" not in first.said():
                if time.monotonic() > end or first.process.poll() is not None:
                    raise Failed(f"ada does not arrive: {first.said()}")
                time.sleep(0.02)
            second = observe(stage, "eventflit", url, scripts[1])
            if (code := first.process.wait(20)) != 0:
                raise Failed(f"ada ended with {code}: {first.said()}")
            lines = first.log.read_text(encoding="utf-8").splitlines()
            return chains([json.loads(line) for line in lines if line.startswith("{")]), second
        finally:
            first.kill()

    return scripts, both


def bridged(tape_of, to, steps):
    """A tape of one prefix, and a real client of the other: it sees what it would see of a server of its own."""

    def case(stage):
        options = {"eventflit": ["--prefix", "eventflit"]}
        live = record(stage, stage.tape(), to, steps, *options.get(to, []))
        _, path, tape = recorded(stage, tape_of, steps, *options.get(tape_of, []))
        seen, report = replayed(stage, to, tape, path)
        compare(live, seen, f"{tape_of} tape to {to}")
        judge(report)
        return f"{sum(map(len, live.values()))} observations equal to those of a server with the client's own prefix"

    return case


CASES = {
    "eventflit: pusher-js": (("npm",), talk("pusher-js", TALK + FORGED)),
    "eventflit: pusher-js by xhr_streaming": (("npm",), talk("pusher-js xhr_streaming", TALK, transport="stream")),
    "eventflit: pusher-js by xhr_polling": (("npm",), talk("pusher-js xhr_polling", TALK, transport="lp")),
    "eventflit: Pysher": ((), talk("pysher", TALK, endpoint=False)),
    "eventflit: Pysher with an endpoint": ((), talk("pysher", [s for s in TALK if "lobby" not in json.dumps(s)])),
    "eventflit: prefix eventflit": ((), talk("eventflit", TALK + FORGED, "--prefix", "eventflit")),
    "eventflit: a cut under resume": ((), cut("resume")),
    "eventflit: a cut under live": ((), cut("live")),
    "eventflit: an end on the tape": ((), own_reconnect),
    "eventflit: fresh ids": ((), fresh_ids),
    "eventflit: two in a room": ((), two_clients),
    "eventflit: eventflit tape to pusher-js": (("npm",), bridged("eventflit", "pusher-js", TALK + FORGED)),
    "eventflit: pusher-js tape to eventflit": (("npm",), bridged("pusher-js", "eventflit", TALK + FORGED)),
}
