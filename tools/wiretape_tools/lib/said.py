"""What a tape's connections said, as messages: HTTP bodies put together, events and parts found in them, WebSocket messages."""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator

from wiretape_tools.lib.tapes import Event, payload

DIRECTIONS = {">": "c2s", "<": "s2c"}


@dataclasses.dataclass
class Said:
    """One message. first and last: nanoseconds on the tape, of its first byte and of its last one where the tape tells that."""

    kind: str
    direction: str
    body: bytes
    first: int
    last: int | None
    whole: bool = True
    head: str = ""  # method and target, or the status
    exchange: int = 0
    torn: bool = False  # bytes of it are missing: what is there is its beginning

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:16]


class Body:
    """A body that comes in pieces."""

    def __init__(self, message: Said, kind: str) -> None:
        self.message, self.kind = message, kind
        self.pieces: list[tuple[int, bytes]] = []

    def time(self, at: int) -> int:
        """When the byte number `at` had come."""
        for time, piece in self.pieces:
            at -= len(piece)
            if at < 0:
                return time
        return self.pieces[-1][0]

    def end(self, time: int | None) -> Iterator[Said]:
        """The messages in it, then itself."""
        self.message.body = b"".join(piece for _, piece in self.pieces)
        self.message.last, self.message.whole = time, time is not None
        yield from inner(self.kind, self.message, self.time)
        yield self.message


def always(time: int) -> Callable[[int], int]:
    """All bytes had come at that time."""
    return lambda _: time


def inner(kind: str, message: Said, time: Callable[[int], int]) -> Iterator[Said]:
    """Events and parts of a body. time: when the byte of a number had come."""
    for name, found in (("sse", events), ("part", parts)):
        if name == "sse" and kind.startswith("text/event-stream") or name == "part" and kind.startswith("multipart/"):
            for data, end in found(message.body, kind):
                yield Said(name, message.direction, data, time(end - 1), time(end - 1), exchange=message.exchange)


def events(body: bytes, _: str) -> Iterator[tuple[bytes, int]]:
    """(data, where it ends) of each event of an event stream."""
    data: list[bytes] = []
    for line in re.finditer(rb"([^\r\n]*)(\r\n|\n|\r)", body):
        text = line.group(1)
        if text.startswith(b"data:"):
            data.append(text[5:].removeprefix(b" "))
        elif text == b"data":
            data.append(b"")
        elif not text and data:
            yield b"\n".join(data), line.end()
            data = []


def parts(body: bytes, kind: str) -> Iterator[tuple[bytes, int]]:
    """(content, where it ends) of each part between two delimiters (RFC 2046)."""
    boundary = re.search(r'boundary="?([^";]+)', kind)
    if boundary is None:
        return
    delimiter = b"--" + boundary.group(1).encode()
    marks = list(re.finditer(rb"(?:^|\r\n)" + re.escape(delimiter) + rb"(--)?[ \t]*(?=\r\n|$|--)", body))
    for begin, end in zip(marks, marks[1:], strict=False):
        if begin.group(1):
            return
        _, blank, content = body[begin.end() : end.start()].partition(b"\r\n\r\n")
        if blank:
            yield content, end.end()


def gap(direction: str, time: int) -> Said:
    """Stands where a tape says that something of this direction is missing, or could not be read."""
    return Said("gap", direction, b"", time, time)


def torn(said: list[Said], time: int) -> list[Said]:
    """A message of which the end is missing, its parts before it, with the gap wherever it may be."""
    *parts, message = said
    message.torn = True
    return [*parts, gap(message.direction, time), message, gap(message.direction, time)]


def connections(found: list[Event], gaps: bool = False) -> dict[int, list[Said]]:
    """The messages of each connection, in the order in which they were complete.

    With gaps, also where something is missing, and messages that are cut there, in their places.
    """
    out: dict[int, list[Said]] = {}
    bodies: dict[tuple[int, int, str], Body] = {}
    pieces: dict[tuple[int, str], Said] = {}
    ended: set[tuple[int, str]] = set()
    for event in found:
        kind, number, time = event["e"], event.get("c", 0), event["t"]
        said = out.setdefault(number, []) if number else []
        direction = DIRECTIONS.get(event.get("d", ""), "")
        if kind in ("request", "response"):
            if event.get("interim"):
                continue
            direction = "c2s" if kind == "request" else "s2c"
            head = f"{event['method']} {event['target']}" if kind == "request" else str(event["status"])
            message = Said(kind, direction, payload(event), time, None, head=head, exchange=event["x"])
            media = next((value for name, value in event["headers"] if name.lower() == "content-type"), "").strip()
            if event.get("stream"):
                bodies[number, event["x"], direction] = Body(message, media)
            else:
                said += [*inner(media, message, always(time)), message]
        elif kind == "chunk":
            bodies[number, event["x"], direction].pieces.append((time, payload(event)))
        elif kind == "end":
            said += bodies.pop((number, event["x"], direction)).end(time)
        elif kind == "message":
            said.append(Said(f"ws-{event['op']}", direction, payload(event), time, time))
        elif kind == "part":
            whole = pieces.setdefault((number, direction), Said(f"ws-{event['op']}", direction, b"", time, None, False))
            whole.body += payload(event)
            if event.get("last"):
                whole.last, whole.whole = time, True
                said.append(pieces.pop((number, direction)))
        elif kind in ("ping", "pong"):
            said.append(Said(f"ws-{kind}", direction, payload(event), time, time))
        elif kind == "close":
            code = event["code"].to_bytes(2, "big") if "code" in event else b""
            said.append(Said("ws-close", direction, code + event.get("reason", "").encode(), time, time))
        elif gaps and kind in ("gap", "frame", "malformed") and direction:
            if kind == "gap":
                for key in [key for key in bodies if key[0] == number and key[2] == direction]:
                    said += torn([*bodies.pop(key).end(None)], time)
                if cut := pieces.pop((number, direction), None):
                    said += torn([cut], time)
            said.append(gap(direction, time))
        elif gaps and kind == "gone":
            ended.add((number, {"client": "c2s", "server": "s2c"}.get(event["by"], "")))
    for (number, _, way), body in bodies.items():
        rest = [*body.end(None)]
        out[number] += torn(rest, 0) if gaps and (number, way) not in ended else rest
    for (number, way), cut in pieces.items():
        out[number] += torn([cut], 0) if gaps and (number, way) not in ended else [cut]
    return out
