"""python-socketio's client for tools/interop. Arguments: URL TRANSPORT[,TRANSPORT] TEXT. A line of JSON an observation."""

import asyncio
import json
import os
import sys
import traceback

import socketio

COUNT = 5


async def main(url, transports, text):
    client = socketio.AsyncClient(reconnection=False)
    ticks, welcome = asyncio.Event(), asyncio.Event()

    def say(chain, **values):
        print(json.dumps({"chain": chain, **values}), flush=True)

    @client.on("welcome")
    def welcomed(words):
        say("welcome", words=words)
        welcome.set()

    @client.on("tick")
    def ticked(n):
        say("tick", n=n)
        if n == COUNT - 1:
            ticks.set()

    try:
        await client.connect(url, transports=transports)
        await asyncio.wait_for(welcome.wait(), 5)
        say("connection", transport=client.transport())
        say("echo", value=await client.call("echo", text, timeout=5))
        await client.emit("count", COUNT)
        await asyncio.wait_for(ticks.wait(), 5)
        say("echo", value=await client.call("echo", "bye", timeout=5))
        await client.disconnect()
        say("connection", event="left")
    except Exception:
        traceback.print_exc()
        os._exit(1)  # a poll that is still open would be waited for


asyncio.run(main(sys.argv[1], sys.argv[2].split(","), sys.argv[3]))
