"""A hub on aiosignalr and uvicorn: aiosignalr_hub.py PORT [SECONDS] serves http://127.0.0.1:PORT/hub.

SECONDS is the interval of its pings (15). Its methods have the names of the ASP.NET Core peer's, so that one script
drives both. Where aiosignalr 0.1 differs from ASP.NET Core on the wire in a way that clients trip over, it is made to
behave as that one does: JSON goes in text frames, the first long poll is answered at once, a quiet long-polling
connection outlives one poll, the polls of a connection that has ended get 204, and empty headers in MessagePack are an
empty map (aiosignalr writes the integer 128).
"""

import asyncio
import sys
from urllib.parse import parse_qs

import aiosignalr.protocol.messagepack_protocol
import uvicorn
from aiosignalr.errors import HubException
from aiosignalr.server import Hub, IncomingStream, ServerOptions, SignalRServer


class Chat(Hub):
    async def echo(self, text) -> object:
        return text

    async def add(self, a, b) -> object:
        return a + b

    async def nothing(self):
        return None

    async def birthday(self, person) -> object:
        return {**person, "age": person["age"] + 1}

    async def bytes(self, n) -> object:
        return bytes(range(n))

    async def fail(self):
        raise HubException("It failed as asked")

    async def slow(self, ms, text) -> object:
        await asyncio.sleep(ms / 1000)
        return text

    async def sendMessage(self, user, message):
        await self.clients.all_.send("ReceiveMessage", user, message)

    async def burst(self, n, text):
        for i in range(n):
            await self.clients.caller.send("ReceiveMessage", f"burst{i}", text)

    async def counter(self, count, delay):
        for i in range(count):
            yield i
            await asyncio.sleep(delay / 1000)

    async def counterThenFail(self, count):
        for i in range(count):
            yield i
        raise HubException("stream failed as asked")

    async def sum(self, numbers: IncomingStream) -> object:
        total = 0
        async for number in numbers:
            total += number
        await self.clients.caller.send("Tick", total)
        return total

    async def askBack(self, question) -> object:
        return "you said " + str(await self.clients.caller.invoke("ClientResult", question))


aiosignalr.protocol.messagepack_protocol._EMPTY_HEADERS = {}
POLL_TIMEOUT = 5.0
options = ServerOptions(
    maximum_parallel_invocations=4, allow_stateful_reconnects=True, long_polling_timeout=POLL_TIMEOUT
)
if len(sys.argv) > 2:
    options.keep_alive_interval = float(sys.argv[2])
server = SignalRServer(Chat, options=options)
inner = server.asgi_app(path="/hub")
polled: set[str] = set()  # ids that have had their first poll
binary: set[str] = set()  # ids that speak MessagePack: a stateful reconnect has no handshake of its own


async def idle_watch(record, context):
    """Instead of aiosignalr's own, which ends a quiet connection exactly when its poll times out."""
    try:
        await asyncio.wait_for(context.wait_closed(), POLL_TIMEOUT + 10)
    except TimeoutError:
        await server._teardown(context)


server._lp_idle_watch = idle_watch


async def socket(scope, receive, send, identity):
    """The protocol named in the handshake decides what kind of frames the server sends, as it does in ASP.NET Core."""

    async def receiving():
        event = await receive()
        payload = event.get("bytes") or (event.get("text") or "").encode()
        if b'"protocol"' in payload and b'"messagepack"' in payload:
            binary.add(identity)
        return event

    async def sending(event):
        if event["type"] == "websocket.send" and identity not in binary:
            event = {"type": "websocket.send", "text": event["bytes"].decode()}
        await send(event)

    await inner(scope, receiving, sending)


async def poll(scope, receive, send, identity):
    if identity in polled and identity not in server._records:
        await answer(send, 204)
    elif identity in polled:
        await inner(scope, receive, send)
    else:
        polled.add(identity)
        await answer(send, 200)


async def answer(send, status):
    headers = [(b"cache-control", b"no-store, no-cache")]
    if status == 200:
        headers.append((b"content-length", b"0"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def application(scope, receive, send):
    identity = parse_qs(scope["query_string"].decode()).get("id", [""])[0]
    if scope["type"] == "websocket":
        await socket(scope, receive, send, identity)
        return
    accept = dict(scope["headers"]).get(b"accept", b"")
    known = identity in server._records or identity in polled
    if scope["method"] == "GET" and b"text/event-stream" not in accept and known:
        await poll(scope, receive, send, identity)
    else:
        await inner(scope, receive, send)


if __name__ == "__main__":
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), lifespan="off", log_level="warning")
