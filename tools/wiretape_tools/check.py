"""What one runs all day: layers, cycles of calls, switches, format, the linter and the type checker, a debug build, and the tests
of the modules that were changed. It takes under a minute when little was changed.

Changed is what differs from --base, committed or not. Without --base that is the commit at which this branch left origin/main,
or the last commit but one where there is no origin/main. What was not looked at is said at the end, each time.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The test targets that look into each folder of Sources. A folder that is missing here fails the check, so that a new module
# cannot go untested without a word; an empty list is a folder whose tests are no test target.
TESTS = {
    "CWiretapeBrotli": ["WiretapeBytesTests"],
    "CWiretapeFuzzer": [],
    "CWiretapeLibdeflate": ["WiretapeBytesTests"],
    "CWiretapeOpenSSL": ["WiretapeTLSTests"],
    "CWiretapeUV": ["WiretapeNetTests"],
    "CWiretapeYAML": ["WiretapeSettingsTests", "WiretapeCommandTests"],
    "CWiretapeZlib": ["WiretapeBytesTests"],
    "CWiretapeZstd": ["WiretapeBytesTests"],
    "WiretapeCapture": ["WiretapeCaptureTests"],
    "WiretapeAttempts": ["WiretapeAttemptsTests"],
    "WiretapeBytes": ["WiretapeBytesTests"],
    "WiretapeCodecs": ["WiretapeCodecsTests"],
    "WiretapeCommandLine": ["WiretapeCommandTests"],
    "WiretapeControl": ["WiretapeControlTests", "WiretapeCommandTests"],
    "WiretapeFaults": ["WiretapeFaultsTests", "WiretapeReplayTests"],
    "WiretapeFuzz": ["WiretapeFuzzTests"],
    "WiretapeIntercept": ["WiretapeInterceptTests", "WiretapeReplayTests", "WiretapeProxyTests"],
    "WiretapeMessages": ["WiretapeProtocolTests", "WiretapeFaultsTests", "WiretapeCodecsTests"],
    "WiretapeNet": ["WiretapeNetTests"],
    "WiretapePackets": ["WiretapeCaptureTests"],
    "WiretapePlayback": ["WiretapePlaybackTests", "WiretapeReplayTests", "WiretapeProxyTests"],
    "WiretapeProtocol": ["WiretapeProtocolTests", "WiretapeCodecsTests"],
    "WiretapeProxy": ["WiretapeProxyTests"],
    "WiretapeRecorder": ["WiretapeRecorderTests", "WiretapeTapeTests"],
    "WiretapeRedaction": ["WiretapeRedactionTests", "WiretapeTapeTests"],
    "WiretapeReplay": ["WiretapeReplayTests"],
    "WiretapeReplayServer": ["WiretapeProxyTests"],
    "WiretapeReport": ["WiretapeReportTests", "WiretapeAttemptsTests", "WiretapeReplayTests"],
    "WiretapeRuntime": ["WiretapeRuntimeTests", "WiretapeNetTests"],
    "WiretapeSamples": ["WiretapeProxyTests"],
    "WiretapeServing": ["WiretapeCommandTests"],
    "WiretapeSettings": ["WiretapeSettingsTests", "WiretapeFaultsTests", "WiretapeCommandTests"],
    "WiretapeSimulation": ["WiretapeReplayTests"],
    "WiretapeSystem": ["WiretapeSystemTests", "WiretapeNetTests"],
    "WiretapeTLS": ["WiretapeTLSTests"],
    "WiretapeTape": ["WiretapeTapeTests"],
    "WiretapeTapeCommands": ["WiretapeCommandTests"],
    "WiretapeTapeTools": ["WiretapeTapeTests"],
    "WiretapeTesting": ["WiretapeTestingTests"],
    "WiretapeWire": ["WiretapeWireTests"],
    "embed-page": [],
    "fuzz": [],
    "sample-client": [],
    "sample-hub": [],
    "simulate": [],
    "wiretape": ["WiretapeCommandTests"],
}
# The test targets that read files which are not Swift, by how the path of such a file begins.
READERS = {
    "README.md": ["WiretapeCommandTests"],
    "docs/": ["WiretapeCommandTests", "WiretapeFaultsTests", "WiretapeReplayTests"],
    "recordings/": ["WiretapeCodecsTests", "WiretapeReplayTests", "WiretapeCommandTests"],
    "Tests/Fixtures/fuzz/": ["WiretapeFuzzTests"],
    "Tests/Fixtures/golden/": ["WiretapeReplayTests"],
    "Tests/Fixtures/inspect/": ["WiretapeCommandTests"],
    "Tests/Fixtures/": ["WiretapeCodecsTests", "WiretapeReplayTests", "WiretapeCommandTests"],
}
NEVER = "interop, faults at the wire, the clients' libraries, the simulation's many seeds: tools/test and .ci/run do"


class Unusable(Exception):
    """Why the check cannot be done as it was asked for, in a sentence."""


@dataclasses.dataclass
class Result:
    """How one step ended."""

    name: str
    passed: bool
    seconds: float
    output: str


def git(*arguments: str) -> str | None:
    """What git prints, or None when it refuses."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base_of(asked: str | None) -> str:
    """The commit to compare with, in full."""
    if asked:
        found = git("rev-parse", "--verify", "--quiet", asked + "^{commit}")
        if found is None:
            raise Unusable(f"there is no commit {asked}")
        return found
    found = git("merge-base", "HEAD", "origin/main") or git("rev-parse", "--verify", "--quiet", "HEAD~")
    if found is None:
        raise Unusable("there is neither origin/main nor a commit before this one; name the one to compare with: --base REVISION")
    return found


def changed_since(base: str) -> list[str]:
    """The files that differ from a commit: committed, staged, edited, removed or new."""
    differing = git("diff", "--name-only", "--no-renames", "-z", base)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or new is None:
        raise Unusable(f"git cannot compare this checkout with {base}")
    return sorted({name for name in (differing + "\0" + new).split("\0") if name})


def check_table() -> None:
    """The tables above have to know every folder of Sources and of Tests, and name none that is gone."""
    modules = {path.name for path in (ROOT / "Sources").iterdir() if path.is_dir()}
    targets = {path.name for path in (ROOT / "Tests").iterdir() if path.is_dir()} - {"Fixtures"}
    named = {target for row in (*TESTS.values(), *READERS.values()) for target in row}
    wrong = [f"Sources/{name} is not in it" for name in sorted(modules - set(TESTS))]
    wrong += [f"there is no Sources/{name}" for name in sorted(set(TESTS) - modules)]
    wrong += [f"there is no Tests/{name}" for name in sorted(named - targets)]
    wrong += [f"nothing leads to Tests/{name}" for name in sorted(targets - named)]
    if wrong:
        raise Unusable("the table of modules and tests in tools/wiretape_tools/check.py is not right: " + "; ".join(wrong))


def tests_for(changed: list[str]) -> tuple[list[str], list[str]]:
    """The test targets to run for these files, and sentences about what has no tests here."""
    chosen: set[str] = set()
    silent: set[str] = set()
    for name in changed:
        parts = name.split("/")
        if name == "Package.swift":
            silent.add("what a change of Package.swift does to modules whose sources are unchanged (tools/test)")
        elif parts[0] == "Sources" and len(parts) > 2:
            # A folder that is gone is in no table: whoever used it was changed too.
            targets = TESTS.get(parts[1])
            chosen.update(targets or [])
            if targets == []:
                silent.add(f"Sources/{parts[1]} beyond its build: no test target looks into it")
        elif parts[0] == "Tests" and parts[1] != "Fixtures" and len(parts) > 2:
            if (ROOT / "Tests" / parts[1]).is_dir():
                chosen.add(parts[1])
        else:
            prefix = next((prefix for prefix in READERS if name.startswith(prefix)), None)
            chosen.update(READERS[prefix] if prefix else [])
    return sorted(chosen), sorted(silent)


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
    parser = argparse.ArgumentParser(
        prog="tools/check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", metavar="REVISION", help="the commit to compare with")
    parser.add_argument("--no-build", action="store_true", help="neither build nor test")
    parser.add_argument("--no-lint", action="store_true", help="without ruff and mypy, which have to be fetched from PyPI once")
    options = parser.parse_args()
    begun = time.monotonic()
    check_table()
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
        ("tests of tools/check-cycles", "tools/wiretape_tools/start", "test_cycles"),
        ("switches over enums", "tools/check-types"),
    ]
    if has_swift:
        plain.append(("format of Swift", "tools/check-format"))
    else:
        unseen.append("the format of the Swift files: there is no swift here")
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
