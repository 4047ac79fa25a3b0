"""Socket.IO, which no codec knows: WebSockets are played message by message, polls as ordinary requests. The answer to a poll waits
for the posts that precede it on the tape. Every request of its clients has a time in its query. python-socketio's client and server
run live, through record and from replay."""

import contextlib
import json
import sys

from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port

# What the client observes: welcome, two transports said, two echoes, five ticks and its leaving.
LEAST = 10
SPEEDS = ["1", "instant"]


@contextlib.contextmanager
def server(stage):
    port = free_port()
    with Program("socketio", [sys.executable, str(HERE / "socketio_server.py"), str(port)], stage.path(".server.log")) as program:
        wait_for_port(port, program)
        yield port


def observe(url, transports, text="hello"):
    code, out, err = run([sys.executable, HERE / "client_socketio.py", url, transports, text], seconds=30)
    if code != 0:
        raise Failed(f"the client ended with {code}: {out[-300:]} {err[-500:]}")
    return chains(json.loads(line) for line in out.splitlines())


def case(transports):
    def play(stage):
        tape = stage.tape()
        with server(stage) as port:
            live = observe(f"http://127.0.0.1:{port}", transports)
            with stage.record(port, tape) as proxy:
                compare(live, observe(proxy.url, transports), "record")
        if sum(map(len, live.values())) < LEAST:
            raise Failed(f"live: {live}")
        digests = set()
        for speed in SPEEDS:
            report = stage.path(".report.json")
            with Wiretape(["replay", tape, "--report", report, "--speed", speed], stage.path(".log")) as proxy:
                compare(live, observe(proxy.url, transports), f"replay at speed {speed}")
                if (code := proxy.stop()) != 0:
                    raise Failed(f"replay at speed {speed} ended with {code}: {proxy.said()}")
            digests.add(json.loads(report.read_text(encoding="utf-8"))["digest"])
        if len(digests) != 1:
            raise Failed(f"the digests at the speeds {', '.join(SPEEDS)} differ: {digests}")
        with Wiretape(["replay", tape, "--patience", "1s"], stage.path(".log")) as proxy:
            try:
                seen = observe(proxy.url, transports, "hello!")
            except Failed:
                seen = None
            if seen == live or (code := proxy.stop()) != 2:
                raise Failed(f"another text is taken for the recorded one: {seen} {proxy.said()}")
        count = sum(map(len, live.values()))
        return f"{count} observations equal live, recorded and at speeds 1 and instant, with one digest; another text is a divergence"

    return play


CASES = {
    f"socket.io: {name}": ((), case(transports))
    for name, transports in (("polling and upgrade", "polling,websocket"), ("websocket", "websocket"), ("polling", "polling"))
}
