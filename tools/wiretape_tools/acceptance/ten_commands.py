"""docs/ten-commands.md as it stands: each language's commands, in one shell, in a new project beside a copy of this checkout.

At most ten commands, each ends with 0, but those whose comment says that they fail. The last one has to say what the test runner says
of a test that has passed. What a language needs (npm) and is not there is counted as skipped. Swift has to be asked for: it builds
the whole library anew in the new package, which takes minutes.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from wiretape_tools.lib.processes import ROOT, fail, free_port

PAGE = ROOT / "docs/ten-commands.md"
FAILS = " # fails: "
# What the last command says when one test was run, and has passed.
PASSED = {"python": r"^1 passed", "javascript": r"^(?:#|ℹ) pass 1$", "swift": r"Test run with 1 test in 1 suite passed"}
NEEDED = {"python": "python3", "javascript": "npm", "swift": "swift"}
# What the first command is: it is run where it was run before.
FIRST = {"python": "tools/build release", "javascript": "tools/build release", "swift": "tools/setup"}
# Run only when they are named.
SLOW = ("swift",)


def blocks() -> dict[str, str]:
    """The commands of each language."""
    return dict(re.findall(r"^```sh (\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def commands(block: str) -> list[str]:
    """One for each line; a document between <<'END' and END belongs to the line that takes it."""
    found, lines = [], iter(block.splitlines())
    for line in lines:
        text = line
        if line.endswith("<<'END'"):
            for more in lines:
                text += "\n" + more
                if more == "END":
                    break
        found.append(text)
    return found


def script(found: list[str], port: int) -> str:
    """The commands, each behind a line that says which it is, ended by the first that ends otherwise than the page says."""
    # A server that is still there when the commands end, as they fail, goes with them.
    parts = ["set -em", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for number, command in enumerate(found, 1):
        text = command.replace("5000", str(port))
        parts.append(f"echo '-- command {number}'")
        if FAILS in text:
            parts.append(f"if {text.partition(FAILS)[0]}; then echo 'it has not failed'; exit 1; fi")
        else:
            parts.append(text)
    return "\n".join(parts) + "\n"


def copy_of_checkout(folder: pathlib.Path) -> None:
    """The checkout as a neighbour sees it: what installs write beside sources goes to copies, the rest is the checkout's own."""
    folder.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in ("clients", "Examples"):
            shutil.copytree(entry, folder / entry.name, ignore=shutil.ignore_patterns(".build", "node_modules", "build", "*.egg-info"))
        else:
            (folder / entry.name).symlink_to(entry)


def attempt(language: str, found: list[str]) -> str | None:
    """What is wrong, or None."""
    if len(found) > 10:
        return f"{len(found)} commands"
    if found[0] != FIRST[language]:
        return f"the first command is '{found[0]}'"
    built = subprocess.run(found[0].split(), cwd=ROOT, capture_output=True, text=True, check=False)
    if built.returncode:
        return f"{found[0]}: {built.stderr[-2000:]}"
    with tempfile.TemporaryDirectory(prefix="wiretape-ten-") as work:
        checkout = pathlib.Path(work) / "wiretape"
        copy_of_checkout(checkout)
        ours = ("CI", "PYTHONPATH", "VIRTUAL_ENV")
        environment = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("WIRETAPE_")}
        # Into a file: a server in the background holds a pipe open for longer than the shell lives.
        with (pathlib.Path(work) / "said").open("w+", encoding="utf-8") as output:
            ended = subprocess.run(
                ["bash", "-c", script([":", *found[1:]], free_port())],
                cwd=checkout,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=1800,
                check=False,
            )
            output.seek(0)
            said = output.read()
    last = said.rpartition("-- command ")[2]
    if ended.returncode:
        return f"exit {ended.returncode} at command {last[-3000:]}"
    if not last.startswith(f"{len(found)}\n") or not re.search(PASSED[language], last, re.MULTILINE):
        return f"the last command does not say that one test has passed: {last[-3000:]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/acceptance/ten-commands", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    page = blocks()
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=f"of {', '.join(page)} (all but {', '.join(SLOW)})")
    chosen = parser.parse_args().languages or [language for language in page if language not in SLOW]
    failed = skipped = 0
    for language in chosen:
        found = commands(page[language])
        if not shutil.which(NEEDED[language]):
            skipped += 1
            print(f"skipped {language}: there is no {NEEDED[language]} here, nothing was looked at")
            continue
        began = time.monotonic()
        wrong = attempt(language, found)
        failed += wrong is not None
        well = f"passed  {language}: {len(found)} commands, 1 test has passed, {time.monotonic() - began:.0f} s"
        print(f"FAILED  {language}: {wrong}" if wrong else well, flush=True)
    print(f"ten-commands: {len(chosen) - failed - skipped} of {len(chosen)} languages" + (f", {skipped} skipped" if skipped else ""))
    return fail(f"{failed} of {len(chosen)}") if failed else 0


if __name__ == "__main__":
    sys.exit(main())
