"""ada's client on pysignalr against a recorded chat, whose connection is broken in a different way in each test."""

import asyncio
import logging

import pytest
from wiretape import WaitTimeout

from pysignalr_chat import Banned, Chat

TAPE = "../../../recordings/chat.tape.gz"
ANSWERS = {"hi ada": "hello bob", "how are you?": "fine, thanks", "see you tomorrow": "bye"}
CHAT = ["hi ada", "hello bob", "how are you?", "fine, thanks", "see you tomorrow", "bye", "bye"]

logging.getLogger("pysignalr").setLevel(logging.CRITICAL)


class Ada:
    """Answers what bob says, through the client under test; `heard` is the whole chat, which ends with his `goodbye`."""

    def __init__(self, url, **settings):
        self.heard = []
        self.goodbye = asyncio.Event()
        self._chat = Chat(url, self._on_message, **settings)
        self._tasks = set()

    def _on_message(self, who, text):
        self.heard.append(text)
        if who == "bob" and text == "bye":
            self.goodbye.set()
        elif who == "bob" and text in ANSWERS:
            self._tasks.add(asyncio.create_task(self._chat.say("ada", ANSWERS[text])))

    async def __aenter__(self):
        self.running = asyncio.create_task(self._chat.run())
        return self

    async def __aexit__(self, *_):
        for task in (self.running, *self._tasks):
            task.cancel()
        await asyncio.wait({self.running, *self._tasks})


async def chat(wiretape, **settings):
    """The chat from its beginning to its end; what ada heard."""
    async with Ada(wiretape.endpoint, **settings) as ada:
        # The server has then said the last thing that is on the tape, and ada has heard it.
        over = asyncio.gather(wiretape.finished_async(timeout=15), ada.goodbye.wait())
        await asyncio.wait({over, ada.running}, timeout=15, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
    return ada.heard


@pytest.mark.wiretape(TAPE, speed=10)
async def test_chat(wiretape):
    assert await chat(wiretape) == CHAT


@pytest.mark.wiretape(TAPE, speed=10, faults=["reset after ReceiveMessage[3]"], expect=["delays(0s, late=2s)", "single"])
async def test_comes_back_at_once(wiretape):
    await chat(wiretape)


@pytest.mark.wiretape(
    TAPE,
    speed=10,
    faults=["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1..2]"],
    expect=["delays(0s, 300ms, 1500ms, late=2s)"],
)
async def test_waits_longer_each_time(wiretape):
    await chat(wiretape)


@pytest.mark.wiretape(TAPE, speed=10, faults=["stall(both) after ReceiveMessage[3]"], expect=["detects(within=3s)"])
async def test_notices_a_silent_connection(wiretape):
    await chat(wiretape, patience=1)


@pytest.mark.wiretape(TAPE, speed=10, faults=["disconnect after ReceiveMessage[4]"])
async def test_hears_everything_once_and_in_order(wiretape):
    assert await chat(wiretape) == CHAT


@pytest.mark.wiretape(TAPE, speed=10, faults=["reset before Completion[2]"], expect=["keeps(SendMessage)"])
async def test_says_again_what_was_not_acknowledged(wiretape):
    await chat(wiretape)


@pytest.mark.wiretape(TAPE, speed=10, faults=["reset after Completion[1]"], expect=["once(SendMessage)"])
async def test_says_nothing_twice(wiretape):
    await chat(wiretape)


@pytest.mark.wiretape(
    TAPE,
    speed=10,
    faults=["reset after ReceiveMessage[3]", "respond(403) on negotiate[retry=1]"],
    expect=["stays-away(after=status(403))"],
)
async def test_stays_away_when_it_is_banned(wiretape):
    async with Ada(wiretape.endpoint) as ada:
        await wiretape.wait_async("disconnected", attempt=2)
        with pytest.raises(WaitTimeout):
            await wiretape.wait_async("attempt", attempt=3, timeout=0.7)
        with pytest.raises(Banned):
            await ada.running


@pytest.mark.wiretape(TAPE, speed=10, faults=["reset after ReceiveMessage[3]", "respond(401) on negotiate[retry=1]"])
async def test_shows_a_new_token_when_the_old_one_is_refused(wiretape):
    tokens = ["the first", "the second", "the third"]
    assert await chat(wiretape, get_token=lambda: tokens.pop(0)) == CHAT
    assert tokens == ["the third"]


@pytest.mark.wiretape(TAPE, speed=10, faults=["outage(200ms) after ReceiveMessage[3]"], expect=["delays(0s, 300ms, late=2s)"])
async def test_outlives_a_restart_of_the_server(wiretape):
    assert await chat(wiretape) == CHAT


@pytest.mark.wiretape(TAPE, speed=10, faults=["outage(60s) after ReceiveMessage[3]"], expect=["gives-up(after=3)"])
async def test_gives_up_in_the_end(wiretape):
    async with Ada(wiretape.endpoint, delays=(0, 0.1, 0.2)) as ada:
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(ada.running, 5)
        with pytest.raises(WaitTimeout):
            await wiretape.wait_async("attempt", attempt=5, timeout=1.5)
