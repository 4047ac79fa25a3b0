"""`record()`: what passes between clients and a server, onto a tape, for as long as a block runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from types import TracebackType

from .binary import find_binary, supports
from .errors import WiretapeError, add_note
from .events import Event
from .program import PathLike, Program, not_ready


def record(
    upstream: str,
    tape: PathLike,
    command: Sequence[str] | None = None,
    *,
    path: str = "",
    force: bool = False,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    binary: PathLike | None = None,
    start_timeout: float = 30.0,
    stop_timeout: float = 30.0,
) -> Record:
    """Stands in front of the server at `upstream` (http, https, ws or wss) on a free port of the loopback interface, and
    writes what passes to `tape`:

        with record("http://127.0.0.1:5000", "chat.tape.gz") as recorder:
            run_client(recorder.url + "/chat")

    In an event loop it is `async with`. With a `command`, in which `{url}` is the recorder's, that client runs as well, and
    leaving the block waits for its end, `stop_timeout` seconds at most. `path` stands behind the url in the recorder's
    `endpoint`, for tests that use that of a replay. `force` writes over a tape that is there. `options`
    are further options of `wiretape record`; the others are those of `replay()`.

    Raises WiretapeError when the program does not start, and at the end when it failed: when no server answered, the disk
    was full, or the command ended with another exit code than 0. The text is the program's.
    """
    arguments = ["record", "--upstream", upstream, "--output", os.fspath(tape), "--listen", "127.0.0.1:0", "--json"]
    if force:
        arguments.append("--force")
    return Record(
        [*arguments, *options],
        () if command is None else command,
        path=path,
        binary=binary,
        env=env,
        start_timeout=start_timeout,
        stop_timeout=stop_timeout,
    )


class Recorder:
    """A recording that runs."""

    recording = True
    """True: a test that runs against a replay as well (`Server`) asks this before it waits for events."""

    def __init__(self, program: Program, has_command: bool, stop_timeout: float) -> None:
        self._program, self._has_command, self._stop_timeout = program, has_command, stop_timeout
        self._exit_code: int | None = None

    def _became_ready(self, ready: Event, path: str) -> None:
        self.url: str = ready["url"]
        """Where it listens, in place of the server: `http://127.0.0.1:41234`."""
        self.endpoint: str = self.url + path
        """The same with the path that was given for it: nobody knows yet where clients will connect."""
        self.ws: str = self.endpoint.replace("http", "ws", 1)
        """The endpoint as a WebSocket's."""
        self.urls: dict[str, str] = dict(ready["urls"])
        self.pid: int = ready["pid"]

    @property
    def text(self) -> str:
        """What the program has written on standard error so far."""
        return self._program.stderr

    def stop(self) -> None:
        """Ends the recording; with a command, waits for that one's end. Raises WiretapeError as `record()` says."""
        if self._exit_code is None:
            try:
                end = self._program.wait if self._has_command else self._program.end
                self._exit_code = end(self._stop_timeout)
            except BaseException:
                self._program.kill()
                raise
            if self._exit_code != 0:
                raise WiretapeError(f"the recording failed (exit {self._exit_code}).\n{self.text}", self._exit_code)

    def abort(self) -> None:
        """Ends the recording at once; the tape can be read as far as it came."""
        self._program.kill()


class Record:
    """What `record()` gives: a context manager, with and without `async`."""

    def __init__(
        self,
        arguments: Sequence[str],
        command: Sequence[str],
        *,
        path: str,
        binary: PathLike | None,
        env: Mapping[str, str] | None,
        start_timeout: float,
        stop_timeout: float,
    ) -> None:
        self._arguments, self._command, self._binary, self._env = arguments, command, binary, env
        self._path, self._start_timeout, self._stop_timeout = path, start_timeout, stop_timeout
        self._recorder: Recorder | None = None

    def __enter__(self) -> Recorder:
        program = self._launch()
        try:
            ready = program.log.wait(lambda event: event.name == "ready", "ready", self._start_timeout)
        except BaseException as error:
            raise not_ready(program, error, self._start_timeout) from None
        return self._ready(program, ready)

    async def __aenter__(self) -> Recorder:
        program = self._launch()
        try:
            ready = await program.log.wait_async(lambda event: event.name == "ready", "ready", self._start_timeout)
        except BaseException as error:
            raise not_ready(program, error, self._start_timeout) from None
        return self._ready(program, ready)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._recorder is not None
        try:
            self._recorder.stop()
        except WiretapeError as failed:
            if error is None:
                raise
            add_note(error, str(failed))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(None, self.__exit__, kind, error, trace)
        except asyncio.CancelledError:
            assert self._recorder is not None
            self._recorder.abort()
            raise

    def _launch(self) -> Program:
        binary = find_binary(self._binary)
        arguments = list(self._arguments)
        if supports(binary, "record", "--exit-with-parent"):
            arguments.append("--exit-with-parent")
        return Program(binary, arguments, events_option=None, command=self._command, env=self._env)

    def _ready(self, program: Program, ready: Event) -> Recorder:
        self._recorder = Recorder(program, bool(self._command), self._stop_timeout)
        self._recorder._became_ready(ready, self._path)
        return self._recorder
