"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report


class WiretapeError(RuntimeError):
    """Wiretape itself did not do its work: it is not there, refused its options, or ended too early.

    `exit_code` is the program's, negative for a signal as in `subprocess`, and None when it did not run or was killed here.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class WiretapeFailure(AssertionError):
    """The client under test did not do what the tape and the expectations ask for. The text is the program's own.

    `sentence` says it in short; `report` tells what happened.
    """

    def __init__(self, sentence: str, report: Report) -> None:
        super().__init__(f"{sentence}\n{report.text}")
        self.sentence, self.report = sentence, report


class WaitTimeout(AssertionError):
    """What a test waited for did not happen: the time was over, or the run ended before."""


def add_note(error: BaseException, text: str) -> None:
    """Puts the program's text below an exception that goes on. Python 3.10 has no notes, and shows none."""
    if hasattr(error, "add_note"):
        error.add_note(f"\nwiretape's report:\n{text}")
