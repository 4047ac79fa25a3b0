"""Runs current npm clients of incremental delivery, server-sent events and Atmosphere against small servers (`npm/servers` in the
folder that WIRETAPE_PEERS names). Each client runs live, through `wiretape record`, and against `wiretape replay` at speed 1 and
instant. All runs must give equal observations. The replays must have one digest, except in cases with `leaves`.
"""

import contextlib
import json
import os
import subprocess

from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.peers import HERE
from wiretape_tools.interop.replays import play
from wiretape_tools.lib.processes import Failed, Program, free_port, run, wait_for_port

LIMIT = 30  # seconds of one client
SPEEDS = ["1", "instant"]


@contextlib.contextmanager
def server(stage, name):
    port = free_port()
    command = ["node", stage.peers.folder / "npm/servers" / f"{name}.mjs", str(port)]
    with Program(name, [str(part) for part in command], stage.path(".server.log")) as program:
        wait_for_port(port, program)
        yield port


def observe(stage, client, url, *arguments):
    command = ["node", HERE / client, url, *arguments]
    try:
        code, out, err = run(command, seconds=LIMIT, env={**os.environ, "NODE_PATH": stage.peers.node_path})
    except subprocess.TimeoutExpired as expired:
        raise Failed(f"{client} hangs: {(expired.stdout or b'').decode()[-500:]}") from None
    if code != 0:
        raise Failed(f"{client} ended with {code}: {out[-300:]} {err[-500:]}")
    return chains(json.loads(line) for line in out.splitlines())


def replay(stage, tape, speed, client):
    """Plays the tape. client: a function that runs the client with the URL of the replay."""
    report = stage.path(".report.json")
    return play(stage, tape, speed, client, "--report", report), json.loads(report.read_text(encoding="utf-8"))


def case(name, client, path, *arguments, kicks=False, leaves=False, must=()):
    """name: the name of the server.
    kicks: the client asks the real server to cut its connections. In replay, Wiretape repeats the recorded cut.
    leaves: the client disconnects in the middle of a stream, so that the digests may differ.
    must: words that the live run has to print. If one is missing, the case did not test its subject and fails.
    """

    def whole(stage):
        tape = stage.tape()
        with server(stage, name) as port:
            kick = [f"http://127.0.0.1:{port}/kick"] if kicks else []
            live = observe(stage, client, f"http://127.0.0.1:{port}{path}", *arguments, *kick)
            said = " ".join(line for lines in live.values() for line in lines)
            if missing := [word for word in must if word not in said]:
                raise Failed(f"{client} never observes {', '.join(missing)}: {said}")
            with stage.record(port, tape) as proxy:
                compare(live, observe(stage, client, proxy.url + path, *arguments, *kick), "record")
        digests = set()
        for speed in SPEEDS:
            seen, report = replay(stage, tape, speed, lambda url: observe(stage, client, url + path, *arguments))
            compare(live, seen, f"replay at speed {speed}")
            digests.add(report["digest"])
        if len(digests) != 1 and not leaves:
            raise Failed(f"the digests differ between the speeds {SPEEDS}: {digests}")
        count = sum(map(len, live.values()))
        return f"{count} observations equal live, recorded and at speeds {', '.join(SPEEDS)}{'' if leaves else ', with one digest'}"

    return whole


NEEDS = ("npm",)
PARTS = ["streaming", "complete"]
TALK = ["from the client", "open again", "once more"]
CASES = {
    f"graphql over HTTP: @apollo/client 4 and {title}": (
        NEEDS, case("graphql17", "client_apollo_defer.js", path, shape, must=PARTS))
    for title, path, shape in (("graphql 17", "/graphql", "current"), ("the older shape", "/older", "older"))
}
CASES |= {
    f"events: {package}": (
        NEEDS, case("sse", "client_eventsource.js", "/events", package, "7", kicks=True, leaves=True, must=["message 1", "message 6"]))
    for package in ("eventsource4", "eventsource5")
}
CASES |= {
    f"atmosphere: atmosphere.js 5 {transport}": (
        NEEDS, case("atmosphere", "client_atmosphere5.js", "/chat", transport, kicks=True, must=TALK))
    for transport in ("websocket", "sse", "streaming", "long-polling")
}
