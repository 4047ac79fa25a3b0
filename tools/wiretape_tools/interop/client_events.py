"""aiohttp and httpx as clients of streams: client_events.py URL WHAT [CLIENT]. WHAT: prices (server-sent events; the client
comes back with Last-Event-ID, after what `retry:` says, until the server answers 204), log (JSON lines), say (text in pieces;
the client counts what comes together), chat (a model's tokens) or commands (each POST is answered on an event stream, and the
next one waits for that). Prints what the application observes, one JSON object a
line."""

import asyncio
import json
import sys

import aiohttp
import httpx
from httpx_sse import EventSource

URL, WHAT = sys.argv[1:3]
CLIENT = sys.argv[3] if len(sys.argv) > 3 else "aiohttp"


def observe(chain, event, **detail):
    print(json.dumps({"chain": chain, "event": event, **detail}, ensure_ascii=False), flush=True)


class Events:
    """Reads server-sent events from lines, as the standard says."""

    def __init__(self):
        self.last, self.retry = "", None

    async def read(self, lines):
        name = ""
        data: list[str] = []
        async for line in lines:
            line = line.decode().rstrip("\r\n") if isinstance(line, bytes) else line
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if line == "":
                if data:
                    yield name or "message", "\n".join(data), self.last
                name, data = "", []
            elif field == "data":
                data.append(value)
            elif field == "event":
                name = value
            elif field == "id":
                self.last = value
            elif field == "retry":
                self.retry = int(value)
            elif field == "":
                observe("comments", "comment", text=value)


async def command(session):
    """An answer that comes before its command is heard too early, and the command then waits for another one in vain."""
    asked: dict[int, asyncio.Event] = {}

    async def listen():
        async with session.get(URL + "/answers") as answer:
            async for _, data, _ in Events().read(answer.content):
                observe("commands", "answer", n=int(data), early=int(data) not in asked)
                asked.setdefault(int(data), asyncio.Event()).set()

    listening = asyncio.create_task(listen())
    for n in range(4):
        await asyncio.sleep(0.1)
        asked.setdefault(n, asyncio.Event())
        observe("commands", "ask", n=n)
        async with session.post(URL + "/command", json={"n": n}) as answer:
            observe("statuses", "status", status=answer.status)
        await asyncio.wait_for(asked[n].wait(), 10)
    await listening


async def with_aiohttp():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        if WHAT == "prices":
            events = Events()
            while True:
                headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": events.last} if events.last else {})
                try:
                    async with session.get(URL + "/prices", headers=headers) as answer:
                        observe("stream", "open", status=answer.status)
                        if answer.status != 200:
                            return
                        async for name, data, last in events.read(answer.content):
                            observe("prices", name, data=data, id=last)
                except aiohttp.ClientError:
                    pass
                observe("stream", "end", retry=events.retry)
                await asyncio.sleep((events.retry or 1000) / 1000)
        elif WHAT == "commands":
            await command(session)
        elif WHAT == "log":
            async with session.get(URL + "/log") as answer:
                async for line in answer.content:
                    observe("log", "line", text=line.decode())
                observe("log", "end")
        elif WHAT == "say":
            async with session.get(URL + "/say") as answer:
                try:
                    async for piece, _ in answer.content.iter_chunks():
                        # The end of the body may come as one of its own.
                        if piece:
                            observe("say", "piece", text=piece.decode())
                    observe("say", "end")
                except aiohttp.ClientError:
                    observe("say", "cut")
        else:
            asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
            async with session.post(URL + "/v1/chat", json=asked) as answer:
                async for name, data, _ in Events().read(answer.content):
                    observe("tokens", name, data=data)
                observe("tokens", "end", status=answer.status)
            async with session.post(URL + "/v1/chat", json={**asked, "stream": False}) as answer:
                observe("whole", "answer", status=answer.status, body=await answer.json())


def with_httpx():
    with httpx.Client(timeout=30) as client:
        last, path = "", "/prices" if WHAT == "prices" else "/v1/chat"
        while True:
            headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
            asked = {"stream": True, "messages": [{"content": "hi", "role": "user"}], "model": "m"}
            more = {} if WHAT == "prices" else {"json": asked}
            with client.stream("GET" if WHAT == "prices" else "POST", URL + path, headers=headers, **more) as answer:
                observe("stream", "open", status=answer.status_code)
                if answer.status_code != 200:
                    return
                try:
                    for one in EventSource(answer).iter_sse():
                        observe("events", one.event, data=one.data, id=one.id, retry=one.retry)
                        last = one.id or last
                except httpx.TransportError:
                    pass
                observe("stream", "end")
            if WHAT != "prices":
                return


if CLIENT == "httpx":
    with_httpx()
else:
    asyncio.run(with_aiohttp())
