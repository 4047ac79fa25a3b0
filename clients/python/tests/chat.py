"""ada of recordings/chat.tape.gz on pysignalr: she answers what bob says. Each way in which she can be broken has a name."""

import asyncio
import logging

from pysignalr.client import SignalRClient

ANSWERS = {"hi ada": "hello bob", "how are you?": "fine, thanks", "see you tomorrow": "bye"}
LIMIT = 20
"""Seconds after which a test is taken to hang."""

logging.getLogger("pysignalr").setLevel(logging.CRITICAL)


class Ada:
    """`heard` is what bob has said so far. `wrong` answers something else, `silent` answers nothing."""

    def __init__(self, endpoint, *, wrong=False, silent=False, retry_sleep=1):
        self.heard = []
        self._wrong, self._silent = wrong, silent
        self._bye = asyncio.Event()
        self._client = SignalRClient(endpoint, retry_sleep=retry_sleep)
        self._client.on("ReceiveMessage", self._received)
        self._running = None

    async def _received(self, arguments):
        who, text = arguments
        if who != "bob":
            return
        self.heard.append(text)
        if text in ANSWERS and not self._silent:
            await self._client.send("SendMessage", ["ada", "what?" if self._wrong else ANSWERS[text]], self._answered)
        elif text == "bye":
            self._bye.set()

    async def _answered(self, message):
        """A call with an answer, as the recorded client made it."""

    async def __aenter__(self):
        self._running = asyncio.create_task(self._client.run())
        return self

    async def bye(self):
        """Until bob has said goodbye, or the client has given up."""
        bye = asyncio.create_task(self._bye.wait())
        try:
            await asyncio.wait({bye, self._running}, timeout=LIMIT, return_when=asyncio.FIRST_COMPLETED)
        finally:
            bye.cancel()
        assert self._bye.is_set(), f"bob's goodbye never came; heard {self.heard}"

    async def __aexit__(self, *_):
        self._running.cancel()
        await asyncio.wait({self._running}, timeout=LIMIT)


async def chat(endpoint, **ways):
    """The whole chat; what bob said."""
    async with Ada(endpoint, **ways) as ada:
        await ada.bye()
    return ada.heard
