"""The servers of the cells, real ones where there are, which say secrets of their own:

    servers.py KIND PORT PLAN     KIND: signalr, graphql, eventflit, atmosphere, or places (plain requests of all kinds)

PLAN is a file of JSON that a cell has written: "give", "push", "auth" and "answer …" are what they say; "signatures" a file where
the signatures go that are made on the way.
"""

import asyncio
import json
import pathlib
import sys
from typing import Any

HOST = "127.0.0.1"


def signalr(port: int, plan: dict[str, Any]) -> None:
    """aiosignalr's hub of tools/interop, with two methods more."""
    sys.argv = ["aiosignalr_hub.py", str(port), "15"]
    import uvicorn
    from aiosignalr.server import SignalRServer

    from wiretape_tools.interop import aiosignalr_hub as hub

    class Chat(hub.Chat):
        async def give(self) -> object:
            return plan["give"]

        async def tell(self):
            await self.clients.caller.send("ReceiveMessage", "server", plan["push"])

    hub.server = SignalRServer(Chat, options=hub.options)
    hub.server._lp_idle_watch = hub.idle_watch
    hub.inner = hub.server.asgi_app(path="/hub")
    uvicorn.run(hub.application, host=HOST, port=port, lifespan="off", log_level="warning")


def graphql(port: int, plan: dict[str, Any]) -> None:
    """strawberry: `take` says what it hears, `give` has secrets of its own."""
    from collections.abc import AsyncGenerator

    import strawberry
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Route, WebSocketRoute
    from strawberry.asgi import GraphQL
    from strawberry.scalars import JSON

    from wiretape_tools.interop.strawberry_server import PROTOCOLS

    @strawberry.type
    class Query:
        @strawberry.field
        def take(self, input: JSON) -> JSON:
            return input

    @strawberry.type
    class Subscription:
        @strawberry.subscription
        async def give(self) -> AsyncGenerator[JSON, None]:
            yield plan["give"]
            await asyncio.sleep(0.05)
            yield plan["push"]

    schema = strawberry.Schema(Query, subscription=Subscription)
    served: Any = GraphQL(schema, subscription_protocols=PROTOCOLS, keep_alive=True, keep_alive_interval=5)
    routes = [Route("/graphql", served, methods=["GET", "POST"]), WebSocketRoute("/graphql", served)]
    uvicorn.run(Starlette(routes=routes), host=HOST, port=port, log_level="warning")


def eventflit(port: int, plan: dict[str, Any]) -> None:
    """The server of tools/interop with an application's secret; what its endpoint lets in comes with secrets."""
    import uvicorn

    from wiretape_tools.interop import pusher_server

    pusher_server.SECRET = plan["app secret"]
    made, sign = pathlib.Path(plan["signatures"]), pusher_server.sign

    def noted(text):
        signature = sign(text)
        with made.open("a") as file:
            file.write(signature.partition(":")[2] + "\n")
        return signature

    pusher_server.sign = noted

    class Server(pusher_server.Server):
        def authorise(self, fields):
            if not fields["channel_name"].startswith("presence-"):
                return super().authorise(fields)
            data = json.dumps({"user_id": fields.get("user") or "ada", "user_info": plan["auth"]}, ensure_ascii=False)
            auth = pusher_server.sign(f"{fields['socket_id']}:{fields['channel_name']}:{data}")
            return 200, {"auth": auth, "channel_data": data}

        async def act(self, connection, event, data):
            if event == "client-take":
                self.publish("private-room", "taken", json.dumps(data, ensure_ascii=False))
            elif event == "client-give":
                self.publish("private-room", "given", json.dumps(plan["give"], ensure_ascii=False))

    uvicorn.run(Server(plan["prefix"], 120), host=HOST, port=port, log_level="warning", ws="websockets-sansio")


def atmosphere(port: int, plan: dict[str, Any]) -> None:
    """The server of tools/interop: it broadcasts what it hears, and on `!give` secrets of its own."""
    import argparse

    from wiretape_tools.interop import atmosphere_server

    class Server(atmosphere_server.Server):
        def pushed(self, path, id, text):
            if text == "!give":
                self.broadcast(path, json.dumps(plan["give"], ensure_ascii=False))
            else:
                super().pushed(path, id, text)

    async def serve() -> None:
        server = Server(argparse.Namespace(old=False, heartbeat=None, client_heartbeat=0))
        listener = await asyncio.start_server(server.serve, HOST, port, limit=1 << 20)
        async with listener:
            await listener.serve_forever()

    asyncio.run(serve())


def places(port: int, plan: dict[str, Any]) -> None:
    """Heads, cookies, queries, forms, JSON and events, in both directions; JSON comes compressed."""
    from aiohttp import web

    async def headers(_):
        fields: Any = [tuple(pair) for pair in plan["answer headers"]]
        return web.Response(text="headers", headers=fields)

    async def cookies(_):
        answer = web.Response(text="cookies")
        for name, value in plan["answer cookies"]:
            answer.headers.add("Set-Cookie", f"{name}={value}; Path=/; HttpOnly")
        return answer

    async def data(request):
        await request.read()
        answer = web.json_response(plan["answer json"])
        answer.enable_compression(web.ContentCoding.gzip)
        return answer

    async def said(request):
        """What came, in the body of the answer."""
        fields = await request.post()
        return web.json_response({name: value for name, value in fields.items() if isinstance(value, str)})

    async def query(request):
        return web.json_response([list(pair) for pair in request.query.items()])

    async def events(request):
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        for number, item in enumerate(plan["answer events"]["items"]):
            event = f"id: {number}\ndata: {json.dumps({'items': [item]})}\n\n".encode()
            # In two pieces, in the middle of what it is about.
            await answer.write(event[: len(event) // 2])
            await asyncio.sleep(0.004)
            await answer.write(event[len(event) // 2 :])
        return answer

    app = web.Application()
    app.add_routes([
        web.get("/headers", headers), web.get("/cookies", cookies), web.get("/query", query), web.post("/form", said),
        web.post("/multipart", said), web.post("/json", data), web.get("/events", events),
    ])  # fmt: skip
    web.run_app(app, host=HOST, port=port, print=None, access_log=None)


SERVERS = {serve.__name__: serve for serve in (signalr, graphql, eventflit, atmosphere, places)}

if __name__ == "__main__":
    SERVERS[sys.argv[1]](int(sys.argv[2]), json.loads(pathlib.Path(sys.argv[3]).read_text(encoding="utf-8")))
