"""Replays of real recordings to real clients, and the verdict on what those do."""

import asyncio
import json
import traceback

import chat
import pytest

import wiretape
from wiretape import WaitTimeout, WiretapeFailure, replay

REFUSED = ["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1]"]


async def test_a_real_client_plays_the_tape(chat_tape):
    async with replay(chat_tape, speed=10) as server:
        assert await chat.chat(server.endpoint) == ["hi ada", "how are you?", "see you tomorrow", "bye"]
        report = await server.stop_async()
    assert report.passed and report.verdict == "pass" and report.exit_code == 0
    assert report.seed == server.seed
    [session] = report.sessions
    assert (session.protocol, session.transports, session.finished) == ("signalr", ("ws",), True)
    assert session.matched == 4


async def test_a_reset_and_a_refusal_are_judged(chat_tape):
    async with replay(chat_tape, speed=10, faults=REFUSED, expect=["client(pysignalr)", "single"]) as server:
        await chat.chat(server.endpoint)
        report = await server.stop_async()
    assert [attempt.outcome for attempt in report.attempts] == ["connected", "status", "connected"]
    assert [attempt.ended_how for attempt in report.attempts[:2]] == ["reset", "503"]
    assert report.attempts[0].delay_ms is None and report.sessions[0].delays_ms[1] >= 1000
    assert [fault.rule for fault in report.faults] == REFUSED
    assert [expectation.met for expectation in report.expectations] == [True, True]
    assert report.unfired == ()


async def test_a_client_that_comes_back_at_the_wrong_time_fails(chat_tape):
    with pytest.raises(WiretapeFailure) as failed:
        async with replay(chat_tape, speed=10, faults=REFUSED, expect=["delays(0s, 5s)"]) as server:
            await chat.chat(server.endpoint)
    assert "attempt 3" in str(failed.value)
    report = failed.value.report
    assert (report.verdict, report.exit_code) == ("failed", 5)
    assert report.expectations[0].judged and not report.expectations[0].met


async def test_a_client_that_says_something_else_fails(chat_tape):
    with pytest.raises(WiretapeFailure) as failed:
        async with replay(chat_tape, speed=10) as server, chat.Ada(server.endpoint, wrong=True):
            await server.wait_async("divergence")
    text = str(failed.value)
    assert "diverged at client message 2 of session 1" in text
    assert 'SendMessage("ada", "hello bob")' in text and 'SendMessage("ada", "what?")' in text
    assert failed.value.report.exit_code == 2


async def test_a_client_that_leaves_in_the_middle_fails(chat_tape):
    with pytest.raises(WiretapeFailure, match="session 1: 1 client message never came"):
        async with replay(chat_tape, speed=10) as server, chat.Ada(server.endpoint, silent=True):
            await server.wait_async("message", target="ReceiveMessage")


async def test_a_client_that_hangs_in_the_middle_fails(chat_tape):
    """It is still connected at the end: the program alone would pass it."""
    async with replay(chat_tape, speed=10, check=False) as server, chat.Ada(server.endpoint, silent=True):
        await server.wait_async("message", target="ReceiveMessage")
        report = await server.stop_async()
        with pytest.raises(WiretapeFailure, match="in the middle of session 1, 1 of its messages matched"):
            server.check()
    assert report.passed and [session.number for session in report.cut_off] == [1]


async def test_leaving_in_the_middle_can_be_permitted(chat_tape):
    async with replay(chat_tape, speed=10, allow_unfinished=True) as server, chat.Ada(server.endpoint, silent=True):
        await server.wait_async("message", target="ReceiveMessage")
        report = await server.stop_async()
    assert report.cut_off


def test_nobody_came(chat_tape):
    with pytest.raises(WiretapeFailure, match="nobody came") as failed, replay(chat_tape):
        pass
    assert failed.value.report.exit_code == 2


async def test_an_exception_of_the_body_goes_on_with_the_report(chat_tape):
    with pytest.raises(ZeroDivisionError) as raised:
        async with replay(chat_tape, speed=10) as server:
            await chat.chat(server.endpoint)
            raise ZeroDivisionError
    if hasattr(raised.value, "add_note"):
        assert "wiretape: pass (exit 0)" in "".join(traceback.format_exception(raised.value))


async def test_what_happened_can_be_waited_for(chat_tape):
    async with replay(chat_tape, speed=10, faults=REFUSED) as server:
        async with chat.Ada(server.endpoint) as ada:
            fault = await server.wait_async("fault", rule=REFUSED[0])
            back = await server.wait_async("connected", attempt=lambda number: number > 1)
            assert back.t_ms > fault.t_ms and back["transport"] == "ws"
            third = await server.wait_async("message", d=">", target="SendMessage", count=3)
            assert third["fields"]["arguments"] == ["ada", "bye"]
            await ada.bye()
            await server.finished_async()
        assert [message["fields"]["arguments"][1] for message in server.received("SendMessage")] == [
            "hello bob",
            "fine, thanks",
            "bye",
        ]
        assert server.received("SendMessage", session=2) == []
        assert server.events[0].name == "ready" and server.events[0]["pid"] == server.pid


async def test_threads_can_wait(chat_tape):
    with replay(chat_tape, speed=10) as server:
        client = asyncio.create_task(chat.chat(server.endpoint))
        finished = await asyncio.get_running_loop().run_in_executor(None, server.finished)
        assert finished["session"] == 1
        await client


def test_waiting_has_an_end(chat_tape):
    with replay(chat_tape, options=["--allow-unplayed"]) as server:
        with pytest.raises(WaitTimeout, match=r"fault with attempt=2 did not happen within 0\.05 s(.|\n)*ready"):
            server.wait("fault", timeout=0.05, attempt=2)
        server.stop()
        with pytest.raises(WaitTimeout, match="before the run ended"):
            server.wait("fault", timeout=60)


async def test_waiting_in_an_event_loop_is_refused(chat_tape):
    with replay(chat_tape, options=["--allow-unplayed"]) as server, pytest.raises(RuntimeError, match="wait_async"):
        server.wait("fault")


async def test_many_at_once(chat_tape):
    async def one():
        async with replay(chat_tape, speed="instant") as server:
            await chat.chat(server.endpoint)
            return server.url

    assert len(set(await asyncio.gather(*(one() for _ in range(6))))) == 6


async def test_the_report_in_every_form(chat_tape, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "report.json").write_text("of an earlier run")
    async with replay(chat_tape, speed=10, seed=42, report=folder) as server:
        await chat.chat(server.endpoint)
        report = await server.stop_async()
    assert report.seed == server.seed == 42
    assert json.loads((folder / "report.json").read_text()) == report.raw
    assert {"report.xml", "report.txt", "actual.tape"} <= {path.name for path in folder.iterdir()}


def test_a_single_text_is_no_list(chat_tape):
    with pytest.raises(TypeError, match="faults takes a list"):
        wiretape.replay(chat_tape, faults="reset after ReceiveMessage[3]")
