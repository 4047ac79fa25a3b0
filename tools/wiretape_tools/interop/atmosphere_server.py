"""A small Atmosphere server: every message that a client pushes is broadcast to all clients of its path.

    atmosphere_server.py PORT [--old] [--heartbeat SECONDS] [--client-heartbeat MS]

It follows ../shared/protocols/atmosphere.md (2.7.16 as traced; --old: 2.0.5) over long polling, streaming, event streams,
WebSockets and JSONP: handshake, lengths in UTF-16 units, padding, ids, cached messages, goodbyes, heartbeats, refusals.
Paths: /chat writes UTF-8; /latin is an application without a charset, whose polls and streams are ISO 8859-1; /bare sends
no padding. What a client pushes may ask for more: `!burst 3`, `!big 40000`, `!later 3 200` (three messages, the first after
200 ms), `!cut 10|text` (written to streams in two chunks, the first of them one byte), `!end` (the server ends the pusher's
connection in order), `!drop` (it resets it).
"""

import argparse
import asyncio
import contextlib
import struct
import time
import urllib.parse
import uuid

from wiretape_tools.lib import frames

UNCACHED = [
    ("Expires", "-1"),
    ("Cache-Control", "no-store, no-cache, must-revalidate"),
    ("Pragma", "no-cache"),
]
FORGET = 60  # seconds for which an unused id is known


def units(text):
    return len(text.encode("utf-16-le")) // 2


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.headers, self.body = method, headers, body
        parts = urllib.parse.urlsplit(target)
        self.path = parts.path
        self.items = dict(headers)
        self.items.update((k.lower(), v) for k, v in urllib.parse.parse_qsl(parts.query, keep_blank_values=True))

    def __getitem__(self, name):
        return self.items.get(name.lower())

    @property
    def transport(self):
        return (self["X-Atmosphere-Transport"] or "").lower().replace("-", "_")

    @property
    def id(self):
        return None if self["X-Atmosphere-tracking-id"] in (None, "", "0") else self["X-Atmosphere-tracking-id"]


class Member:
    """A tracking id on a path: its live connection, or what it has missed."""

    def __init__(self):
        self.live, self.missed, self.used, self.is_cache_client = None, [], time.monotonic(), False


class Suspended:
    """A response or WebSocket that waits for messages."""

    def __init__(self, server, request, writer, kind):
        self.server, self.request, self.writer, self.kind = server, request, writer, kind
        self.tracks = request["X-Atmosphere-TrackMessageSize"] == "true"
        self.latin = request.path == "/latin" and kind in ("long_polling", "streaming")
        self.ended = asyncio.Event()

    def framed(self, text):
        if not self.tracks or not text.strip():
            return text.encode()
        return f"{units(text)}|{text}".encode()

    def coded(self, text):
        if not self.latin or text.isascii():
            return self.framed(text)
        # Encoded before it is counted: what is no UTF-8 gets no length.
        return text.encode("latin-1", "replace")

    def write(self, texts):
        """One message, or those that were missed, glued."""
        if self.ended.is_set():
            return False
        if self.kind == "websocket":
            for text in texts:
                self.writer.write(frames.frame(frames.TEXT, self.framed(text), False))
        elif self.kind == "sse":
            self.chunk(b"".join(self.event(text) for text in texts))
        elif self.kind == "jsonp":
            self.script("".join(self.framed(t).decode() for t in texts))
            self.ended.set()
        else:
            self.pieces(b"".join(self.coded(text) for text in texts))
            if self.kind == "long_polling":
                self.end()
        return True

    def event(self, text):
        lines = self.framed(text).decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return "".join(f"data:{line}\r\n" for line in lines).encode() + b"\r\n"

    def script(self, text):
        callback = "".join(c for c in self.request["jsonpTransport"] or "" if c.isalnum())
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'").replace("\n", "\\n")
        body = f'{callback}({{"message" : "{escaped}"}});'.encode()
        fields = [*self.server.ids(self.request), *UNCACHED, ("Content-Type", "application/javascript; charset=utf-8")]
        self.writer.write(head(200, [*fields, ("Content-Length", str(len(body)))]) + body)

    def pieces(self, data):
        """Large messages in several chunks, as Jetty writes them: the first of 8000 hexadecimal bytes."""
        while len(data) > 0x8000:
            self.chunk(data[:0x8000])
            data = data[0x8000:]
        self.chunk(data)

    def chunk(self, data):
        self.writer.write(b"%X\r\n" % len(data) + data + b"\r\n")

    def end(self):
        if self.ended.is_set():
            return
        self.ended.set()
        if self.kind == "websocket":
            self.writer.write(frames.frame(frames.CLOSE, struct.pack(">H", 1000), False))
        elif self.kind == "jsonp":
            self.script("")
        else:
            self.writer.write(b"0\r\n\r\n")


def head(status, fields):
    reason = {101: "Switching Protocols", 200: "OK", 501: "Not Implemented"}[status]
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Server:
    def __init__(self, options):
        self.options, self.members, self.tasks = options, {}, set()

    def member(self, path, id):
        now = time.monotonic()
        for key in [k for k, m in self.members.items() if not m.live and now - m.used > FORGET]:
            del self.members[key]
        return self.members.setdefault((path, id), Member())

    def ids(self, request):
        if request.id:
            return [("X-Atmosphere-tracking-id", request.id)]
        if not hasattr(request, "given"):
            request.given = str(uuid.uuid4())
        first = [] if self.options.old else [("X-Atmosphere-first-request", "true")]
        return [*first, ("X-Atmosphere-tracking-id", request.given)]

    def padding(self, request):
        if request.path == "/bare":
            return b""
        return b" " * (8192 if self.options.old else 2048) + b"\n"

    # Connections

    async def serve(self, reader, writer):
        try:
            while True:
                request = await self.read(reader)
                if request is None or not await self.answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            for member in self.members.values():
                if member.live and member.live.writer is writer:
                    member.live, member.used = None, time.monotonic()
            writer.close()

    async def read(self, reader):
        try:
            text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = text[:-4].split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, target, _ = first.split(" ")
        return Request(method, target, headers, body)

    async def answer(self, request, reader, writer):
        """Returns whether the connection goes on."""
        kind = request.transport
        if kind == "close":
            return self.goodbye(request, writer)
        if request.method == "GET" and "upgrade" in request.headers:
            return await self.socket(request, reader, writer)
        text = request["X-Atmosphere-Post-Body"]
        if request.method == "POST" or text is not None:
            self.pushed(request.path, request.id, text or request.body.decode())
            self.empty(request, writer)
            return True
        wants = request["X-atmo-protocol"] is not None and request["X-Atmosphere-tracking-id"] == "0"
        if wants and not self.speaks(request):
            error = ("X-Atmosphere-error", "Atmosphere Protocol version not supported.")
            writer.write(head(501, [*self.ids(request), *UNCACHED, error, ("Content-Length", "0")]))
            return True
        if kind not in ("long_polling", "streaming", "sse", "jsonp"):
            self.empty(request, writer)
            return True
        return await self.suspend(request, reader, writer, kind, wants)

    def speaks(self, request):
        parts = (request["X-Atmosphere-Framework"] or "").split("-")[0].split(".")[:3]
        return self.options.old or int("".join(parts)) >= 221

    def empty(self, request, writer):
        writer.write(head(200, [*self.ids(request), *UNCACHED, ("Content-Length", "0")]))

    def handshake(self, id):
        if self.options.old:
            return f"{id}|{int(time.time() * 1000)}"
        return f"{id}|{self.options.client_heartbeat}|X|"

    async def suspend(self, request, reader, writer, kind, wants):
        fields = [*self.ids(request), *UNCACHED]
        id = request.id or request.given
        waiting = Suspended(self, request, writer, kind)
        charset = "" if waiting.latin else ";charset=UTF-8"
        if kind != "jsonp":
            if kind == "sse":
                fields.append(("Content-Type", "text/event-stream;charset=utf-8"))
            elif wants or kind == "streaming" or charset:
                fields.append(("Content-Type", "text/plain" + charset))
            writer.write(head(200, [*fields, ("Transfer-Encoding", "chunked")]))
            prologue = b" " * 2000 + b"\n" if kind == "sse" else self.padding(request)
            if prologue:
                waiting.chunk(prologue)
        if wants:
            waiting.write([self.handshake(id)])
            if kind in ("long_polling", "jsonp"):
                return True
        member = self.member(request.path, id)
        self.attach(member, waiting)
        beat = time.monotonic() + (self.options.heartbeat or 1e9)
        try:
            while not waiting.ended.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(waiting.ended.wait(), 0.02)
                if reader.at_eof() or writer.transport.is_closing():
                    return False
                if time.monotonic() > beat and not waiting.ended.is_set():
                    beat += self.options.heartbeat
                    waiting.write(["X"])
        finally:
            if member.live is waiting:
                member.live, member.used = None, time.monotonic()
        return kind in ("long_polling", "jsonp")

    def attach(self, member, waiting):
        old, member.live, member.is_cache_client = member.live, waiting, True
        if old:
            old.end()
        missed, member.missed = member.missed, []
        if missed and (waiting.tracks or waiting.kind in ("websocket", "sse")):
            waiting.write(missed)
            self.written(member, waiting)
        elif missed:
            waiting.write(missed[:1])
            self.written(member, waiting)
            member.missed = missed[1:]

    def written(self, member, waiting):
        if waiting.ended.is_set() and member.live is waiting:
            member.live = None

    # WebSockets

    async def socket(self, request, reader, writer):
        key = request.headers["sec-websocket-key"]
        writer.write(frames.response(b"Sec-WebSocket-Key: " + key.encode()))
        id = request.id or str(uuid.uuid4())
        waiting = Suspended(self, request, writer, "websocket")
        if request.id:
            writer.write(frames.frame(frames.TEXT, (b" " * 2048 + b"\n") * 2, False))
        elif request["X-atmo-protocol"] is not None:
            if not self.speaks(request):
                await reader.read()
                return False
            waiting.write([self.handshake(id)])
        member = self.member(request.path, id)
        self.attach(member, waiting)
        incoming = frames.FrameReader()
        beat = self.options.heartbeat
        try:
            while True:
                try:
                    data = await asyncio.wait_for(reader.read(65536), beat)
                except TimeoutError:
                    waiting.write(["X"])
                    continue
                if not data:
                    return False
                for opcode, payload in self.messages(incoming, data):
                    if opcode == frames.CLOSE:
                        if not waiting.ended.is_set():
                            writer.write(frames.frame(frames.CLOSE, payload, False))
                        return False
                    if opcode == frames.PING:
                        writer.write(frames.frame(frames.PONG, payload, False))
                    elif opcode in (frames.TEXT, frames.BINARY):
                        self.pushed(request.path, id, payload.decode())
        finally:
            if member.live is waiting:
                member.live, member.used = None, time.monotonic()

    @staticmethod
    def messages(incoming, data):
        for first, payload in incoming.feed(data):
            yield first & 15, payload

    # Messages

    def goodbye(self, request, writer):
        member = self.members.get((request.path, request.id))
        if member and member.live and member.live.kind != "websocket":
            member.live.end()
            member.live = None
        self.empty(request, writer)
        return True

    def pushed(self, path, id, text):
        if text == "X" and self.options.client_heartbeat:
            return
        word, _, rest = text.partition(" ")
        if word == "!burst":
            for i in range(int(rest)):
                self.broadcast(path, f"burst-{i}")
        elif word == "!big":
            self.broadcast(path, "ä" * (int(rest) // 2) + "b" * (int(rest) - int(rest) // 2))
        elif word == "!later":
            task = asyncio.ensure_future(self.later(path, *map(int, rest.split())))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        elif word == "!cut":
            self.cut(path, rest)
        elif word in ("!end", "!drop"):
            live = self.members[(path, id)].live
            if live and word == "!end":
                live.end()
                self.members[(path, id)].live = None
            elif live:
                live.ended.set()
                live.writer.transport.abort()
                self.members[(path, id)].live = None
        else:
            self.broadcast(path, text)

    async def later(self, path, count, wait):
        for i in range(count):
            await asyncio.sleep(wait / 1000)
            self.broadcast(path, f"later-{i}")

    def cut(self, path, text):
        """The length in the first chunk is not whole."""
        for (where, _), member in self.members.items():
            live = member.live
            if where != path or not live:
                continue
            if live.kind == "streaming" and live.tracks:
                data = live.framed(text)
                live.chunk(data[:1])
                live.chunk(data[1:])
            else:
                live.write([text])
                self.written(member, live)

    def broadcast(self, path, text):
        for (where, _), member in self.members.items():
            if where != path:
                continue
            if member.live and not member.live.ended.is_set():
                member.live.write([text])
                self.written(member, member.live)
            elif member.is_cache_client:
                member.missed.append(text)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--old", action="store_true")
    parser.add_argument("--heartbeat", type=float)
    parser.add_argument("--client-heartbeat", type=int, default=0)
    server = Server(parser.parse_args())
    listener = await asyncio.start_server(server.serve, "127.0.0.1", server.options.port)
    async with listener:
        await listener.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
