"""One tape, many replays, one digest: whatever the speed and however fast the client thinks.

The client pipelines and has timers of its own: invocations at a time, a stream, an upload, a question of the server.
It is recorded once against sample-hub and then played from the tape at the speeds instant, 1 and 10 with 0.1, 1 and 3
times its think time. Exit 1 if a replay does not pass or two digests differ.
"""

import argparse
import json
import pathlib
import sys
from typing import Any

from wiretape_tools.lib.processes import ROOT, Failed, Program, binary, fail, run

WORK = ROOT / ".build/acceptance"
THINK = 20  # ms, while recording


def client(think):
    return ["--", sample("client"), "{url}/chat", "--script", "calls", "--think", f"{think}ms"]


def sample(name):
    return str(pathlib.Path(binary()).with_name("sample-" + name))


def record(tape):
    with Program("sample-hub", [sample("hub"), "--listen", "127.0.0.1:0"], WORK / "hub.log", read_stdout=True) as hub:
        url = json.loads(hub.stdout.readline())["url"]
        code, _, err = run([binary(), "record", "--upstream", url, "--output", tape, "--force", *client(THINK)])
        if code != 0:
            raise Failed(f"record ended with {code}: {err[-500:]}")


def replay(tape, speed, think):
    report = WORK / "digest.json"
    report.unlink(missing_ok=True)
    command = [binary(), "replay", tape, "--speed", speed, "--report", report, "--seed", "7", *client(think)]
    code, _, err = run(command)
    where = f"speed {speed}, think {think} ms"
    if code != 0:
        raise Failed(f"{where}: exit {code}: {err[-800:]}")
    found = json.loads(report.read_text())
    if found["verdict"] != "pass":
        raise Failed(f"{where}: verdict {found['verdict']}: {found['reasons']}")
    return found["digest"]


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/digest", description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=100, help="replays in all (100)")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    tape = WORK / "digest.tape.gz"
    record(tape)
    ways = [(speed, THINK * factor) for speed in ("instant", "1", "10") for factor in (0.1, 1, 3)]
    digests: dict[str, Any] = {}
    for number in range(options.times):
        speed, think = ways[number % len(ways)]
        digests.setdefault(replay(tape, speed, int(think)), []).append(f"speed {speed}, think {think:g} ms")
    if len(digests) != 1:
        seen = "; ".join(f"{digest}: {len(where)} × ({where[0]}, …)" for digest, where in digests.items())
        raise Failed(f"{len(digests)} digests in {options.times} replays: {seen}")
    print(f"digest: {options.times} replays over {len(ways)} ways: {next(iter(digests))}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"digest: {failure}"))
