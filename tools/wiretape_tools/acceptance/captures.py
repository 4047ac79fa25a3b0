"""Every packet capture becomes the tape that its truth file tells: the same messages, byte for byte, in order, within 1 ms.

The captures are those of WIRETAPE_CAPTURES, or of ../shared/captures where it is there.
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import sys
import time
from typing import Any

from wiretape_tools.acceptance import capture_speed, mutated_captures
from wiretape_tools.lib.processes import ROOT, Failed, Skipped, fail, run
from wiretape_tools.lib.said import Said, connections
from wiretape_tools.lib.tapes import events, import_of

WORK = ROOT / ".build/acceptance/captures"
CLOSE = 0.001  # seconds


def folders():
    named = os.environ.get("WIRETAPE_CAPTURES")
    folder = pathlib.Path(named or ROOT.parent / "shared/captures")
    if not folder.is_dir() and not named:
        folder = ROOT.parents[1] / "shared/captures"  # of a work tree beside the checkout
    if named and not folder.is_dir():
        raise SystemExit(f"WIRETAPE_CAPTURES={named} is not a folder")
    return sorted(path.parent for path in folder.glob("*/truth.jsonl")) if folder.is_dir() else []


def capture_of(folder):
    return next(folder.glob("capture.pcap*"))


def imported(folder, capture=None, tape=None):
    """(header, events) of the tape of a folder's capture."""
    tape = tape or WORK / f"{folder.name}.tape"
    code, _, err = run(import_of(capture or capture_of(folder), tape, folder / "keys.log"))
    if code != 0:
        raise Failed(f"import ended with {code}: {err.strip()[-500:]}")
    return events(tape)


def truth_of(folder):
    """The messages of each stream of the truth file, as it lists them; chunks are not messages."""
    streams: dict[int, list[Any]] = {}
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        if message["kind"] != "chunk":
            streams.setdefault(message["stream"], []).append(message)
    return streams


def started(header):
    """Seconds since 1970, exactly: (whole, nanoseconds)."""
    whole, _, micros = header["started"].rstrip("Z").partition(".")
    moment = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.UTC)
    return moment.timestamp() + int(micros) / 1e6


def compare(folder):
    """What was compared, in a line; raises Failed when something differs."""
    header, found = imported(folder)
    begin = started(header)
    mine = [said for _, said in sorted(connections(found).items()) if said]
    theirs = [messages for _, messages in sorted(truth_of(folder).items())]
    mine.sort(key=lambda said: min(message.first for message in said))
    theirs.sort(key=lambda messages: min(message.get("t_first", message["t"]) for message in messages))
    if len(mine) != len(theirs):
        raise Failed(f"{len(mine)} connections with messages, and {len(theirs)} in the truth file")
    worst = 0.0
    for number, (said, messages) in enumerate(zip(mine, theirs, strict=True), 1):
        for direction in ("c2s", "s2c"):
            have = [one for one in said if one.direction == direction]
            want = [one for one in messages if one["d"] == direction]
            worst = max(worst, same(f"connection {number} {direction}", have, want, begin))
        order(number, said, messages)
    count = sum(map(len, theirs))
    return f"{count} messages on {len(theirs)} connections, times within {worst * 1e6:.0f} µs"


def ended(said: Said) -> tuple[int, bool]:
    """When the message on the tape was whole; a response after the events in it."""
    return (said.first if said.last is None else said.last, said.kind == "response")


def listed(message: Any) -> tuple[float, bool]:
    """The same of a message of the truth file."""
    return (message["t"], message["kind"] == "response")


def same(where: str, have: list[Said], want: list[Any], begin: float) -> float:
    """The largest difference of a time, in seconds."""
    worst = 0.0
    # A cut body stands where it ends in the truth file, and last on the tape. The last event of a stream and the end of the response
    # may share a packet, and so their time: the truth file has the one first, the tape the other.
    have = sorted((one for one in have if one.whole), key=ended) + [one for one in have if not one.whole]
    cut = [one for one in want if not one.get("complete", True)]
    want = sorted((one for one in want if one.get("complete", True)), key=listed) + cut
    for number, (one, other) in enumerate(zip(have, want, strict=False)):
        place = f"{where}, message {number + 1}"
        if (one.kind, one.digest) != (other["kind"], other["sha256"]):
            raise Failed(f"{place}: {one.kind} {one.digest} {one.body[:60]!r} in place of {other}")
        if one.whole != other.get("complete", True):
            raise Failed(f"{place}: whole is {one.whole}, and complete {other.get('complete', True)}")
        expected = other.get("t_head", other.get("t_first", other["t"]))
        times = [(one.first, expected)] if one.kind in ("request", "response") else []
        if one.last is not None:
            times.append((one.last, other["t"]))
        for mine, theirs in times:
            off = abs(begin + mine / 1e9 - theirs)
            worst = max(worst, off)
            if off > CLOSE:
                raise Failed(f"{place}: {off * 1e3:.2f} ms off: {one.kind} {one.body[:60]!r} {other['t']}")
    if len(have) != len(want):
        raise Failed(f"{where}: {len(have)} messages in place of {len(want)}; {(have + want)[min(len(have), len(want))]}")
    return worst


def order(number, said, messages):
    """Frames of both directions follow each other as they did; those of one time in any order."""
    have = [(one.kind, one.direction, one.digest) for one in said if one.kind.startswith("ws-")]
    frames = [one for one in messages if one["kind"].startswith("ws-")]
    for _, same_time in itertools.groupby(frames, key=lambda one: one["t"]):
        want = [(one["kind"], one["d"], one["sha256"]) for one in same_time]
        first, have = have[: len(want)], have[len(want) :]
        if sorted(first) != sorted(want):
            raise Failed(f"connection {number}: the order of frames differs: {first} where {want} came")


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/captures", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", default="", help="only those whose name contains this")
    parser.add_argument("--mutate", action="store_true", help="packets lost, moved, doubled, overlapping, cut; ends missing")
    parser.add_argument("--seeds", type=int, default=20, help="of each mutation of each capture (20)")
    parser.add_argument("--kind", default="", help="only the mutations whose name contains this")
    parser.add_argument("--jobs", type=int, default=2, help="captures at a time that are mutated (2)")
    parser.add_argument("--speed", action="store_true", help="only time and memory beside tshark -T json, on a capture made here")
    parser.add_argument("--sizes", default="20,200,2000", help="MiB of the captures; tshark reads the middle one (20,200,2000)")
    parser.add_argument("--redact", choices=["on", "off"], default="on", help="of the import that is measured (on)")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if options.speed:
        try:
            print(f"passed  speed: {capture_speed.speed(WORK, [int(size) for size in options.sizes.split(',')], options.redact)}")
        except Skipped as reason:
            print(f"skipped speed: {reason}")
        except Failed as failure:
            return fail(f"speed: {failure}")
        return 0
    begun, failed, chosen = time.monotonic(), 0, [folder for folder in folders() if options.cases in folder.name]
    if not chosen:
        print("captures: skipped all packet captures: they are not here (WIRETAPE_CAPTURES)")
        return 77
    for folder in chosen:
        try:
            print(f"passed  {folder.name}: {compare(folder)}")
        except Failed as failure:
            failed += 1
            print(f"FAILED  {folder.name}: {failure}")
    print(f"captures: {len(chosen) - failed} of {len(chosen)} are what was said, {time.monotonic() - begun:.0f} s")
    if options.mutate and not failed:
        if failures := mutated_captures.mutate(chosen, WORK, options.seeds, options.jobs, options.kind):
            return fail(f"{len(failures)} of the mutated captures: {failures[0][:300]}")
    return fail(f"{failed} of {len(chosen)}") if failed else 0


if __name__ == "__main__":
    sys.exit(main())
