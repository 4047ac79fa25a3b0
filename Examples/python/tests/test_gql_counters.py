"""Counters on gql against recorded subscriptions, whose connection is broken in a different way in each test."""

import asyncio
import logging

import pytest
from wiretape import WaitTimeout

from gql_counters import Counter, Counters, Refused

TAPE = "../../../recordings/graphql-gql.tape.gz"
MULTIPART = "../../../recordings/graphql-multipart.tape.gz"
COUNTED = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4], [1, 2, 3]]

logging.getLogger("gql").setLevel(logging.CRITICAL)


def three():
    """What the recorded client followed: two counters to their ends, and the beginning of a long one."""
    return [Counter(6, 40), Counter(4, 70), Counter(1000, 50, enough=3)]


async def count(wiretape, **settings):
    """All three counters to their ends; what was shown of each."""
    counters = three()
    await asyncio.wait_for(Counters(wiretape.ws, counters, **settings).run(), 15)
    return [counter.seen for counter in counters]


@pytest.mark.wiretape(TAPE, expect=["finished"])
async def test_counts(wiretape):
    assert await count(wiretape) == COUNTED


@pytest.mark.wiretape(TAPE, faults=["reset after next[5]"], expect=["delays(0s, late=2s)", "resubscribes", "single"])
async def test_subscribes_again(wiretape):
    assert await count(wiretape) == COUNTED


@pytest.mark.wiretape(
    TAPE,
    faults=["reset after next[5]", "respond(503) on connect[retry=1..2]"],
    expect=["delays(0s, 300ms, 1500ms, late=2s)"],
)
async def test_waits_longer_each_time(wiretape):
    assert await count(wiretape) == COUNTED


@pytest.mark.wiretape(TAPE, faults=["stall(both) after next[5]"], expect=["detects(within=3s)"])
async def test_notices_a_silent_connection(wiretape):
    assert await count(wiretape, ping=0.5) == COUNTED


@pytest.mark.wiretape(TAPE, faults=["disconnect after next[8]"], options=["--on-reconnect", "rewind:3"])
async def test_shows_nothing_again_on_a_new_connection(wiretape):
    assert await count(wiretape) == COUNTED


@pytest.mark.wiretape(TAPE, faults=["duplicate on next[6]"])
async def test_shows_once_what_comes_twice(wiretape):
    assert await count(wiretape) == COUNTED


@pytest.mark.wiretape(TAPE, faults=['close(4403, "Forbidden") after next[5]'], expect=["delays(0s, late=2s)"])
async def test_shows_a_new_token_when_the_old_one_is_refused(wiretape):
    tokens = ["the first", "the second", "the third"]
    assert await count(wiretape, get_token=lambda: tokens.pop(0)) == COUNTED
    assert tokens == ["the third"]


@pytest.mark.wiretape(MULTIPART, faults=["respond(404) on upgrade"])
async def test_falls_back_where_there_are_no_websockets(wiretape):
    assert await count(wiretape, http_url=wiretape.endpoint) == COUNTED


@pytest.mark.wiretape(TAPE, faults=["outage(200ms, cut=1001) after next[5]"], expect=["delays(0s, 300ms, late=2s)"])
async def test_outlives_a_restart_of_the_server(wiretape):
    assert await count(wiretape) == COUNTED


@pytest.mark.wiretape(TAPE, faults=["outage(60s) after next[5]"], expect=["gives-up(after=3)"])
async def test_gives_up_in_the_end(wiretape):
    with pytest.raises(ConnectionError):
        await count(wiretape, delays=(0, 0.1, 0.2))
    with pytest.raises(WaitTimeout):
        await wiretape.wait_async("attempt", attempt=5, timeout=1.5)


@pytest.mark.wiretape(TAPE, faults=['close(4401, "Unauthorized") after next[5]'], expect=["stays-away(after=close(4401))"])
async def test_stays_away_when_it_is_not_wanted(wiretape):
    with pytest.raises(Refused):
        await count(wiretape)
    with pytest.raises(WaitTimeout):
        await wiretape.wait_async("attempt", attempt=2, timeout=0.7)
