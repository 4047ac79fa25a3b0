"""Raw clients of the hub: what each transport does to listen, and what it saw."""

import json
import time
from typing import Any

from wiretape_tools.acceptance.faults.hub import GraphQL, chunk
from wiretape_tools.acceptance.faults.wire import LIMIT, Wire, ask
from wiretape_tools.lib import frames

QUIET = 0.35  # seconds in which nothing may come where nothing should
HELLO = b'{"protocol":"json","version":1}\x1e'
EVENTS = ["Accept: text/event-stream"]
QUERY = b'{"query":"subscription { tick }"}'
OPERATION = {
    "parts": ["Accept: multipart/mixed;subscriptionSpec=1.0,application/json", "Content-Type: application/json"],
    "events": ["Accept: text/event-stream", "Content-Type: application/json"],
}
OPENING = {"ws": "upgrade", "sse": "stream", "lp": "poll", "parts": "operation", "events": "operation"}
UPGRADE = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
]


class Seen:
    """raw: the stream's bytes (of polls their bodies); marks: (bytes so far, time); cut: the answer that was not whole."""

    def __init__(self):
        self.begun = time.monotonic()
        self.raw: bytes = b""
        self.marks: list[Any] = []
        self.end: Any = None
        self.cut: Any = None
        self.ended: Any = None
        self.answer: Any = None
        self.targets: list[Any] = []
        self.answers: dict[str, Any] = {}
        self.wire: Any = None

    def at(self, offset):
        """Seconds after the client began until the byte behind `offset` was there."""
        return next(moment for count, moment in self.marks if count > offset) - self.begun


def token_of(answer):
    try:
        return json.loads(answer.body)["connectionToken"]
    except (ValueError, KeyError, TypeError):
        return ""


class Client:
    """Opens a session over a transport; `plan` says when enough has come."""

    def __init__(self, port, t, plan):
        self.port, self.t, self.plan, self.seen = port, t, plan, Seen()
        self.token, self.hello, self.path = "", HELLO, "/chat"
        self.fields, self.pending = [], None
        # Of protocols whose server speaks first: what their requests bring.
        self.is_greeted, self.query = False, None

    def note(self, answer):
        self.seen.answers[answer.name] = answer
        return answer

    def negotiate(self):
        wire = Wire(self.port)
        answer = self.note(ask(wire, "negotiate", "POST", f"{self.path}/negotiate?negotiateVersion=1", self.fields))
        self.token = token_of(answer)
        wire.close()
        return answer

    def post(self, body, name="send"):
        wire = Wire(self.port)
        answer = self.note(ask(wire, name, "POST", f"{self.path}?id={self.token}", self.fields, body))
        wire.close()
        return answer

    def open(self, fields=(), extra=b""):
        """The upgrade, the event stream or the first poll."""
        self.seen.wire = self.seen.wire or Wire(self.port)
        name = OPENING[self.t]
        if self.t in OPERATION:
            answer = ask(self.seen.wire, name, "POST", "/graphql", [*OPERATION[self.t], *self.fields], QUERY)
            return self.note(answer)
        more = {"ws": UPGRADE, "sse": EVENTS, "lp": []}[self.t]
        target = f"{self.path}?{self.query or f'id={self.token}'}"
        return self.note(ask(self.seen.wire, name, "GET", target, [*more, *fields, *self.fields], extra=extra))

    def greet(self):
        if self.t == "ws":
            self.seen.wire.send(frames.frame(frames.TEXT, self.hello, masked=True))
        else:
            self.post(self.hello, "greeting")

    def say(self, payload):
        if self.t == "ws":
            self.seen.wire.send(frames.frame(frames.TEXT, payload, masked=True))
        else:
            return self.post(payload)
        return None

    # Listening

    def listen(self):
        """To the end, or until nothing comes behind what is expected."""
        if self.t == "lp":
            return self.poll()
        opened = self.seen.answers[OPENING[self.t]]
        wire, seen, start = self.seen.wire, self.seen, opened.start + len(opened.head)
        skip = len(self.preface)
        by = time.monotonic() + LIMIT
        said_goodbye = False
        while True:
            seen.raw = bytes(wire.got[start + skip :])
            seen.marks = [(count - start - skip, moment) for count, moment in wire.marks]
            if wire.end or time.monotonic() > by:
                break
            if self.plan.is_complete(seen.raw):
                if self.plan.end in ("SILENCE", "OVER") or self.t != "ws" and self.plan.end == "END":
                    if self.plan.end != "SILENCE" or not wire.read(QUIET) and not wire.end:
                        seen.end = self.plan.end
                        return seen
                    continue
                if self.t == "ws" and self.plan.closes and not said_goodbye:
                    said_goodbye = True
                    wire.send(frames.frame(frames.CLOSE, b"\x03\xe8", masked=True))
            wire.read(by - time.monotonic())
        seen.end = "END" if wire.end == "FIN" and said_goodbye and self.plan.end == "END" else wire.end or "nothing"
        return seen

    @property
    def preface(self):
        """What the server says on a stream before any message."""
        opening = b":\r\n" if self.t == "sse" else GraphQL.OPENINGS.get(self.t)
        return chunk(opening) if opening else b""

    def poll(self):
        by = time.monotonic() + LIMIT
        while not self.seen.end:
            if self.plan.end == "OVER" and self.plan.is_complete(self.seen.raw):
                self.seen.end = "OVER"
                break
            is_last = self.plan.end == "SILENCE" and self.plan.is_complete(self.seen.raw)
            self.poll_once(QUIET if is_last else by - time.monotonic())
            if answer := self.pending:
                self.seen.raw += answer.body
                self.seen.cut, self.seen.end = answer.raw, "SILENCE" if self.plan.end == "SILENCE" else "nothing"
        return self.seen

    def poll_once(self, seconds):
        """Waits for the answer to the poll that is under way, or to a new one."""
        seen = self.seen
        if seen.wire.end:
            seen.wire = Wire(self.port)
        target = f"{self.path}?id={self.token}"
        answer = self.pending or self.note(ask(seen.wire, "poll", "GET", target, self.fields, seconds=0))
        seen.wire.until(lambda _: answer.is_whole, seconds)
        self.pending = None if answer.is_whole or answer.end else answer
        if self.pending:
            return
        seen.raw += answer.body
        seen.marks.append((len(seen.raw), time.monotonic()))
        if not answer.is_whole:
            seen.cut, seen.end = answer.raw, answer.end
        elif answer.status != 200:
            seen.end = "END" if answer.status == 204 else str(answer.status)


class Plan:
    """How much is expected (a count of bytes, and what stands last), and which end."""

    def __init__(self, count, end, closes=False, last=b""):
        self.count, self.end, self.closes, self.last = count, end, closes, last

    def is_complete(self, raw):
        return len(raw) >= self.count and raw.endswith(self.last)


def listens(client):
    """Opens a session and listens."""
    begin(client)
    return client.listen()


def begin(client):
    """Negotiates, opens and shakes hands, as far as the protocol has it."""
    speaks = client.t not in OPERATION and not client.is_greeted
    if speaks:
        client.negotiate()
    client.open()
    if speaks:
        client.greet()
