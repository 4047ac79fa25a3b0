"""`replay()`: the server's part of a tape for as long as a block runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from .binary import find_binary, supports
from .errors import WiretapeError, add_note
from .program import PathLike, Program, not_ready
from .server import Server


def replay(
    tape: PathLike,
    *,
    faults: Iterable[str] = (),
    plans: Iterable[PathLike] = (),
    expect: Iterable[str] = (),
    speed: float | str | None = None,
    seed: int | None = None,
    on_miss: str | None = None,
    upstream: str | None = None,
    add_from: str | None = None,
    options: Sequence[str] = (),
    report: PathLike | None = None,
    allow_unfinished: bool = False,
    check: bool = True,
    env: Mapping[str, str] | None = None,
    binary: PathLike | None = None,
    start_timeout: float = 30.0,
    stop_timeout: float = 10.0,
) -> Replay:
    """Replays `tape` to the clients of a block, on a free port of the loopback interface, and judges them:

        with replay("chat.tape.gz", faults=["reset after ReceiveMessage[3]"], expect=["delays(0s)"]) as server:
            run_client(server.endpoint)

    In an event loop it is `async with`. At the end of the block the run is ended, and WiretapeFailure is raised with the
    program's text unless the verdict is a pass. An exception of the block goes on, with that text as a note.

    - `faults`: rules of docs/faults.md; `plans`: files of rules; `expect`: policies of docs/verdict.md.
    - `speed`: 10 is ten times as fast as recorded; "instant" leaves the gaps out. `seed` repeats a run's random draws.
    - `on_miss`, `upstream`: what a request gets that is not on the tape, as the program's options of these names.
    - `add_from`: the server that is asked for what the tape lacks. That is recorded and put behind the tape when the block
      and the run have ended well (`wiretape auto --record-mode new-episodes`), and `report.appended` tells of it. Not in a
      run with rules.
    - `options`: further options of `wiretape replay`, as on a command line.
    - `report`: a folder that gets the report in every form, and `actual.tape`.
    - `allow_unfinished`: let a run pass that was ended while a client was connected in the middle of its session.
    - `check`: False raises nothing at the end; the caller looks at what `server.stop()` gives.
    - `env`: variables for the program beside those of this process.
    - `binary`: the program; `find_binary` says where it is looked for else.
    - `start_timeout`, `stop_timeout`: seconds until it must listen, and until it must have ended; then it is killed.

    Entering the block raises WiretapeError when the program is not there or ends at once, with what it wrote: a tape that
    is missing or damaged, or a rule that cannot fire on it.
    """
    arguments = ["replay", os.fspath(tape)]
    if add_from is not None:
        arguments = ["auto", os.fspath(tape), "--record-mode", "new-episodes", "--upstream", add_from]
    arguments += ["--listen", "127.0.0.1:0"]
    named: list[tuple[str, Iterable[str]]] = [
        ("--fault", _several("faults", faults)),
        ("--faults", [os.fspath(plan) for plan in _several("plans", plans)]),
        ("--expect", _several("expect", expect)),
        ("--speed", [] if speed is None else [str(speed)]),
        ("--seed", [] if seed is None else [str(seed)]),
        ("--on-miss", [] if on_miss is None else [on_miss]),
        ("--upstream", [] if upstream is None else [upstream]),
    ]
    for option, values in named:
        for value in values:
            arguments += [option, value]
    arguments += options
    return Replay(
        arguments,
        binary=binary,
        env=env,
        report=None if report is None else Path(report),
        allow_unfinished=allow_unfinished,
        check=check,
        start_timeout=start_timeout,
        stop_timeout=stop_timeout,
    )


def _several(name: str, values: Iterable[PathLike]) -> list[str]:
    """A single text would be taken letter by letter."""
    if isinstance(values, (str, os.PathLike)):
        raise TypeError(f"{name} takes a list: {name}=[{os.fspath(values)!r}]")
    return [os.fspath(value) for value in values]


class Replay:
    """What `replay()` gives: a context manager, with and without `async`."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        binary: PathLike | None,
        env: Mapping[str, str] | None,
        report: Path | None,
        allow_unfinished: bool,
        check: bool,
        start_timeout: float,
        stop_timeout: float,
    ) -> None:
        self._arguments, self._binary, self._env, self._report = arguments, binary, env, report
        self._allow_unfinished, self._check = allow_unfinished, check
        self._start_timeout, self._stop_timeout = start_timeout, stop_timeout
        self._cleanup = contextlib.ExitStack()
        self._server: Server | None = None

    def __enter__(self) -> Server:
        program, server = self._launch()
        try:
            ready = program.log.wait(lambda event: event.name == "ready", "ready", self._start_timeout)
        except BaseException as error:
            self._cleanup.close()
            raise not_ready(program, error, self._start_timeout) from None
        server._became_ready(ready)
        return server

    async def __aenter__(self) -> Server:
        program, server = self._launch()
        try:
            ready = await program.log.wait_async(lambda event: event.name == "ready", "ready", self._start_timeout)
        except BaseException as error:
            self._cleanup.close()
            raise not_ready(program, error, self._start_timeout) from None
        server._became_ready(ready)
        return server

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        with self._cleanup:
            try:
                self._server.stop(failed=error is not None)
            except WiretapeError as unjudged:
                if error is None:
                    raise
                add_note(error, str(unjudged))
                return
            self._leave(error)

    def close(self) -> None:
        """Ends the run at once, and judges nothing."""
        with self._cleanup:
            if self._server is not None:
                self._server.kill()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        with self._cleanup:
            try:
                await self._server.stop_async(failed=error is not None)
            except WiretapeError as unjudged:
                if error is None:
                    raise
                add_note(error, str(unjudged))
                return
            except BaseException:
                self._server.kill()
                raise
            self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        assert self._server is not None
        if error is None:
            self.judge()
        else:
            add_note(error, self._server.stop().text)

    def judge(self) -> None:
        """Ends the run, and raises WiretapeFailure unless it passed or nothing is to be checked."""
        if self._check and self._server is not None:
            self._server.check()

    def _launch(self) -> tuple[Program, Server]:
        binary = find_binary(self._binary)
        folder = self._report
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="wiretape-"))
            self._cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            # The report of an earlier run must not be taken for this one's.
            (folder / "report.json").unlink(missing_ok=True)
        arguments = [*self._arguments, "--report", str(folder)]
        try:
            if supports(binary, self._arguments[0], "--exit-with-parent"):
                arguments.append("--exit-with-parent")
            program = Program(binary, arguments, events_option="--events", env=self._env)
        except BaseException:
            self._cleanup.close()
            raise
        self._server = Server(program, folder, stop_timeout=self._stop_timeout, allow_unfinished=self._allow_unfinished)
        return program, self._server
