"""A client of the Eventflit dialect that follows docs/protocols/eventflit.md, on websockets: `client_eventflit.py URL SCRIPT`.

It asks the application's endpoint for every channel that wants it, answers pings, reconnects after a second and
subscribes to everything again.
"""

import asyncio
import contextlib
import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request
from typing import Any

import websockets

URL, SCRIPT = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
DIALECT = SCRIPT.get("dialect", "eventflit")


class Client:
    def __init__(self):
        self.counts: dict[str, int] = {}
        self.wanted: list[Any] = []
        self.socket: Any = None
        self.ended = False
        self.changed = asyncio.Condition()

    def say(self, chain, **what):
        print(json.dumps({"chain": chain, **what}, ensure_ascii=False), flush=True)

    async def seen(self, name):
        async with self.changed:
            self.counts[name] = self.counts.get(name, 0) + 1
            self.changed.notify_all()

    async def wait(self, name, count):
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(lambda: self.counts.get(name, 0) >= count), 20)

    async def send(self, event, data, channel=None):
        message = {"event": event, "data": data, **({"channel": channel} if channel else {})}
        await self.socket.send(json.dumps(message))

    async def subscribe(self, channel):
        data = {"channel": channel}
        if channel.startswith(("private-", "presence-")):
            data.update(await asyncio.to_thread(self.authorise, channel))
        await self.send(f"{DIALECT}:subscribe", data)

    def authorise(self, channel):
        form = urllib.parse.urlencode({"socket_id": self.socket_id, "channel_name": channel, "user": SCRIPT["user"]})
        with urllib.request.urlopen(URL + "/auth", form.encode(), timeout=10) as answer:
            return json.load(answer)

    async def connect(self):
        """Connections until the script is over."""
        target = URL.replace("http", "ws", 1) + "/app/key?client=eventflit-websocket-swift&version=0.1.0&protocol=7"
        while not self.ended:
            try:
                async with websockets.connect(target, ping_interval=None) as self.socket:
                    async for text in self.socket:
                        await self.heard(json.loads(text))
                self.say("connection", closed=self.socket.close_code)
            except (websockets.ConnectionClosedError, OSError):
                self.say("connection", lost=True)
            except websockets.InvalidStatus as refusal:
                self.say("connection", refused=refusal.response.status_code)
                return
            if not self.ended:
                await asyncio.sleep(SCRIPT.get("reconnect", 1))

    async def heard(self, message):
        event, channel, data = message["event"], message.get("channel"), message.get("data")
        with contextlib.suppress(ValueError):
            data = json.loads(data) if isinstance(data, str) else data
        if event == f"{DIALECT}:connection_established":
            self.socket_id = data["socket_id"]
            self.say("connection", state="connected", interval=data["activity_timeout"])
            for name in self.wanted:
                await self.subscribe(name)
            await self.seen("connected")
        elif event == f"{DIALECT}:ping":
            await self.send(f"{DIALECT}:pong", {})
        elif event == f"{DIALECT}:pong":
            await self.seen("pong")
        elif event == f"{DIALECT}:error":
            self.say("errors", code=data["code"], message=re.sub(r"[0-9]+\.[0-9]+", "SOCKET", data["message"]))
            await self.seen("error")
        else:
            name = event.removeprefix(f"{DIALECT}_internal:")
            more = {"user": message["user_id"]} if "user_id" in message else {}
            self.say(channel, event=name, data=data, **more)
            await self.seen(f"{channel} {name}")

    async def step(self, step):
        if step["do"] == "subscribe":
            self.wanted.append(step["channel"])
            await self.subscribe(step["channel"])
        elif step["do"] == "unsubscribe":
            self.wanted.remove(step["channel"])
            await self.send(f"{DIALECT}:unsubscribe", {"channel": step["channel"]})
        elif step["do"] == "trigger":
            await self.send(step["event"], step["data"], step["channel"])
        elif step["do"] == "ping":
            await self.send(f"{DIALECT}:ping", {})
        elif step["do"] == "wait":
            await self.wait(re.sub("^(.*) pusher:", r"\1 ", step["for"]), step.get("count", 1))
        else:
            await asyncio.sleep(step["ms"] / 1000)

    async def run(self):
        connecting = asyncio.ensure_future(self.connect())
        await self.wait("connected", 1)
        for step in SCRIPT["steps"]:
            await self.step(step)
        self.ended = True
        await self.socket.close()
        await connecting


asyncio.run(Client().run())
