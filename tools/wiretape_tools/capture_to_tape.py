"""Makes a plain tape of a packet capture: HTTP/1.1 with exact bytes, and WebSockets.

    tools/capture-to-tape CAPTURE.pcapng OUTPUT.tape [--port N]

Nothing of Wiretape takes part: what its own recorder would have written can be compared with this. Plain TCP only.
Bodies are streamed when they took longer than 5 ms, as `record` has it.
"""

import argparse
import base64
import json
import pathlib
import struct
import sys
from typing import Any

from wiretape_tools.lib.frames import Inflater
from wiretape_tools.lib.packets import connections

INLINE = 0.005  # seconds
MEANT = ("text/event-stream", "multipart/", "application/x-ndjson")  # their pieces mean something


class Side:
    """One direction of a connection: bytes with the times at which they came."""

    def __init__(self, said, mine):
        self.data, self.times = bytearray(), []
        self.end = None
        for time, whose, what in said:
            if whose != mine:
                continue
            if isinstance(what, (bytes, bytearray)):
                self.data += what
                self.times.append((len(self.data), time))
            else:
                self.end = self.end or (time, "rst" if what is False else "fin")
        self.at = 0

    def time(self, at):
        """When byte number `at` had come."""
        for end, time in self.times:
            if end > at:
                return time
        return self.times[-1][1] if self.times else 0.0

    def line(self):
        end = self.data.find(b"\r\n", self.at)
        if end < 0:
            return None
        line, self.at = bytes(self.data[self.at : end]), end + 2
        return line

    def head(self):
        """(time, first line, headers), or None when there is no whole head."""
        while self.data[self.at : self.at + 2] == b"\r\n":
            self.at += 2
        if self.data.find(b"\r\n\r\n", self.at) < 0:
            return None
        time, first, fields = self.time(self.at), self.line().decode("latin-1"), []
        while line := self.line():
            name, _, value = line.decode("latin-1").partition(":")
            fields.append([name, value.strip()])
        return time, first, fields

    def pieces(self, fields, until_end):
        """([(time, bytes)], is whole) of a body."""
        values = {name.lower(): value.lower() for name, value in fields}
        if "chunked" in values.get("transfer-encoding", ""):
            return self.chunks()
        size = int(values.get("content-length", -1))
        whole = True
        if size < 0:
            if not until_end:
                return [], True
            size, whole = len(self.data) - self.at, self.end is not None
        whole = whole and self.at + size <= len(self.data)
        found, end = [], min(self.at + size, len(self.data))
        for stop, time in self.times:
            stop = min(stop, end)
            if stop > self.at:
                found.append((time, bytes(self.data[self.at : stop])))
                self.at = stop
        return found, whole

    def chunks(self):
        found: list[Any] = []
        while True:
            mark = self.data.find(b"\r\n", self.at)
            if mark < 0:
                return found, False
            size = int(bytes(self.data[self.at : mark]).split(b";")[0] or b"0", 16)
            start = mark + 2
            if size == 0:
                self.at = start
                while line := self.line():
                    pass
                return found, line is not None
            if start + size + 2 > len(self.data):
                return found, False
            found.append((self.time(start + size - 1), bytes(self.data[start : start + size])))
            self.at = start + size + 2


def payload(data):
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def body(pieces, began, whole, streams):
    """The members of a head whose body these are, and the events behind it."""
    if not pieces and whole:
        return {}, False
    late = pieces and pieces[-1][0] - began > INLINE
    if whole and not late and not streams and sum(len(piece) for _, piece in pieces) <= 64 << 10:
        return payload(b"".join(piece for _, piece in pieces)), False
    return {"stream": True}, True


def frames(side, direction, number, inflater):
    """Events of one direction of a WebSocket."""
    opcode, message, deflated = None, b"", False
    while side.at + 2 <= len(side.data):
        first, second = side.data[side.at], side.data[side.at + 1]
        if first & 0x30:
            raise ValueError("a WebSocket frame with reserved bits")
        size, at = second & 127, side.at + 2
        if size == 126:
            size, at = struct.unpack(">H", side.data[at : at + 2])[0], at + 2
        elif size == 127:
            size, at = struct.unpack(">Q", side.data[at : at + 8])[0], at + 8
        mask = bytes(4)
        if second & 128:
            mask, at = bytes(side.data[at : at + 4]), at + 4
        if at + size > len(side.data):
            return
        data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(side.data[at : at + size]))
        time = side.time(at + size - 1)
        side.at = at + size
        kind = first & 15
        event = {"c": number, "d": direction}
        if kind == 8:
            code = struct.unpack(">H", data[:2])[0] if len(data) > 1 else None
            yield time, {**event, "e": "close", **({"code": code, "reason": data[2:].decode()} if code else {})}
        elif kind in (9, 10):
            yield time, {**event, "e": "ping" if kind == 9 else "pong", **payload(data)}
        else:
            opcode, message = (kind, data) if kind else (opcode, message + data)
            deflated = bool(first & 0x40) if kind else deflated
            if first & 128:
                if deflated:
                    message = inflater.message(message)
                    event = {**event, "deflated": True}
                shape = {"op": "text", "text": message.decode()} if opcode == 1 else {
                    "op": "binary", "b64": base64.b64encode(message).decode()}
                yield time, {**event, "e": "message", **shape}


def events(connection, number):
    """(time, event) of one connection."""
    up, down = Side(connection.said, True), Side(connection.said, False)
    yield connection.opened, {"c": number, "e": "open"}
    x = 0
    while request := up.head():
        x += 1
        time, first, fields = request
        method, target, _ = first.split(" ", 2)
        pieces, whole = up.pieces(fields, False)
        shape, streamed = body(pieces, time, whole, False)
        yield time, {"c": number, "e": "request", "x": x, "method": method, "target": target, "headers": fields, **shape}
        if streamed:
            yield from streamed_body(pieces, whole, up, number, x, ">")
        response = down.head()
        if response is None:
            break
        time, first, fields = response
        status = int(first.split(" ")[1])
        head = {"c": number, "e": "response", "x": x, "status": status, "headers": fields}
        if reason := first.split(" ", 2)[2:]:
            head["reason"] = reason[0]
        if status == 101:
            yield time, head
            yield from frames(up, ">", number, Inflater(fields, ">"))
            yield from frames(down, "<", number, Inflater(fields, "<"))
            break
        pieces, whole = down.pieces(fields, status not in (204, 304))
        kind = next((value for name, value in fields if name.lower() == "content-type"), "")
        shape, streamed = body(pieces, time, whole, kind.startswith(MEANT))
        yield time, {**head, **shape}
        if streamed:
            yield from streamed_body(pieces, whole, down, number, x, "<")
    ends = [(*side.end, who) for side, who in ((up, "client"), (down, "server")) if side.end]
    for time, how, who in sorted(ends):
        yield time, {"c": number, "e": "gone", "by": who, "how": how}
        if how == "rst":
            break


def streamed_body(pieces, whole, side, number, x, direction):
    for time, piece in pieces:
        yield time, {"c": number, "e": "chunk", "x": x, "d": direction, **payload(piece)}
    if whole:
        yield side.time(side.at - 1), {"c": number, "e": "end", "x": x, "d": direction}


ORDER = {"open": 0, "gone": 2}


def main():
    parser = argparse.ArgumentParser(prog="tools/capture-to-tape", description=__doc__.split("\n")[0])
    parser.add_argument("capture", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--port", type=int, help="of the server, where a capture has several")
    options = parser.parse_args()
    found = [c for c in connections(options.capture.read_bytes()) if options.port in (None, c.server[1])]
    told = []
    for number, connection in enumerate(found, 1):
        told += list(events(connection, number))
    told.sort(key=lambda one: (one[0], ORDER.get(one[1]["e"], 1)))
    if not told:
        sys.exit(f"capture-to-tape: no TCP connection in {options.capture}")
    start = told[0][0]
    name = f"captures/{options.capture.parent.name}"
    header = {"tape": 1, "started": "2026-11-20T00:00:00.000000Z", "tool": name, "mode": "reverse"}
    with options.output.open("w", encoding="utf-8") as out:
        print(json.dumps(header, separators=(",", ":")), file=out)
        for time, event in told:
            line = {"t": round((time - start) * 1e9), **event}
            print(json.dumps(line, separators=(",", ":"), ensure_ascii=False), file=out)
    print(f"{options.output}: {len(found)} connections, {len(told)} events")


if __name__ == "__main__":
    main()
