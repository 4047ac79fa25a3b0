"""The program as a child that cannot hang its parent and does not outlive it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from .errors import WaitTimeout, WiretapeError
from .events import Event, EventLog

PathLike = Union[str, "os.PathLike[str]"]


class Program:
    """A running `wiretape`. Threads drain all that it writes, so that it never waits for us; its lines of JSON become
    events, which come over a pipe of their own (`events_option`) or, without that option, over standard output.

    It is a session of its own, so that Ctrl-C at a terminal reaches it through us only, once.
    """

    def __init__(
        self,
        binary: Path,
        arguments: Sequence[str],
        *,
        events_option: str | None,
        command: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.log = EventLog()
        self._keeps = arguments[0] == "auto"
        self.events_error: str | None = None
        self._err: list[bytes] = []
        line = [os.fspath(binary), *arguments]
        read = write = None
        if events_option is not None:
            read, write = os.pipe()
            line += [events_option, f"fd:{write}"]
        if command:
            line += ["--", *command]
        self.arguments = line
        try:
            self._child = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=() if write is None else (write,),
                start_new_session=True,
                env=None if env is None else {**os.environ, **env},
            )
        except BaseException:
            if read is not None:
                os.close(read)
            raise
        finally:
            if write is not None:
                os.close(write)
        # Without a buffer they are plain files, which is what the readers below buffer for themselves.
        assert isinstance(self._child.stdout, io.FileIO) and isinstance(self._child.stderr, io.FileIO)
        self._exited = threading.Event()
        drains = [self._thread(self._drain, self._child.stderr, self._err)]
        if read is None:
            drains.append(self._thread(self._read_events, self._child.stdout))
        else:
            drains.append(self._thread(self._drain, self._child.stdout, None))
            drains.append(self._thread(self._read_events, io.FileIO(read, "rb")))
        self._thread(self._wait, drains)

    @staticmethod
    def _thread(work: Callable[..., None], *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, name=f"wiretape {work.__name__}", daemon=True)
        thread.start()
        return thread

    def _drain(self, stream: io.FileIO, into: list[bytes] | None) -> None:
        with stream:
            while piece := os.read(stream.fileno(), 65536):
                if into is not None:
                    into.append(piece)

    def _read_events(self, stream: io.FileIO) -> None:
        """The first line that is no event is kept in `events_error`."""
        try:
            with stream, io.BufferedReader(stream) as lines:
                for line in lines:
                    try:
                        raw = json.loads(line)
                        event = Event(str(raw["event"]), float(raw.get("t_ms") or 0), raw)
                    except (ValueError, TypeError, KeyError):
                        self.events_error = self.events_error or f"this line is no event: {line[:200]!r}"
                        continue
                    self.log.append(event)
        finally:
            self.log.close()

    def _wait(self, drains: list[threading.Thread]) -> None:
        """A command that outlives the program may still hold its output: that is waited for a moment only."""
        self._child.wait()
        for drain in drains:
            drain.join(timeout=2)
        self._exited.set()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def stderr(self) -> str:
        return b"".join(self._err).decode(errors="replace")

    def wait(self, timeout: float) -> int:
        """The exit code, negative for a signal. Raises WiretapeError when the program has not ended within `timeout` s."""
        if not self._exited.wait(timeout):
            raise WiretapeError(f"'wiretape' had not ended after {timeout:g} s.\n{self.stderr}")
        return self._child.returncode

    def end(self, timeout: float, *, is_well: bool = True) -> int:
        """Ends it gracefully and gives its exit code: with SIGINT, or SIGTERM when what it would keep of a run that is well is
        not to be kept and it would keep something. What has not ended `timeout` seconds later is killed: a WiretapeError."""
        how = signal.SIGINT if is_well or not self._keeps else signal.SIGTERM
        if not self._exited.is_set():
            self._child.send_signal(how)
        if not self._exited.wait(timeout):
            self.kill()
            raise WiretapeError(f"'wiretape' did not end within {timeout:g} s after {how.name}, and was killed.\n{self.stderr}")
        return self._child.returncode

    def kill(self) -> None:
        """Ends it at once, whatever state it is in, and waits for that."""
        if self._child.poll() is None:
            self._child.kill()
        self._exited.wait()


def not_ready(program: Program, error: BaseException, timeout: float) -> BaseException:
    """What to raise in place of `error`, with which waiting for the program to be ready has ended; it is gone then."""
    try:
        if not isinstance(error, WaitTimeout):
            return error
        if not program.log.is_closed:
            return WiretapeError(f"'wiretape' was not ready after {timeout:g} s.\n{program.stderr}")
        code = program.wait(10)
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        text = program.stderr.strip() or "It wrote nothing."
        return WiretapeError(f"'wiretape' ended {how} before it was ready.\n{text}", code)
    finally:
        program.kill()
