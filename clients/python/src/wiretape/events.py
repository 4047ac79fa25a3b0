"""What the program tells while it runs, line by line, and waiting for it without polling."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import WaitTimeout


@dataclass(frozen=True)
class Event:
    """A thing that happened, such as `attempt`, `connected`, `message`, `fault`, `disconnected` or `finished`.

    `event["session"]` is a member of the line, KeyError when it has none; `event.get("session")` is None then.
    """

    name: str
    """What happened: the line's `event`."""
    t_ms: float
    """Milliseconds of the client's clock since the first thing that a client did; 0 before."""
    raw: Mapping[str, Any] = field(repr=False)
    """The whole line."""

    def __getitem__(self, member: str) -> Any:
        return self.raw[member]

    def get(self, member: str, default: Any = None) -> Any:
        return self.raw.get(member, default)

    def __str__(self) -> str:
        return json.dumps(dict(self.raw), ensure_ascii=False)


Predicate = Callable[[Event], bool]


def matcher(what: str | Predicate, members: Mapping[str, Any]) -> Predicate:
    """Whether an event has this name (or meets this predicate) and these members, each equal to the given value or, when
    that can be called, accepted by it."""

    def accepts(event: Event) -> bool:
        if event.name != what if isinstance(what, str) else not what(event):
            return False
        for member, wanted in members.items():
            if member not in event.raw:
                return False
            value = event.raw[member]
            if not wanted(value) if callable(wanted) else value != wanted:
                return False
        return True

    return accepts


class _Search:
    """Looks for the n-th event that a predicate accepts, each event once."""

    def __init__(self, accepts: Predicate, count: int) -> None:
        self.accepts, self.left, self.position = accepts, count, 0

    def look(self, events: list[Event]) -> Event | None:
        while self.position < len(events):
            event = events[self.position]
            self.position += 1
            if self.accepts(event):
                self.left -= 1
                if self.left <= 0:
                    return event
        return None


class EventLog:
    """The events so far. One thread appends; any threads and event loops wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: list[Event] = []
        self._listeners: list[Callable[[], None]] = []
        self._closed = False

    def append(self, event: Event) -> None:
        with self._changed:
            self._events.append(event)
            self._tell()

    def close(self) -> None:
        """No event follows."""
        with self._changed:
            self._closed = True
            self._tell()

    @property
    def is_closed(self) -> bool:
        with self._changed:
            return self._closed

    def _tell(self) -> None:
        self._changed.notify_all()
        for listener in self._listeners:
            listener()

    def all(self) -> list[Event]:
        with self._changed:
            return list(self._events)

    def wait(self, accepts: Predicate, what: str, timeout: float, count: int = 1) -> Event:
        """The `count`-th event that is accepted, of those so far and those to come within `timeout` seconds.

        Raises WaitTimeout, whose text calls it `what`."""
        search, deadline = _Search(accepts, count), time.monotonic() + timeout
        with self._changed:
            while True:
                found = search.look(self._events)
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if self._closed or left <= 0:
                    raise self._missed(what, timeout)
                self._changed.wait(left)

    async def wait_async(self, accepts: Predicate, what: str, timeout: float, count: int = 1) -> Event:
        """The same for an event loop, which goes on meanwhile."""
        search, deadline = _Search(accepts, count), time.monotonic() + timeout
        changed = asyncio.Event()
        with self._listening(asyncio.get_running_loop(), changed):
            while True:
                changed.clear()
                with self._changed:
                    found, closed = search.look(self._events), self._closed
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if closed or left <= 0:
                    raise self._missed(what, timeout)
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(changed.wait(), left)

    def wait_until(self, see: Callable[[Event], None], is_over: Callable[[], bool], timeout: float) -> bool:
        """Shows every event to `see`, those so far and those to come, until `is_over` holds behind the newest one: True; or
        until the run ends or `timeout` seconds have passed: False."""
        seen, deadline = 0, time.monotonic() + timeout
        with self._changed:
            while True:
                for event in self._events[seen:]:
                    see(event)
                seen = len(self._events)
                if is_over():
                    return True
                left = deadline - time.monotonic()
                if self._closed or left <= 0:
                    return False
                self._changed.wait(left)

    @contextlib.contextmanager
    def _listening(self, loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> Iterator[None]:
        def listener() -> None:
            with contextlib.suppress(RuntimeError):  # The loop was closed while somebody waited on it.
                loop.call_soon_threadsafe(changed.set)

        with self._changed:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._changed:
                self._listeners.remove(listener)

    def _missed(self, what: str, timeout: float) -> WaitTimeout:
        with self._changed:
            why = "before the run ended" if self._closed else f"within {timeout:g} s"
            last = [f"    {event}" for event in self._events[-8:]] or ["    nothing"]
        return WaitTimeout("\n".join([f"{what} did not happen {why}. What happened last:", *last]))
