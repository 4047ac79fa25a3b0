"""A hub on aiosignalr and uvicorn: aiosignalr_hub.py PORT [SECONDS] serves http://127.0.0.1:PORT/hub.

SECONDS is the interval of its pings (15). Its methods have the names of the ASP.NET Core peer's, so that one script
drives both. aiosignalr 0.1 sends JSON in binary frames, which ASP.NET Core does not and @microsoft/signalr refuses:
they are turned into text frames here.
"""

import asyncio
import sys

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


options = ServerOptions(maximum_parallel_invocations=4)
if len(sys.argv) > 2:
    options.keep_alive_interval = float(sys.argv[2])
inner = SignalRServer(Chat, options=options).asgi_app(path="/hub")


async def application(scope, receive, send):
    async def send_text(event):
        data = event.get("bytes") if event["type"] == "websocket.send" else None
        if data and data[:1] == b"{" and data[-1:] == b"\x1e":
            event = {"type": "websocket.send", "text": data.decode()}
        await send(event)

    await inner(scope, receive, send_text if scope["type"] == "websocket" else send)


if __name__ == "__main__":
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), lifespan="off", log_level="warning")
