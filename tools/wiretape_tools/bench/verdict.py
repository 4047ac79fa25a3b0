"""Judges the raw lines of peers.sh: verdict.py runs.jsonl prints a line for each bound, exit 1 if one does not hold."""

import collections
import json
import statistics
import sys

RECORD, PROXY = "extra", "extra2"
NAMES = {RECORD: "record", PROXY: "proxy"}


class Runs:
    def __init__(self, path):
        self.values = collections.defaultdict(list)
        self.sums = {}
        self.errors = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                self.add(json.loads(line))

    def add(self, run):
        if run["load"] == "disk-sum":
            self.sums[run["peer"]] = run
            return
        if run["rc"] != 0 and run["peer"] in NAMES:
            first = (run["r"] or {}).get("first_error", "no result")
            self.errors.append(f"({run['load']}) {NAMES[run['peer']]}, round {run['round']}: {first}")
        if run["r"]:
            self.values[run["load"], run["peer"]].append(run["r"])

    def median(self, load, peer, *path):
        found = []
        for value in self.values[load, peer]:
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if value is not None:
                found.append(value)
        return statistics.median(found) if found else None


P50, P99 = ("rtt_us", "p50"), ("rtt_us", "p99")
# load, peer, what, path, at most or at least, bound as a ratio to nginx
RATIOS = [
    ("a", RECORD, "p50", P50, "<=", 1.25),
    ("b", RECORD, "round trips/s", ("msg_per_s",), ">=", 0.65),
    ("e", RECORD, "connections/s", ("conn_per_s",), ">=", 0.6),
    ("g", RECORD, "CPU an event", ("watch_cpu_us_per_unit",), "<=", 1.3),
    ("a", PROXY, "p50", P50, "<=", 1.15),
    ("b", PROXY, "round trips/s", ("msg_per_s",), ">=", 0.85),
    ("d", PROXY, "p50", P50, "<=", 1.25),
    ("e", PROXY, "connections/s", ("conn_per_s",), ">=", 0.7),
    ("d", RECORD, "p50", P50, None, None),
]


def holds(value, relation, bound):
    return value <= bound if relation == "<=" else value >= bound


def verdicts(runs):
    """(text, True, False or None for a figure that is only noted or was not measured)."""
    for load, peer, what, path, relation, bound in RATIOS:
        ours, nginx = runs.median(load, peer, *path), runs.median(load, "nginx", *path)
        name = f"({load}) {NAMES[peer]}: {what} to nginx"
        if ours is None or not nginx:
            yield f"{name}: not measured", None
        elif relation is None:
            yield f"{name}: {ours / nginx:.2f} ({ours:,.1f} to {nginx:,.1f})", None
        else:
            text = f"{name}: {ours / nginx:.2f} {relation} {bound} ({ours:,.1f} to {nginx:,.1f})"
            yield text, holds(ours / nginx, relation, bound)
    yield from absolute(runs)


def absolute(runs):
    ours, nginx = runs.median("c", RECORD, *P99), runs.median("c", "nginx", *P99)
    if ours is None or nginx is None:
        yield "(c) record: p99: not measured", None
    else:
        text = f"(c) record: p99 {ours / 1000:.2f} ms, nginx's {nginx / 1000:.2f} ms, at most 5 ms more"
        yield text, ours - nginx <= 5000
    held = runs.median("f", RECORD, "rss_per_conn_bytes")
    if held is None:
        yield "(f) record: RSS a connection: not measured", None
    else:
        yield f"(f) record: RSS a connection: {held / 1024:.2f} <= 8 KiB", held <= 8192
    disk = runs.sums.get(RECORD)
    if disk is None:
        yield "(disk) record: bytes a message: not measured", None
    else:
        size = disk["bytes"] / disk["messages"]
        yield f"(disk) record: {size:.1f} <= 48 bytes a message ({disk['messages']} messages)", 0 < size <= 48


def main():
    runs = Runs(sys.argv[1])
    judged = list(verdicts(runs))
    for text, good in judged:
        print(f"{'noted ' if good is None else 'holds ' if good else 'MISSED'}  {text}")
    for error in runs.errors:
        print(f"MISSED  lost, reordered or altered: {error}")
    missed = sum(good is False for _, good in judged) + len(runs.errors)
    measured = sum(good is not None for _, good in judged)
    print(f"bench: {measured} bounds measured, {missed} missed")
    return 1 if missed or not measured else 0


if __name__ == "__main__":
    sys.exit(main())
