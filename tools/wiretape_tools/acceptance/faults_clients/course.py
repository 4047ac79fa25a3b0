"""A client's attempts as a packet capture shows them, worked out from the bytes alone and by nothing of Wiretape.

The words are those of docs/verdict.md: an attempt begins with the first request (or connection that is refused) while the
client has no connection, and ends with success, which is the server's first message, or with the failure.
"""

from dataclasses import dataclass, field
from typing import Any

from wiretape_tools.lib import frames

STEP = 0.25  # seconds: a fallback that comes so soon is a step of the same attempt
CARRIERS = ("upgrade", "poll", "stream")
BESIDE = ("send", "end", "other")  # requests of a session that is connected: none of them begins an attempt


@dataclass
class Seen:
    """An attempt. Times are seconds of the kernel's clock."""

    start: float
    outcome: str | None = None
    ended: float | None = None
    kinds: list = field(default_factory=list)


@dataclass
class Exchange:
    """A request and what came back. at: its first byte; answered: the first byte of its answer."""

    at: float
    kind: str
    line: str
    answered: float | None = None
    status: int | None = None
    said: float | None = None  # the first message or byte of the body
    over: float | None = None  # the end of what the answer carries, or of the connection
    by: str = "server"
    how: str = ""


def head_of(data):
    """(first line, headers in lower case, length) of a whole head at the beginning, or None."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = data[:end].decode("latin-1").split("\r\n")
    return first, {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}, end + 4


def body_length(data, headers):
    """How much of data is the body; None: not whole yet."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        at = 0
        while (end := data.find(b"\r\n", at)) >= 0:
            size = int(data[at:end].split(b";")[0], 16)
            at = end + 2 + size + 2
            if size == 0:
                return at if len(data) >= at else None
        return None
    size = int(headers.get("content-length", 0))
    return size if len(data) >= size else None


def kind_of(line, headers):
    method, target = line.split(" ")[:2]
    path = target.partition("?")[0]
    if "upgrade" in headers:
        return "upgrade"
    if path.endswith("/negotiate"):
        return "negotiate"
    if "text/event-stream" in headers.get("accept", ""):
        return "stream"
    return {"GET": "poll", "POST": "send", "DELETE": "end"}.get(method, "other")


class Reader:
    """The exchanges of one TCP connection. A close frame ends it, also when the server has stopped reading."""

    def __init__(self, connection):
        self.found = []
        self.to_server, self.to_client = b"", b""
        self.began: Any = None
        self.first: Any = None
        self.socket: Any = None  # reads both directions once it is a WebSocket
        for time, mine, data in connection.said:
            if data is None or data is False:
                self.end(time, mine, "fin" if data is None else "reset")
            elif mine:
                self.request(time, data)
            else:
                self.answer(time, data)

    def open(self):
        return next((one for one in self.found if one.over is None), None)

    def end(self, time, mine, how):
        for one in self.found:
            if one.over is None:
                one.over, one.by, one.how = time, "client" if mine else "server", how

    def closing(self, time, mine, data):
        for first, payload in self.socket[mine].feed(data):
            if first & 15 == frames.CLOSE:
                code = f" {int.from_bytes(payload[:2], 'big')}" if len(payload) > 1 else ""
                self.end(time, mine, "close" + code)
            elif not mine and first & 15 < frames.CLOSE and self.found[-1].said is None:
                self.found[-1].said = time

    def request(self, time, data):
        if self.socket:
            return self.closing(time, True, data)
        if not self.to_server:
            self.began = time
        self.to_server += data
        while head := head_of(self.to_server):
            line, headers, length = head
            body = body_length(self.to_server[length:], headers)
            if body is None:
                return None
            self.found.append(Exchange(self.began, kind_of(line, headers), line))
            self.to_server = self.to_server[length + body :]
        return None

    def answer(self, time, data):
        if self.socket:
            return self.closing(time, False, data)
        one = self.open()
        if one is None:
            return None
        if not self.to_client:
            self.first = time
        self.to_client += data
        while one and (head := head_of(self.to_client)):
            line, headers, length = head
            one.status, one.answered = int(line.split(" ")[1]), one.answered or self.first
            rest = self.to_client[length:]
            if one.status == 101:
                self.socket = {True: frames.FrameReader(), False: frames.FrameReader()}
                return self.closing(time, False, rest)
            if rest and one.said is None:
                one.said = time
            body = 0 if one.status in (204, 304) else body_length(rest, headers)
            if body is None:
                return None
            one.over, one.how = time, "answered"
            self.to_client, self.first = rest[body:], time
            one = self.open()
        return None


def exchanges(connections):
    """All requests in order of their first bytes, and connections that were refused before they asked anything."""
    found = []
    for connection in connections:
        reader = Reader(connection)
        found += reader.found
        reset = [time for time, mine, data in connection.said if data is False and not mine]
        asked = [one for one in reader.found if one.status is not None]
        if reset and not asked:
            for one in reader.found:
                found.remove(one)
            found.append(Exchange(connection.opened, "connect", "", over=reset[0], how="reset"))
            # What the client said on it may never have been read: a refused connection is one, whatever it was for.
            if reader.found and reader.found[0].kind not in BESIDE:
                found[-1].kind, found[-1].line = reader.found[0].kind, reader.found[0].line
    return sorted(found, key=lambda one: one.at)


class Course:
    """The attempts of one client out of its exchanges.

    deaf: its connection goes silent. Then its end is the client's close frame, FIN or RST, or its next attempt, if that
    comes first.
    """

    def __init__(self, connections, deaf=False):
        self.attempts, self.deaf = [], deaf
        self.carrier = None
        # When the negotiation was answered that nothing has followed yet.
        self.negotiated = None
        events = []
        for one in exchanges(connections):
            events.append((one.at, 0, self.asked, one))
            if one.status is not None:
                events.append((one.answered, 1, self.answered, one))
            if one.said is not None:
                events.append((one.said, 2, self.spoke, one))
            if one.over is not None:
                events.append((one.over, 3, self.over, one))
        for time, _, action, one in sorted(events, key=lambda event: event[:2]):
            action(one, time)
        self.join()

    @property
    def current(self):
        """The attempt that goes on."""
        return self.attempts[-1] if self.attempts and self.attempts[-1].outcome is None else None

    def asked(self, one, time):
        if one.kind in BESIDE:
            return
        if self.carrier and self.deaf and one.kind != "poll":
            self.ends(time, "abandoned", "abandoned")
            self.carrier = None
        if self.carrier and one.kind != "negotiate":
            return
        if self.current and one.kind == "negotiate" and self.negotiated is not None:
            # Nothing followed the negotiation before: the client thought better of it.
            self.ends(self.negotiated, "abandoned", "abandoned")
        if self.current is None:
            self.attempts.append(Seen(time))
            self.negotiated = None
        self.current.kinds.append(one.kind)
        if one.kind != "negotiate":
            self.negotiated = None

    def answered(self, one, time):
        if one.kind == "negotiate" and one.status == 200 and self.current and self.current.kinds[-1] == "negotiate":
            self.negotiated = time
        if one.kind in CARRIERS and one.status in (101, 200) and self.carrier is None:
            self.carrier = one

    def spoke(self, one, _):
        if one.kind in CARRIERS and one.status in (101, 200) and self.current:
            self.current.outcome = "connected"

    def over(self, one, time):
        if self.carrier is not None and (one is self.carrier or one.kind == self.carrier.kind == "poll"):
            if one.kind == "poll" and one.how == "answered" and one.status == 200:
                return
            self.ends(time, None if one.by == "server" else "abandoned", "handshake")
            self.carrier = None
        elif one.kind == "end" and self.carrier:
            self.ends(one.at, None, "abandoned")
            self.carrier = None
        elif self.current and one.kind in (*CARRIERS, "negotiate", "connect"):
            if one.status is None:
                self.ends(time, "refused" if one.by == "server" else "abandoned", "refused")
            elif one.status >= 400 or one.status == 204:
                self.ends(one.answered, "status", "status")

    def ends(self, time, outcome, otherwise):
        last = self.attempts[-1]
        if last.outcome is None:
            last.outcome = outcome or otherwise
        if last.ended is None:
            last.ended = time

    def join(self):
        """A fallback to another transport at once is a step of the attempt that failed."""
        joined: list[Any] = []
        for one in self.attempts:
            last = joined[-1] if joined else None
            carriers = {kind for kind in one.kinds if kind in CARRIERS}
            tried = {kind for kind in last.kinds if kind in CARRIERS} if last else set()
            if last and last.outcome in ("status", "refused") and one.start - last.ended <= STEP:
                if tried and carriers and not carriers & tried:
                    last.outcome, last.ended = one.outcome, one.ended
                    last.kinds += one.kinds
                    continue
            joined.append(one)
        self.attempts = joined
