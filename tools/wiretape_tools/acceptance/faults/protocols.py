"""Other protocols over WebSockets: length prefixes of MessagePack and of Atmosphere, keepalives that are asked for."""

import json

from wiretape_tools.acceptance.faults.clients import QUIET, begin
from wiretape_tools.acceptance.faults.expect import Beginning, Raw, Units, carried
from wiretape_tools.acceptance.faults.hub import RECORD, SignalR
from wiretape_tools.acceptance.faults.stage import SCRIPTS, Case, Script
from wiretape_tools.acceptance.faults.wire import LIMIT
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed

# MessagePack ---------------------------------------------------------------------------------------------------------


def packed(n, text):
    """[1, {}, nil, "Tick", [n, text], []] behind its length, which takes two bytes from 128 on."""
    data = text.encode()
    body = b"\x96\x01\x80\xc0\xa4Tick\x92" + bytes([n]) + b"\xd9" + bytes([len(data)]) + data + b"\x90"
    size = len(body)
    return (bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])) + body


class Packed(Script):
    """A hub that speaks MessagePack."""

    def units(self, t):
        return Units({"H": b"{}" + RECORD, **{n: packed(n, "x" * 200) for n in (1, 2, 3)}}, frames.BINARY)

    def protocol(self, t):
        return SignalR(frames.BINARY)


def hello(client):
    client.hello = b'{"protocol":"messagepack","version":1}' + RECORD


SCRIPTS["packed"] = Packed(None, prepare=hello)
BINARY = {"script": "packed", "on": ["ws", "lp"], "cannot": {"sse": "event streams are text", "else": "another protocol"}}
BINARY_WS = {**BINARY, "on": ["ws"], "cannot": {"lp": "below", "sse": "event streams are text", "else": "another protocol"}}

# Eventflit -----------------------------------------------------------------------------------------------------------


class Eventflit:
    """A server that speaks first, and answers pings of the protocol."""

    GREETING = {"event": "pusher:connection_established", "data": json.dumps({"socket_id": "1.1", "activity_timeout": 120})}

    def opened(self, hub, peer):
        hub.start(peer, [json.dumps(self.GREETING).encode()])

    def serve(self, hub, sock, file, method, target, fields, body, lines):
        peer = hub.peer(f"e{len(hub.raw)}")

        def hear(payload):
            if json.loads(payload)["event"] == "pusher:ping":
                peer.push(PONG)

        hub.socket(sock, file, lines, peer, frames.TEXT, hear)
        return False


PONG = b'{"event":"pusher:pong","data":{}}'
PING = b'{"event":"pusher:ping","data":{}}'


class Events(Script):
    def units(self, t):
        greeting = json.dumps(Eventflit.GREETING).encode()
        ticks = {n: json.dumps({"event": "tick", "channel": "c", "data": str(n)}).encode() for n in (1, 2, 3)}
        return Units({"H": greeting, **ticks})

    def protocol(self, t):
        return Eventflit()


def pings(client):
    """Opens without a negotiation; what comes first is the server's."""
    client.path, client.is_greeted = "/app/key", True
    client.query = "protocol=7&client=js&version=8"


def asked(answered):
    """After everything has come the client sends a ping of the protocol, and gets its pong or not."""

    def run(cell, port):
        client = cell.client(port)
        begin(client)
        seen = client.listen()
        wire, before = seen.wire, len(seen.wire.got)
        wire.send(frames.frame(frames.TEXT, PING, masked=True))
        pong = lambda got: b"pusher:pong" in got[before:]
        if wire.until(pong, LIMIT if answered else QUIET) != answered:
            raise Failed(f"the ping was {'not ' if answered else ''}answered: {bytes(wire.got[before:])!r}")
        return seen

    return run


SCRIPTS["eventflit"] = Events(None, order=(1, 2, 3), prepare=pings)
PUSHER = {"script": "eventflit", "on": ["ws"], "cannot": {"else": "another protocol"}}
STAYS = ["H", 1, 2, 3, "SILENCE"]

# Atmosphere ----------------------------------------------------------------------------------------------------------

ID = "8a6b0c1e-0c5e-4d0a-9d2b-0123456789ab"


def sized(text):
    return f"{len(text.encode('utf-16-le')) // 2}|{text}".encode()


class Atmosphere:
    """A WebSocket of a server that tells lengths."""

    def opened(self, hub, peer):
        hub.start(peer, [sized(f"{ID}|0|X|")])

    def serve(self, hub, sock, file, method, target, fields, body, lines):
        hub.socket(sock, file, lines, hub.peer(f"a{len(hub.raw)}"), frames.TEXT, lambda _: None)
        return False


class Sized(Script):
    def units(self, t):
        return Units({"H": sized(f"{ID}|0|X|"), **{n: sized(json.dumps({"tick": n, "text": "x" * 40})) for n in (1, 2, 3)}})

    def protocol(self, t):
        return Atmosphere()


def tracked(client):
    client.path, client.is_greeted = "/chat", True
    client.query = (
        "X-Atmosphere-tracking-id=0&X-Atmosphere-Framework=3.1.3-javascript&X-Atmosphere-Transport=websocket"
        "&X-Atmosphere-TrackMessageSize=true&X-atmo-protocol=true"
    )


SCRIPTS["atmosphere"] = Sized(None, prepare=tracked)
TRACKED = {"script": "atmosphere", "on": ["ws"], "cannot": {"else": "another protocol"}}
SECOND = "message[2, direction=toClient]"


CASES = [
    Case("truncate(5) on Tick[2]", ["H", 1, Beginning(2, 5), "FIN"], title="MessagePack: truncate inside the length prefix",
         **BINARY_WS),
    Case("truncate(5) + reset on Tick[2]", ["H", 1, Beginning(2, 5), "RST"],
         title="MessagePack: truncate + reset inside the length prefix", **BINARY_WS),
    Case("drop on Tick[2]", ["H", 1, 3, "END"], title="MessagePack: drop", **BINARY),
    Case("duplicate on Tick[2]", ["H", 1, 2, 2, 3, "END"], title="MessagePack: duplicate", **BINARY),
    Case("replace(/arguments/0=9) on Tick[2]",
         lambda c: ["H", 1, Raw(carried(c.t, packed(9, "x" * 200), frames.BINARY)), 3, "END"],
         title="MessagePack: replace(/arguments/0=9)", **BINARY),
    Case("mute(protocol) after tick[1]", STAYS, run=asked(False), title="Eventflit: mute(protocol), no pong", **PUSHER),
    Case("mute after tick[1]", STAYS, run=asked(False), title="Eventflit: mute, no pong", **PUSHER),
    Case("mute(websocket) after tick[1]", STAYS, run=asked(True), title="Eventflit: mute(websocket), the pong comes", **PUSHER),
    Case(f"truncate(3) on {SECOND}", ["H", 1, Beginning(2, 3), "FIN"], title="Atmosphere: truncate inside the length", **TRACKED),
    Case(f"truncate(3) + reset on {SECOND}", ["H", 1, Beginning(2, 3), "RST"],
         title="Atmosphere: truncate + reset inside the length", **TRACKED),
    Case(f"truncate(20) on {SECOND}", ["H", 1, Beginning(2, 20), "FIN"], title="Atmosphere: truncate inside the message", **TRACKED),
]
