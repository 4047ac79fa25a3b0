"""pysignalr: client_pysignalr.py URL SCRIPT. Does what the script says, prints what the application observes."""

import asyncio
import json
import logging
import sys
import traceback

from pysignalr.client import SignalRClient
from pysignalr.protocol.json import JSONProtocol
from pysignalr.protocol.messagepack import MessagepackProtocol

PROTOCOLS = {"json": JSONProtocol, "messagepack": MessagepackProtocol}


class Player:
    def __init__(self, url, script):
        self.script = script
        self.seen = {}
        self.changed = asyncio.Condition()
        how = script["connection"]
        token = how.get("token")
        self.client = SignalRClient(
            url, protocol=PROTOCOLS[how["protocol"]](), headers=how.get("headers"),
            access_token_factory=(lambda: token) if token else None,
        )  # fmt: skip
        self.opened = asyncio.Event()
        self.client.on_open(self.on_open)
        self.client.on_close(self.on_close)
        self.client.on_error(self.on_error)
        for name in script["callbacks"]:
            self.client.on(name, self.callback(name, None))
        for name, answer in script["results"].items():
            self.client.on(name, self.callback(name, answer))

    def observe(self, chain, event, **detail):
        print(json.dumps({"chain": chain, "event": event, **detail}, default=list), flush=True)

    async def on_open(self):
        self.observe("connection", "opened")
        self.opened.set()

    async def on_close(self):
        self.observe("connection", "closed")

    async def on_error(self, message):
        pass  # the invocation's own callback gets the same message afterwards

    def callback(self, name, answer):
        async def called(args):
            self.observe(name, "callback", args=args)
            async with self.changed:
                self.seen[name] = self.seen.get(name, 0) + 1
                self.changed.notify_all()
            return answer

        return called

    async def do(self, step):
        await getattr(self, "do_" + step["do"])(step)

    async def do_invoke(self, step):
        done = asyncio.Event()

        async def completed(message):
            if message.error:
                self.observe(step["chain"], "error", message=message.error)
            else:
                self.observe(step["chain"], "result", value=message.result)
            done.set()

        await self.client.send(step["method"], step["args"], completed)
        await done.wait()

    async def do_send(self, step):
        await self.client.send(step["method"], step["args"])

    async def do_wait(self, step):
        async with self.changed:
            await self.changed.wait_for(lambda: self.seen.get(step["callback"], 0) >= step["count"])

    async def do_stream(self, step):
        done = asyncio.Event()

        async def item(value):
            self.observe(step["chain"], "item", value=value)

        async def completed(_):
            self.observe(step["chain"], "completed")
            done.set()

        async def failed(message):
            self.observe(step["chain"], "error", message=message.error)
            done.set()

        await self.client.stream(step["method"], step["args"], item, completed, failed)
        await done.wait()

    async def do_upload(self, step):
        async with self.client.client_stream(step["method"]) as stream:
            for item in step["items"]:
                await stream.send(item)
        self.observe(step["chain"], "sent")

    async def do_together(self, step):
        await asyncio.gather(*(self.do(s) for s in step["steps"]))

    async def main(self):
        running = asyncio.create_task(self.client.run())
        playing = asyncio.create_task(self.play())
        await asyncio.wait({running, playing}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            playing.cancel()
            await running
            raise RuntimeError("the client's run ended before the script")
        socket = self.client._transport._ws
        running.cancel()
        await playing
        # Its connection is closed in order, which asyncio's end would cut short.
        await asyncio.wait({running}, timeout=5)
        if socket is not None:
            await socket.close()

    async def play(self):
        await self.opened.wait()
        for step in self.script["steps"]:
            await self.do(step)


async def main():
    logging.disable(logging.CRITICAL)
    with open(sys.argv[2], encoding="utf-8") as file:
        script = json.load(file)
    await Player(sys.argv[1], script).main()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Exception:
        print(json.dumps({"chain": "client", "event": "failed", "message": traceback.format_exc()}), flush=True)
        sys.exit(1)
