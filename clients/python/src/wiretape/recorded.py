"""A test that makes its own recording."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
import warnings
from pathlib import Path

import pytest

from .marked import Marked, WiretapeWarning
from .record import Recorder, record


def private_folder(parent: Path) -> Path:
    """The folder of this user in a folder for everybody. Nobody else can write to it.

    :raises PermissionError: if another user made it, or if others can use it."""
    folder = parent / f"wiretape-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        text = f"{folder} belongs to another user, or others can use it: remove it, or set TMPDIR to a folder of your own"
        raise PermissionError(text)
    return folder


class RecordingTest:
    """The recording of one test. The tape gets its name when the test has passed and not before, so that a test that failed,
    or was killed, leaves nothing that a later run would take for a recording. Of tests that run at the same time and share
    a recording (pytest-xdist), one makes it while the others wait, and replay it then."""

    def __init__(self, marked: Marked) -> None:
        assert marked.upstream is not None
        self._marked, self._upstream = marked, marked.upstream
        self._cleanup = contextlib.ExitStack()
        try:
            self._lock()
            # Another process may have made it while this one waited.
            self.is_needed = marked.should_record
            if self.is_needed:
                self._begin()
        finally:
            if not hasattr(self, "server"):
                self._cleanup.close()

    def _lock(self) -> None:
        name = hashlib.sha256(os.fsencode(self._marked.tape.absolute())).hexdigest()[:16]
        path = private_folder(Path(tempfile.gettempdir())) / f"{name}.lock"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._cleanup.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)

    def _begin(self) -> None:
        tape = self._marked.tape
        tape.parent.mkdir(parents=True, exist_ok=True)
        self._draft = tape.with_name(f".{os.getpid()}.{tape.name}")
        self._cleanup.callback(self._draft.unlink, missing_ok=True)
        self._record = record(self._upstream, self._draft, path=self._marked.path, force=True)
        self.server: Recorder = self._record.__enter__()

    def finish(self, item: pytest.Item, error: BaseException | None) -> None:
        """Ends the recording. It is kept when the test passed, with a warning that nothing was judged yet."""
        with self._cleanup:
            try:
                self._record.__exit__(type(error) if error else None, error, None)
            finally:
                item.add_report_section("call", "wiretape", self.server.text)
            if error is None:
                self._draft.replace(self._marked.tape)
        if error is None:
            text = f"{self._marked.tape} was recorded from {self._upstream}; nothing was judged: run the test again"
            warnings.warn(WiretapeWarning(text), stacklevel=2)

    def abandon(self) -> None:
        with self._cleanup:
            self.server.abort()
