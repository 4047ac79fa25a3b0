"""The cases beside the matrix: what needs a cut, a redirect, a token, a narrowed choice of transports, or a written tape.

Each is a function of a Stage that returns what it showed and raises Failed. An application's observations live are the
measure here too.
"""

import concurrent.futures
import contextlib
import difflib
import json
import re
import sys
import time

from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.peers import HERE, KEEPALIVE, script_for
from wiretape_tools.lib.forwarder import Forwarder
from wiretape_tools.lib.processes import ROOT, Failed, Program, Skipped, Wiretape, free_port, run

LIMIT = 30  # seconds of one client
WELCOME = {"do": "wait", "callback": "Welcome", "count": 1}
ECHO = {"do": "invoke", "chain": "echo", "method": "Echo", "args": ["hello"]}
TALK = [
    ECHO,
    {"do": "invoke", "chain": "say", "method": "SendMessage", "args": ["ada", "hi"]},
    {"do": "wait", "callback": "ReceiveMessage", "count": 1},
    {"do": "stream", "chain": "counter", "method": "Counter", "args": [5, 20]},
    {**ECHO, "args": ["bye"]},
]
# The cut comes in the middle of the stream, with an answer outstanding.
CUT = [
    ECHO,
    {"do": "together", "steps": [
        {"do": "stream", "chain": "counter", "method": "Counter", "args": [24, 50]},
        {"do": "invoke", "chain": "slow", "method": "Slow", "args": [900, "first"]},
    ]},
    {"do": "invoke", "chain": "say", "method": "SendMessage", "args": ["ada", "still here"]},
    {"do": "wait", "callback": "ReceiveMessage", "count": 1},
    {**ECHO, "args": ["bye"]},
]


class Stage:
    """What a case works with: peers, a folder, and the names of its files."""

    def __init__(self, peers, name):
        self.peers, self.name = peers, name
        self.work = peers.work / "cases"
        self.work.mkdir(exist_ok=True)
        self.count = 0

    def path(self, suffix):
        self.count += 1
        return self.work / f"{self.name}-{self.count}{suffix}"

    def tape(self):
        path = self.path(".tape.gz")
        path.unlink(missing_ok=True)
        return path

    def script(self, steps, client="signalr-js", server="aspnetcore", protocol="json", **connection):
        """The script's file; without a transport the client takes the first one offered."""
        transport = connection.pop("transport", "ws")
        path = script_for(server, client, transport, protocol, "own", self.path(".script.json"), **connection)
        whole = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**whole, "steps": steps}), encoding="utf-8")
        return path

    @contextlib.contextmanager
    def server(self, *options, server="aspnetcore", port=None):
        port = port or free_port()
        with self.peers.start(server, port, self.path(".server.log"), *options):
            yield port

    def observe(self, url, script, client="signalr-js", environment=None):
        return chains(self.peers.client(client, url, script, LIMIT, environment))

    @contextlib.contextmanager
    def record(self, port, tape, *options):
        with Wiretape(["record", "--upstream", f"http://127.0.0.1:{port}", "--output", tape, *options], self.path(".log")) as proxy:
            yield proxy
            if (code := proxy.stop()) != 0:
                raise Failed(f"record ended with {code}: {proxy.said()}")

    def replay(self, tape, script, *options, client="signalr-js", path="/hub", code=0, trust=None):
        """What the client observes, and the report."""
        report = self.path(".report.json")
        report.unlink(missing_ok=True)
        arguments = ["replay", tape, "--report", report, "--keepalive", KEEPALIVE + "s", *options]
        with Wiretape(arguments, self.path(".log")) as proxy:
            try:
                seen = self.observe(proxy.url + path, script, client, trust)
            except Failed as failure:
                raise Failed(f"{failure}\n      {proxy.said()}") from None
            ended = proxy.stop()
            if ended != code:
                raise Failed(f"replay ended with {ended}: {proxy.said()}")
        return seen, json.loads(report.read_text(encoding="utf-8"))


def transports(report):
    return sorted({t for session in report["sessions"] for t in session["transports"]})


def attempts(report):
    return sum(len(session["attempts"]) for session in report["sessions"])


def cut_after(stage, url, script, forwarder, mark, client):
    """Runs the client and resets its connections once it has said mark."""
    command, environment = stage.peers.command(client, url, script)
    log = stage.path(".out")
    with Program(client, [str(part) for part in command], log, env=environment) as program:
        end = time.monotonic() + LIMIT
        while mark not in program.said(100_000):
            if time.monotonic() > end or program.process.poll() is not None:
                raise Failed(f"{client} never says {mark}: {program.said()}")
            time.sleep(0.005)
        forwarder.cut(hold=0.3)  # longer than aiosignalr's hub needs to see that the old connection is gone
        code: int | str
        try:
            code = program.process.wait(LIMIT)
        except Exception:
            code = "nothing"
        said = program.said(100_000)
    if code != 0:
        raise Failed(f"{client} ended with {code}: {said[-400:]}")
    return chains(json.loads(line) for line in said.splitlines() if line.startswith("{"))


def whole(live, seen, name):
    """Nothing lost or doubled. @microsoft/signalr does not count a message that comes in one go with the handshake's
    answer, as ASP.NET Core's Welcome may: then it shows one message twice after a cut, with or without wiretape between."""
    doubles = sum(len(seen[chain]) - len(lines) for chain, lines in live.items() if chain in seen)
    if doubles == 1 and "Welcome" in live:
        seen = {chain: [s for i, s in enumerate(lines) if i == 0 or s != lines[i - 1]] for chain, lines in seen.items()}
    compare(live, seen, name)


def record_stateful(stage, tape, server, client, protocol):
    """Live without a cut, then recorded with one between the client and wiretape: the script and what live showed."""
    script = stage.script(([WELCOME] if server == "aspnetcore" else []) + CUT, client, server, protocol, stateful=True)
    with stage.server(server=server) as port:
        live = stage.observe(f"http://127.0.0.1:{port}/hub", script, client)
        with stage.record(port, tape) as proxy, Forwarder(proxy.port) as forwarder:
            mark = '"value":7' if client == "signalr-js" else '"value": 7'
            whole(live, cut_after(stage, forwarder.url + "/hub", script, forwarder, mark, client), "recorded with a cut")
    return script, live


def stateful(stage, server, client, protocol):
    tape = stage.tape()
    script, live = record_stateful(stage, tape, server, client, protocol)
    whole(live, stage.replay(tape, script, client=client)[0], "replay")
    seen, report = stage.replay(tape, script, "--fault", "reset after StreamItem[5]", client=client)
    whole(live, seen, "replay with a reset")
    if attempts(report) != 2:
        raise Failed(f"{attempts(report)} attempts instead of 2")
    return "recorded with a cut, replayed, replayed with a reset: the application saw nothing of either"


def record_redirect(stage, tape):
    """The front's negotiate answer names the recorder's address, so that the client stays on it."""
    port, listen = free_port(), free_port()
    script = stage.script([WELCOME, *TALK])
    with stage.server("--redirect", f"http://127.0.0.1:{listen}/hub", "--token", "t0p", port=port):
        with stage.record(port, tape, "--listen", f"127.0.0.1:{listen}") as proxy:
            return stage.observe(proxy.url + "/front", script)


def redirect(stage):
    tape = stage.tape()
    live = record_redirect(stage, tape)
    for transport in ("ws", "sse", "lp"):
        seen, report = stage.replay(tape, stage.script([WELCOME, *TALK], transport=transport), path="/front")
        compare(live, seen, f"replay over {transport}")
        if transports(report) != [transport]:
            raise Failed(f"over {transports(report)} instead of {transport}")
    return "recorded over ws; replayed over ws, sse, lp from another address"


def token(stage):
    """The token is in Authorization or, for an event stream, in the query; another one replays."""
    with stage.server("--token", "t0p") as port:
        scripts = {t: stage.script([WELCOME, *TALK], transport=t, token="t0p") for t in ("ws", "sse", "lp")}
        live = stage.observe(f"http://127.0.0.1:{port}/hub", scripts["ws"])
        tapes = {}
        for transport, script in scripts.items():
            tapes[transport] = stage.tape()
            with stage.record(port, tapes[transport]) as proxy:
                compare(live, stage.observe(proxy.url + "/hub", script), f"record over {transport}")
    for recorded, tape in tapes.items():
        for replayed in scripts:
            script = stage.script([WELCOME, *TALK], transport=replayed, token="another")
            compare(live, stage.replay(tape, script)[0], f"replay {recorded} to {replayed}")
    return "ws, sse, lp each to each, with another token than the recorded one"


def abort(stage):
    """The server ends the session (Close, then the transport's end): everywhere the client closes and stays closed."""
    steps = [WELCOME, ECHO, {"do": "send", "method": "Abort", "args": []}, {"do": "closed"}]
    tapes, lives = {}, {}
    with stage.server() as port:
        for transport in ("ws", "sse", "lp"):
            script = stage.script(steps, transport=transport, reconnect=True)
            lives[transport] = stage.observe(f"http://127.0.0.1:{port}/hub", script)
            tapes[transport] = stage.tape()
            with stage.record(port, tapes[transport]) as proxy:
                compare(lives[transport], stage.observe(proxy.url + "/hub", script), f"record over {transport}")
    for recorded, tape in tapes.items():
        for replayed in tapes:
            script = stage.script(steps, transport=replayed, reconnect=True)
            compare(lives[replayed], stage.replay(tape, script)[0], f"replay {recorded} to {replayed}")
    return "ws, sse, lp each to each: closed without a reconnect"


def narrowed(stage):
    """A client that takes what is offered gets what --transports leaves."""
    free = stage.script([WELCOME, *TALK], transport=None)
    tape = stage.tape()
    with stage.server() as port, stage.record(port, tape) as proxy:
        live = stage.observe(proxy.url + "/hub", free)
    for wanted, offered in (("ws", "ws,sse,lp"), ("sse", "sse,lp"), ("sse", "sse"), ("lp", "lp")):
        seen, report = stage.replay(tape, free, "--transports", offered)
        compare(live, seen, f"replay with --transports {offered}")
        if transports(report) != [wanted]:
            raise Failed(f"--transports {offered}: over {transports(report)} instead of {wanted}")
    return "ws; sse,lp; sse; lp: the client takes the first one offered"


def skipped(stage):
    """No negotiate on the tape, none from the client."""
    script = stage.script([WELCOME, *TALK], skip=True)
    tape = stage.tape()
    with stage.server() as port, stage.record(port, tape) as proxy:
        live = stage.observe(proxy.url + "/hub", script)
    compare(live, stage.replay(tape, script)[0], "replay")
    return "recorded and replayed without negotiate"


def lost(stage):
    """A reset in a stream, for a client with its own reconnects and no stateful one, over each transport."""
    script = {t: stage.script([WELCOME, *TALK], transport=t) for t in ("ws", "sse", "lp")}
    tape = stage.tape()
    with stage.server() as port, stage.record(port, tape) as proxy:
        stage.observe(proxy.url + "/hub", script["ws"])
    for transport in script:
        again = stage.script([WELCOME, ECHO, {"do": "back"}, *TALK[1:]], transport=transport, reconnect=True)
        seen, report = stage.replay(tape, again, "--fault", "reset after Completion[1]")
        events = [json.loads(line)["event"] for line in seen["connection"]]
        if events != ["opened", "reconnecting", "reconnected", "closed"] or attempts(report) != 2:
            raise Failed(f"over {transport}: {events}, {attempts(report)} attempts")
        if [json.loads(line).get("value") for line in seen["counter"]] != [0, 1, 2, 3, 4, None]:
            raise Failed(f"over {transport}: {seen['counter']}")
    return "reset over ws, sse, lp: back after the client's own delay, and the rest once"


def several(stage):
    """Three clients of one tape at the same time, over three transports."""
    steps = [WELCOME, *TALK]
    tape = stage.tape()
    with stage.server() as port, stage.record(port, tape) as proxy:
        live = stage.observe(proxy.url + "/hub", stage.script(steps))
    report = stage.path(".report.json")
    arguments = ["replay", tape, "--clients", "3", "--report", report]
    with Wiretape(arguments, stage.path(".log")) as proxy, contextlib.ExitStack() as stack:
        programs = []
        for transport in ("ws", "sse", "lp"):
            script = stage.script(steps, transport=transport)
            command, environment = stage.peers.command("signalr-js", proxy.url + "/hub", script)
            program = Program(transport, [str(p) for p in command], stage.path(".out"), env=environment)
            programs.append(stack.enter_context(program))
        for program in programs:
            if (code := program.process.wait(LIMIT)) != 0:
                raise Failed(f"the client over {program.name} ended with {code}: {program.said()}")
            seen = chains(json.loads(line) for line in program.said(100_000).splitlines())
            compare(live, seen, f"the client over {program.name}")
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    if transports(json.loads(report.read_text(encoding="utf-8"))) != ["lp", "sse", "ws"]:
        raise Failed("not each over its transport")
    return "--clients 3: one each over ws, sse, lp at the same time"


def own_reconnect(stage):
    """recordings/reconnect.tape.gz holds a server's death and the client's two tries: played back whole."""
    tape = ROOT / "recordings/reconnect.tape.gz"
    report = stage.path(".report.json")
    with Wiretape(["replay", tape, "--report", report], stage.path(".log")) as proxy:
        lines = json.dumps(["hello bob", "fine, thanks", "bye"])
        flags = ["--reconnect", "--speak-when-back"]
        environment = stage.peers.command("signalr-js", "", "")[1]
        code, out, err = run(["node", HERE / "chat.js", proxy.url + "/hub", "ada", lines, *flags], LIMIT, env=environment)
        ended = proxy.stop()
        if code != 0 or ended != 0:
            raise Failed(f"client {code}, replay {ended}: {out[-300:]} {err[-300:]} {proxy.said()}")
    for wanted in ("ada: lost", "ada: back", "ada: bob says bye"):
        if wanted not in out:
            raise Failed(f"the client never says '{wanted}': {out}")
    return "the recorded death, the refused try and the one that succeeds"


def greeted(stage):
    """A reset in recordings/chat.tape.gz: the client is welcomed on its new connection as on the first, and the chat goes on."""
    report = stage.path(".report.json")
    arguments = ["replay", ROOT / "recordings/chat.tape.gz", "--fault", "reset after ReceiveMessage[3]", "--report", report]
    with Wiretape(arguments, stage.path(".log")) as proxy:
        lines = json.dumps(["hello bob", "fine, thanks", "bye"])
        environment = stage.peers.command("signalr-js", "", "")[1]
        code, out, err = run(["node", HERE / "chat.js", proxy.url + "/hub", "ada", lines, "--reconnect"], LIMIT, env=environment)
        ended = proxy.stop()
        if code != 0 or ended != 0:
            raise Failed(f"client {code}, replay {ended}: {out[-300:]} {err[-300:]} {proxy.said()}")
    told = json.loads(report.read_text(encoding="utf-8"))["sessions"][0].get("greeting", {})
    if out.count("ada: welcomed") != 2 or "ada: bob says bye" not in out or told.get("labels") != ["Welcome"]:
        raise Failed(f"{told}: {out}")
    return "Welcome on both connections, and the chat once"


def without(absent):
    """What a case has left out, for its text."""
    return f"; skipped {len(absent)} clients that are not here: {', '.join(absent)}" if absent else ""


def sparse(stage):
    """Four lines by hand are a tape that pysignalr talks to."""
    tape = stage.path(".tape")
    tape.write_text(
        """{"tape":1,"protocol":"signalr","route":"/chat"}
{"d":">","json":{"type":1,"invocationId":"1","target":"Echo","arguments":["hello"]}}
{"d":"<","json":{"type":3,"invocationId":"1","result":"HELLO"}}
{"d":"<","after":"200ms","json":{"type":1,"target":"ReceiveMessage","arguments":["bob","hi"]}}
""",
        encoding="utf-8",
    )
    steps = [ECHO, {"do": "wait", "callback": "ReceiveMessage", "count": 1}]
    absent = []
    for client, transport in (("pysignalr", "ws"), ("signalr-js", "ws"), ("signalr-js", "lp")):
        if stage.peers.missing(client):
            absent.append(f"{client} over {transport}")
            continue
        script = stage.script(steps, client, transport=transport)
        seen, _ = stage.replay(tape, script, client=client, path="/chat")
        answer = json.loads(seen["echo"][0])["value"]
        pushed = json.loads(seen["ReceiveMessage"][0])["args"]
        if answer != "HELLO" or pushed != ["bob", "hi"]:
            raise Failed(f"{client} over {transport}: {answer}, {pushed}")
    return "four lines: an answer and a push" + without(absent)


def canonical(stage):
    """Two recordings of one script differ in the start and the gaps only."""
    counts = []
    absent: list[str] = []
    for client, server, transport in (
        ("aiosignalr", "aiosignalr", "ws"),
        ("aiosignalr", "aiosignalr", "sse"),
        # Not aspnetcore: its Welcome races with what @microsoft/signalr sends first, so that the sessions do differ.
        ("signalr-js", "aiosignalr", "ws"),
        ("signalr-js", "aiosignalr", "sse"),
    ):
        if stage.peers.missing(client) or stage.peers.missing(server):
            absent.append(f"{client} over {transport}")
            continue
        script = stage.script(TALK, client, server, transport=transport)
        texts = [canonical_lines(stage, client, server, script) for _ in range(2)]
        if texts[0] != texts[1]:
            lines = list(difflib.unified_diff(texts[0], texts[1], "first", "second", lineterm="", n=0))
            shown = "\n      ".join(line[:200] for line in lines[:10])
            raise Failed(f"two recordings of {client} with {server} over {transport} differ:\n      {shown}")
        counts.append(len(texts[0]))
    return f"ws and sse, {', '.join(map(str, counts))} lines" + without(absent)


def canonical_lines(stage, client, server, script):
    tape = stage.path(".tape")
    tape.unlink(missing_ok=True)
    with stage.server(server=server) as port, stage.record(port, tape, "--canonical") as proxy:
        stage.observe(proxy.url + "/hub", script, client)
    text = re.sub(r'"started":"[^"]*"', '"started":""', tape.read_text(encoding="utf-8"))
    return re.sub(r'"(t|after)":("[^"]*"|[-0-9.]+)', r'"\1":0', text).splitlines()


def wrong_protocol(stage):
    """A client that speaks another hub protocol than the tape is told so in its handshake."""
    tape = stage.tape()
    with stage.server(server="aiosignalr") as port, stage.record(port, tape) as proxy:
        stage.observe(proxy.url + "/hub", stage.script(TALK, "aiosignalr", "aiosignalr"), "aiosignalr")
    script = stage.script(TALK, "signalr-js", "aiosignalr", "messagepack")
    report = stage.path(".report.json")
    with Wiretape(["replay", tape, "--report", report], stage.path(".log")) as proxy:
        try:
            stage.observe(proxy.url + "/hub", script)
        except Failed as failure:
            if "messagepack" not in str(failure):
                raise Failed(f"the client is not told about messagepack: {failure}") from None
        else:
            raise Failed("a client that speaks messagepack got a json tape")
        if (code := proxy.stop()) != 2:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    return "refused with a reason, exit 2"


CASES = {
    "stateful json": (("aspnetcore", "signalr-js"), lambda s: stateful(s, "aspnetcore", "signalr-js", "json")),
    "stateful json aiosignalr": (("aiosignalr", "signalr-js"), lambda s: stateful(s, "aiosignalr", "signalr-js", "json")),
    "stateful messagepack": (("aiosignalr", "signalr-js"), lambda s: stateful(s, "aiosignalr", "signalr-js", "messagepack")),
    "redirect": (("aspnetcore", "signalr-js"), redirect),
    "token": (("aspnetcore", "signalr-js"), token),
    "server ends": (("aspnetcore", "signalr-js"), abort),
    "--transports": (("aspnetcore", "signalr-js"), narrowed),
    "no negotiation": (("aspnetcore", "signalr-js"), skipped),
    "lost and back": (("aspnetcore", "signalr-js"), lost),
    "--clients": (("aspnetcore", "signalr-js"), several),
    "tape with a reconnect": (("signalr-js",), own_reconnect),
    "greeting": (("signalr-js",), greeted),
    "sparse tape": (("pysignalr",), sparse),
    "canonical": (("aiosignalr",), canonical),
    "wrong protocol": (("aiosignalr", "signalr-js"), wrong_protocol),
}


def play(peers, names, jobs):
    """Every case of these, so many at a time: {name, state: passed/failed/not run, text, seconds} in their order."""

    def attempt(name):
        needs, action = CASES[name]
        missing = [f"{peer}: {why}" for peer in needs if (why := peers.missing(peer))]
        if missing:
            return {"name": name, "state": "not run", "text": missing[0], "seconds": 0}
        begun = time.monotonic()
        try:
            text, state = action(Stage(peers, re.sub("[^a-z0-9]+", "-", name).strip("-"))), "passed"
        except Skipped as reason:
            text, state = str(reason), "not run"
        except Failed as failure:
            text, state = str(failure), "failed"
            print(f"failed: case {name}", file=sys.stderr, flush=True)
        return {"name": name, "state": state, "text": text, "seconds": round(time.monotonic() - begun, 3)}

    with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
        return list(executor.map(attempt, names))
