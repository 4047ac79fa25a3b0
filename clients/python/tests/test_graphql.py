"""gql's client against a recorded session of its own: three subscriptions at once over graphql-transport-ws."""

import asyncio

import pytest
from gql import Client, gql
from gql.transport.exceptions import TransportClosed, TransportConnectionFailed, TransportQueryError
from gql.transport.websockets import WebsocketsTransport

from wiretape import WiretapeFailure, replay

COUNT = "subscription Count($to: Int!, $delayMs: Int!) { counter(to: $to, delayMs: $delayMs) }"
LONG = "subscription Long { counter(to: 1000, delayMs: 50) }"


async def count(session, to, delay):
    document = gql(COUNT)
    document.variable_values, document.operation_name = {"to": to, "delayMs": delay}, "Count"
    return [data["counter"] async for data in session.subscribe(document)]


async def first_three(session):
    counted = []
    results = session.subscribe(gql(LONG))
    async for data in results:
        counted.append(data["counter"])
        if len(counted) == 3:
            await results.aclose()
            return counted


def client(url, **options):
    return Client(transport=WebsocketsTransport(url=url, subprotocols=["graphql-transport-ws"], **options))


async def test_subscriptions_are_replayed(gql_tape):
    async with replay(gql_tape) as server:
        async with client(server.ws) as session:
            counted = await asyncio.gather(count(session, 6, 40), count(session, 4, 70), first_three(session))
        await server.finished_async()
        assert [message["summary"] for message in server.received(type="subscribe")][:2] == [
            "Count(to: 6, delayMs: 40)",
            "Count(to: 4, delayMs: 70)",
        ]
    assert counted == [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4], [1, 2, 3]]


async def test_other_variables_are_named(gql_tape):
    with pytest.raises(WiretapeFailure, match=r"Count\(to: 5, delayMs: 40\)") as failed:
        async with replay(gql_tape) as server:
            async with client(server.ws) as session:
                with pytest.raises((TransportClosed, TransportConnectionFailed, TransportQueryError)):
                    await asyncio.gather(count(session, 5, 40), count(session, 4, 70), first_three(session))
    assert "/payload/variables/to" in str(failed.value)


async def test_a_client_that_asks_for_nothing_again_is_told(gql_tape):
    """gql starts no subscription again by itself: `resubscribes` says so of an application that forgets it."""
    fault, policy = "reset after next[4]", "resubscribes"
    with pytest.raises(WiretapeFailure) as failed:
        async with replay(gql_tape, faults=[fault], expect=[policy]) as server:
            with pytest.raises(TransportConnectionFailed):
                async with client(server.ws) as session:
                    await asyncio.gather(count(session, 6, 40), count(session, 4, 70), first_three(session))
            async with client(server.ws):
                await server.wait_async("connected", attempt=2)
    assert not failed.value.report.expectations[0].met
