"""Counters of a GraphQL server, followed with gql.

gql speaks graphql-transport-ws over one WebSocket for all subscriptions, and reads multipart answers over HTTP. It gives each
subscription up when the connection is lost, and starts none again (its reconnecting session connects anew, no more). So the
delays, subscribing again, showing each result once, the token and the fallback are the application's; pings are gql's.
"""

import asyncio

from gql import Client, GraphQLRequest
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportError, TransportQueryError
from gql.transport.websockets import WebsocketsTransport
from websockets.exceptions import ConnectionClosed, InvalidStatus

COUNT = "subscription Count($to: Int!, $delayMs: Int!) { counter(to: $to, delayMs: $delayMs) }"
LONG = "subscription Long { counter(to: 1000, delayMs: 50) }"


class Refused(Exception):
    """The server wants nothing to do with this client, or with what it asks for."""


class Counter:
    """What a user follows: up to `to`, at most up to `enough`. `seen` are the numbers so far, each once and in order."""

    def __init__(self, to, delay, *, enough=None):
        variables = {"to": to, "delayMs": delay}
        self.request = (
            GraphQLRequest(LONG) if enough else GraphQLRequest(COUNT, variable_values=variables, operation_name="Count")
        )
        self.seen, self.is_over, self._enough = [], False, enough

    async def follow(self, session):
        """Until it is at its end. The numbers are also what tells a result that comes twice from a new one."""
        results = session.subscribe(self.request)
        newest = self.seen[-1] if self.seen else 0
        async for result in results:
            if result["counter"] > newest:
                newest = result["counter"]
                self.seen.append(newest)
            if len(self.seen) == self._enough:
                # Tells the server so.
                await results.aclose()
                break
        self.is_over = True


class Counters:
    """Follows counters, all over one connection; where the server has no WebSockets at `url`, with a request for each at
    `http_url`. `get_token()` is asked for a token, and for another one when the server does
    not take the last any more. A ping that is not answered for half of `ping` seconds means that the connection is lost."""

    def __init__(self, url, counters, *, http_url=None, delays=(0, 0.3, 1.5), ping=10, get_token=None):
        self._url, self._counters, self._delays, self._ping = url, counters, delays, ping
        self._get_token, self._token = get_token, None
        self._http_url, self._has_websockets = http_url, True

    async def run(self):
        """Until all counters are at their ends. Raises Refused, or ConnectionError once all delays are used up."""
        delays = iter(())
        while True:
            try:
                async with Client(transport=self._transport()) as session:
                    delays = iter(self._delays)
                    return await self._follow(session)
            except TransportQueryError as refused:
                raise Refused from refused
            except TransportError as lost:
                if self._learn(lost.__cause__):
                    continue
            delay = next(delays, None)
            if delay is None:
                raise ConnectionError("the server cannot be reached")
            await asyncio.sleep(delay)

    async def _follow(self, session):
        left = [counter for counter in self._counters if not counter.is_over]
        ends = await asyncio.gather(*(counter.follow(session) for counter in left), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    def _transport(self):
        if not self._has_websockets:
            return AIOHTTPTransport(url=self._http_url)
        if self._get_token is not None:
            self._token = self._token or self._get_token()
        return WebsocketsTransport(
            url=self._url,
            subprotocols=["graphql-transport-ws"],
            init_payload={} if self._token is None else {"token": self._token},
            ping_interval=self._ping,
            # Nobody answers a close frame on a silent connection.
            connect_args={"close_timeout": 0.5},
        )

    def _learn(self, cause):
        """What is to be done otherwise after this. True: and at once."""
        if isinstance(cause, ConnectionClosed) and cause.rcvd is not None:
            if cause.rcvd.code == 4403:
                self._token = None
            elif cause.rcvd.code in (4400, 4401, 4409):
                raise Refused from cause
        elif isinstance(cause, InvalidStatus) and cause.response.status_code in (403, 404, 426):
            self._has_websockets = self._http_url is None
            return not self._has_websockets
        return False
