"""The pytest plugin, in pytest runs of its own: as its users write tests, with real clients and servers."""

import textwrap
from pathlib import Path

import echo
import pytest

from wiretape import replay

HERE = Path(__file__).resolve().parent
PLUGINS = ("-p", "no:cacheprovider")

CHAT = """
    import chat, pytest
    from wiretape import WiretapeFailure

    REFUSED = ["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1]"]
"""

ECHO = """
    import echo, pytest

    @pytest.mark.wiretape("tapes/echo.tape.gz", upstream_env="ECHO_URL", path="/echo", speed="instant")
    def test_echo(wiretape):
        assert echo.ask(wiretape.ws) == ["you said one", "you said two"]
"""


@pytest.fixture
def run(pytester, monkeypatch, chat_tape):
    """Runs pytest on a test file, with this folder's clients at hand: run(text, *options)."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("WIRETAPE_RECORDINGS", str(chat_tape.parent))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")

    def run_tests(text, *options):
        pytester.makepyfile(test_it=textwrap.dedent(text))
        return pytester.runpytest_subprocess(*PLUGINS, *options)

    return run_tests


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_good_client_passes(run):
    text = (
        CHAT
        + """
    @pytest.mark.wiretape("chat.tape.gz", speed=10, faults=REFUSED, expect=["client(pysignalr)"])
    async def test_comes_back(wiretape):
        assert (await chat.chat(wiretape.endpoint))[-1] == "bye"
    """
    )
    run(text).assert_outcomes(passed=1)


def test_the_verdict_fails_the_test_in_its_call(run):
    text = (
        CHAT
        + """
    @pytest.mark.wiretape("chat.tape.gz", speed=10, faults=REFUSED, expect=["delays(0s, 5s)"])
    async def test_comes_back(wiretape):
        await chat.chat(wiretape.endpoint)

    @pytest.mark.xfail(strict=True)
    @pytest.mark.wiretape("chat.tape.gz", speed=10)
    async def test_says_the_right_thing(wiretape):
        async with chat.Ada(wiretape.endpoint, wrong=True):
            await wiretape.wait_async("divergence")
    """
    )
    result = run(text)
    result.assert_outcomes(failed=1, xfailed=1)
    result.stdout.fnmatch_lines(
        ["*failed (exit 5)*attempt 3*", "*Captured wiretape call*", "*expected delays*", "*wiretape: failed (exit 5)*"]
    )


def test_a_failure_of_the_test_itself_stays_and_has_the_report(run):
    text = (
        CHAT
        + """
    @pytest.mark.wiretape("chat.tape.gz", speed=10)
    async def test_it(wiretape):
        assert await chat.chat(wiretape.endpoint) == []
    """
    )
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert*== []*", "*Captured wiretape call*", "*wiretape: pass (exit 0)*"])


def test_nobody_came(run):
    text = (
        CHAT
        + """
    @pytest.mark.wiretape("chat.tape.gz")
    def test_it(wiretape):
        pass
    """
    )
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*diverged (exit 2): nobody came to*"])


def test_a_program_that_refuses_and_a_marker_that_is_wrong(run):
    text = (
        CHAT
        + """
    @pytest.mark.wiretape("chat.tape.gz", faults=["drop on ReceiveMesage"])
    def test_rule(wiretape):
        pass

    def test_marker(wiretape):
        pass
    """
    )
    result = run(text)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*exit code 5 before it was ready*", "*needs a marker with a recording: @pytest*"])


def test_a_failing_set_up_of_another_fixture_leaves_nothing_behind(run):
    text = (
        CHAT
        + """
    import os
    PID = []

    @pytest.fixture
    def broken(wiretape):
        PID.append(os.pidfd_open(wiretape.pid))
        raise ZeroDivisionError

    @pytest.mark.wiretape("chat.tape.gz")
    def test_it(wiretape, broken):
        pass

    def test_gone():
        import select
        assert select.select(PID, [], [], 5)[0]
    """
    )
    run(text).assert_outcomes(errors=1, passed=1)


def test_many_workers(run):
    text = (
        CHAT
        + """
    @pytest.mark.parametrize("number", range(8))
    @pytest.mark.wiretape("chat.tape.gz", speed=10, faults=REFUSED[:1], expect=["delays(0s, late=2s)"])
    async def test_it(wiretape, number):
        await chat.chat(wiretape.endpoint)
    """
    )
    run(text, "-n", "4").assert_outcomes(passed=8)


def test_recorded_once_then_replayed_without_the_server(run, pytester, monkeypatch):
    tape = pytester.path / "tapes" / "echo.tape.gz"
    with echo.EchoServer() as server:
        monkeypatch.setenv("ECHO_URL", server.url)
        result = run(ECHO)
        result.assert_outcomes(passed=1, warnings=1)
        result.stdout.fnmatch_lines(["*WiretapeWarning: *echo.tape.gz was recorded from *: run the test again*"])
    assert names(tape.parent) == ["echo.tape.gz"]
    recorded = tape.stat().st_mtime_ns
    run(ECHO).assert_outcomes(passed=1, warnings=0)
    run(ECHO, "--wiretape-record=none").assert_outcomes(passed=1, warnings=0)
    assert tape.stat().st_mtime_ns == recorded
    # Recording anew without the server fails, and leaves the recording that there is.
    run(ECHO, "--wiretape-record=all").assert_outcomes(failed=1)
    assert names(tape.parent) == ["echo.tape.gz"] and tape.stat().st_mtime_ns == recorded


def test_faults_and_expectations_wait_until_there_is_a_recording(run, monkeypatch):
    text = ECHO.replace('speed="instant"', 'speed="instant", faults=["reset after message[2]"], expect=["delays(0s)"]')
    with echo.EchoServer() as server:
        monkeypatch.setenv("ECHO_URL", server.url)
        run(text).assert_outcomes(passed=1, warnings=1)
    run(text).assert_outcomes(failed=1)


def test_workers_that_share_a_recording_make_it_once(run, monkeypatch):
    text = ECHO.replace(
        "    @pytest.mark.wiretape", '    @pytest.mark.parametrize("number", range(6))\n    @pytest.mark.wiretape'
    )
    text = text.replace("test_echo(wiretape)", "test_echo(wiretape, number)")
    with echo.EchoServer() as server:
        monkeypatch.setenv("ECHO_URL", server.url)
        run(text, "-n", "4").assert_outcomes(passed=6, warnings=1)


def test_a_test_that_failed_leaves_no_recording(run, pytester, monkeypatch):
    with echo.EchoServer() as server:
        monkeypatch.setenv("ECHO_URL", server.url)
        run(ECHO.replace("you said two", "something else")).assert_outcomes(failed=1)
    assert names(pytester.path / "tapes") == []


@pytest.mark.parametrize("options, variables", [([], {"CI": "1"}), (["--wiretape-record=none"], {})], ids=["CI", "none"])
def test_a_missing_recording_is_told_with_the_command_that_makes_it(run, monkeypatch, options, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ECHO_URL", "http://127.0.0.1:9")
    result = run(ECHO, *options)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*there is no recording */tapes/echo.tape.gz; with http://127.0.0.1:9 running, make it with: "
            "pytest --wiretape-record=once test_it.py::test_echo*"
        ]
    )
    monkeypatch.delenv("ECHO_URL")
    result = run(ECHO, *options)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*make it with: wiretape record --upstream URL --output */tapes/echo.tape.gz*"])


MORE = """
    import echo, pytest

    @pytest.mark.wiretape("tapes/echo.tape.gz", upstream_env="ECHO_URL", path="/echo", speed="instant")
    def test_echo(wiretape):
        assert echo.ask(wiretape.ws) == ["you said one", "you said two"]
        assert echo.ask(wiretape.ws, "three") == ["you said three"]
"""


def test_what_a_recording_lacks_is_put_behind_it(run, pytester, monkeypatch):
    tape = pytester.path / "tapes" / "echo.tape.gz"
    added = "--wiretape-record=new-episodes"
    with echo.EchoServer() as server:
        monkeypatch.setenv("ECHO_URL", server.url)
        run(ECHO, added).assert_outcomes(passed=1, warnings=1)
        first = tape.read_bytes()
        run(ECHO, added).assert_outcomes(passed=1, warnings=0)
        # Neither a test that fails adds something, nor one with rules.
        run(MORE.replace("said three", "said four"), added).assert_outcomes(failed=1)
        faults = 'speed="instant", faults=["delay(1ms) on message[1]"]'
        run(MORE.replace('speed="instant"', faults), added).assert_outcomes(failed=1)
        assert tape.read_bytes() == first
        result = run(MORE, added)
        result.assert_outcomes(passed=1, warnings=1)
        result.stdout.fnmatch_lines(["*WiretapeWarning: what *echo.tape.gz lacked was recorded from *: run the test again*"])
    assert names(tape.parent) == ["echo.tape.gz"]
    run(MORE, "--wiretape-record=none").assert_outcomes(passed=1, warnings=0)


def test_workers_that_lack_something_at_once(run, pytester, monkeypatch):
    """One of them adds it, the others are told who does; what they find afterwards is whole."""
    text = MORE.replace(
        "    @pytest.mark.wiretape", '    @pytest.mark.parametrize("number", range(4))\n    @pytest.mark.wiretape'
    )
    text = text.replace("test_echo(wiretape)", "test_echo(wiretape, number)")
    with echo.EchoServer() as server:
        monkeypatch.setenv("ECHO_URL", server.url)
        run(ECHO).assert_outcomes(passed=1, warnings=1)
        run(text, "-n", "4", "--wiretape-record=new-episodes")
        run(MORE, "--wiretape-record=new-episodes")
    run(MORE, "--wiretape-record=none").assert_outcomes(passed=1)
    assert names(pytester.path / "tapes") == ["echo.tape.gz"]


def test_four_workers_from_the_recording_to_the_verdict(run, pytester, monkeypatch, chat_tape):
    """Record once, the server is gone, replay, inject, assert; and on a build machine without the recording."""
    text = (
        CHAT
        + """
    @pytest.mark.parametrize("number", range(8))
    @pytest.mark.wiretape("tapes/made.tape.gz", upstream_env="HUB_URL", path="/hub", speed=10)
    async def test_it(wiretape, number):
        assert (await chat.chat(wiretape.endpoint))[-1] == "bye"
    """
    )
    ruled = text.replace("speed=10", 'speed=10, faults=["reset after ReceiveMessage[3]"], expect=["delays({}, late=2s)"]')
    with replay(chat_tape, speed="instant", options=["--when-exhausted", "repeat"], check=False) as hub:
        monkeypatch.setenv("HUB_URL", hub.url)
        run(text, "-n", "4").assert_outcomes(passed=8, warnings=1)
    run(text, "-n", "4").assert_outcomes(passed=8, warnings=0)
    run(ruled.format("0s"), "-n", "4").assert_outcomes(passed=8, warnings=0)
    result = run(ruled.format("5s"), "-n", "4")
    result.assert_outcomes(failed=8)
    result.stdout.fnmatch_lines(["*failed (exit 5): delays(5s, late=2s)*"])
    assert names(pytester.path / "tapes") == ["made.tape.gz"]
    (pytester.path / "tapes" / "made.tape.gz").unlink()
    monkeypatch.setenv("CI", "1")
    result = run(text, "-n", "4")
    result.assert_outcomes(errors=8)
    result.stdout.fnmatch_lines(["*there is no recording */tapes/made.tape.gz; with http* running, make it with: pytest *"])
