"""late PID SECONDS OUTPUT REPORT: waits so long for the process PID and all that it has started.

When they are not at their end by then, REPORT says which tests of OUTPUT (what Swift's test runner has said) have begun and not
ended, and what the runner's threads were doing, if gdb is there; then all that PID has started is killed, but for what copies
OUTPUT (tee). Used by tools/test: a test that waits for ever is to be named, not waited for.
"""

import collections
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

BEGUN = re.compile(r"^◇ Test (?!case |run )(.+) started\.$")
ENDED = re.compile(r"^\S Test (?!case |run )(.+?)(?: with \d+ test cases?)? (?:passed|failed|skipped)\b")
# The binary with the tests, or what loads it.
RUNNER = re.compile(r"PackageTests\.xctest|swiftpm-testing-helper")
MOST_LINES = 400


def unfinished(said: str) -> list[str]:
    """The names of the tests that have begun more often than they ended: several suites may have tests of one name."""
    running: collections.Counter[str] = collections.Counter()
    for line in said.splitlines():
        if begun := BEGUN.match(line):
            running[begun[1]] += 1
        elif ended := ENDED.match(line):
            running[ended[1]] -= 1
    return sorted(running.elements())


def descendants(pid: int) -> list[tuple[int, str]]:
    """Everything below a process, with its command line; this process left out."""
    children: dict[int, list[int]] = collections.defaultdict(list)
    commands: dict[int, str] = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, IndexError):
            continue
        children[parent].append(int(entry.name))
    found: list[tuple[int, str]] = []
    left = [pid]
    while left:
        for child in children[left.pop()]:
            if child != os.getpid():
                found.append((child, commands[child]))
                left.append(child)
    return found


def stacks(pid: int) -> str:
    """What each thread of a process is doing."""
    if not shutil.which("gdb"):
        return "gdb would tell what its threads are doing; it is not there"
    command = ["gdb", "-p", str(pid), "-batch", "-ex", "call (int)fflush(0)", "-ex", "thread apply all backtrace 25"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=180, check=False)
    except subprocess.TimeoutExpired:
        return "gdb did not end"
    wanted = [line for line in ran.stdout.splitlines() if re.match(r"Thread |#", line)]
    return "\n".join(wanted[:MOST_LINES])


def report(pid: int, seconds: float, output: pathlib.Path) -> str:
    below = descendants(pid)
    runners = [(child, command) for child, command in below if RUNNER.search(command)]
    # gdb makes the runner say what it still had in its buffer, so it comes first.
    traces = [f"process {child}: {command}\n{stacks(child)}" for child, command in runners]
    time.sleep(1)
    names = unfinished(output.read_text(errors="replace"))
    lines = [f"tools/test: the tests have not ended after {seconds:.0f} s, and were ended. Begun, and not ended ({len(names)}):"]
    lines += [f"  {name}" for name in names]
    lines += ["processes:", *(f"  {child} {command[:200]}" for child, command in below), *traces]
    return "\n".join(lines) + "\n"


def main() -> int:
    pid, seconds = int(sys.argv[1]), float(sys.argv[2])
    output, place = pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(min(1.0, max(0.0, end - time.monotonic())))
        if not pathlib.Path(f"/proc/{pid}").exists():
            return 0
    place.write_text(report(pid, seconds, output))
    for child, command in descendants(pid):
        if command.startswith("tee "):
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
