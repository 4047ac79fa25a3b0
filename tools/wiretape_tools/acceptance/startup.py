"""`wiretape --version` starts in under 20 ms, every command has --help, and errors of usage exit 64 with a hint.

Exit 1 if one of these does not hold.
"""

import argparse
import statistics
import sys
import time

from wiretape_tools.lib.processes import Failed, binary, fail, run

COMMANDS = ["record", "proxy", "replay", "inspect", "repair"]
MISTAKES = [  # arguments, what the error has to name
    (["recrod"], "record"),
    (["record", "--upstrem", "http://127.0.0.1:1"], "--upstream"),
    (["record"], "--output"),
    (["record", "--output", "x.tape.gz"], "--upstream"),
    (["replay", "x.tape.gz", "--speed", "fast"], "speed"),
    (["replay", "x.tape.gz", "--fault", "rest after ReceiveMessage"], "reset"),
    (["inspect", "x.tape.gz", "--format", "tabel"], "table"),
    (["record", "--upstream", "ftp://x", "--output", "x.tape.gz"], "ftp"),
]


def started():
    begun = time.perf_counter()
    code, out, _ = run([binary(), "--version"])
    took = (time.perf_counter() - begun) * 1000
    if code != 0 or "wiretape" not in out:
        raise Failed(f"--version ended with {code}: {out}")
    return took


def main():
    argparse.ArgumentParser(prog="tools/acceptance/startup", description=__doc__.split("\n")[0]).parse_args()
    took = [started() for _ in range(21)]
    for command in COMMANDS:
        code, out, err = run([binary(), command, "--help"])
        if code != 0 or command not in out or len(out) < 200:
            raise Failed(f"{command} --help ended with {code}: {(out + err)[:200]}")
    for arguments, named in MISTAKES:
        code, _, err = run([binary(), *arguments])
        if code != 64 or named not in err:
            raise Failed(f"wiretape {' '.join(arguments)}: exit {code} (right is 64), has to name {named}: {err[:300]}")
    median = statistics.median(took)
    text = f"startup: --version takes {median:.1f} ms (median of {len(took)}); {len(COMMANDS)} commands have --help"
    if median >= 20:
        raise Failed(text + "; not under 20 ms")
    print(f"{text}; {len(MISTAKES)} mistakes exit 64 and name what was meant")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"startup: {failure}"))
