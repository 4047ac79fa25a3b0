"""The replay as a test sees it: where clients connect, what has happened, waiting, and the end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from .errors import WiretapeError, WiretapeFailure
from .events import Event, Predicate, matcher
from .program import Program
from .report import Report, read_report

WAIT = 10.0
"""How long waiting takes at most when nothing is said, in seconds."""
LINGER = 2.0
"""How long a client that is connected in the middle of its session may take to play the rest at the end, in seconds."""


class Server:
    """A replay that is ready. `replay()` makes it; it ends with its block or with `stop()`."""

    recording = False
    """False: this is a replay. A test that runs against a recording as well (`Recorder`) asks this."""

    def __init__(self, program: Program, folder: Path, *, stop_timeout: float, allow_unfinished: bool) -> None:
        self._program, self._folder = program, folder
        self._stop_timeout, self._allow_unfinished = stop_timeout, allow_unfinished
        self._report: Report | None = None

    def _became_ready(self, ready: Event) -> None:
        self.url: str = ready["url"]
        """Where it listens: `http://127.0.0.1:41234`."""
        self.endpoint: str = ready["endpoint"]
        """The same with the path at which the tape's client connected: `http://127.0.0.1:41234/chat`."""
        self.ws: str = ready["ws"]
        """The endpoint as a WebSocket's: `ws://127.0.0.1:41234/chat`."""
        self.urls: dict[str, str] = dict(ready["urls"])
        """The url of each recorded upstream, or of each name of a session."""
        self.pid: int = ready["pid"]
        self.seed: int = ready["seed"]
        """What repeats the random draws of this run: `replay(seed=…)`."""

    @property
    def text(self) -> str:
        """What the program has written on standard error so far."""
        return self._program.stderr

    @property
    def events(self) -> list[Event]:
        """All that has happened so far, in its order."""
        return self._program.log.all()

    def received(self, target: str | None = None, **members: Any) -> list[Event]:
        """The messages that clients have said so far, without waiting: those with this target (the name of a call), and
        with these members of the `message` event, such as `type="Invocation"` or `session=1`."""
        if target is not None:
            members["target"] = target
        accepts = matcher("message", {"d": ">", **members})
        return [event for event in self.events if accepts(event)]

    def wait(self, what: str | Predicate, *, timeout: float = WAIT, count: int = 1, **members: Any) -> Event:
        """The first (or `count`-th) event of this name, or that a function accepts, with these members; one that has
        happened already counts. A member is given by its value or by a function: `wait("attempt", retry=lambda n: n > 1)`.

        Raises WaitTimeout after `timeout` seconds, or when the run ends. RuntimeError in an event loop, which it would
        hold up: `wait_async` is for that.
        """
        _no_loop("wait")
        return self._program.log.wait(matcher(what, members), _described(what, members, count), timeout, count)

    async def wait_async(self, what: str | Predicate, *, timeout: float = WAIT, count: int = 1, **members: Any) -> Event:
        """`wait` for an event loop."""
        described = _described(what, members, count)
        return await self._program.log.wait_async(matcher(what, members), described, timeout, count)

    def finished(self, *, timeout: float = WAIT, sessions: int = 1) -> Event:
        """Waits until so many sessions are played to their end: the server has heard and said everything. What it said last
        may still be on its way to the client. Raises as `wait` does."""
        return self.wait("finished", timeout=timeout, count=sessions)

    async def finished_async(self, *, timeout: float = WAIT, sessions: int = 1) -> Event:
        """`finished` for an event loop."""
        return await self.wait_async("finished", timeout=timeout, count=sessions)

    def stop(self, *, failed: bool = False) -> Report:
        """Ends the run and gives its report; the same one when it is asked again. A client that is connected in the middle
        of its session has a moment to play the rest. Of a run that has `failed` nothing is put behind the tape (`add_from`).

        Raises WiretapeError when the program did not end in time (it is killed then) or wrote no report.
        """
        if self._report is None:
            is_through = self._linger()
            try:
                code = self._program.end(self._stop_timeout, is_well=is_through and not failed)
                self._report = self._read(code)
            except BaseException:
                self._program.kill()
                raise
        return self._report

    async def stop_async(self, *, failed: bool = False) -> Report:
        """`stop` for an event loop, in which the clients go on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(None, lambda: self.stop(failed=failed))

    def check(self) -> Report:
        """Ends the run, and raises WiretapeFailure with the program's text unless it passed and no session was cut off in
        the middle (`replay(allow_unfinished=True)`: that may be)."""
        report = self.stop()
        if not report.passed:
            raise WiretapeFailure(f"{report.verdict} (exit {report.exit_code}): {report.reason}", report)
        for session in () if self._allow_unfinished else report.cut_off:
            raise WiretapeFailure(
                f"the run was ended while the client was in the middle of session {session.number}, {session.matched} of its "
                "messages matched: wait for the end with finished(), or permit it with allow_unfinished=True",
                report,
            )
        return report

    def kill(self) -> None:
        """Ends the program at once, without a report."""
        self._program.kill()

    def _linger(self) -> bool:
        """Until nobody who is connected has anything left to play, at most LINGER seconds. In an event loop there is no
        waiting here: its clients could not go on. False when somebody has."""
        if self._allow_unfinished:
            return True
        playing = _Playing()
        if not _in_loop():
            self._program.log.wait_until(playing.see, playing.is_over, LINGER)
        else:
            for event in self.events:
                playing.see(event)
        return playing.is_over()

    def _read(self, code: int) -> Report:
        text = self._program.stderr
        last = next((event for event in reversed(self.events) if event.name == "end"), None)
        try:
            raw = json.loads((self._folder / "report.json").read_text(encoding="utf-8"))
            report = read_report(raw, code, None if last is None else str(last["reason"]), text)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WiretapeError(
                f"'wiretape' ended with exit code {code} without a report ({error!r}).\n{text}", code
            ) from error
        if self._program.events_error is not None:
            raise WiretapeError(f"'wiretape' wrote an event that cannot be read: {self._program.events_error}", code)
        return report


def _described(what: str | Predicate, members: dict[str, Any], count: int) -> str:
    name = what if isinstance(what, str) else getattr(what, "__name__", "what the function accepts")
    said = ", ".join(f"{member}={value!r}" for member, value in members.items())
    return f"{name}{f' with {said}' if said else ''}{f' (number {count})' if count > 1 else ''}"


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _no_loop(name: str) -> None:
    if _in_loop():
        raise RuntimeError(f"{name}() would hold up the event loop that it is called in: 'await server.{name}_async(…)'")


class _Playing:
    """Which sessions a client plays at the moment."""

    def __init__(self) -> None:
        self._playing: set[tuple[int, int]] = set()
        self._finished: set[tuple[int, int]] = set()

    def see(self, event: Event) -> None:
        session = (event.get("session", 0), event.get("run", 0))
        if event.name == "finished":
            self._finished.add(session)
        if event.name == "attempt" and session not in self._finished:
            self._playing.add(session)
        elif event.name in ("finished", "disconnected"):
            self._playing.discard(session)

    def is_over(self) -> bool:
        return not self._playing
