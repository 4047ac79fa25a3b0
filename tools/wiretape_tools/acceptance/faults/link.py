"""What changes how a connection goes on: half-open ones, keepalives that stop, slow links, small writes."""

import time

from wiretape_tools.acceptance.faults.clients import QUIET, begin
from wiretape_tools.acceptance.faults.messages import SCRIPTED, silenced
from wiretape_tools.acceptance.faults.stage import Case
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed

WHOLE = ["H", 1, 2, 3, "END"]


def listening_then(act):
    """Listens, then does something more with the wire."""

    def run(cell, port):
        client = cell.client(port)
        begin(client)
        seen = client.listen()
        act(cell, client)
        return seen

    return run


def ended_by_client(how):
    def check(cell):
        if cell.t == "lp":
            return  # who polls has left when no poll comes any more
        ended = cell.report["sessions"][0]["attempts"][0].get("ended") or {}
        if (ended.get("by"), ended.get("how")) != ("client", how):
            raise Failed(f"the report says that the attempt ended {ended}, expected {how} by the client")

    return check


def leaves(cell, client):
    """The client's FIN is noticed though nothing of it is read."""
    client.seen.wire.close()
    time.sleep(1)


def breaks(cell, client):
    client.seen.wire.reset()
    time.sleep(1.5)


def pushes(cell, client):
    """What the client says piles up until its own kernel takes no more."""
    piece = frames.frame(frames.BINARY, b"x" * 4000, masked=True) if cell.t == "ws" else b"GET / HTTP/1.1\r\nHost: p\r\n\r\n" * 100
    if client.seen.wire.push(piece) is None:
        raise Failed("a connection that is not read took 64 MiB")
    client.seen.wire.close()


def says(cell, client):
    """What the client says is read by the server."""
    client.seen.wire.send(frames.frame(frames.TEXT, b'{"type":6}\x1e', masked=True))
    cell.wait(lambda: b'{"type":6}\x1e' in cell.hub.heard, "the server does not hear what the client says")
    client.seen.wire.close()


# Keepalives ---------------------------------------------------------------------------------------------------------


def pinged(answered):
    """After everything has come, the client sends a WebSocket ping, and gets its pong or not."""

    def act(cell, client):
        wire = client.seen.wire
        before = len(wire.got)
        wire.send(frames.frame(frames.PING, b"?", masked=True))
        pong = frames.frame(frames.PONG, b"?", masked=False)
        came = wire.until(lambda got: pong in got[before:], 10 if answered else QUIET)
        if came != answered:
            raise Failed(f"the ping was {'not ' if answered else ''}answered: {bytes(wire.got[before:])!r}")
        wire.close()

    return listening_then(act)


NO_PONG = {"else": "pings and pongs are a WebSocket's"}


CASES = [
    Case("stall after {M}[1]", ["H", 1, "SILENCE"], run=listening_then(leaves), script="stays", checks=[ended_by_client("fin")]),
    Case("stall(both) on {M}[2]", ["H", 1, "SILENCE"], run=listening_then(breaks), script="stays", checks=[ended_by_client("reset")]),
    Case("stall(both) before {M}[2]", ["H", 1, "SILENCE"], run=listening_then(pushes)),
    Case("stall(in) after {M}[1]", ["H", 1, 2, 3, "OVER"], run=listening_then(pushes),
         on=["ws", "sse", "parts", "events"], cannot={"lp": "its client says nothing more on that connection"}),
    Case("stall(out) after {M}[1]", ["H", 1, "SILENCE"], run=listening_then(says), on=["ws"],
         cannot={"replay": "nobody is there to hear it", "else": "what the client says comes over other connections"}),
    Case("stall(out) on {M}[1]", ["H", "SILENCE"]),
    Case("stall(both, 600ms) after {M}[1]", WHOLE, least={2: 0.6}),
    Case("stall(out, 600ms) after {M}[1]", WHOLE, least={2: 0.6}),
    Case("stall(in, 600ms) after {M}[1]", WHOLE),
    Case("stall(both, 500ms) + reset after {M}[2]", ["H", 1, 2, "RST"]),
    Case("stall(both, 500ms) + disconnect after {M}[2]", ["H", 1, 2, "FIN"]),
    Case("throttle(1kB/s) after {M}[1]", WHOLE, script="long", on=["ws", "sse", "parts", "events", "lp"], least={3: 0.3}),
    Case("throttle(1000, 200ms) after {M}[1]", WHOLE, script="long"),
    Case("slice(5, 5ms) after {M}[1]", WHOLE, script="long", least={3: 0.3}),
    Case("slice(1, 2ms, 100ms) after {M}[1]", WHOLE, script="long"),
    Case("mute(websocket) after {M}[1]", ["H", 1, 2, 3, "SILENCE"], script="stays", run=pinged(False), on=["ws"], cannot=NO_PONG),
    Case("mute after {M}[1]", ["H", 1, 2, 3, "SILENCE"], script="stays", run=pinged(False), on=["ws"], cannot=NO_PONG),
    Case("mute(protocol) after {M}[1]", ["H", 1, 2, 3, "SILENCE"], script="stays", run=pinged(True), on=["ws"], cannot=NO_PONG),
    Case("mute(protocol) after {M}[1]", ["H", 1, 2, 3, "END"], title="mute(protocol) after {M}[1]: no keepalives", **SCRIPTED),
    Case("mute after {M}[1]", ["H", 1, 2, 3, "END"], title="mute after {M}[1]: no keepalives", **SCRIPTED),
    Case("mute(websocket) after {M}[1]", ["H", 1, "P", 2, "P", 3, "END"], title="mute(websocket) after {M}[1]: the protocol's stay",
         **SCRIPTED),
    *[
        Case(f"mute({scope}) after {{M}}[1]", silenced, script="stays", keepalive="50ms", on=["ws", "sse"], modes=["replay"],
             cannot={"live": "above", "else": "no keepalives"}, title=f"mute({scope}) after {{M}}[1]: the schedule stops")
        for scope in ("protocol", "all")
    ],
]
