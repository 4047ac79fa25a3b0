"""The client of a tape, played again: its connections, requests and messages at their recorded times, byte for byte."""

import asyncio
import base64
import contextlib
import itertools
import json
import re
import socket
import struct
from collections.abc import Callable, Iterable
from typing import Any

from wiretape_tools.lib import frames
from wiretape_tools.lib.tapes import Event, payload

PATIENCE = 5.0  # seconds that the client waits for the last of what the recorded one had
GRACE = 1.0  # seconds that the client waits for what it had before it spoke, where that comes late
OWN = {"content-length", "transfer-encoding", "host", "sec-websocket-key", "expect"}
IDS = ("connectionToken", "connectionId")


# Signs of life, which replay makes anew: SignalR's in both encodings, GraphQL's, Pusher's.
SIGNS = (b'{"type":6}', b"\x02\x91\x06", b'{"type":"ping"', b'{"type":"pong"', b'{"type":"ka"', b'"pusher:p', b'"eventflit:p', b"h\n")


def packed(content: bytes) -> list[bytes] | None:
    """The records of a SignalR payload in MessagePack, or None: each has its length before it, seven bits a byte."""
    at, records = 0, []
    while at < len(content):
        size = shift = 0
        while True:
            if at >= len(content) or shift > 28:
                return None
            byte = content[at]
            size, shift, at = size | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                break
        if not size or at + size > len(content) or content[at] & 0xF0 != 0x90:
            return None
        records.append(bytes([size & 127]) + content[at : at + size])
        at += size
    return records


def measured(content: bytes) -> list[bytes] | None:
    """The messages of an Atmosphere payload, or None: each has its length in characters before it."""
    with contextlib.suppress(UnicodeDecodeError):
        text, found = content.decode().strip(), []
        while match := re.match(r"(\d{1,7})\|", text):
            end = match.end() + int(match[1])
            found.append(text[match.end() : end].encode())
            text = text[end:]
        return [one for one in found if one.strip() not in (b"", b"X")] if found and not text.strip() else None
    return None


def units(content: bytes) -> int:
    """How many messages a payload carries, without signs of life: SignalR's records, Atmosphere's by their lengths, else it
    is one."""
    if (found := measured(content)) is not None:
        return len(found)
    parts = packed(content) or [part for part in content.split(b"\x1e") if part.strip()]
    return sum(not any(sign in part[:40] for sign in SIGNS) for part in parts)


class Counter:
    """Counts the messages of a body as its pieces come."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        kind = next((value for name, value in headers if name.lower() == "content-type"), "")
        self.is_events = kind.startswith("text/event-stream")
        self.rest = b""

    def feed(self, piece: bytes) -> int:
        if not self.is_events:
            return units(piece)
        *events, self.rest = (self.rest + piece.replace(b"\r\n", b"\n")).split(b"\n\n")
        return sum(units(event.partition(b"data:")[2].strip()) for event in events if b"data:" in event)


class Lost(Exception):
    """The connection has ended, or does not give what the client had at this point."""


class Wire:
    """Bytes of one connection as they are asked for."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def head(self) -> tuple[int, dict[str, str]]:
        try:
            raw = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Lost("the connection ended before an answer") from error
        first, *lines = raw[:-4].split(b"\r\n")
        fields = {}
        for line in lines:
            name, _, value = line.partition(b":")
            fields[name.decode().lower()] = value.strip().decode("latin-1")
        return int(first.split(b" ")[1]), fields

    async def body(self, method: str, status: int, fields: dict[str, str], heard: Callable[[bytes], None]) -> bytes:
        """The whole body; heard gets its pieces as they come."""
        if method == "HEAD" or status in (204, 304) or status < 200:
            return b""
        try:
            if "chunked" in fields.get("transfer-encoding", ""):
                pieces = []
                while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
                    pieces.append(await self.reader.readexactly(size))
                    heard(pieces[-1])
                    await self.reader.readexactly(2)
                await self.reader.readuntil(b"\r\n")
                return b"".join(pieces)
            if "content-length" in fields:
                content = await self.reader.readexactly(int(fields["content-length"]))
            else:
                content = await self.reader.read()
            heard(content)
            return content
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Lost("the connection ended within an answer") from error

    async def say(self, data: bytes) -> None:
        try:
            self.writer.write(data)
            await self.writer.drain()
        except OSError as error:
            raise Lost("the server has ended the connection") from error


class Recorded:
    """One connection of the tape."""

    def __init__(self, client: "RecordedClient", number: int, found: list[Event]) -> None:
        self.client, self.number, self.events = client, number, found
        self.wire: Any = None
        self.tasks: list[asyncio.Task[None]] = []
        self.answers: dict[int, asyncio.Future[Any]] = {}  # exchange: a future of its whole answer
        self.closed = asyncio.Event()
        self.ended = self.end_of_server()
        self.waits = self.is_over = False

    def end_of_server(self) -> int | None:
        """When the recorded server ended this WebSocket, before its client did; None: it did not."""
        if not any(event["e"] == "response" and event["status"] == 101 for event in self.events):
            return None
        for event in self.events:
            if event["e"] in ("close", "gone"):
                is_server = event.get("d") == "<" or event.get("by") == "server"
                return event["t"] if is_server else None
        return None

    async def play(self) -> None:
        try:
            for event in self.events:
                await self.step(event)
                self.client.done(event)
            self.is_over = True
            # What the recorded client left open stays open as long as there is something to say elsewhere.
            while not all(one.is_over for one in self.client.connections):
                await asyncio.sleep(0.01)
            await self.client.heard_to_the_end(self)
        except Lost as lost:
            self.client.note(f"connection {self.number}: {lost}")
        finally:
            self.is_over = True
            for event in self.events:
                self.client.done(event)
            for task in self.tasks:
                task.cancel()
            if self.wire:
                self.wire.writer.close()

    def listens(self) -> bool:
        """Whether a body or frames of the server may still come: the recorded client left this connection open, and nobody has
        ended it now."""
        is_left_open = not any(event["e"] == "gone" for event in self.events)
        return is_left_open and not self.closed.is_set() and any(not task.done() for task in self.tasks)

    async def step(self, event: Event) -> None:
        kind = event["e"]
        if kind == "request" and self.client.polls(event):
            await self.client.poll(self.number, event)
        elif kind == "request":
            await self.request(event)
        elif event.get("d") == ">" and kind in ("message", "part", "ping", "pong", "close"):
            await self.frame(event)
        elif kind == "gone" and event["by"] == "client":
            await self.leave(event)

    # The requests

    async def request(self, event: Event) -> None:
        if self.answers:
            await self.had(list(self.answers)[-1])
        await self.client.moment(event)
        await self.client.heard_before(event)
        self.wire = self.wire or await self.client.connect()
        x, method = event["x"], event["method"]
        body = payload(event)
        if event.get("stream"):
            if not any(e["e"] == "end" and e["x"] == x and e["d"] == ">" for e in self.events):
                raise Lost("the tape ends within a request of its")
            body = b"".join(payload(e) for e in self.events if e["e"] == "chunk" and e["x"] == x and e["d"] == ">")
        self.answers[x] = asyncio.get_running_loop().create_future()
        self.client.answers[self.number, x] = asyncio.get_running_loop().create_future()
        await self.wire.say(self.client.asked(event, body))
        self.tasks.append(asyncio.create_task(self.listen(x, method)))

    async def listen(self, x: int, method: str) -> None:
        """The answer to a request, and after a 101 the server's frames."""
        began = self.client.answers[self.number, x]
        try:
            status, fields = await self.wire.head()
            if status != 101:
                if not self.streams(x) and not began.done():
                    body = await self.wire.body(method, status, fields, self.client.hearing(fields))
                    self.client.learn(self.number, x, body)
                    began.set_result(status)
                else:
                    began.set_result(status)
                    await self.wire.body(method, status, fields, self.client.hearing(fields))
                self.settle(x, status)
                return
            began.set_result(status)
            self.settle(x, status)
            await self.read_frames(frames.Inflater(fields.items(), "<"))
        except Lost:
            if not began.done():
                began.set_result(None)
            self.settle(x, None)

    def settle(self, x: int, status: int | None) -> None:
        if not self.answers[x].done():
            self.answers[x].set_result(status)

    def streams(self, x: int) -> bool:
        """Whether the recorded answer came in pieces."""
        return any(e["e"] == "response" and e["x"] == x and e.get("stream") for e in self.events)

    async def had(self, x: int) -> None:
        """The recorded client had this answer whole before it asked again."""
        self.waits = True
        while not self.answers[x].done() and not self.client.are_idle(self):
            await asyncio.sleep(0.01)
        if not self.answers[x].done() and not await self.client.within(self.answers[x], f"the answer to exchange {x}"):
            raise Lost(f"it asks no more: exchange {x} is not answered")
        if self.answers[x].result() is None:
            raise Lost("it ended before the recorded one did")
        self.waits = False

    # The frames

    async def read_frames(self, inflater: frames.Inflater) -> None:
        with contextlib.suppress(OSError):
            await self.read_until_end(inflater)
        self.closed.set()

    async def read_until_end(self, inflater: frames.Inflater) -> None:
        reader, message, deflated = frames.FrameReader(), b"", False
        while data := await self.wire.reader.read(65536):
            for first, content in reader.feed(data):
                opcode = first & 15
                if opcode == frames.PING:
                    await self.wire.say(frames.frame(frames.PONG, content, True))
                elif opcode == frames.CLOSE:
                    self.closed.set()
                elif opcode not in (frames.TEXT, frames.BINARY, 0):
                    continue
                else:
                    message, deflated = (content, bool(first & 0x40)) if opcode else (message + content, deflated)
                    if first & 0x80:
                        self.client.heard += units(inflater.message(message) if deflated else message)

    async def frame(self, event: Event) -> None:
        if not self.answers:
            raise Lost("the tape has no opening of its WebSocket")
        await self.client.within(self.answers[list(self.answers)[-1]], "the upgrade's answer")
        await self.client.moment(event)
        await self.client.heard_before(event)
        kind = event["e"]
        if kind == "close":
            code = b"" if "code" not in event else struct.pack(">H", event["code"]) + event.get("reason", "").encode()
            return await self.wire.say(frames.frame(frames.CLOSE, code, True))
        if kind in ("ping", "pong"):
            opcode = frames.PING if kind == "ping" else frames.PONG
            return await self.wire.say(frames.frame(opcode, payload(event), True))
        first = 0x80
        opcode = frames.TEXT if event["op"] == "text" else frames.BINARY
        if kind == "part":
            first = 0x80 if event.get("last") else 0
            opcode = opcode if event["n"] == 0 else 0
        if self.closed.is_set():
            raise Lost("the server had closed it before the recorded client had said all")
        await self.wire.say(frames.frame(opcode, self.client.live(payload(event)), True, first=first))
        return None

    async def leave(self, event: Event) -> None:
        if not self.wire:
            return
        await self.client.moment(event)
        closes = [e for e in self.events if e["e"] == "close" and e["t"] <= event["t"]]
        if any(e["d"] == ">" for e in closes):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.closed.wait(), GRACE)
        else:
            await self.client.heard_before(event)
        for x, answer in self.answers.items():
            ended = any(e["e"] in ("response", "end") and e.get("x") == x and e.get("d", "<") == "<" for e in self.events)
            if ended and not self.streams(x):
                await self.client.within(answer, f"the answer to exchange {x}")
        if event["how"] == "rst":
            raw = self.wire.writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.wire.writer.transport.abort()
        else:
            self.wire.writer.close()


class RecordedClient:
    """All connections of a tape against the server at a port of this machine."""

    def __init__(self, found: list[Event], port: int, speed: float = 1.0) -> None:
        self.port, self.speed = port, speed
        self.notes: list[str] = []
        self.answers: dict[tuple[int, int], asyncio.Future[Any]] = {}
        self.ids: dict[str, str] = {}
        self.recorded: dict[tuple[int, int], Event] = {}  # (connection, exchange): the recorded answer's event
        self.events = found
        self.turns = [asyncio.Event() for _ in found]
        self.places = {id(event): place for place, event in enumerate(found)}
        connections: dict[int, Any] = {}
        for event in found:
            if event.get("d") == "<" or "c" not in event:
                self.done(event)
            if "c" in event:
                connections.setdefault(event["c"], []).append(event)
            if event["e"] == "response" and not event.get("interim"):
                self.recorded[event["c"], event["x"]] = event
        self.heard = 0
        self.before = self.count()
        self.connections = [Recorded(self, number, mine) for number, mine in connections.items()]
        self.pollers: list[asyncio.Task[None]] = []

    def count(self) -> list[tuple[int, int]]:
        """[(time, messages of the server so far)] of the tape."""
        total, counts, bodies = 0, [], {}
        for event in self.events:
            if event.get("d", "<") == ">":
                continue
            if event["e"] == "message":
                total += units(payload(event))
            elif event["e"] == "response":
                bodies[event["c"], event["x"]] = Counter(event["headers"])
                total += bodies[event["c"], event["x"]].feed(payload(event))
            elif event["e"] == "chunk" and (event["c"], event["x"]) in bodies:
                total += bodies[event["c"], event["x"]].feed(payload(event))
            else:
                continue
            counts.append((event["t"], total))
        return counts

    async def heard_before(self, event: Event) -> None:
        """What the server had said by then: a client answers what it has."""
        wanted = max((count for time, count in self.before if time < event["t"]), default=0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while self.heard < wanted:
                    await asyncio.sleep(0.002)

    async def heard_to_the_end(self, connection: Recorded) -> None:
        """What the server says after everything that this client says: where the recording ends with an open connection, the
        client has heard it before it leaves. A connection that the recorded client ended had its moment."""
        if not connection.listens() or not self.before:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while self.heard < self.before[-1][1] and connection.listens():
                    await asyncio.sleep(0.002)

    def done(self, event: Event) -> None:
        self.turns[self.places[id(event)]].set()

    def are_idle(self, but: Recorded) -> bool:
        return all(one.is_over or one.waits for one in self.connections if one is not but)

    def note(self, text: str) -> None:
        self.notes.append(text)

    async def play(self) -> None:
        loop = asyncio.get_running_loop()
        self.begun = loop.time()
        await asyncio.gather(*(connection.play() for connection in self.connections))
        if self.pollers:
            _, waiting = await asyncio.wait(self.pollers, timeout=GRACE)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*self.pollers, return_exceptions=True)

    async def connect(self) -> Wire:
        return Wire(*await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24))

    def asked(self, event: Event, body: bytes) -> bytes:
        """The bytes of a request."""
        lines = [f"{event['method']} {self.live(event['target'])} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"{name}: {self.live(value)}" for name, value in event["headers"] if name.lower() not in OWN]
        if any(name.lower() == "upgrade" for name, _ in event["headers"]):
            lines.append("Sec-WebSocket-Key: " + base64.b64encode(bytes(16)).decode())
        if body or event["method"] in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body

    def hearing(self, fields: dict[str, str]) -> Callable[[bytes], None]:
        """Takes the pieces of a body."""
        counter = Counter(fields.items())

        def hear(piece: bytes) -> None:
            self.heard += counter.feed(piece)

        return hear

    # Polls: a client asks again as soon as it was answered. How many messages each of them brings is the server's business.

    def polls(self, event: Event) -> bool:
        """Whether the request is one of several that wait for what the server says."""
        return len(self.same(event)) > 2

    def same(self, event: Event) -> list[Event]:
        def place(one: Event) -> tuple[str, str]:
            return one["method"], re.sub(r"[?&](_|t|n)=\d+", "", one["target"])

        is_poll = event["method"] == "GET" or event["target"].split("?")[0].endswith("/xhr")
        is_poll = is_poll and not any(name.lower() == "upgrade" for name, _ in event["headers"])
        return [e for e in self.events if is_poll and e["e"] == "request" and place(e) == place(event)]

    async def poll(self, number: int, event: Event) -> None:
        """The first of the polls begins a loop of its own; the others are part of that."""
        if event is not self.same(event)[0]:
            return
        await self.moment(event)
        first = self.answers[number, event["x"]] = asyncio.get_running_loop().create_future()
        self.pollers.append(asyncio.create_task(self.keep_polling(self.same(event), first)))

    def farewell(self, poll: Event) -> int | None:
        """The place of the request with which the recorded client ends the session that it polls; None: it just leaves."""
        name = re.search(r"[?&](?:id|X-Atmosphere-tracking-id)=([^&]+)", poll["target"])
        for place, event in enumerate(self.events):
            if name and event["e"] == "request" and name[1] in event["target"]:
                if event["method"] == "DELETE" or "Transport=close" in event["target"]:
                    return place
        return None

    async def keep_polling(self, requests: list[Event], first: asyncio.Future[Any]) -> None:
        wire = await self.connect()
        farewell = self.farewell(requests[0])
        try:
            for request in itertools.chain(requests, itertools.repeat(requests[-1])):
                if farewell is not None and self.turns[farewell].is_set():
                    return
                await wire.say(self.asked(request, payload(request)))
                status, fields = await wire.head()
                await wire.body(request["method"], status, fields, self.hearing(fields))
                if not first.done():
                    first.set_result(status)
                if status != 200:
                    return
        except Lost:
            if not first.done():
                first.set_result(None)
        finally:
            wire.writer.close()

    async def moment(self, event: Event) -> None:
        """The recorded time of what the client does, behind what it did before, and with the answers that it had by then."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self.begun + event["t"] / 1e9 / self.speed - loop.time()))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * GRACE):
                for turn in self.turns[: self.places[id(event)]]:
                    await turn.wait()
        for one in self.connections:
            if one.ended is not None and one.ended < event["t"] and one.wire:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(one.closed.wait(), GRACE)
        for key, answer in list(self.answers.items()):
            recorded = self.recorded.get(key)
            if recorded and recorded["t"] < event["t"] and not answer.done():
                if not await self.within(answer, f"the answer to exchange {key[1]} of connection {key[0]}"):
                    self.answers.pop(key, None)

    async def within(self, future: asyncio.Future[Any], what: str) -> bool:
        """Whether it comes soon; where it does not, the client goes on."""
        try:
            await asyncio.wait_for(asyncio.shield(future), GRACE)
            return True
        except TimeoutError:
            self.note(f"{what} does not come")
            return False

    def learn(self, connection: int, x: int, body: bytes) -> None:
        """Ids that the server gave out in another spelling than the recorded one."""
        recorded = self.recorded.get((connection, x))
        if not recorded:
            return
        with contextlib.suppress(ValueError, TypeError):
            old, new = json.loads(payload(recorded)), json.loads(body)
            for name in IDS:
                if isinstance(old.get(name), str) and old[name] != new.get(name, old[name]):
                    self.ids[old[name]] = new[name]

    def live(self, text: Any) -> Any:
        for old, new in self.ids.items():
            text = text.replace(old.encode(), new.encode()) if isinstance(text, bytes) else text.replace(old, new)
        return text
