"""The matrix of tools/interop: real clients against real servers, live, through record, and from replay.

A cell is one client program with one script. What its application observed is grouped by chain (a callback, an
invocation, a stream, the connection) and must be equal in all cells of a row; the order between chains is free.
"""

import argparse
import importlib
import json
import os
import pathlib
import sys
import time

from wiretape_tools.interop.cases import CASES, play
from wiretape_tools.interop.cells import SCRIPTS, Matrix, table
from wiretape_tools.interop.peers import CANNOT, CLIENTS, SERVERS, TRANSPORTS, Peers
from wiretape_tools.lib.processes import ROOT, Failed, binary

# Protocols beside SignalR: modules with CASES of the same form as cases.py has, each case's name beginning with the protocol's.
SUITES = [
    "graphql_pairs", "graphql_http", "graphql_pieces", "graphql_goodbye", "eventflit", "atmosphere", "closings", "deflating",
    "upstreams", "codings", "socket_io", "events", "secure", "forward", "redaction", "leading", "via", "refresh", "newest", "causes",
]
for suite in SUITES:
    CASES.update(importlib.import_module("wiretape_tools.interop." + suite).CASES)
# The landing lane's choice: every protocol over every transport, with one client each. .ci/nightly runs all.
LANDING = {
    "servers": ["aspnetcore", "aiosignalr"],
    "clients": ["signalr-js"],
    "scripts": ["own"],
    "cases": [
        "stateful json", "redirect", "token", "lost and back", "tape with a reconnect", "closing: signalr-js",
        "graphql: graphql-ws", "graphql: subscriptions-transport-ws", "graphql: graphql-ws lost",
        "graphql over HTTP: multipart", "graphql over HTTP: sse", "graphql over HTTP: sse single",
        "eventflit: pusher-js", "eventflit: pusher-js by xhr_streaming", "eventflit: pusher-js by xhr_polling",
        "eventflit: prefix eventflit",
        "atmosphere: bare-ws", "atmosphere: bare-sse", "atmosphere: bare-stream", "atmosphere: bare-lp",
        "atmosphere: cut-ws", "atmosphere: cut-lp",
        "socket.io: polling and upgrade", "socket.io: websocket",
        "events: prices aiohttp identity", "events: chat aiohttp gzip", "codings: SignalR gzip", "deflate: websockets",
        "tls: signalr-js", "forward: curl", "via: http", "azure: signalr-js", "upstreams: signalr-js", "redaction",
    ],
}  # fmt: skip
CHOICES = {
    "servers": list(SERVERS),
    "clients": list(CLIENTS),
    "protocols": ["json", "messagepack"],
    "scripts": SCRIPTS,
    "recorded": TRANSPORTS,
    "replayed": TRANSPORTS,
}
ABOUT = {
    "scripts": "what the clients do: own, all that the client can; common, what all can, so that one client's tape is"
    " played to another; calls, single answers",
    "recorded": "the transports to record over",
    "replayed": "the transports to replay over",
}


def parse():
    parser = argparse.ArgumentParser(prog="tools/interop", description=__doc__.split("\n")[0])
    for kind, known in CHOICES.items():
        parser.add_argument("--" + kind, default=",".join(known), help=ABOUT.get(kind, "of " + ",".join(known)))
    parser.add_argument("--cases", default="all", help="all, none, or of " + ", ".join(CASES))
    parser.add_argument("--landing", action="store_true", help="one client for each protocol and transport, as in .ci/run")
    parser.add_argument("--jobs", type=int, default=min(4, 2 * (os.cpu_count() or 1)), help="cells at a time")
    parser.add_argument("--json", metavar="FILE", help="writes every cell to FILE as JSON")
    options = parser.parse_args()
    chosen = {kind: [name for name in getattr(options, kind).split(",") if name] for kind in CHOICES}
    for kind, known in CHOICES.items():
        if unknown := set(chosen[kind]) - set(known):
            parser.error(f"no {kind} {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.landing:
        chosen |= {kind: LANDING[kind] for kind in ("servers", "clients", "scripts")}
        options.cases = ",".join(LANDING["cases"])
    options.cases = {"all": list(CASES), "none": []}.get(options.cases, options.cases.split(","))
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    return options, chosen


def main():
    options, chosen = parse()
    begun = time.monotonic()
    work = ROOT / ".build/interop"
    work.mkdir(parents=True, exist_ok=True)
    binary()
    peers = Peers(work)
    absent = {name: why for kind in ("servers", "clients") for name in chosen[kind] if (why := peers.missing(name))}
    present = {**chosen, **{kind: [n for n in chosen[kind] if n not in absent] for kind in ("servers", "clients")}}

    matrix = Matrix(peers, present)
    matrix.play(options.jobs)
    print("\n".join(table(matrix, present)))
    print("\n= equal to live   X not   - cannot be   . the tape is another client's\nCannot be:")
    print("\n".join("  " + why for why in CANNOT))
    for name, why in absent.items():
        print(f"not run: {name}: {why}")
    cases = play(peers, options.cases, options.jobs)
    for case in cases:
        print(f"  {case['state']:<8} {case['name']:<26} {case['text'].splitlines()[0]}")
    bad = [cell for cell in matrix.cells if cell.state != "equal"]
    for cell in bad:
        print(f"\n{cell.title()}: {cell.state}: {cell.text}\n      again: {cell.again()}")
    for case in cases:
        if case["state"] == "failed":
            print(f"\ncase {case['name']}: {case['text']}\n      again: tools/interop --servers '' --cases '{case['name']}'")
    total = len(matrix.cells)
    unseen = len(Matrix(peers, chosen).cells) - total
    unrun = sum(case["state"] == "not run" for case in cases)
    if unseen or unrun:
        print(
            f"\nskipped {unseen} cells and {unrun} cases: they need what is not here (lines 'not run' above say what);"
            " nothing is known of them"
        )
    if options.json:
        result = {"cells": [cell.json() for cell in matrix.cells], "cases": cases, "absent": absent}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1), encoding="utf-8")
    tried = [case for case in cases if case["state"] != "not run"]
    passed = sum(case["state"] == "passed" for case in tried)
    seconds = time.monotonic() - begun
    print(f"\ninterop: {total - len(bad)} of {total} cells equal, {passed} of {len(tried)} cases passed, {seconds:.0f} s")
    return 0 if (total or tried) and not bad and passed == len(tried) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"tools/interop: {failure}")
