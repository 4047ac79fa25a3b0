"""Runs everything that the landing lane leaves out, as named steps, and ends with a table.

    .ci/nightly                 every step
    .ci/nightly STEP…           these steps
    .ci/nightly --list          what each step proves and how long it takes
    .ci/nightly $(.ci/affected) what your change calls for

A step that fails does not stop the others. Each step ends as passed, partly (it ran, and says which parts it left out), skipped
(nothing ran: a program or a folder is missing, and the table says which) or failed. Exit code: 1 when a step failed, 2 when none
failed and a step was skipped or left out parts, else 0. What a step printed is in .build/nightly/STEP.log.

The steps need `.build/release/wiretape`: it is built first, unless WIRETAPE_BIN names a program. Missing Debian packages are
installed when you are root. Steps that do not compare times run two at a time (--jobs).
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from wiretape_tools.lanes import ROOT, STEPS, Step, Unusable, check_tables

WORK = ROOT / ".build/nightly"
SKIPPED = re.compile(r"^(?:[\w./-]+: )?(?:skipped|not run:)\b.*|^(?:[\w./-]+: ){1,2}skipped\b.*", re.M)
# The exit code of a script that could not look at anything.
NOTHING_RAN = 77
LONGEST = 90 * 60
installing = threading.Lock()
running: set[subprocess.Popen[bytes]] = set()


@dataclasses.dataclass
class Outcome:
    """How a step ended: passed, partly, skipped or failed."""

    name: str
    state: str
    seconds: float
    text: str


def install(package: str) -> None:
    """Installs a Debian package. Failing is no error here: the caller looks for the program again."""
    with installing, (WORK / "apt.log").open("ab") as log:
        for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", package]):
            subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )


def missing(step: Step) -> str | None:
    """What the step lacks here, in words, or None. Installs what it can."""
    if step.is_for_root and os.geteuid() != 0:
        return "it has to run as root"
    for need in step.needs:
        program, _, package = need.partition(":")
        if shutil.which(program) is None and package and os.geteuid() == 0 and shutil.which("apt-get"):
            install(package)
        if shutil.which(program) is None:
            return f"{program} is not installed" + (f" (Debian: apt-get install {package})" if package else "")
    for folder in step.shared:
        place = pathlib.Path(os.environ.get(f"WIRETAPE_{folder.upper()}") or ROOT.parent / "shared" / folder)
        if not place.is_dir():
            return f"there is no folder {place} (WIRETAPE_{folder.upper()} names another)"
    return None


def run(step: Step) -> Outcome:
    """The step to its end."""
    begun = time.monotonic()
    if lacks := missing(step):
        return Outcome(step.name, "skipped", 0, lacks)
    log = WORK / f"{step.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-c", step.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
        try:
            code = process.wait(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return Outcome(step.name, "failed", time.monotonic() - begun, f"did not end within {LONGEST // 60} minutes; see {log}")
        finally:
            running.discard(process)
    said = log.read_text(encoding="utf-8", errors="replace")
    seconds = time.monotonic() - begun
    lines = [line for line in said.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "it printed nothing"
    left_out = [found[0].strip() for found in SKIPPED.finditer(said)]
    if code == NOTHING_RAN:
        return Outcome(step.name, "skipped", seconds, (left_out or [last])[-1])
    if code != 0:
        wrong = next((line.strip() for line in lines if "FAILED" in line), last)
        return Outcome(step.name, "failed", seconds, f"exit {code}: {wrong}; see {log.relative_to(ROOT)}")
    if left_out:
        return Outcome(
            step.name, "partly", seconds, f"left out: {left_out[0]}" + (f" and {len(left_out) - 1} more" if len(left_out) > 1 else "")
        )
    return Outcome(step.name, "passed", seconds, last)


def report(outcome: Outcome) -> Outcome:
    print(f"{outcome.state:<8} {outcome.name:<18} {outcome.seconds:6.0f} s  {outcome.text[:300]}", flush=True)
    return outcome


def prepare() -> None:
    """Builds the program and fetches the packages of tools/interop, which many steps take for granted."""
    if not os.environ.get("WIRETAPE_BIN"):
        done = subprocess.run(["tools/build", "release"], cwd=ROOT, check=False)
        if done.returncode != 0:
            raise Unusable("the release build failed: no step was run")
        os.environ["WIRETAPE_BIN"] = str(ROOT / ".build/release/wiretape")
    subprocess.run(["tools/interop", "--help"], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)


def listing(steps: list[Step]) -> str:
    lines = [f"{step.name:<18} {step.minutes:5.1f} min  {step.proves}" for step in steps]
    return "\n".join([*lines, f"{len(steps)} steps, about {sum(step.minutes for step in steps):.0f} minutes one after the other"])


def main() -> int:
    parser = argparse.ArgumentParser(prog=".ci/nightly", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="the steps to run (all)")
    parser.add_argument("--list", action="store_true", help="print what each step proves and how long it takes")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="steps at a time, apart from those that compare times (2)")
    options = parser.parse_args()
    check_tables()
    known = {step.name: step for step in STEPS}
    if unknown := [name for name in options.steps if name not in known]:
        parser.error(f"there is no step {', '.join(unknown)}; .ci/nightly --list names them")
    steps = [step for step in STEPS if not options.steps or step.name in options.steps]
    if options.list:
        print(listing(steps))
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    prepare()
    begun = time.monotonic()
    outcomes: list[Outcome] = []
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as executor:
        outcomes += executor.map(lambda step: report(run(step)), [step for step in steps if not step.is_alone])
    outcomes += [report(run(step)) for step in steps if step.is_alone]
    order = [step.name for step in steps]
    outcomes.sort(key=lambda outcome: order.index(outcome.name))
    print("\n| step | result | seconds | |\n|---|---|---|---|")
    for outcome in outcomes:
        print(f"| {outcome.name} | {outcome.state} | {outcome.seconds:.0f} | {outcome.text[:160].replace('|', '/')} |")
    count = {state: sum(outcome.state == state for outcome in outcomes) for state in ("passed", "partly", "skipped", "failed")}
    print(f"\nnightly: {', '.join(f'{number} {state}' for state, number in count.items())}; {time.monotonic() - begun:.0f} s")
    return 1 if count["failed"] else 2 if count["partly"] or count["skipped"] else 0


def end_all(number: int, _: object) -> None:
    """An ended run leaves no step behind."""
    for process in list(running):
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(128 + number)


if __name__ == "__main__":
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, end_all)
    try:
        sys.exit(main())
    except Unusable as reason:
        sys.exit(f"nightly: {reason}")
