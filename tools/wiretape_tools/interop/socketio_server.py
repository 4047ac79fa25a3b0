"""A Socket.IO server (python-socketio under uvicorn) for tools/interop: echoes with an acknowledgement, counts, and says a line
when somebody connects. A poll is left open by a client that leaves: it waits for its answer as long as pings may take.
Arguments: PORT."""

import asyncio
import sys

import socketio
import uvicorn

server = socketio.AsyncServer(async_mode="asgi", ping_interval=2, ping_timeout=1)


@server.event
async def connect(sid, environ):
    await server.emit("welcome", "come in", to=sid)


@server.event
async def echo(sid, text):
    return text.upper()


@server.event
async def count(sid, to):
    for n in range(to):
        await asyncio.sleep(0.02)
        await server.emit("tick", n, to=sid)


if __name__ == "__main__":
    uvicorn.run(socketio.ASGIApp(server), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
