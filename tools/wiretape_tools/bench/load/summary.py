"""Prints the tables of medians from the JSON lines peers.sh wrote."""

import collections
import json
import statistics
import sys
from typing import Any

runs: list[Any] = []
sums: list[Any] = []
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        r = json.loads(line)
        (sums if r["load"] == "disk-sum" else runs).append(r)
by = collections.defaultdict(list)
for r in runs:
    if r["r"]:
        by[r["load"], r["peer"]].append(r)
peers = list(dict.fromkeys(r["peer"] for r in runs))


def get(load, peer, *path):
    out = []
    for r in by.get((load, peer), ()):
        v = r["r"]
        for p in path:
            v = v.get(p) if isinstance(v, dict) else None
        if v is not None:
            out.append(v)
    return out


def busy(load, peer):  # of one core
    return [
        (r["r"]["watch_user_s"] + r["r"]["watch_sys_s"]) / r["r"]["seconds"] * 100
        for r in by[load, peer]
        if r["r"].get("watch_user_s") is not None and r["r"].get("seconds")
    ]


def med(v):
    return statistics.median(v) if v else None


def fmt(v):
    if v is None:
        return "–"
    return f"{v:,.0f}" if abs(v) >= 100 else f"{v:.1f}" if abs(v) >= 10 else f"{v:.2f}"


def ratio(a, b):
    return f"{a / b:.2f}" if a and b else "–"


def spread(v):
    return f"{min(v):,.0f}–{max(v):,.0f}" if v else "–"


def bad(load, peer):
    n = sum(r["rc"] != 0 for r in by[load, peer])
    return f" ({n} of {len(by[load, peer])} runs with errors)" if n else ""


LOADS = {  # title, key figure (path, unit, ratio wanted), latency
    "a": ("1 connection, closed loop, 128 B", ("msg_per_s",), "rtt_us"),
    "b": ("64 connections, closed loop, 128 B", ("msg_per_s",), "rtt_us"),
    "c": ("64 connections × 100 msg/s, open loop, 1 KiB SignalR JSON", ("msg_per_s",), "rtt_us"),
    "h": (
        "64 connections × 10 msg/s, open loop, 1 KiB SignalR JSON (a rate mitmproxy can keep up with)",
        ("msg_per_s",),
        "rtt_us",
    ),
    "d": ("1 connection, closed loop, 64 KiB", ("msg_per_s",), "rtt_us"),
    "e": ("churn, 32 at a time: connect, upgrade, echo, close", ("conn_per_s",), "cycle_us"),
    "g": ("SSE, 100 connections × 50 events/s, 256 B", ("events_per_s",), "delivery_us"),
}
for load, (title, key, lat) in LOADS.items():
    have = [p for p in peers if (load, p) in by]
    if not have:
        continue
    unit = {"e": "conn/s", "g": "events/s"}.get(load, "round trips/s")
    print(f"\n### ({load}) {title}\n")
    print(
        f"| peer | {unit} | (min–max) | p50 µs | p99 µs | p99.9 µs | ×direct p50 | ×nginx p50 | ×nginx {unit} | proxy CPU µs each | ×nginx CPU | proxy CPU % |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    ng = {k: med(get(load, "nginx", *k)) for k in (key, (lat, "p50"), ("watch_cpu_us_per_unit",))}
    d50 = med(get(load, "direct", lat, "p50"))
    for p in have:
        late = med(get(load, p, "unanswered")) or 0
        if late > 100:  # what was answered in time says nothing
            print(
                f"| {p} | overloaded: {fmt(late)} messages had no echo 3 s after the end |"
                + " – |" * 9
                + f" {fmt(med(busy(load, p)))} |"
            )
            continue
        k, p50, cpu = get(load, p, *key), med(get(load, p, lat, "p50")), med(get(load, p, "watch_cpu_us_per_unit"))
        print(
            f"| {p}{bad(load, p)} | {fmt(med(k))} | {spread(k)} | {fmt(p50)} | {fmt(med(get(load, p, lat, 'p99')))} | "
            f"{fmt(med(get(load, p, lat, 'p99.9')))} | {ratio(p50, d50)} | {ratio(p50, ng[lat, 'p50'])} | {ratio(med(k), ng[key])} | "
            f"{fmt(cpu)} | {ratio(cpu, ng[('watch_cpu_us_per_unit',)])} | {fmt(med(busy(load, p)))} |"
        )
have = [p for p in peers if ("f", p) in by]
if have:
    print("\n### (f) idle connections\n")
    print(
        "| peer | connected | failures | connect p50 µs | all connected in s | RSS before MiB | held MiB | KiB per connection | after one echo each |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for p in have:
        g = lambda *k, p=p: med(get("f", p, *k))
        kib = lambda v: None if v is None else v / 1024
        print(
            f"| {p}{bad('f', p)} | {fmt(g('connected'))} | {fmt(g('failures'))} | {fmt(g('connect_us', 'p50'))} | {fmt(g('connect_all_s'))} | "
            f"{fmt(kib(g('rss_before_kb')))} | {fmt(kib(g('rss_held_kb')))} | {fmt(kib(g('rss_per_conn_bytes')))} | {fmt(kib(g('rss_per_conn_echoed_bytes')))} |"
        )
if sums:
    print("\n### Recording: 64 connections × 20 msg/s × 5 s of 1 KiB SignalR JSON, echoed, to the file on disk\n")
    print(
        "| peer | messages (both ways) | file bytes | bytes per message | over the payload | CPU µs per message, writing included | bytes of RSS per message while connected |"
    )
    print("|---|---|---|---|---|---|---|")
    for s in sums:
        n = s["messages"]
        if not s["bytes"]:
            print(
                f"| {s['peer']} (no recording) | {n} | – | – | – | {s['cpu_s'] * 1e6 / n:.0f} | {s['held_kb'] * 1024 / n:,.0f} |"
            )
            continue
        print(
            f"| {s['peer']} | {n} | {s['bytes']:,} | {s['bytes'] / n:.1f} | {s['bytes'] / n - 1024:+.1f} | {s['cpu_s'] * 1e6 / n:.0f} | {s['held_kb'] * 1024 / n:,.0f} |"
        )
f = sorted(r["foreign_cpu_pct"] for r in runs)
if f:
    q = lambda x: f[min(len(f) - 1, int(x * len(f)))]
    print(
        f"\nNoise: CPU used by others during the runs, in % of one core: median {q(0.5):.0f}, p90 {q(0.9):.0f}, max {f[-1]:.0f}, over {len(f)} runs."
    )
    for load in LOADS:
        v = get(load, "direct", *LOADS[load][1])
        if len(v) > 1 and load not in "cgh":
            print(f"Spread of `direct` in ({load}): {(max(v) - min(v)) / statistics.median(v) * 100:.0f} % of the median.")
    errors = [r for r in runs if r["rc"]]
    for r in errors:
        print(
            f"Errors: round {r['round']}, ({r['load']}) {r['peer']}: {(r['r'] or {}).get('unanswered', 0)} unanswered; {(r['r'] or {}).get('first_error', '')}"
        )
