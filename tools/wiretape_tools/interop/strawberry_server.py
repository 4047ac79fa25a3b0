"""A real GraphQL server: strawberry-graphql under uvicorn. strawberry_server.py PORT.

One URL, http://127.0.0.1:PORT/graphql, speaks graphql-transport-ws, the older graphql-ws, multipart subscriptions over HTTP and
graphql-sse. There is a query hello(name), a mutation add(a, b), and the subscriptions counter(to, delayMs) and failing.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator

import strawberry
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from strawberry.asgi import GraphQL
from strawberry.subscriptions import (
    GRAPHQL_SSE_PROTOCOL,
    GRAPHQL_TRANSPORT_WS_PROTOCOL,
    GRAPHQL_WS_PROTOCOL,
    MULTIPART_SUBSCRIPTION_PROTOCOL,
)

PROTOCOLS = [GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_WS_PROTOCOL, MULTIPART_SUBSCRIPTION_PROTOCOL, GRAPHQL_SSE_PROTOCOL]


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
    async def counter(self, to: int = 5, delay_ms: int = 100) -> AsyncGenerator[int, None]:
        for number in range(1, to + 1):
            yield number
            await asyncio.sleep(delay_ms / 1000)

    @strawberry.subscription
    async def failing(self) -> AsyncGenerator[int, None]:
        yield 1
        raise RuntimeError("deliberate failure")


if __name__ == "__main__":
    schema = strawberry.Schema(Query, Mutation, Subscription)
    served = GraphQL(schema, subscription_protocols=PROTOCOLS, keep_alive=True, keep_alive_interval=5)
    routes = [Route("/graphql", served, methods=["GET", "POST"]), WebSocketRoute("/graphql", served)]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=int(sys.argv[1]))
