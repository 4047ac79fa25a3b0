"""Recordings from a real server, and their replay once it is gone."""

import asyncio
import sys

import echo
import pytest
from websockets.exceptions import ConnectionClosed

from wiretape import WiretapeError, WiretapeFailure, record, replay

CLIENT = "import sys, echo; print(echo.ask(sys.argv[1].replace('http', 'ws', 1) + '/echo'))"


def test_what_is_recorded_is_replayed_without_the_server(tmp_path):
    tape = tmp_path / "echo.tape.gz"
    with echo.EchoServer() as server, record(server.url, tape, path="/echo") as recorder:
        assert recorder.recording and recorder.endpoint == recorder.url + "/echo"
        said = echo.ask(recorder.ws)
    assert said == ["you said one", "you said two"]
    with replay(tape, speed="instant") as server:
        assert not server.recording and server.ws.endswith("/echo")
        assert echo.ask(server.ws) == said
    with pytest.raises(WiretapeFailure, match="three"), replay(tape, speed="instant") as server:
        with pytest.raises(ConnectionClosed):
            echo.ask(server.ws, "three")


async def test_in_an_event_loop(tmp_path):
    with echo.EchoServer() as server:
        async with record(server.url, tmp_path / "echo.tape") as recorder:
            await asyncio.get_running_loop().run_in_executor(None, echo.ask, recorder.ws)
    assert "you said" in (tmp_path / "echo.tape").read_text()


def test_a_command_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path.parent) + ":" + __file__.rpartition("/")[0])
    with echo.EchoServer() as server:
        with record(server.url, tmp_path / "echo.tape", [sys.executable, "-c", CLIENT, "{url}"]):
            pass
        assert (tmp_path / "echo.tape").stat().st_size > 0
        with (
            pytest.raises(WiretapeError, match="exit 3") as failed,
            record(server.url, tmp_path / "failed.tape", [sys.executable, "-c", "raise SystemExit(3)"]),
        ):
            pass
    assert failed.value.exit_code == 3


def test_a_recording_of_nothing_fails(tmp_path):
    with (
        pytest.raises(WiretapeError, match="no client came"),
        echo.EchoServer() as server,
        record(server.url, tmp_path / "echo.tape"),
    ):
        pass


def test_a_tape_is_written_over_only_by_force(tmp_path):
    tape = tmp_path / "echo.tape"
    tape.write_text("precious")
    with echo.EchoServer() as server:
        with pytest.raises(WiretapeError, match=r"echo\.tape"), record(server.url, tape):
            pass
        assert tape.read_text() == "precious"
        with record(server.url, tape, force=True) as recorder:
            echo.ask(recorder.ws)
    assert "you said" in tape.read_text()
