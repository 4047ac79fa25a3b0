"""GraphQL answers in pieces (@defer, @stream): pieces_server.py PORT [--apollo].

strawberry-graphql's own incremental delivery; with --apollo a server of ours that writes byte for byte what Apollo Server 4
writes (@apollo/server, runHttpQuery.ts, writeMultipartBody): one delimiter line with each part, `deferSpec` in the head.
"""

import argparse
import asyncio
import json

import strawberry
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.schema.config import StrawberryConfig

DELAY = 0.1


@strawberry.type
class Slow:
    id: int

    @strawberry.field
    async def later(self) -> str:
        await asyncio.sleep(DELAY)
        return "dön€ 😀"


@strawberry.type
class Query:
    @strawberry.field
    def hello(self) -> str:
        return "hello"

    @strawberry.field
    def slow(self, id: int = 1) -> Slow:
        return Slow(id=id)  # type: ignore[call-arg]  # the decorator writes the initialiser

    @strawberry.field
    async def numbers(self, to: int) -> strawberry.Streamable[int]:
        for n in range(to):
            if n:
                await asyncio.sleep(DELAY / 2)
            yield n


async def apollo(request: Request) -> Response:
    asked = json.loads(await request.body())
    if "@" not in asked["query"]:
        return JSONResponse({"data": {"hello": "hello"}}, media_type="application/json; charset=utf-8")
    if "multipart/mixed" not in request.headers.get("accept", ""):
        return JSONResponse({"errors": [{"message": "the client does not accept multipart/mixed"}]}, status_code=406)
    slow = {"data": {"slow": {"id": 1}}, "hasNext": True}
    parts = [slow, {"hasNext": False, "incremental": [{"path": ["slow"], "data": {"later": "dön€ 😀"}}]}]
    if "@stream" in asked["query"]:
        parts = [{"data": {"numbers": [0]}, "hasNext": True}]
        parts += [{"hasNext": True, "incremental": [{"path": ["numbers", n], "items": [n]}]} for n in (1, 2)]
        parts += [{"hasNext": False}]

    async def body():
        for n, part in enumerate(parts):
            if n:
                await asyncio.sleep(DELAY)
            text = json.dumps(part, separators=(",", ":"), ensure_ascii=False)
            begin = "" if n else "\r\n---\r\n"
            end = "---" if part["hasNext"] else "-----"
            yield f"{begin}content-type: application/json; charset=utf-8\r\n\r\n{text}\r\n{end}\r\n"

    return StreamingResponse(body(), media_type='multipart/mixed; boundary="-"; deferSpec=20220824')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--apollo", action="store_true")
    options = parser.parse_args()
    config = StrawberryConfig(enable_experimental_incremental_execution=True)
    endpoint = apollo if options.apollo else GraphQL(strawberry.Schema(Query, config=config))
    app = Starlette(routes=[Route("/graphql", endpoint, methods=["GET", "POST"])])
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning")


main()
