"""The chat client on pysignalr.

pysignalr speaks SignalR over WebSockets: negotiation, handshake, calls and their answers. It comes back by itself after a loss,
but with the id of the connection that it has lost, which ASP.NET Core does not know any more; so each connection here is a
client of its own. Also the application's are the delays, the patience with a silent connection (pysignalr's is 40 s), what is
said again, and the token. There is no fallback: pysignalr knows WebSockets alone.
"""

import asyncio
import contextlib
import functools
import itertools

from aiohttp import ClientError
from pysignalr import exceptions
from pysignalr.client import SignalRClient
from websockets.exceptions import WebSocketException


class Banned(Exception):
    """The server wants this client to stay away."""


class Chat:
    """One member of the chat. `on_message(who, text)` is called for every message, in order; `get_token()` when the server
    wants to see a token, or another one than the last. An answer that does not come for `patience` seconds means that the
    connection is lost."""

    def __init__(self, url, on_message, *, delays=(0, 0.3, 1.5), patience=10, get_token=None):
        self._url, self._on_message, self._delays, self._patience = url, on_message, delays, patience
        self._get_token, self._token = get_token, None
        self._ids = itertools.count()
        self._unacknowledged = {}
        self._client, self._running, self._left = None, None, iter(())

    async def run(self):
        """Stays connected until cancelled. Raises Banned, or ConnectionError once all delays are used up."""
        while True:
            try:
                await self._connect()
            except exceptions.AuthorizationError:
                self._token = None
            except exceptions.ConnectionError as refused:
                if refused.status == 403:
                    raise Banned from refused
            except (exceptions.HubError, ClientError, WebSocketException, OSError):
                # However it ended: what counts is that it is over. The next delay is the longer one.
                pass
            delay = next(self._left, None)
            if delay is None:
                raise ConnectionError("the server cannot be reached")
            await asyncio.sleep(delay)

    async def say(self, who, text):
        """Returns when the server has acknowledged it, on this connection or on a later one."""
        number = next(self._ids)
        acknowledged = asyncio.get_running_loop().create_future()
        self._unacknowledged[number] = ([who, text], acknowledged)
        await self._send(number)
        await acknowledged

    async def _connect(self):
        """One connection, from its negotiation to its end. Raises what ended it, unless that was silence."""
        client = SignalRClient(self._url, headers=self._credentials(), connection_timeout=5)
        client.on("ReceiveMessage", self._received)
        client.on_open(functools.partial(self._opened, client))
        client.on_close(self._lost)
        self._running = asyncio.create_task(client.run())
        try:
            await asyncio.wait({self._running})
        finally:
            self._client = None
            self._running.cancel()
            await asyncio.wait({self._running})
        if not self._running.cancelled():
            self._running.result()

    def _credentials(self):
        """pysignalr asks its `access_token_factory` only once it is connected, too late for the first requests."""
        if self._get_token is None:
            return {}
        self._token = self._token or self._get_token()
        return {"Authorization": f"Bearer {self._token}"}

    async def _opened(self, client):
        self._client, self._left = client, iter(self._delays)
        for number in list(self._unacknowledged):
            await self._send(number)

    async def _lost(self):
        """Ends pysignalr's own loop, which would come back with the id of the connection that is lost."""
        raise ConnectionError("the connection is lost")

    async def _received(self, arguments):
        self._on_message(*arguments)

    async def _send(self, number):
        """What cannot be sent stays unacknowledged, and is said again on the next connection."""
        if self._client is None:
            return
        arguments, _ = self._unacknowledged[number]
        with contextlib.suppress(RuntimeError, WebSocketException):
            await self._client.send("SendMessage", arguments, functools.partial(self._answered, number))
        asyncio.get_running_loop().call_later(self._patience, self._look_for_answer, number, self._running)

    async def _answered(self, number, _):
        _, acknowledged = self._unacknowledged.pop(number)
        if not acknowledged.cancelled():
            acknowledged.set_result(None)

    def _look_for_answer(self, number, connection):
        if number in self._unacknowledged:
            connection.cancel()
