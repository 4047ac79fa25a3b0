"""What a test's marker says, and where its recording is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .replay import Replay, replay

MODES = ("once", "new-episodes", "none", "all")


class WiretapeWarning(UserWarning):
    """Something that a person should do, such as running a test again that has just made its recording."""


@dataclass(frozen=True)
class Marked:
    """A test with a recording."""

    node: str
    tape: Path
    """Where the recording is, or belongs."""
    mode: str
    upstream: str | None
    path: str
    options: Mapping[str, Any]
    """What the marker says for `replay()`."""

    @property
    def is_there(self) -> bool:
        """Asked each time: another process may make it meanwhile."""
        return self.tape.is_file()

    @property
    def should_record(self) -> bool:
        return self.upstream is not None and (self.mode == "all" or (self.mode != "none" and not self.is_there))

    def replay(self) -> Replay:
        """The replay; fails the test when there is no recording."""
        if not self.is_there:
            pytest.fail(self.missing(), pytrace=False)
        add_from = self.upstream if self.mode == "new-episodes" else None
        return replay(self.tape, **{"add_from": add_from, **self.options})

    def missing(self) -> str:
        """That there is no recording, and the command that makes it."""
        if self.upstream is not None:
            command = f"pytest --wiretape-record=once {shlex.quote(self.node)}"
            how = f"with {self.upstream} running, make it with: {command}"
        else:
            command = f"wiretape record --upstream URL --output {shlex.quote(str(self.tape))}"
            how = f"make it with: {command} (or give the marker an upstream, and run pytest --wiretape-record=once)"
        return f"there is no recording {self.tape}; {how}"


def read_marker(item: pytest.Item) -> Marked:
    """The closest marker of the test. Raises pytest's failure when there is none, or none that can be understood."""
    marker = item.get_closest_marker("wiretape")
    if marker is None or len(marker.args) != 1:
        pytest.fail(
            'the fixture `wiretape` needs a marker with a recording: @pytest.mark.wiretape("chat.tape.gz")', pytrace=False
        )
    options = dict(marker.kwargs)
    upstream, variable = options.pop("upstream", None), options.pop("upstream_env", None)
    if variable is not None:
        upstream = os.environ.get(variable) or upstream
    mode = item.config.getoption("--wiretape-record")
    if mode is None:
        mode = "none" if os.environ.get("CI", "").lower() not in ("", "0", "false") else "once"
    tape = _find(Path(marker.args[0]), item.path.parent)
    return Marked(item.nodeid, tape, mode, upstream, options.pop("path", ""), options)


def _find(name: Path, folder: Path) -> Path:
    """Beside the test's file, then below WIRETAPE_RECORDINGS; a new one belongs beside the test's file."""
    recordings = os.environ.get("WIRETAPE_RECORDINGS")
    places = [folder / name] + ([Path(recordings) / name] if recordings else [])
    return next((place for place in places if place.is_file()), places[0])
