"""aiosignalr's own client: client_aiosignalr.py URL SCRIPT. Does what the script says, prints what the application
observes."""

import asyncio
import contextlib
import json
import logging
import sys
import traceback

from aiosignalr.client import HubConnection
from aiosignalr.errors import HubException

TRANSPORTS = {"ws": "WebSockets", "sse": "ServerSentEvents", "lp": "LongPolling"}


class Player:
    def __init__(self, url, script):
        self.url, self.script = url, script
        self.seen = {}
        self.closed = False
        self.changed = asyncio.Condition()
        self.connection = HubConnection(protocol=script["connection"]["protocol"])
        self.connection.on_open = lambda: self.observe("connection", "opened")
        self.connection.on_close = self.on_close
        for name in script["callbacks"]:
            self.connection.on(name, self.callback(name, None))
        for name, answer in script["results"].items():
            self.connection.on(name, self.callback(name, answer))

    def observe(self, chain, event, **detail):
        print(json.dumps({"chain": chain, "event": event, **detail}, default=list), flush=True)

    def on_close(self, _):
        """Once: over WebSockets the client may call it for the server's end and again for its own stop()."""
        if not self.closed:
            self.observe("connection", "closed")
        self.closed = True

    def callback(self, name, answer):
        async def called(*args):
            self.observe(name, "callback", args=args)
            async with self.changed:
                self.seen[name] = self.seen.get(name, 0) + 1
                self.changed.notify_all()
            return answer

        return called

    async def do(self, step):
        await getattr(self, "do_" + step["do"])(step)

    async def do_invoke(self, step):
        try:
            self.observe(step["chain"], "result", value=await self.connection.invoke(step["method"], *step["args"]))
        except HubException as error:
            self.observe(step["chain"], "error", message=str(error))

    async def do_send(self, step):
        await self.connection.send(step["method"], *step["args"])

    async def do_wait(self, step):
        async with self.changed:
            await self.changed.wait_for(lambda: self.seen.get(step["callback"], 0) >= step["count"])

    async def do_stream(self, step):
        items = 0
        async with contextlib.aclosing(await self.connection.stream(step["method"], *step["args"])) as stream:
            try:
                async for item in stream:
                    self.observe(step["chain"], "item", value=item)
                    items += 1
                    if items == step.get("cancelAfter"):
                        return  # closing the iterator cancels the stream
            except HubException as error:
                self.observe(step["chain"], "error", message=str(error))
                return
        self.observe(step["chain"], "completed")

    async def do_upload(self, step):
        async with self.connection.client_stream(step["method"]) as stream:
            for item in step["items"]:
                await stream.send_item(item)
        self.observe(step["chain"], "result", value=stream.result)

    async def do_together(self, step):
        await asyncio.gather(*(self.do(s) for s in step["steps"]))

    async def main(self):
        await self.connection.start(self.url, transports={TRANSPORTS[self.script["connection"]["transport"]]})
        for step in self.script["steps"]:
            await self.do(step)
        await self.connection.stop()


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
