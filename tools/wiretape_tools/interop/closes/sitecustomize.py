"""On PYTHONPATH of a client: prints how each of its WebSockets was closed, as an observation of chain `socket`. Each library
tells it where it keeps it: websockets, websocket-client (Pysher), aiohttp (aiosignalr), signalrcore's own."""

import importlib.abc
import json
import os
import struct
import sys
from typing import Any

os.environ["AIOHTTP_NO_EXTENSIONS"] = "1"  # its compiled reader cannot be looked into


def seen(code, reason):
    sys.stdout.write(json.dumps({"chain": "socket", "code": code, "reason": reason}) + "\n")
    sys.stdout.flush()


def frame(payload):
    seen(struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else None, bytes(payload[2:]).decode())


def websockets(module):
    lost = module.ClientConnection.connection_lost

    def connection_lost(self, exc):
        lost(self, exc)
        seen(self.protocol.close_code, self.protocol.close_reason)

    module.ClientConnection.connection_lost = connection_lost


def websocket_client(module):
    receive = module.WebSocket.recv_frame

    def recv_frame(self):
        got = receive(self)
        if got is not None and got.opcode == 8:
            frame(got.data)
        return got

    module.WebSocket.recv_frame = recv_frame


def aiohttp(module):
    begin = module.ClientWebSocketResponse.__init__

    def init(self, reader, *rest, **more):
        begin(self, reader, *rest, **more)
        read = reader.read

        async def watched():
            got = await read()
            if got.type is module.WSMsgType.CLOSE:
                seen(got.data or None, got.extra or "")
            return got

        reader.read = watched

    module.ClientWebSocketResponse.__init__ = init


def signalrcore(module):
    read = module.WebSocketClient._read_one_frame

    def read_one_frame(self):
        got = read(self)
        if got[1] == 8:
            frame(got[2])
        return got

    module.WebSocketClient._read_one_frame = read_one_frame


WATCHED = {
    "websockets.asyncio.client": websockets,
    "websocket._core": websocket_client,
    "aiohttp.client_ws": aiohttp,
    "signalrcore.transport.websockets.websocket_client": signalrcore,
}


class Watcher(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in WATCHED:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                loader: Any = spec.loader
                execute = loader.exec_module

                def exec_module(module, execute=execute):
                    execute(module)
                    WATCHED[name](module)

                loader.exec_module = exec_module
                return spec
        return None


sys.meta_path.insert(0, Watcher())
