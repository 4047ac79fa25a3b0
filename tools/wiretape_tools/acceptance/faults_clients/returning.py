"""Client programs on real libraries that come back by themselves: returning.py CLIENT URL OPTIONS, with OPTIONS in JSON.

Each asks for `want` messages on every new connection, by the library's own means, and leaves once it has had them on one, or
once nothing has come for `idle` seconds while it was connected, or after `limit` seconds. What it saw is printed, a JSON line
each with the time in seconds. `options` go to the library as they are; without them it has its defaults.
"""

import asyncio
import contextlib
import datetime
import json
import logging
import sys
import threading
import time

CLIENT, URL, OPTIONS = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
WANT, IDLE, LIMIT = OPTIONS.get("want", 4), OPTIONS.get("idle", 1.5), OPTIONS.get("limit", 30)
LIBRARY = OPTIONS.get("options", {})


class Progress:
    """What the application has had; over once it is content, or has waited long enough."""

    def __init__(self):
        self.count, self.last, self.end = 0, None, time.monotonic() + LIMIT
        self.connections = 0
        self.done = threading.Event()

    def say(self, what, **more):
        print(json.dumps({"t": time.time(), "what": what, **more}, default=str), flush=True)

    def opened(self):
        self.say("open")
        self.count, self.last = 0, time.monotonic()
        self.connections += 1

    def lost(self, why=""):
        self.say("lost", why=str(why)[:200])
        self.last = None

    def message(self, content):
        self.say("message", content=content)
        self.count, self.last = self.count + 1, time.monotonic()
        if self.count >= WANT:
            self.done.set()

    @property
    def is_over(self):
        now = time.monotonic()
        return self.done.is_set() or now > self.end or (self.last is not None and now - self.last > IDLE)

    async def wait(self, *tasks):
        """Until it is over, or one of the tasks is."""
        while not self.is_over and not any(task.done() for task in tasks):
            await asyncio.sleep(0.02)
        for task in tasks:
            if task.done() and not task.cancelled() and task.exception():
                self.say("end", why=repr(task.exception())[:300])

    async def ask(self, send):
        """Asks for one message after the other, for as long as this connection lasts."""
        mine = self.connections
        for _ in range(WANT):
            if self.connections != mine or self.last is None:
                return
            await send()
            await asyncio.sleep(0.05)


progress = Progress()


async def pysignalr():
    from pysignalr.client import SignalRClient

    hub = SignalRClient(URL, **LIBRARY)

    async def opened():
        progress.opened()
        asyncio.ensure_future(progress.ask(lambda: hub.send("burst", [1, "hi"])))

    async def closed():
        progress.lost()

    async def received(args):
        progress.message(args)

    hub.on_open(opened)
    hub.on_close(closed)
    hub.on("ReceiveMessage", received)
    task = asyncio.ensure_future(hub.run())
    await progress.wait(task)
    task.cancel()
    await asyncio.wait([task])


async def aiosignalr():
    from aiosignalr.client import HubConnection, HubConnectionOptions
    from aiosignalr.client.retry import DefaultRetryPolicy, RetryPolicy

    class Fixed(RetryPolicy):
        def next_retry_delay(self, context):
            delays = OPTIONS["delays"]
            return delays[context.previous_retry_count] if context.previous_retry_count < len(delays) else None

    hub = HubConnection(options=HubConnectionOptions(**LIBRARY))
    hub.with_retry_policy(Fixed() if "delays" in OPTIONS else DefaultRetryPolicy())

    def opened():
        progress.opened()
        asyncio.ensure_future(progress.ask(lambda: hub.send("burst", 1, "hi")))

    hub.on_open = hub.on_reconnected = opened
    hub.on_reconnecting = progress.lost
    gone = asyncio.Event()

    def closed(error):
        progress.lost(error)
        gone.set()

    hub.on_close = closed
    hub.on("ReceiveMessage", lambda *args: progress.message(args))
    await hub.start(URL, transports={OPTIONS["transport"]})
    task = asyncio.ensure_future(gone.wait())
    await progress.wait(task)
    task.cancel()
    await hub.stop()


async def gql():
    from gql import Client
    from gql import gql as document
    from gql.transport.exceptions import TransportError
    from gql.transport.websockets import WebsocketsTransport

    protocols = [OPTIONS.get("protocol", "graphql-transport-ws")]
    transport = WebsocketsTransport(url=URL.replace("http", "ws", 1), subprotocols=protocols, **LIBRARY)
    client = Client(transport=transport)
    request = document(f"subscription {{ counter(to: {WANT}, delayMs: 50) }}")

    async def talk():
        session = await client.connect_async(reconnecting=True)
        while True:
            try:
                results = session.subscribe(request)
                first = True
                async for data in results:
                    if first:
                        progress.opened()
                    first = False
                    progress.message(data)
            except TransportError as error:
                if progress.last is not None:
                    progress.lost(repr(error))
                # The session connects again by itself; who asks before its acknowledgement is thrown out.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(session._connected_event.wait(), 10)

    task = asyncio.ensure_future(talk())
    await progress.wait(task)
    task.cancel()
    await asyncio.wait([task], timeout=3)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(client.close_async(), 3)


async def sse():
    """aiohttp-sse-client asks for a GraphQL subscription as an event stream."""
    import aiohttp
    from aiohttp_sse_client.client import EventSource

    query = {"query": f"subscription {{ counter(to: {WANT}, delayMs: 50) }}"}
    more = {**LIBRARY, "reconnection_time": datetime.timedelta(seconds=OPTIONS.get("wait", 0.2))}

    async def talk():
        source = EventSource(URL, params=query, on_open=progress.opened, on_error=progress.lost, **more)
        async with source:
            while True:
                try:
                    async for event in source:
                        if event.type == "next":
                            progress.message(event.data)
                except aiohttp.ClientError as error:
                    # The package hands a broken body to the application, and goes on when it is asked to.
                    progress.lost(repr(error))
                    await asyncio.sleep(OPTIONS.get("wait", 0.2))
                    await source.connect(5)

    task = asyncio.ensure_future(talk())
    await progress.wait(task)
    task.cancel()
    await asyncio.wait([task])


def pysher():
    import urllib.parse

    import pysher as library

    at = urllib.parse.urlsplit(URL)
    client = library.Pusher("key", secure=False, custom_host=at.hostname, port=at.port, secret="secret", **LIBRARY)

    def established(_):
        progress.opened()
        if progress.connections == 1 or not OPTIONS.get("once"):
            client.subscribe("private-room")

    def heard(event, data, channel):
        if event == "pusher_internal:subscription_succeeded":
            client.connection.send_event("client-count", {"on": channel, "to": WANT}, channel_name=channel)
        elif event == "tick":
            progress.message(data)

    client.connection.event_handler = heard
    client.connection.bind("pusher:connection_established", established)
    client.connect()
    while not progress.is_over:
        time.sleep(0.02)
    client.disconnect(timeout=2)


logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(name)s %(message)s")
program = globals()[CLIENT]
if asyncio.iscoroutinefunction(program):
    asyncio.run(program())
else:
    program()
progress.say("left", content=progress.count >= WANT)
