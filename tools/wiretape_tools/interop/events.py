"""Streams of no known protocol (server-sent events, JSON lines, a model's tokens, text in pieces): aiohttp's server, and
aiohttp and httpx as clients, live, through record and from replay at speed 1 and at once, in every content coding; reconnects
with Last-Event-ID, recorded ones and those that a rule makes."""

import contextlib
import json
import sys

from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.codings import CODINGS, encoded
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port

WHATS = {"prices": 3, "log": 1, "chat": 1, "say": 1, "commands": 1}


@contextlib.contextmanager
def server(stage, coding):
    port = free_port()
    with Program("events", [sys.executable, str(HERE / "events_server.py"), str(port), coding], stage.path(".server.log")) as program:
        wait_for_port(port, program)
        yield port


def observe(url, what, client="aiohttp"):
    code, out, err = run([sys.executable, HERE / "client_events.py", url, what, client], seconds=60)
    if code != 0:
        raise Failed(f"{client} ended with {code}: {out[-300:]} {err[-500:]}")
    return chains(json.loads(line) for line in out.splitlines())


def replayed(stage, tape, what, client, *options, wanted=0):
    report = stage.path(".report.json")
    with Wiretape(["replay", tape, "--report", report, *options], stage.path(".log")) as proxy:
        seen = observe(proxy.url, what, client)
        if (code := proxy.stop()) != wanted:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    return seen, json.loads(report.read_text())


def whole(report, count):
    told = [(s["protocol"], s["finished"]) for s in report["sessions"]]
    if told != [("events", True)] * count:
        raise Failed(f"the report tells {told}, not {count} sessions of events")


def stream(what, client, coding):
    def play(stage):
        tape = stage.tape()
        with server(stage, coding) as port:
            live = observe(f"http://127.0.0.1:{port}", what, client)
            with stage.record(port, tape) as proxy:
                compare(live, observe(proxy.url, what, client), "record")
        if sum(map(len, live.values())) < 6:
            raise Failed(f"only {live}: the client saw nothing")
        answers = encoded(tape, coding, least=1) if coding != "identity" else 0
        digests = set()
        for speed in ("1", "instant"):
            seen, report = replayed(stage, tape, what, client, "--speed", speed)
            compare(live, seen, f"replay at speed {speed}")
            whole(report, WHATS[what])
            digests.add(report["digest"])
        if len(digests) != 1:
            raise Failed(f"digests {digests} of one tape")
        return f"{sum(map(len, live.values()))} observations equal at speed 1 and instant; {answers} answers encoded"

    return play


def cut(client):
    """A rule cuts the stream: the client comes back with its last id, and in the end has seen every event once."""

    def play(stage):
        tape = stage.tape()
        with server(stage, "identity") as port, stage.record(port, tape) as proxy:
            live = observe(proxy.url, "prices", client)
        rule = ["--fault", "reset after price[3] in session=1 max=1"]
        seen, report = replayed(stage, tape, "prices", client, *rule)
        name = "prices" if client == "aiohttp" else "events"
        compare({name: live[name]}, {name: seen[name]}, "replay with a cut")
        attempts = [len(s["attempts"]) for s in report["sessions"]]
        if attempts[0] != 2 or len(report["faults"]) != 1:
            raise Failed(f"attempts {attempts}, faults {report['faults']}")
        # The same on live traffic: the server goes on behind the id.
        with server(stage, "identity") as port:
            with Wiretape(["proxy", "--upstream", f"http://127.0.0.1:{port}", *rule], stage.path(".log")) as proxy:
                ours = observe(proxy.url, "prices", client)
                if (code := proxy.stop()) != 0:
                    raise Failed(f"proxy ended with {code}: {proxy.said()}")
        # httpx-sse tells of `retry:` alone as an event, too.
        ids = [one["id"] for one in map(json.loads, ours[name]) if one["id"]]
        if ids != [str(n) for n in range(1, len(ids) + 1)] or len(ids) < 12:
            raise Failed(f"live with a cut: {ids}")
        return f"{len(seen[name])} events, each once, in replay and live"

    return play


def cut_pieces(stage):
    """Text in pieces, which a rule cuts behind the second, in replay and live."""
    tape = stage.tape()
    with server(stage, "identity") as port, stage.record(port, tape) as proxy:
        whole = observe(proxy.url, "say")
    rule = ["--fault", "reset after message[2]"]
    seen, report = replayed(stage, tape, "say", "aiohttp", *rule)
    with server(stage, "identity") as port:
        with Wiretape(["proxy", "--upstream", f"http://127.0.0.1:{port}", *rule], stage.path(".log")) as proxy:
            live = observe(proxy.url, "say")
            if (code := proxy.stop()) != 0:
                raise Failed(f"proxy ended with {code}: {proxy.said()}")
    for where, got in (("replay", seen["say"]), ("live", live["say"])):
        if got[:-1] != whole["say"][:2] or json.loads(got[-1])["event"] != "cut":
            raise Failed(f"{where} with a cut: {got}")
    if len(report["faults"]) != 1:
        raise Failed(f"faults {report['faults']}")
    return "two pieces and the cut, in replay and live"


CASES = {
    f"events: {what} {client} {coding}": ((), stream(what, client, coding))
    for what, client, codings in (
        ("prices", "aiohttp", CODINGS), ("log", "aiohttp", CODINGS), ("chat", "aiohttp", CODINGS),
        ("say", "aiohttp", CODINGS[:1]), ("commands", "aiohttp", CODINGS[:1]),
        ("prices", "httpx", CODINGS[:1]), ("chat", "httpx", CODINGS[:1]),
    )
    for coding in codings
}  # fmt: skip
CASES |= {"events: cut pieces": ((), cut_pieces)}
CASES |= {f"events: cut {client}": ((), cut(client)) for client in ("aiohttp", "httpx")}
