"""A chat client: SignalR's JSON protocol over one WebSocket at a time, on the package `websockets`.

It comes back when it loses its connection, says again what nobody has acknowledged, and notices a connection that is silent.
"""

import asyncio
import contextlib
import itertools
import json

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

END = "\x1e"
"""What ends each message of SignalR."""


class Banned(Exception):
    """The server wants this client to stay away."""


class ChatClient:
    """One member of the chat. `on_message(who, text)` is called for every message, in order; `get_token()` when the server
    wants to see a token, or another one than the last."""

    def __init__(self, url, on_message, *, delays=(0, 0.3, 1.5), ping=0.5, get_token=None):
        self._url, self._on_message, self._delays = url, on_message, delays
        self._get_token, self._token = get_token, None
        # Nobody answers a close frame on a silent connection, so that closing it has a time limit as well.
        self._limits = {"ping_interval": ping, "ping_timeout": ping, "close_timeout": ping}
        self._ids = itertools.count()
        self._unacknowledged = {}
        self._connection = None

    async def run(self):
        """Stays connected until cancelled. Raises Banned, or ConnectionError once all delays are used up."""
        delays = iter(())
        while True:
            try:
                async with connect(self._url, additional_headers=self._credentials(), **self._limits) as connection:
                    await self._shake_hands(connection)
                    delays = iter(self._delays)
                    await self._talk(connection)
            except ConnectionClosed as closed:
                if closed.rcvd is not None and closed.rcvd.code == 4001:
                    raise Banned from closed
            except (OSError, InvalidHandshake) as refused:
                # The next delay is the longer one.
                if isinstance(refused, InvalidStatus) and refused.response.status_code == 401:
                    self._token = None
            self._connection = None
            delay = next(delays, None)
            if delay is None:
                raise ConnectionError("the server cannot be reached")
            await asyncio.sleep(delay)

    async def say(self, who, text):
        """Returns when the server has acknowledged it, on this connection or on a later one."""
        number = str(next(self._ids))
        call = {"type": 1, "invocationId": number, "target": "SendMessage", "arguments": [who, text]}
        acknowledged = asyncio.get_running_loop().create_future()
        self._unacknowledged[number] = (call, acknowledged)
        await self._send(call)
        await acknowledged

    def _credentials(self):
        if self._get_token is None:
            return {}
        self._token = self._token or self._get_token()
        return {"Authorization": f"Bearer {self._token}"}

    async def _shake_hands(self, connection):
        await connection.send(json.dumps({"protocol": "json", "version": 1}) + END)
        answer, _, rest = (await connection.recv()).partition(END)
        if "error" in json.loads(answer):
            raise ConnectionError(answer)
        self._connection = connection
        self._take(rest)
        for call, _ in list(self._unacknowledged.values()):
            await self._send(call)

    async def _talk(self, connection):
        async for frame in connection:
            self._take(frame)

    def _take(self, frame):
        for message in map(json.loads, filter(None, frame.split(END))):
            if message["type"] == 1 and message["target"] == "ReceiveMessage":
                self._on_message(*message["arguments"])
            elif message["type"] == 3 and message["invocationId"] in self._unacknowledged:
                _, acknowledged = self._unacknowledged.pop(message["invocationId"])
                if not acknowledged.cancelled():
                    acknowledged.set_result(None)

    async def _send(self, call):
        """What cannot be sent stays unacknowledged, and is said again on the next connection."""
        if self._connection is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._connection.send(json.dumps(call) + END)
