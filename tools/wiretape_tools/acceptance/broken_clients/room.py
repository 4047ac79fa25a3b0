"""Servers of ours for broken-clients: one room, whose ticks go to whoever has subscribed, over every protocol of the table.

Each tick comes GAP after the one before. A client that subscribes anew gets the next one, or the last once more. What a client
says is acknowledged; what was said is kept in `heard`. A server with an `end` (`reset`, or the code of a close frame) ends the
first connection after the third tick.
"""

import asyncio
import contextlib
import json
import sys
import urllib.parse
from typing import Any

from wiretape_tools.lib import frames

GAP, LAST = 0.06, 6


class Room:
    def __init__(self, end=None):
        self.next, self.heard, self.peers, self.end = 1, [], 0, end

    async def ticks(self, say, end):
        while True:
            n = min(self.next, LAST)
            self.next = n + 1
            await say(n)
            if n == LAST:
                return
            await asyncio.sleep(GAP)
            if n == 3 and self.end:
                how, self.end = self.end, None
                end(how)
                return


class Request:
    def __init__(self, line, fields, body):
        self.method, target, _ = line.split(" ")
        parts = urllib.parse.urlsplit(target)
        self.path, self.fields, self.body = parts.path, fields, body
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))


async def read_request(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip("\r\n").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(fields.get("content-length", 0)))
    return Request(first, fields, body), head.encode()


def answer(status, body=b"", kind="text/plain", more=()):
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *more, f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Socket:
    """A WebSocket of the server's side; what comes is in the order of its arrival."""

    def __init__(self, reader, writer):
        self.reader, self.writer, self.frames = reader, writer, frames.FrameReader()

    async def say(self, text):
        self.writer.write(frames.frame(frames.TEXT, text.encode(), masked=False))
        await self.writer.drain()

    def end(self, how):
        if how == "reset":
            self.writer.transport.abort()
        else:
            self.writer.write(frames.frame(frames.CLOSE, how.to_bytes(2, "big"), masked=False))

    async def messages(self):
        while data := await self.reader.read(65536):
            for first, payload in self.frames.feed(data):
                code = first & 15
                if code == frames.PING:
                    self.writer.write(frames.frame(frames.PONG, payload, masked=False))
                elif code == frames.CLOSE:
                    self.writer.write(frames.frame(frames.CLOSE, payload, masked=False))
                    return
                elif code != frames.PONG:
                    yield payload.decode()


class Server:
    """Serves a Room at a free port of the loopback."""

    def __init__(self, end=None):
        self.room, self.tasks, self.sinks = Room(end), set(), {}

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def spawn(self, work):
        task = asyncio.ensure_future(self.quietly(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def quietly(self, work):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await work

    async def serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        mine: list[Any] = []
        try:
            while True:
                request, head = await read_request(reader)
                if not await self.handle(request, head, reader, writer, mine):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            for task in mine:
                task.cancel()
            writer.close()
            self.tasks.discard(asyncio.current_task())

    async def handle(self, request, head, reader, writer, mine):
        """Whether the connection goes on with another request."""
        if request.path.startswith("/chat"):
            return await self.hub(request, head, reader, writer, mine)
        if request.path == "/login":
            writer.write(answer("200 OK", b"{}", "application/json"))
            return True
        if request.path == "/stream":
            await self.events(request, writer)
            return False
        talk = {"/graphql": self.graphql, "/app/key": self.eventflit, "/atmosphere": self.atmosphere}[request.path]
        chosen = request.fields.get("sec-websocket-protocol")
        writer.write(frames.response(head, [f"Sec-WebSocket-Protocol: {chosen}"] if chosen else []))
        await talk(Socket(reader, writer), mine)
        return False

    # SignalR

    async def hub(self, request, head, reader, writer, mine):
        if request.path == "/chat/negotiate":
            self.room.peers += 1
            name = f"c{self.room.peers}"
            kinds = ["WebSockets", "ServerSentEvents", "LongPolling"]
            offer = {
                "negotiateVersion": 1, "connectionId": name, "connectionToken": name,
                "availableTransports": [{"transport": kind, "transferFormats": ["Text"]} for kind in kinds],
            }  # fmt: skip
            writer.write(answer("200 OK", json.dumps(offer).encode(), "application/json"))
            return True
        name = request.query.get("id")
        if "upgrade" in request.fields:
            writer.write(frames.response(head))
            socket = Socket(reader, writer)
            async for payload in socket.messages():
                await self.invoked(payload, socket.say, mine, socket.end)
            return False
        queue = self.sinks.setdefault(name, asyncio.Queue())
        if request.method == "POST":
            writer.write(answer("200 OK"))
            await self.invoked(request.body.decode(), lambda text: queue.put(text), self.tasks_of(name))
        elif request.method == "DELETE":
            self.end(name)
            writer.write(answer("202 Accepted"))
        elif "event-stream" in request.fields.get("accept", ""):
            await self.stream(queue, reader, writer)
            self.end(name)
            return False
        else:
            await self.poll(name, queue, writer)
        return True

    def tasks_of(self, name):
        return self.__dict__.setdefault("pushing", {}).setdefault(name, [])

    def end(self, name):
        for task in self.tasks_of(name):
            task.cancel()

    async def poll(self, name, queue, writer):
        polled = self.__dict__.setdefault("polled", set())
        body = ""
        if name in polled:
            with contextlib.suppress(TimeoutError):
                body = await asyncio.wait_for(queue.get(), 10)
        polled.add(name)
        writer.write(answer("200 OK", body.encode(), "text/plain"))
        await writer.drain()

    async def stream(self, queue, reader, writer):
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode())
        gone = asyncio.ensure_future(reader.read(1))
        gone.add_done_callback(lambda done: done.cancelled() or done.exception())
        while not gone.done():
            take = asyncio.ensure_future(queue.get())
            await asyncio.wait([take, gone], return_when=asyncio.FIRST_COMPLETED)
            if not take.done():
                take.cancel()
                return
            data = f"data: {take.result()}\r\n\r\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()

    async def invoked(self, payload, say, mine, end=None):
        for record in payload.split("\x1e"):
            if not record:
                continue
            message = json.loads(record)
            if "protocol" in message:
                await say("{}\x1e")
            elif message.get("type") == 1:
                self.room.heard.append((message["target"], message["arguments"]))
                done = {"type": 3, "invocationId": message["invocationId"], "result": None}
                await say(json.dumps(done) + "\x1e")
                if message["target"] == "JoinGroup":
                    tick = lambda n: say(json.dumps({"type": 1, "target": "Tick", "arguments": [n]}) + "\x1e")
                    mine.append(self.spawn(self.room.ticks(tick, end)))

    # The others

    async def graphql(self, socket, mine):
        async for payload in socket.messages():
            message = json.loads(payload)
            kind, name = message["type"], message.get("id")
            if kind == "connection_init":
                await socket.say('{"type":"connection_ack"}')
            elif kind == "ping":
                await socket.say('{"type":"pong"}')
            elif kind == "subscribe" and "mutation" in message["payload"]["query"]:
                self.room.heard.append(("Say", message["payload"]["variables"]))
                await socket.say(json.dumps({"id": name, "type": "next", "payload": {"data": {"say": True}}}))
                await socket.say(json.dumps({"id": name, "type": "complete"}))
            elif kind == "subscribe":
                tick = lambda n, name=name: socket.say(
                    json.dumps({"id": name, "type": "next", "payload": {"data": {"tick": n}}}))
                mine.append(self.spawn(self.room.ticks(tick, socket.end)))

    async def eventflit(self, socket, mine):
        hello = {"socket_id": f"1.{self.room.peers}", "activity_timeout": 120}
        self.room.peers += 1
        await socket.say(json.dumps({"event": "eventflit:connection_established", "data": json.dumps(hello)}))
        async for payload in socket.messages():
            message = json.loads(payload)
            if message["event"] == "eventflit:ping":
                await socket.say('{"event":"eventflit:pong","data":{}}')
            elif message["event"] == "eventflit:subscribe":
                channel = message["data"]["channel"]
                done = {"event": "eventflit_internal:subscription_succeeded", "channel": channel, "data": "{}"}
                await socket.say(json.dumps(done))
                tick = lambda n, c=channel: socket.say(json.dumps({"event": "tick", "channel": c, "data": str(n)}))
                mine.append(self.spawn(self.room.ticks(tick, socket.end)))
            else:
                self.room.heard.append((message["event"], message["data"]))

    async def atmosphere(self, socket, mine):
        say = lambda text: socket.say(f"{len(text)}|{text}")
        await say("8a6b0c1e-0c5e-4d0a-9d2b-0123456789ab|0|X|")
        mine.append(self.spawn(self.room.ticks(lambda n: say(json.dumps({"tick": n})), socket.end)))
        async for payload in socket.messages():
            self.room.heard.append(("Message", payload))

    async def events(self, request, writer):
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode())

        async def tick(n):
            data = f"retry: 500\nid: {n}\nevent: tick\ndata: {n}\n\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()

        if last := request.fields.get("last-event-id"):
            self.room.next = int(last) + 1
        await self.room.ticks(tick, lambda how: writer.transport.abort())
        if not writer.is_closing():
            await asyncio.sleep(3)


if __name__ == "__main__":
    sys.exit("it is started by tools/acceptance/broken-clients")
