"""200 replay tests of the Swift library at a time in one process, ten times, without a flake, in a release build.

From the call to a server that accepts, of a tape of 1,000 events, the median is at most 10 ms. A runner of the Python library that is
killed (SIGKILL) leaves no process after 2 s. The first run builds the library once more, for tests in release: minutes.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from wiretape_tools.lib.processes import ROOT, Failed, Skipped, binary, fail

PLACE = ROOT / ".build/acceptance/parallel"
TESTS = ROOT / "Tests/WiretapeTestingTests"
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "parallel",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "wiretape", path: "CHECKOUT")],
    targets: [
        .target(name: "ExampleChat"),
        .testTarget(name: "ParallelTests", dependencies: ["ExampleChat", .product(name: "WiretapeTesting", package: "wiretape")]),
    ]
)
"""
# A runner that holds a replay open, and says which process that is.
RUNNER = """
import sys, time
from wiretape import replay
with replay(sys.argv[1]) as server:
    print(server.pid, flush=True)
    time.sleep(600)
"""


def make_package() -> None:
    """The tests of this checkout's library, as a package of somebody else has them."""
    folder = PLACE / "Tests/ParallelTests"
    folder.mkdir(parents=True, exist_ok=True)
    (PLACE / "recordings").mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "recordings/chat.tape.gz", PLACE / "recordings/chat.tape.gz")
    (PLACE / "Package.swift").write_text(MANIFEST.replace("CHECKOUT", str(ROOT)), encoding="utf-8")
    shutil.copytree(ROOT / "Examples/swift/Sources/Chat", PLACE / "Sources/ExampleChat", dirs_exist_ok=True)
    for name in ("Ada.swift", "ParallelTests.swift", "StartTests.swift"):
        shutil.copyfile(TESTS / name, folder / name)


def swift(*words: str, seconds: float) -> str:
    """What the command says. Raises Failed unless it ends with 0."""
    command = ["swift", *words, "-c", "release", "--package-path", str(PLACE)]
    ended = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=seconds,
        check=False,
    )
    if ended.returncode:
        wrong = [line for line in ended.stdout.splitlines() if "error:" in line or "recorded an issue" in line]
        said = "\n".join(wrong[:10] or [ended.stdout[-2000:]])
        raise Failed(f"swift {words[0]} ended with {ended.returncode}: {said}")
    return ended.stdout


def seconds_of(text: str) -> float:
    """Of a printed Duration: `0.00123 seconds`."""
    found = re.match(r"([0-9.e-]+) seconds", text)
    if not found:
        raise Failed(f"no duration: {text}")
    return float(found[1])


def side_by_side(times: int) -> str:
    make_package()
    began = time.monotonic()
    swift("build", "--build-tests", seconds=3600)
    built = time.monotonic() - began
    took, medians = [], []
    for number in range(1, times + 1):
        began = time.monotonic()
        said = swift("test", "--skip-build", "--disable-xctest", "--filter", "manyServersAtATime", seconds=300)
        took.append(time.monotonic() - began)
        if not re.search(r"Test manyServersAtATime\(_:\) with 200 test cases passed", said):
            raise Failed(f"run {number} of {times} did not pass 200 tests: {said[-2000:]}")
        said = swift("test", "--skip-build", "--disable-xctest", "--filter", "StartTests", seconds=300)
        found = re.search(r"from the call to accepting: first (.*), median (.*)", said)
        if not found:
            raise Failed(f"run {number} of {times} told no time: {said[-2000:]}")
        medians.append(seconds_of(found[2]) * 1000)
    text = (
        f"{times} times 200 tests at a time in one process passed, {min(took):.1f} to {max(took):.1f} s each, built in {built:.0f} s; "
        f"from the call to accepting {min(medians):.2f} to {max(medians):.2f} ms (medians of 21, 1,000 events)"
    )
    if max(medians) > 10:
        raise Failed(text + "; more than 10 ms")
    return text


def is_there(pid: int) -> bool:
    """Whether the process runs: one that has ended and that nobody has asked about does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def killed_runners(times: int) -> str:
    if not pathlib.Path("/proc/self/stat").exists():
        raise Skipped("processes are looked at in /proc, which is not here")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src"), "WIRETAPE_BIN": binary()}
    tape = str(ROOT / "recordings/chat.tape.gz")
    slowest = 0.0
    for _ in range(times):
        runner = subprocess.Popen(
            [sys.executable, "-c", RUNNER, tape], env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        assert runner.stdout is not None
        with runner, runner.stdout:
            try:
                pid = int(runner.stdout.readline())
            finally:
                runner.send_signal(signal.SIGKILL)
            began = time.monotonic()
        while is_there(pid):
            if time.monotonic() - began > 2:
                os.kill(pid, signal.SIGKILL)
                raise Failed(f"a runner was killed, and the replay that it had started was there 2 s later (process {pid})")
            time.sleep(0.02)
        slowest = max(slowest, time.monotonic() - began)
    return f"{times} killed runners left nothing, after {slowest:.2f} s at most"


PARTS = {"tests": side_by_side, "killed": killed_runners}


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/acceptance/parallel", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)} (all)")
    parser.add_argument("--times", type=int, default=10, metavar="N", help="runs of each part (10)")
    options = parser.parse_args()
    for part in options.parts.split(","):
        try:
            print(f"parallel: {PARTS[part](options.times)}", flush=True)
        except Skipped as why:
            print(f"parallel: skipped {part}: {why}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"parallel: {failure}"))
