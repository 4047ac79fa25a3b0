"""A client that follows the Atmosphere protocol as atmosphere.js 4.0.2 speaks it, and plays a script.

    client_atmosphere.py URL SCRIPT.json

The script: {"transport": "ws|sse|stream|lp|jsonp", "lengths": true, "old": false, "bare": false, "charset": "utf-8", "id": null,
"long": false, "steps": [...]}; long: long texts are told as a whole and not by their length; steps are
["push", TEXT], ["wait", N] (until N messages have come in all), ["pause", SECONDS], ["cut"] (the connection is reset and, after
an optional pause, opened again with the id: ["cut", SECONDS, TRANSPORT]), ["end"] (the server ends the connection; it is opened
again), ["close"]. Prints what was observed, a JSON line each.
"""

import asyncio
import json
import pathlib
import struct
import sys
import time
import urllib.parse
from typing import Any

from wiretape_tools.lib import frames

NAMES = {"ws": "websocket", "sse": "sse", "stream": "streaming", "lp": "long-polling", "jsonp": "jsonp"}
BLANK = " \t\r\n"
PATIENCE = 15  # seconds


class Lengths:
    """Messages out of text in any split: LENGTH|text, counted in UTF-16 units."""

    def __init__(self):
        self.kept = ""

    def feed(self, text):
        units = (self.kept + text).encode("utf-16-le")
        found, at = [], 0
        while at < len(units):
            rest = units[at:].decode("utf-16-le", "surrogatepass")
            blank = len(rest) - len(rest.lstrip(BLANK))
            number, mark, _ = rest[blank:].partition("|")
            if not mark:
                break
            if not number.isdigit():
                raise ValueError(f"no length: {rest[:40]!r}")
            start = at + 2 * (blank + len(number) + 1)
            end = start + 2 * int(number)
            if end > len(units):
                break
            found.append(units[start:end].decode("utf-16-le"))
            at = end
        self.kept = units[at:].decode("utf-16-le", "surrogatepass").lstrip(BLANK)
        return found


class Connection:
    """One TCP connection with HTTP/1.1 on it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, host, port):
        self = cls()
        self.reader, self.writer = await asyncio.open_connection(host, port)
        return self

    def ask(self, method, target, host, headers=(), body=b""):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{k}: {v}" for k, v in headers)]
        if method == "POST":
            lines.append(f"Content-Length: {len(body)}")
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    async def head(self):
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = text[:-4].split("\r\n")
        return int(first.split(" ")[1]), {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}

    async def body(self, headers):
        """The pieces of a body as they come."""
        if "chunked" in headers.get("transfer-encoding", ""):
            while size := int((await self.line()).strip(), 16):
                yield (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        elif size := int(headers.get("content-length", 0)):
            yield await self.reader.readexactly(size)

    async def line(self):
        if line := await self.reader.readline():
            return line
        raise ConnectionError("the connection ended in a body")

    def reset(self):
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER: closing resets
        self.writer.transport.abort()


class Client:
    def __init__(self, url, script):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path
        self.authority = f"{parts.hostname}:{parts.port}"
        self.query = parts.query
        self.script = script
        self.transport, self.tracks = script["transport"], script.get("lengths", True)
        self.id = script.get("id") or "0"
        self.is_old = script.get("old", False)
        self.tells_all = script.get("long", False)
        self.cache_date = "0"
        self.pad, self.messages, self.counter = "X", [], 0
        self.awaits_handshake = self.id == "0"
        self.changed = asyncio.Event()
        self.ready = asyncio.Event()
        self.live: Any = None
        self.task: Any = None
        self.beats: Any = None
        self.ends = 0
        self.closing = False

    def note(self, what, **more):
        print(json.dumps({"what": what, **more}, ensure_ascii=False), flush=True)

    # Requests

    def target(self, transport, *more):
        items = [("X-Atmosphere-tracking-id", self.id), ("X-Atmosphere-Framework", self.framework),
                 ("X-Atmosphere-Transport", transport)]
        if self.tracks:
            items.append(("X-Atmosphere-TrackMessageSize", "true"))
        if self.is_old:
            items.append(("X-Cache-Date", self.cache_date))
        items += [("Content-Type", "text/plain"), ("X-atmo-protocol", "true"), *more]
        if transport not in ("sse", "websocket", "jsonp"):
            items.append(("_", str(int(time.time() * 1000))))
        query = urllib.parse.urlencode(items)
        return f"{self.path}?{query}" + (f"&{self.query}" if self.query else "")

    @property
    def framework(self):
        return self.script.get("framework") or ("2.0.6-javascript" if self.is_old else "4.0.2-javascript")

    async def request(self, method, target, body=b""):
        connection = await Connection.open(self.host, self.port)
        connection.ask(method, target, self.authority, body=body)
        status, headers = await connection.head()
        got = b"".join([piece async for piece in connection.body(headers)])
        connection.writer.close()
        return status, headers, got

    # What comes

    def heard(self, text, lengths):
        """Text of a payload or a piece of a stream."""
        if self.tracks:
            for message in lengths.feed(text):
                self.message(message)
        elif text.strip(BLANK):
            self.message(text.lstrip(BLANK) if self.transport in ("lp", "jsonp") else text)

    def message(self, text):
        if self.awaits_handshake:
            fields = text.split("|")
            self.id, self.awaits_handshake = fields[0], False
            self.pad = fields[2] if len(fields) > 2 else "X"
            beat = int(fields[1]) if len(fields) > 2 else 0
            self.note("handshake", fields=len(fields), idLength=len(self.id), heartbeat=beat if len(fields) > 2 else None)
            if beat:
                self.beats = asyncio.ensure_future(self.beat(beat / 1000))
            if len(fields) > 3 and (rest := "|".join(fields[3:])):
                self.message(rest)
        elif text == self.pad:
            return  # a heartbeat
        else:
            self.messages.append(text)
            units = len(text.encode("utf-16-le")) // 2
            self.note("message", text=text if units < 200 or self.tells_all else f"{units} units, {text[:3]}…{text[-3:]}")
        self.changed.set()

    async def beat(self, seconds):
        while True:
            await asyncio.sleep(seconds)
            await self.push(self.pad, quiet=True)

    # Transports

    async def run(self):
        """Connects and goes on until the connection is closed for good."""
        while not self.closing:
            kind = self.transport
            try:
                if kind in ("lp", "jsonp"):
                    await self.poll(kind)
                elif kind == "ws":
                    await self.socket()
                else:
                    await self.stream(kind)
            except (ConnectionError, asyncio.IncompleteReadError, OSError):
                pass
            self.ends += 1
            self.changed.set()
            if self.closing:
                return
            await self.resumed.wait()

    async def poll(self, kind):
        self.live = await Connection.open(self.host, self.port)
        while True:
            more = []
            if kind == "jsonp":
                self.counter += 1
                more = [("jsonpTransport", f"atmosphere{self.counter}")]
            self.live.ask("GET", self.target(NAMES[kind], *more), self.authority)
            if not self.awaits_handshake and (kind == "jsonp" or self.script.get("bare")):
                self.ready.set()  # nothing comes before there is data
            status, headers = await self.live.head()
            if status != 200:
                self.note("status", status=status, error=headers.get("x-atmosphere-error"))
                self.closing = True
                self.changed.set()
                return
            self.cache_date = headers.get("x-cache-date", self.cache_date)
            if not self.awaits_handshake:
                self.ready.set()
            data = b"".join([piece async for piece in self.live.body(headers)])
            if kind == "jsonp":
                data = self.unwrapped(data, more[0][1])
            self.heard(self.text(data), Lengths())
            if self.closing:
                return
            if headers.get("connection", "").lower() == "close":
                self.live = await Connection.open(self.host, self.port)

    def text(self, data):
        return data.decode(self.script.get("charset", "utf-8"))

    @staticmethod
    def unwrapped(data, callback):
        text = data.decode()
        start, end = f'{callback}({{"message" : "', '"});'
        if not text:
            return b""
        if not (text.startswith(start) and text.endswith(end)):
            raise ValueError(f"no call of {callback}: {text[:60]!r}")
        return json.loads('"' + text[len(start) : -len(end)].replace("\\'", "'") + '"').encode()

    async def stream(self, kind):
        self.live = await Connection.open(self.host, self.port)
        headers = [("Accept", "text/event-stream")] if kind == "sse" else []
        self.live.ask("GET", self.target(NAMES[kind]), self.authority, headers)
        status, headers = await self.live.head()
        if status != 200:
            self.note("status", status=status, error=headers.get("x-atmosphere-error"))
            self.closing = True
            self.changed.set()
            return
        lengths, left, data = Lengths(), b"", []
        if not self.awaits_handshake:
            self.ready.set()
        async for piece in self.live.body(headers):
            if kind == "stream":
                left += piece
                whole = len(left) if "charset" in self.script else self.whole(left)
                text, left = self.text(left[:whole]), left[whole:]
                self.heard(text, lengths)
            else:
                left += piece
                *lines, left = left.split(b"\n")
                for line in (line.rstrip(b"\r").decode() for line in lines):
                    if line.startswith("data:"):
                        data.append(line[5:].removeprefix(" "))
                    elif not line and data:
                        self.heard("\n".join(data), Lengths())
                        data = []
            if not self.awaits_handshake:
                self.ready.set()

    @staticmethod
    def whole(data):
        """Bytes that end with a whole character."""
        for back in range(1, min(4, len(data)) + 1):
            byte = data[-back]
            if byte & 0xC0 != 0x80:
                size = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                return len(data) - back if size > back else len(data)
        return len(data)

    async def socket(self):
        self.live = await Connection.open(self.host, self.port)
        self.live.writer.write(frames.request(self.target("websocket"), self.authority))
        status, headers = await self.live.head()
        if status != 101:
            self.note("status", status=status, error=headers.get("x-atmosphere-error"))
            self.closing = True
            self.changed.set()
            return
        incoming, socket = frames.FrameReader(), self.live
        if not self.awaits_handshake:
            self.ready.set()
        while data := await socket.reader.read(65536):
            for first, payload in incoming.feed(data):
                opcode = first & 15
                if opcode == frames.CLOSE:
                    if self.script.get("closes"):
                        code = struct.unpack(">H", payload[:2])[0] if payload else None
                        print(json.dumps({"chain": "socket", "code": code, "reason": payload[2:].decode()}), flush=True)
                    socket.writer.write(frames.frame(frames.CLOSE, payload, True))
                    socket.writer.close()
                    return
                if opcode == frames.TEXT:
                    text = payload.decode()
                    if text.strip(BLANK):
                        self.heard(text, Lengths())
                    if not self.awaits_handshake:
                        self.ready.set()

    # The script

    async def push(self, text, quiet=False):
        if self.transport == "ws":
            self.live.writer.write(frames.frame(frames.TEXT, text.encode(), True))
        elif self.transport == "jsonp":
            self.counter += 1
            more = [("jsonpTransport", f"atmosphere{self.counter}"), ("X-Atmosphere-Post-Body", text)]
            await self.request("GET", self.target("jsonp", *more))
        else:
            status, headers, body = await self.request("POST", self.target("polling"), text.encode())
            if not quiet and (status, body) != (200, b""):
                self.note("push", status=status, body=body.decode())
            if not quiet and headers.get("x-atmosphere-tracking-id") != self.id:
                self.note("push answered with another id")

    async def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            if self.closing:
                return
            self.changed.clear()
            if condition():
                break
            try:
                await asyncio.wait_for(self.changed.wait(), max(0.01, end - time.monotonic()))
            except TimeoutError:
                self.note("waited in vain", on=what)
                raise SystemExit(3) from None

    async def play(self):
        self.resumed = asyncio.Event()
        self.task = asyncio.ensure_future(self.run())
        try:
            await asyncio.wait_for(self.wait_ready(), PATIENCE)
        except TimeoutError:
            self.note("never ready")
            raise SystemExit(3) from None
        for step, *arguments in self.script["steps"]:
            if self.closing:
                break
            await getattr(self, "do_" + step.replace("-", "_"))(*arguments)
        self.note("done")

    async def wait_ready(self):
        while not (self.ready.is_set() or self.closing):
            await asyncio.sleep(0.005)

    async def do_push(self, text):
        await self.push(text)

    async def do_wait(self, count):
        await self.until(lambda: len(self.messages) >= count, f"message {count}")

    async def do_pause(self, seconds):
        await asyncio.sleep(seconds)

    async def do_cut(self, seconds=0.0, transport=None):
        self.resumed.clear()
        self.ready.clear()
        ends = self.ends
        self.live.reset()
        await self.until(lambda: self.ends > ends, "the end of the cut connection")
        await asyncio.sleep(seconds)
        self.transport = transport or self.transport
        self.resumed.set()
        await asyncio.wait_for(self.wait_ready(), PATIENCE)
        self.note("back")

    async def do_end(self, how="!end"):
        """The server ends the connection in order (an empty answer on polls), or with `!drop` resets it; the client is back."""
        ends, polls = self.ends, self.transport in ("lp", "jsonp")
        self.resumed.clear()
        self.ready.clear()
        await self.push(how)
        if not (polls and how == "!end"):
            await self.until(lambda: self.ends > ends, "the server's end")
            self.resumed.set()
        await asyncio.wait_for(self.wait_ready(), PATIENCE)
        self.note("back")

    async def do_close(self):
        self.closing = True
        await self.request("GET", self.target("close"))
        if self.transport == "ws":
            self.live.writer.write(frames.frame(frames.CLOSE, struct.pack(">H", 1000), True))
        await asyncio.wait([self.task], timeout=2)
        if self.beats:
            self.beats.cancel()


async def main():
    script = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    client = Client(sys.argv[1], script)
    try:
        await client.play()
    finally:
        for task in (client.task, client.beats):
            if task:
                task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
