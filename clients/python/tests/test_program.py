"""The program as a child: where it is found, how it fails to start, and that it does not outlive its parent."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

from wiretape import WiretapeError, find_binary, replay

needs_pidfd = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="the end of another process is watched with Linux's pidfd_open"
)

RUNNER = """
import sys
from wiretape import record, replay
with {context} as child:
    print(child.pid, flush=True)
    sys.stdin.read()
"""
CONTEXTS = {"replay": "replay(sys.argv[1])", "record": "record('http://127.0.0.1:9', sys.argv[2])"}


def wait_for_end(pidfd, seconds):
    """Whether the process behind the descriptor has ended within so long; there is no polling in it."""
    return bool(select.select([pidfd], [], [], seconds)[0])


@needs_pidfd
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
@pytest.mark.parametrize("what", CONTEXTS)
def test_a_killed_runner_leaves_no_orphan(chat_tape, tmp_path, what, how):
    command = [sys.executable, "-c", RUNNER.format(context=CONTEXTS[what]), chat_tape, tmp_path / "new.tape"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runner:
        child = os.pidfd_open(int(runner.stdout.readline()))
        try:
            assert not wait_for_end(child, 0)
            began = time.monotonic()
            runner.send_signal(how)
            runner.wait()
            assert wait_for_end(child, 2), "the program outlived the process that started it"
            assert time.monotonic() - began < 2
        finally:
            os.close(child)


@needs_pidfd
@pytest.mark.parametrize("hangs", [False, True], ids=["in its body", "at its end"])
async def test_a_cancelled_block_leaves_nothing(chat_tape, hangs):
    entered = asyncio.get_running_loop().create_future()

    async def block():
        async with replay(chat_tape, stop_timeout=60) as server:
            entered.set_result(server.pid)
            await asyncio.Event().wait()

    task = asyncio.create_task(block())
    pid = await entered
    child = os.pidfd_open(pid)
    try:
        if hangs:
            os.kill(pid, signal.SIGSTOP)
            task.cancel()
            # The end of the block has begun, and waits for a program that does not end.
            done, _ = await asyncio.wait({task}, timeout=0.2)
            assert not done
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert wait_for_end(child, 2)
    finally:
        os.close(child)


def test_it_outlives_the_thread_that_started_it(chat_tape):
    """Only the process counts: a fixture may start a replay in a thread that ends."""
    context = replay(chat_tape, options=["--allow-unplayed"])
    entered = []
    starter = threading.Thread(target=lambda: entered.append(context.__enter__()))
    starter.start()
    starter.join()
    with pytest.raises(AssertionError, match="did not happen within"):
        entered[0].wait("end", timeout=1.5)
    context.__exit__(None, None, None)


def test_a_program_that_dies_is_no_pass(chat_tape):
    with pytest.raises(WiretapeError, match=r"exit code -9 without a report"), replay(chat_tape) as server:
        os.kill(server.pid, signal.SIGKILL)


def test_a_program_that_hangs_is_killed(chat_tape):
    with (
        pytest.raises(WiretapeError, match=r"did not end within 0\.3 s after SIGINT, and was killed"),
        replay(chat_tape, stop_timeout=0.3) as server,
    ):
        os.kill(server.pid, signal.SIGSTOP)


def test_a_missing_tape(tmp_path):
    with (
        pytest.raises(WiretapeError, match=r"there is no recording .*no\.tape\.gz; make it with"),
        replay(tmp_path / "no.tape.gz"),
    ):
        pytest.fail("a block was entered without a tape")


def test_what_is_no_tape(tmp_path):
    (tmp_path / "no.tape").write_text("hello\n")
    with pytest.raises(WiretapeError) as refused, replay(tmp_path / "no.tape"):
        pytest.fail("a block was entered without a tape")
    assert refused.value.exit_code == 4


def test_a_rule_that_cannot_fire_is_refused(chat_tape):
    with pytest.raises(WiretapeError, match="ReceiveMessage") as refused, replay(chat_tape, faults=["drop on ReceiveMesage"]):
        pytest.fail("a block was entered with a rule that cannot fire")
    assert refused.value.exit_code == 5


def test_a_missing_program_is_told_with_the_places(chat_tape, monkeypatch, tmp_path):
    monkeypatch.setenv("WIRETAPE_BIN", str(tmp_path / "nothing"))
    with pytest.raises(WiretapeError, match=r"WIRETAPE_BIN names .*nothing, which is no program.*tools/build release"):
        replay(chat_tape).__enter__()
    with pytest.raises(WiretapeError, match=r"binary= names .*, which is no program"):
        find_binary(tmp_path)


def test_where_the_program_is_looked_for(monkeypatch, tmp_path):
    checkout, folder = tmp_path / "checkout", tmp_path / "checkout" / "some" / "where"
    for made in (folder, checkout / "Sources" / "wiretape", checkout / ".build" / "debug", tmp_path / "bin"):
        made.mkdir(parents=True)
    (checkout / "Package.swift").touch()
    monkeypatch.delenv("WIRETAPE_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr("wiretape.binary.__file__", str(tmp_path / "site-packages" / "wiretape" / "binary.py"))

    with pytest.raises(WiretapeError) as missing:
        find_binary()
    for place in ("WIRETAPE_BIN", "PATH", ".build/release/wiretape", ".build/debug/wiretape"):
        assert place in str(missing.value)

    for program in (checkout / ".build" / "debug" / "wiretape", tmp_path / "bin" / "wiretape", tmp_path / "named"):
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
        if program.name == "named":
            monkeypatch.setenv("WIRETAPE_BIN", str(program))
        assert find_binary() == program


def test_the_program_of_the_package_goes_before_path(monkeypatch, tmp_path):
    scripts, packages = tmp_path / "bin", tmp_path / "lib" / "site-packages"
    about = packages / "wiretape-9.dist-info"
    for folder in (scripts, about):
        folder.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wiretape\nVersion: 9\n")
    (about / "RECORD").write_text("../../bin/wiretape,,\nwiretape-9.dist-info/METADATA,,\n")
    monkeypatch.delenv("WIRETAPE_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.syspath_prepend(packages)
    for program in (tmp_path / "path" / "wiretape", scripts / "wiretape"):
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
        assert find_binary() == program
