"""Servers that apply a content coding to every answer, whatever the client accepts, and read requests that have one:
coded_server.py KIND CODING PORT. KIND: hub (aiosignalr's, at /hub), graphql (strawberry, at /graphql) or events (server-sent
events at /events, JSON at /echo). What is streamed is flushed piece by piece, as middlewares for compression do."""

import asyncio
import json
import sys
import typing
import zlib

import brotli
import uvicorn
import zstandard
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from wiretape_tools.interop.coding import Coder

KIND, CODING, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])


def decoded(body, coding):
    return {
        "gzip": lambda: zlib.decompress(body, 31),
        "deflate": lambda: zlib.decompress(body),
        "br": lambda: brotli.decompress(body),
        "zstd": lambda: zstandard.ZstdDecompressor().decompressobj().decompress(body),
    }[coding]()


class Coded:
    """The application with the coding around it."""

    def __init__(self, application, coding):
        self.application, self.coding = application, coding

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        asked = dict(scope["headers"]).get(b"content-encoding", b"").decode()
        receiving = await self.plain(receive, asked) if asked else receive
        await self.application(scope, receiving, send if self.coding == "identity" else self.sender(send))

    @staticmethod
    async def plain(receive, coding):
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        rest = [{"type": "http.request", "body": decoded(body, coding), "more_body": False}]

        async def receiving():
            return rest.pop() if rest else await receive()

        return receiving

    def sender(self, send):
        start, coder = None, None

        async def sending(event):
            nonlocal start, coder
            if event["type"] == "http.response.start":
                start = event
                return
            body, last = event.get("body", b""), not event.get("more_body")
            if start is not None:
                # An answer without a body stays one.
                if body or not last:
                    coder = Coder(self.coding)
                    headers = [(n, v) for n, v in start["headers"] if n.lower() != b"content-length"]
                    start["headers"] = headers + [(b"content-encoding", self.coding.encode()), (b"vary", b"accept-encoding")]
                await send(start)
                start = None
            if coder:
                event = {**event, "body": coder.piece(body, last)}
            await send(event)

        return sending


def hub():
    sys.argv[1:] = [str(PORT)]
    from wiretape_tools.interop import aiosignalr_hub

    return aiosignalr_hub.application


def graphql():
    import strawberry
    from strawberry.asgi import GraphQL
    from strawberry.subscriptions import MULTIPART_SUBSCRIPTION_PROTOCOL

    @strawberry.type
    class Query:
        @strawberry.field
        def hello(self, name: str = "wörld 🌍") -> str:
            return "hello " + name

    @strawberry.type
    class Mutation:
        @strawberry.mutation
        def add(self, a: int, b: int) -> int:
            return a + b

    @strawberry.type
    class Subscription:
        @strawberry.subscription
        async def counter(self, to: int = 5, delay_ms: int = 100) -> typing.AsyncGenerator[int, None]:
            for i in range(1, to + 1):
                yield i
                await asyncio.sleep(delay_ms / 1000)

    schema = strawberry.Schema(Query, Mutation, Subscription)
    view = GraphQL(schema, subscription_protocols=[MULTIPART_SUBSCRIPTION_PROTOCOL])
    return Starlette(routes=[Route("/graphql", view, methods=["POST"])])


def events():
    async def ticks():
        yield "retry: 500\n\n: a comment\n\n"
        for i in range(6):
            yield f"id: {i}\nevent: price\ndata: " + json.dumps({"n": i, "symbol": "ÄÖ" * i}) + "\n\n"
            await asyncio.sleep(0.03)
        yield "data: done\n\n"

    async def stream(request):
        return StreamingResponse(ticks(), media_type="text/event-stream")

    async def echo(request):
        return JSONResponse({"got": await request.json()})

    return Starlette(routes=[Route("/events", stream), Route("/echo", echo, methods=["POST"])])


application = Coded({"hub": hub, "graphql": graphql, "events": events}[KIND](), CODING)

if __name__ == "__main__":
    uvicorn.run(application, host="127.0.0.1", port=PORT, lifespan="off", log_level="warning")
