"""What one runs all day: layers, cycles of calls, switches, format, the linter and the type checker, a debug build, and the tests
of the modules that were changed. It takes under a minute when little was changed.

Changed is what differs from --base, committed or not. Without --base that is the commit at which this branch left origin/main,
or the last commit but one where there is no origin/main. What was not looked at is said at the end, each time.
"""

import argparse
import concurrent.futures
import dataclasses
import re
import shutil
import subprocess
import sys
import time

from wiretape_tools.lanes import ROOT, Unusable, base_of, changed_since, check_tables, git, steps_for, tests_for

NEVER = "interop, faults on the wire, the Python and JavaScript libraries, the simulation: .ci/run does"


@dataclasses.dataclass
class Result:
    """How one step ended."""

    name: str
    passed: bool
    seconds: float
    output: str


def needs_build(changed: list[str]) -> bool:
    return any(name == "Package.swift" or name.startswith(("Sources/", "Tests/")) for name in changed)


def run(name: str, *command: str) -> Result:
    """A command to its end, its output kept."""
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    return Result(name, done.returncode == 0, time.monotonic() - begun, done.stdout)


def run_tests(targets: list[str]) -> Result:
    """The tests of these targets, of which each has to have run at least one."""
    pattern = "^(" + "|".join(targets) + r")\."
    result = run("tests of " + ", ".join(targets), "swift", "test", "--skip-build", "--disable-xctest", "--filter", pattern)
    summary = re.findall(r"Test run with (\d+) tests?\b", result.output)
    count = int(summary[-1]) if summary else 0
    if result.passed and count == 0:
        return dataclasses.replace(result, passed=False, output=result.output + "\nno test was run: nothing is known of them\n")
    return dataclasses.replace(result, name=f"{result.name}: {count} run")


def show(result: Result) -> Result:
    print(f"{'ok    ' if result.passed else 'FAILED'} {result.name}, {result.seconds:.1f} s", flush=True)
    if not result.passed:
        print("\n".join("       " + line for line in result.output.rstrip().splitlines()[-80:]), flush=True)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="REVISION", help="the commit to compare with")
    parser.add_argument("--no-build", action="store_true", help="neither build nor test")
    parser.add_argument("--no-lint", action="store_true", help="without ruff and mypy, which have to be fetched from PyPI once")
    options = parser.parse_args()
    begun = time.monotonic()
    check_tables()
    base = base_of(options.base)
    changed = changed_since(base)
    targets, unseen = tests_for(changed)
    has_swift = shutil.which("swift") is not None
    if not has_swift and not options.no_build:
        raise Unusable("there is no swift on the PATH; tools/setup says how to get it, --no-build does without")
    print(f"check: {len(changed)} files differ from {base[:10]} ({git('log', '-1', '--format=%s', base)})", flush=True)

    plain = [
        ("layers", "tools/check-layers"),
        ("cycles of calls between the files of a type", "tools/check-cycles"),
        ("tests of the checks", "tools/wiretape_tools/start", "test_checks"),
        ("switches over enums", "tools/check-types"),
    ]
    if has_swift:
        plain.append(("format of Swift", "tools/check-format"))
        plain.append(("imports, Package.swift and docs/architecture.md", "tools/check-graph"))
    else:
        unseen.append("the format of the Swift files, and the dependencies of Package.swift: there is no swift here")
    if options.no_lint:
        unseen.append("Python: --no-lint")
    else:
        plain.append(("ruff and mypy", "tools/lint"))
    # Two at a time: they share the machine with whatever else one does, and none of them writes.
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        results = [show(result) for result in executor.map(lambda step: run(*step), plain)]

    if options.no_build:
        unseen.append("whether it builds: --no-build")
        unseen.append("any test: --no-build" + (f" (left out: {', '.join(targets)})" if targets else ""))
    else:
        builds = True
        if needs_build(changed) or targets:
            results.append(show(run("debug build with its tests", "swift", "build", "--build-tests")))
            builds = results[-1].passed
        else:
            unseen.append("whether it builds: nothing that is built was changed")
        if not targets:
            unseen.append("any test: no changed file leads to one")
        elif not builds:
            unseen.append(f"any test: the build failed (left out: {', '.join(targets)})")
        else:
            results.append(show(run_tests(targets)))
            left = sorted({path.name for path in (ROOT / "Tests").iterdir() if path.is_dir()} - {"Fixtures"} - set(targets))
            if left:
                unseen.append("the tests of " + ", ".join(left))
    if steps := steps_for(changed):
        unseen.append("the nightly steps that this change calls for: .ci/nightly " + " ".join(steps))
    for text in [*unseen, NEVER]:
        print(f"not looked at: {text}")
    failed = [result.name for result in results if not result.passed]
    took = f"{time.monotonic() - begun:.0f} s"
    if failed:
        print(f"check: FAILED: {', '.join(failed)}; {took}")
        return 1
    untested = "" if targets and not options.no_build else "; NO TEST WAS RUN"
    print(f"check: {len(results)} of {len(results)} steps passed, {took}{untested}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unusable as reason:
        sys.exit(f"check: {reason}")
