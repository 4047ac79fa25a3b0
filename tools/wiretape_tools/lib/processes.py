"""What the scripts in tools/ share: programs started in their own session and ended by pid, and wiretape itself."""

import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Any, Self

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Failed(Exception):
    """A check that did not hold, in a sentence."""


class Skipped(Exception):
    """What a check needs is not here, in a sentence: nothing was looked at."""


def binary() -> str:
    """The program under test: WIRETAPE_BIN, else the release build of this checkout."""
    path = pathlib.Path(os.environ.get("WIRETAPE_BIN") or ROOT / ".build/release/wiretape")
    if not path.is_file():
        raise SystemExit(f"{path} is not there: run tools/build release, or set WIRETAPE_BIN")
    return str(path.resolve())


def free_port() -> int:
    """A loopback port that was free a moment ago, for servers that cannot pick one themselves."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port: int, program: "Program", seconds: float = 30) -> None:
    """Until something accepts there; program is the Program that should."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if program.process.poll() is not None:
                raise Failed(f"{program.name} ended with {program.process.returncode}: {program.said()}") from None
            if time.monotonic() > end:
                raise Failed(f"{program.name} does not listen on {port} after {seconds} s") from None
            time.sleep(0.02)


def memory(pid: int, what: str) -> int:
    """A figure of a process in KiB: VmRSS is what is resident, VmHWM the most that has been."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(what):
            return int(line.split()[1])
    raise Failed(f"process {pid} has no {what}")


class Program:
    """A child process; its stderr goes to a file, stdout too unless it is read here."""

    port: int  # where it listens, set by who told it to

    def __init__(
        self,
        name: str,
        command: Sequence[str | os.PathLike[str]],
        log: pathlib.Path | str,
        read_stdout: bool = False,
        **options: Any,
    ) -> None:
        self.name = name
        self.log = pathlib.Path(log)
        self.out = open(self.log, "wb")  # noqa: SIM115  # kill() closes it
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if read_stdout else self.out,
            stderr=self.out,
            start_new_session=True,
            **options,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def stdout(self) -> IO[Any]:
        """What it writes, where it is read here."""
        assert self.process.stdout, f"{self.name} was not started with read_stdout"
        return self.process.stdout

    def said(self, limit: int = 2000) -> str:
        """The end of what it wrote to stderr."""
        return self.log.read_text(errors="replace")[-limit:].strip()

    def stop(self, how: signal.Signals = signal.SIGINT, seconds: float = 15) -> int:
        """Asks it to end and returns the exit code; it is an error to take longer."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} still runs {seconds} s after {how.name}: {self.said()}") from None
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends it and what it started; quiet when it has ended by itself."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self.out.close()

    def rss(self) -> int:
        """Resident memory in KiB."""
        return memory(self.process.pid, "VmRSS")


class PeakMemory:
    """The highest RSS of a program while it is open, in KiB."""

    def __init__(self, program: Program, seconds: float = 0.02) -> None:
        self.program, self.seconds, self.kib, self.stopped = program, seconds, 0, threading.Event()
        self.thread = threading.Thread(target=self.loop)

    def __enter__(self) -> "PeakMemory":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join()

    def loop(self) -> None:
        while not self.stopped.wait(self.seconds):
            try:
                self.kib = max(self.kib, self.program.rss())
            except (OSError, Failed):
                return


class Wiretape(Program):
    """`wiretape record|proxy|replay … --json`, ready to accept when the constructor returns."""

    def __init__(self, arguments: Sequence[object], log: pathlib.Path | str, seconds: float = 15, **options: Any) -> None:
        name = "wiretape " + str(arguments[0])
        super().__init__(name, self.command(list(map(str, arguments))), log, read_stdout=True, **options)
        try:
            self.ready = self.read_ready(seconds)
        except BaseException:
            self.kill()
            raise
        self.url = self.ready["url"]
        self.port = int(self.url.rsplit(":", 1)[1].strip("/"))

    def command(self, arguments: list[str]) -> list[str]:
        if "--listen" not in arguments:
            arguments += ["--listen", "127.0.0.1:0"]
        return [binary(), *arguments, "--json"]

    def read_ready(self, seconds: float) -> dict[str, Any]:
        line = b""
        end = time.monotonic() + seconds
        while not line.endswith(b"\n"):
            if not select.select([self.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"{self.name}: no ready line after {seconds} s: {self.said()}")
            more = os.read(self.stdout.fileno(), 4096)
            if not more:
                raise Failed(f"{self.name} ended with {self.process.wait()} before it was ready: {self.said()}")
            line += more
        ready = json.loads(line.split(b"\n")[0])
        if ready.get("event") != "ready":
            raise Failed(f"{self.name}: the first line is {ready}")
        return ready


def run(command: Sequence[object], seconds: float = 60, **options: Any) -> tuple[int, str, str]:
    """A program to its end: (exit code, stdout, stderr)."""
    done = subprocess.run(
        [str(c) for c in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        **options,
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def fail(text: str) -> int:
    print("FAILED: " + text, file=sys.stderr)
    return 1
