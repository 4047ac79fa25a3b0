"""The good client of each protocol, and the habits by which it can be bent.

A client joins, hears ticks, says `hi` once it has heard the second and `bye` once it has heard the fifth, and leaves when it
has the last one. When its connection ends otherwise it comes back as its habits say, and goes on where it stood.
"""

import asyncio
import contextlib
import dataclasses
import json
from typing import Any

from wiretape_tools.acceptance.broken_clients.room import LAST
from wiretape_tools.lib import frames


def constant(*delays):
    """The wait before the n-th retry; None when there is none."""
    return lambda n: delays[n - 1] if n <= len(delays) else None


def always(delay):
    return lambda n: delay


@dataclasses.dataclass
class Habits:
    """How a client behaves; a bent one differs from the good one in one of them."""

    wait: object = constant(0, 0.6, 1.2)
    order: tuple = ("ws", "sse", "lp")
    falls_back: bool = True
    rejoins: object = True  # or the group that it joins instead
    keeps: bool = True  # says again what was not acknowledged
    repeats: bool = False  # says again what was
    second: bool = False  # opens a connection beside the first
    final: tuple = (4001, 4400)
    refused: tuple = (401,)
    closes: bool = True  # stays away after the protocol's own close message
    late: bool = False  # sends one more message with the old token once its connection is lost
    honours: bool = True
    tells: bool = True  # comes back with Last-Event-ID
    obeys: bool = True  # waits as `retry:` says
    patience: float = 1.0
    negotiations: int = 1
    says: tuple = ((2, "hi"), (5, "bye"))
    pings: float = 0
    logins: int = 0  # how often it asks for POST /login before it connects
    leaves: int = LAST


class Lost(Exception):
    """The connection ended, or could not be had."""

    def __init__(self, how, code=None, status=None, retry_after=0):
        super().__init__(how)
        self.code, self.status, self.retry_after = code, status, retry_after


class Client:
    """What all protocols share: the conversation, and coming back."""

    def __init__(self, port, habits):
        self.port, self.habits = port, habits
        self.heard, self.unsaid = 0, list(habits.says)
        self.acknowledged, self.waiting = [], {}
        self.number, self.connections, self.tasks, self.writers = 0, 0, [], []
        self.is_content = False
        self.inbox: asyncio.Queue[Any] = asyncio.Queue()

    # What each protocol brings.

    async def open(self):
        """Connects, over whatever transport."""
        raise NotImplementedError

    async def join(self, group):
        raise NotImplementedError

    async def say(self, text):
        raise NotImplementedError

    def read(self, text):
        """What a message of the server says, as (kind, value)."""
        raise NotImplementedError

    async def run(self):
        failed = 0
        try:
            for _ in range(self.habits.logins):
                await self.log_in()
            while not self.is_content:
                retry_after = 0
                try:
                    try:
                        await asyncio.wait_for(self.open(), 2 * self.habits.patience)
                    except TimeoutError:
                        raise Lost("no connection") from None
                    failed = 0
                    await self.talk()
                except Lost as end:
                    if end.code in self.habits.final or end.status in self.habits.refused:
                        return
                    retry_after = end.retry_after if self.habits.honours else 0
                self.abandon()
                if self.habits.late:
                    await self.send_late()
                failed += 1
                wait = self.habits.wait(failed)
                if self.is_content or wait is None:
                    return
                await asyncio.sleep(max(wait, retry_after))
        finally:
            self.abandon()

    async def send_late(self):
        raise NotImplementedError

    async def log_in(self):
        with contextlib.suppress(Lost):
            *_, writer = await self.ask("POST", "/login")
            writer.close()

    def abandon(self):
        for task in self.tasks:
            task.cancel()
        for writer in self.writers:
            writer.close()
        self.tasks, self.writers = [], []
        self.inbox = asyncio.Queue()

    async def talk(self):
        """To the last tick, which ends it, or until the connection is lost."""
        again = self.connections > 0
        self.connections += 1
        if not again or self.habits.rejoins:
            await self.join(self.habits.rejoins if again and isinstance(self.habits.rejoins, str) else "room")
        if again:
            lost, self.waiting = list(self.waiting.values()), {}
            if self.habits.repeats:
                lost += self.acknowledged
            for text in lost if self.habits.keeps else []:
                await self.say(text)
        if self.habits.second and not again:
            await self.open_another()
        if self.habits.pings:
            self.tasks.append(asyncio.ensure_future(self.keep_alive()))
        while self.heard < self.habits.leaves or self.waiting and self.habits.leaves == LAST:
            what = await self.next()
            if what[0] == "tick":
                self.heard = max(self.heard, what[1])
                await self.say_due()
            elif what[0] == "ack" and what[1] in self.waiting:
                self.acknowledged.append(self.waiting.pop(what[1]))
        self.is_content = True
        await self.leave()

    async def say_due(self):
        while self.unsaid and self.unsaid[0][0] <= self.heard:
            await self.say(self.unsaid.pop(0)[1])

    async def next(self):
        try:
            what = await asyncio.wait_for(self.inbox.get(), self.habits.patience)
        except TimeoutError:
            raise Lost("silence") from None
        if isinstance(what, Lost):
            raise what
        return what

    async def open_another(self):
        """Opens a second connection of the same kind, on which nothing is read or sent. Both stay open for 100 ms at least:
        a shorter overlap looks like a client that closes one connection and opens the next."""
        other = type(self)(self.port, self.habits)
        with contextlib.suppress(Lost):
            await other.open()
            self.writers += other.writers
        await asyncio.sleep(0.1)

    async def keep_alive(self):
        while True:
            await asyncio.sleep(self.habits.pings)
            await self.ping()

    # HTTP

    async def ask(self, method, target, fields=(), body=b"", keeps=False):
        """(status, fields, reader, writer) of a request on a connection of its own."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            if keeps:
                self.writers.append(writer)
            lines = [f"{method} {target} HTTP/1.1", "Host: room", "User-Agent: bent", *fields]
            lines += [f"Content-Length: {len(body)}"] if method == "POST" else []
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Lost(repr(error)) from None
        status = int(head[0].split(" ")[1])
        got = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        if status >= 400:
            writer.close()
            raise Lost(str(status), status=status, retry_after=int(got.get("retry-after", 0)))
        return status, got, reader, writer

    async def content(self, got, reader):
        try:
            return await reader.readexactly(int(got.get("content-length", 0)))
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Lost(repr(error)) from None

    # WebSockets

    async def upgrade(self, target, fields=()):
        request = frames.request(target, "room", extra=["User-Agent: bent", *fields]).decode().split("\r\n")
        _, _, reader, writer = await self.ask("GET", target, request[2:-2], keeps=True)
        self.writer = writer
        self.tasks.append(asyncio.ensure_future(self.listen(reader, writer, self.inbox)))

    async def listen(self, reader, writer, inbox):
        feed = frames.FrameReader()
        try:
            while data := await reader.read(65536):
                for first, payload in feed.feed(data):
                    code = first & 15
                    if code == frames.PING:
                        writer.write(frames.frame(frames.PONG, payload, masked=True))
                    elif code == frames.CLOSE:
                        number = int.from_bytes(payload[:2], "big") if payload else None
                        inbox.put_nowait(Lost("close", code=number))
                        return
                    elif code != frames.PONG:
                        for what in self.read(payload.decode()):
                            inbox.put_nowait(what)
            inbox.put_nowait(Lost("FIN"))
        except OSError as error:
            inbox.put_nowait(Lost(repr(error)))

    async def send(self, text):
        try:
            self.writer.write(frames.frame(frames.TEXT, text.encode(), masked=True))
            await self.writer.drain()
        except OSError as error:
            raise Lost(repr(error)) from None

    async def leave(self):
        with contextlib.suppress(OSError, TimeoutError, Lost):
            self.writer.write(frames.frame(frames.CLOSE, b"\x03\xe8", masked=True))
            await asyncio.wait_for(self.next(), 1)

    async def ping(self):
        self.writer.write(frames.frame(frames.PING, b"", masked=True))


class SignalR(Client):
    """Over the first transport that opens; after one that does not, the next at once."""

    async def open(self):
        for number, transport in enumerate(self.habits.order):
            self.transport = transport
            try:
                return await self.open_one()
            except Lost as end:
                is_refusal = end.status not in (None, *self.habits.refused, 503)
                if not is_refusal or not self.habits.falls_back or number + 1 == len(self.habits.order):
                    raise
        return None

    async def open_one(self):
        for n in range(self.habits.negotiations):
            await asyncio.sleep(0.02 if n else 0)
            _, got, reader, writer = await self.ask("POST", "/chat/negotiate?negotiateVersion=1")
            self.target = "/chat?id=" + json.loads(await self.content(got, reader))["connectionToken"]
            writer.close()
        if self.habits.negotiations > 1:
            raise Lost("it does not connect", status=self.habits.refused[0])
        if self.transport == "ws":
            await self.upgrade(self.target)
        elif self.transport == "sse":
            _, _, reader, _ = await self.ask("GET", self.target, ["Accept: text/event-stream"], keeps=True)
            self.tasks.append(asyncio.ensure_future(self.events(reader, self.inbox)))
        else:
            _, got, reader, writer = await self.ask("GET", self.target)
            await self.content(got, reader)
            writer.close()
            self.tasks.append(asyncio.ensure_future(self.polls(self.target, self.inbox)))
        await self.send_one('{"protocol":"json","version":1}')
        while (await self.next())[0] != "ready":
            pass

    async def events(self, reader, inbox):
        try:
            rest = ""
            while size := int(await reader.readline() or b"0", 16):
                rest += (await reader.readexactly(size + 2))[:-2].decode()
                *whole, rest = rest.split("\r\n\r\n")
                for event in whole:
                    data = "".join(line[6:] for line in event.split("\r\n") if line.startswith("data: "))
                    for what in self.read(data):
                        inbox.put_nowait(what)
            inbox.put_nowait(Lost("end"))
        except (OSError, ValueError, asyncio.IncompleteReadError) as error:
            inbox.put_nowait(Lost(repr(error)))

    async def polls(self, target, inbox):
        try:
            while True:
                status, got, reader, writer = await self.ask("GET", target, keeps=True)
                if status == 204:
                    raise Lost("204")
                for what in self.read((await self.content(got, reader)).decode()):
                    inbox.put_nowait(what)
                writer.close()
        except Lost as end:
            inbox.put_nowait(end)

    def read(self, text):
        for record in text.split("\x1e"):
            if not record:
                continue
            message = json.loads(record)
            if not message:
                yield ("ready",)
            elif message.get("type") == 1:
                yield ("tick", message["arguments"][0])
            elif message.get("type") == 3:
                yield ("ack", message["invocationId"])
            elif message.get("type") == 7:
                yield Lost("Close", code=4001 if self.habits.closes else None)

    async def send_late(self):
        with contextlib.suppress(Lost):
            *_, writer = await self.ask("POST", self.target, body=b'{"type":6}\x1e')
            writer.close()

    async def send_one(self, text):
        if self.transport == "ws":
            return await self.send(text + "\x1e")
        *_, writer = await self.ask("POST", self.target, body=(text + "\x1e").encode())
        writer.close()
        return None

    async def call(self, name, argument):
        self.number += 1
        call = {"type": 1, "invocationId": str(self.number), "target": name, "arguments": [argument]}
        await self.send_one(json.dumps(call))
        return str(self.number)

    async def join(self, group):
        await self.call("JoinGroup", group)

    async def say(self, text):
        self.waiting[str(self.number + 1)] = text
        await self.call("Send", text)

    async def ping(self):
        await self.send_one('{"type":6}')

    async def leave(self):
        if self.transport == "ws":
            await super().leave()
        elif self.transport == "lp":
            with contextlib.suppress(Lost):
                await self.ask("DELETE", self.target)


class GraphQL(Client):
    async def open(self):
        await self.upgrade("/graphql", ["Sec-WebSocket-Protocol: graphql-transport-ws"])
        await self.send('{"type":"connection_init"}')
        while (await self.next())[0] != "ready":
            pass

    def read(self, text):
        message = json.loads(text)
        if message["type"] == "connection_ack":
            yield ("ready",)
        elif message["type"] == "next" and "tick" in message["payload"]["data"]:
            yield ("tick", message["payload"]["data"]["tick"])
        elif message["type"] == "complete":
            yield ("ack", message["id"])
        elif message["type"] == "ping":
            self.writer.write(frames.frame(frames.TEXT, b'{"type":"pong"}', masked=True))

    async def subscribe(self, query, name, variables):
        self.number += 1
        payload = {"operationName": name, "query": query, "variables": variables}
        await self.send(json.dumps({"id": str(self.number), "type": "subscribe", "payload": payload}))

    async def join(self, group):
        await self.subscribe("subscription Ticks($room: String) { tick(room: $room) }", "Ticks", {"room": group})

    async def say(self, text):
        self.waiting[str(self.number + 1)] = text
        await self.subscribe("mutation Say($text: String!) { say(text: $text) }", "Say", {"text": text})

    async def ping(self):
        await self.send('{"type":"ping"}')


class Eventflit(Client):
    async def open(self):
        await self.upgrade("/app/key?protocol=7&client=swift&version=1.0")
        while (await self.next())[0] != "ready":
            pass

    def read(self, text):
        message = json.loads(text)
        if message["event"] == "eventflit:connection_established":
            yield ("ready",)
        elif message["event"] == "tick":
            yield ("tick", int(message["data"]))

    async def join(self, group):
        await self.send(json.dumps({"event": "eventflit:subscribe", "data": {"channel": "private-" + group}}))

    async def say(self, text):
        await self.send(json.dumps({"event": "client-" + text, "channel": "private-room", "data": {"text": text}}))
        # Nobody answers it: the application keeps it until more has come.
        self.acknowledged.append(text)

    async def ping(self):
        await self.send('{"event":"eventflit:ping","data":{}}')


class Atmosphere(Client):
    name = "0"

    async def open(self):
        items = {
            "X-Atmosphere-tracking-id": self.name, "X-Atmosphere-Framework": "2.3.2-javascript",
            "X-Atmosphere-Transport": "websocket", "X-Atmosphere-TrackMessageSize": "true", "X-atmo-protocol": "true",
        }  # fmt: skip
        await self.upgrade("/atmosphere?" + "&".join(f"{name}={value}" for name, value in items.items()))
        while self.name == "0" and (await self.next())[0] != "ready":
            pass

    def read(self, text):
        _, _, content = text.partition("|")
        if content.startswith("{"):
            yield ("tick", json.loads(content)["tick"])
        elif content.count("|") >= 3:
            self.name = content.split("|")[0]
            yield ("ready",)

    async def join(self, group):
        pass

    async def say(self, text):
        await self.send(json.dumps({"text": text}))
        self.acknowledged.append(text)


class Events(Client):
    """Server-sent events, with the id of the last one when it comes back."""

    async def open(self):
        last = [f"Last-Event-ID: {self.heard}"] if self.heard and self.habits.tells else []
        _, _, reader, _ = await self.ask("GET", "/stream", ["Accept: text/event-stream", *last], keeps=True)
        self.tasks.append(asyncio.ensure_future(self.events(reader, self.inbox)))

    async def events(self, reader, inbox):
        try:
            while size := int(await reader.readline() or b"0", 16):
                for line in (await reader.readexactly(size + 2)).decode().split("\n"):
                    if line.startswith("retry: ") and self.habits.obeys:
                        self.habits = dataclasses.replace(self.habits, wait=always(int(line[7:]) / 1000))
                    elif line.startswith("data: "):
                        inbox.put_nowait(("tick", int(line[6:])))
            inbox.put_nowait(Lost("end"))
        except (OSError, ValueError, asyncio.IncompleteReadError) as error:
            inbox.put_nowait(Lost(repr(error)))

    async def join(self, group):
        pass

    async def say(self, text):
        pass

    async def leave(self):
        pass
