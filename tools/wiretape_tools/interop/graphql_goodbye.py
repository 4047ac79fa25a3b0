"""A client of the shape of Apollo iOS 1.x: it leaves a graphql-transport-ws connection with the farewell of the older dialect,
`connection_terminate`. What its server does then is what the tape does: a strict one closes with 4400, a lenient one takes it.
"""

import asyncio
import contextlib
import json
import threading

import websockets

from wiretape_tools.interop.graphql_http import start
from wiretape_tools.lib.processes import Failed, Wiretape, free_port

COUNT = {"query": "subscription Count { counter(to: 3, delayMs: 20) }", "operationName": "Count", "variables": {}}


async def talk(url):
    """What the client sees: messages, and how its connection ends."""
    seen = []
    async with websockets.connect(url.replace("http", "ws", 1) + "/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        # As Apollo iOS 1.x writes it: a payload always, members in order.
        await socket.send('{"payload":{},"type":"connection_init"}')
        seen.append(json.loads(await socket.recv()))
        await socket.send(json.dumps({"id": "1", "payload": COUNT, "type": "subscribe"}, sort_keys=True))
        while seen[-1]["type"] != "complete":
            seen.append(json.loads(await socket.recv()))
        await socket.send('{"type":"connection_terminate"}')
        with contextlib.suppress(websockets.ConnectionClosed, TimeoutError):
            await asyncio.wait_for(socket.recv(), 0.3)
        if socket.close_code is None:
            await socket.close(1001)
            seen.append({"closed": "by the client"})
        else:
            seen.append({"closed": socket.close_code, "reason": socket.close_reason})
    return seen


class Lenient:
    """A server that takes every message that it does not know."""

    def __init__(self):
        self.port = free_port()
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(self.serve()), daemon=True)

    async def serve(self):
        self.over = asyncio.Event()
        async with websockets.serve(self.client, "127.0.0.1", self.port, subprotocols=["graphql-transport-ws"]):
            self.ready.set()
            await self.over.wait()

    async def client(self, socket):
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "connection_init":
                await socket.send('{"type":"connection_ack"}')
            elif message["type"] == "subscribe":
                for n in (1, 2, 3):
                    await socket.send(json.dumps({"id": message["id"], "type": "next", "payload": {"data": {"counter": n}}}))
                    await asyncio.sleep(0.02)
                await socket.send(json.dumps({"id": message["id"], "type": "complete"}))

    def __enter__(self):
        self.thread.start()
        self.ready.wait(10)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join(10)


def goodbye(server, wanted):
    def case(stage):
        tape = stage.tape()
        with server(stage) as program:
            live = asyncio.run(talk(f"http://127.0.0.1:{program.port}"))
            if live[-1].get("closed") != wanted:
                raise Failed(f"the server ends with {live[-1]}")
            with stage.record(program.port, tape) as proxy:
                if (seen := asyncio.run(talk(proxy.url))) != live:
                    raise Failed(f"record: {seen} instead of {live}")
        with Wiretape(["replay", tape], stage.path(".log")) as proxy:
            seen = asyncio.run(talk(proxy.url))
            if (code := proxy.stop()) != 0:
                raise Failed(f"replay ended with {code}: {proxy.said()}")
        if seen != live:
            raise Failed(f"replay: {seen} instead of {live}")
        return f"{len(live) - 1} messages, and the end: {live[-1]['closed']}; replay ends with exit 0"

    return case


def strawberry(stage):
    port = free_port()
    program = start(stage, {"server": "strawberry"}, port)
    program.port = port
    return program


CASES = {
    "graphql: Apollo's goodbye to a strict server": ((), goodbye(strawberry, 4400)),
    "graphql: Apollo's goodbye to a lenient server": ((), goodbye(lambda stage: Lenient(), "by the client")),
}
