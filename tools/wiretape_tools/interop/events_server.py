"""Streams of no protocol's by aiohttp: events_server.py PORT CODING. /prices has server-sent events with ids (twelve, in
streams of four: the server cuts each, and goes on behind Last-Event-ID; 204 when nothing is left), /log JSON lines, /v1/chat
the token stream of a language model for a POST, /say text in pieces of no format, /answers the answers to commands that are
POSTed to /command. With
another CODING than identity what is streamed is encoded."""

import asyncio
import json
import sys

from aiohttp import web

PORT, CODING = int(sys.argv[1]), sys.argv[2]
GAP = 0.03


class Answer:
    """A streamed answer, flushed piece by piece."""

    def __init__(self, kind):
        headers = {"Content-Type": kind, "Cache-Control": "no-cache"}
        self.coder = None
        if CODING != "identity":
            from wiretape_tools.interop.coding import Coder

            headers["Content-Encoding"] = CODING
            self.coder = Coder(CODING)
        self.response = web.StreamResponse(headers=headers)

    async def begin(self, request):
        await self.response.prepare(request)

    async def say(self, text):
        data = text.encode()
        await self.response.write(self.coder.piece(data, False) if self.coder else data)
        await asyncio.sleep(GAP)

    async def end(self):
        if self.coder and (rest := self.coder.piece(b"", True)):
            await self.response.write(rest)
        await self.response.write_eof()
        return self.response


async def prices(request):
    last = int(request.headers.get("Last-Event-ID") or 0)
    if last >= 12:
        return web.Response(status=204)
    answer = Answer("text/event-stream")
    await answer.begin(request)
    await answer.say("retry: 100\n\n: welcome\n\n")
    for n in range(last + 1, last + 5):
        await answer.say(f"id: {n}\nevent: price\ndata: " + json.dumps({"n": n, "symbol": "ÄÖ" * (n % 3)}) + "\n\n")
    return await answer.end()


async def log(request):
    answer = Answer("application/x-ndjson")
    await answer.begin(request)
    for n in range(6):
        await answer.say(json.dumps({"n": n, "text": "é" * n}) + ("\n" if n < 5 else ""))
    return await answer.end()


async def say(request):
    answer = Answer("text/plain; charset=utf-8")
    await answer.begin(request)
    for piece in ["Once upon ", "a time\nthere was ", "{\"a\": 1}\n", "Äpfel ", "and the end"]:
        await answer.say(piece)
    return await answer.end()


async def chat(request):
    asked = await request.json()
    if not asked.get("stream"):
        return web.json_response({"choices": [{"message": {"content": "Hello, world."}}]})
    answer = Answer("text/event-stream")
    await answer.begin(request)
    for word in ["Hel", "lo,", " wor", "ld."]:
        await answer.say("data: " + json.dumps({"choices": [{"delta": {"content": word}}]}) + "\n\n")
    await answer.say("data: [DONE]\n\n")
    return await answer.end()


commands: asyncio.Queue[int] = asyncio.Queue()


async def answers(request):
    answer = Answer("text/event-stream")
    await answer.begin(request)
    for _ in range(4):
        await answer.say(f"event: answer\ndata: {await commands.get()}\n\n")
    return await answer.end()


async def command(request):
    await commands.put((await request.json())["n"])
    return web.Response(status=202)


app = web.Application()
app.add_routes([
    web.get("/prices", prices), web.get("/log", log), web.get("/say", say), web.post("/v1/chat", chat),
    web.get("/answers", answers), web.post("/command", command),
])  # fmt: skip
web.run_app(app, host="127.0.0.1", port=PORT, print=None)
