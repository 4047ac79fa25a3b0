"""The pytest plugin: a marker that names a recording, and the fixture `wiretape` that replays it to the test's client.

    @pytest.mark.wiretape("chat.tape.gz", faults=["reset after ReceiveMessage[3]"], expect=["delays(0s)"])
    def test_comes_back(wiretape):
        run_client(wiretape.endpoint)

The verdict belongs to the test's call, not to its teardown: when the test function is over, the replay is ended, and a verdict
that is no pass fails the test like an assertion of its own. So it counts as failed (a failing teardown counts as an error
beside a passed test), and `xfail`, `-x`, `--lf` and plugins that repeat tests see it. What fixtures do to the client at their
teardown comes too late to be judged: a test whose client has something to say at the end lets it say that in the test.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator

import pytest

from .errors import WiretapeError, WiretapeFailure
from .marked import MODES, Marked, WiretapeWarning, read_marker
from .record import Recorder
from .recorded import RecordingTest
from .server import Server

_RUNNING = pytest.StashKey["ReplayTest | RecordingTest"]()


class ReplayTest:
    """The replay of one test."""

    def __init__(self, marked: Marked) -> None:
        self._marked = marked
        self._replay = replay = marked.replay()
        self.server: Server = replay.__enter__()

    def finish(self, item: pytest.Item, error: BaseException | None) -> None:
        """Ends the replay and adds its report to the test's sections. Raises what is wrong with the run, unless the test has
        failed by itself."""
        try:
            report = self.server.stop(failed=error is not None)
            if error is None:
                self._replay.judge()
            if report.appended is not None:
                self._tell_appended()
        except WiretapeError:
            if error is None:
                raise
        finally:
            self._replay.close()
            item.add_report_section("call", "wiretape", self.server.text)

    def _tell_appended(self) -> None:
        text = (
            f"what {self._marked.tape} lacked was recorded from {self._marked.upstream}; it was not judged: run the test again"
        )
        warnings.warn(WiretapeWarning(text), stacklevel=2)

    def abandon(self) -> None:
        self._replay.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("wiretape").addoption(
        "--wiretape-record",
        choices=MODES,
        default=None,
        help="once (default): record what is missing, from the marker's upstream; new-episodes: that, and what a recording "
        "lacks; none (default where the environment says CI): a missing recording is a failure; all: record everything anew "
        "that has an upstream.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "wiretape(tape, *, upstream=None, upstream_env=None, path='', **options): replay this recording to the test's client; "
        "`upstream` (or the variable named by `upstream_env`) is the server that it is recorded from, `path` is where its "
        "client connects there, all else is for wiretape.replay().",
    )


@pytest.fixture
def wiretape(request: pytest.FixtureRequest) -> Generator[Server | Recorder, None, None]:
    """The replay (`wiretape.Server`) of the recording that the test's marker names; while that is being recorded, the
    recording (`wiretape.Recorder`)."""
    item = request.node
    marked = read_marker(item)
    running = _begin(marked)
    item.stash[_RUNNING] = running
    yield running.server
    # The call has ended it already, unless the test was never called: another fixture's set-up has failed.
    if _RUNNING in item.stash:
        del item.stash[_RUNNING]
        running.abandon()


def _begin(marked: Marked) -> ReplayTest | RecordingTest:
    try:
        if marked.should_record:
            recording = RecordingTest(marked)
            if recording.is_needed:
                return recording
        return ReplayTest(marked)
    except WiretapeError as error:
        raise _failed(str(error)) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    try:
        result = yield
    except BaseException as error:
        _finish(item, error)
        raise
    _finish(item, None)
    return result


def _finish(item: pytest.Item, error: BaseException | None) -> None:
    running = item.stash.get(_RUNNING, None)
    if running is None:
        return
    del item.stash[_RUNNING]
    try:
        running.finish(item, error)
    except WiretapeFailure as failure:
        # A traceback would lead through this plugin only. The whole report is a section of the failure.
        raise _failed("\n".join([failure.sentence, *failure.report.divergences])) from None
    except WiretapeError as failure:
        raise _failed(str(failure)) from None


def _failed(text: str) -> BaseException:
    return pytest.fail.Exception(text, pytrace=False)
