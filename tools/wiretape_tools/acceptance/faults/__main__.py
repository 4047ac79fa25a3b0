"""Every fault at the wire, live and in replay, over every transport, seen from the other side with raw sockets.

    tools/acceptance/faults [--cases TEXT] [--modes live,replay] [--transports ws,sse,lp,parts,events] [--suites …]
                            [--jobs N] [--times N]

A row is a rule, a cell one `wiretape proxy` between a raw client and a raw server, or one `wiretape replay` of a tape of
the two. Cells compare the very bytes up to the fault, the end (FIN, RST, a close frame, a status, silence) and the order; times
are lower bounds only. parts and events are GraphQL operations over HTTP. --times: `reset after X` with 200 kB queued to a
slow reader, so often: the client gets X whole, then RST. Exit 1 if anything differs.
"""

import argparse
import collections
import concurrent.futures
import importlib
import os
import sys
import time
import traceback
from typing import Any

from wiretape_tools.acceptance.faults import slow
from wiretape_tools.acceptance.faults.stage import MODES, TRANSPORTS, WORK, Cell
from wiretape_tools.lib.processes import Failed, binary, fail

SUITES = ["messages", "sends", "ends", "link", "requests", "sessions", "protocols"]


def parse():
    parser = argparse.ArgumentParser(prog="tools/acceptance/faults", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", default="", metavar="TEXT", help="rows with TEXT in their title")
    for kind, known in [("modes", MODES), ("transports", TRANSPORTS), ("suites", SUITES)]:
        parser.add_argument("--" + kind, default=",".join(known), help="of " + ",".join(known))
    parser.add_argument("--jobs", type=int, default=12 * (os.cpu_count() or 1), help="cells at a time; they mostly wait")
    parser.add_argument("--times", type=int, default=0, help="how often a slow reader is reset; 0 leaves it out")
    options = parser.parse_args()
    for kind, known in [("modes", MODES), ("transports", TRANSPORTS), ("suites", SUITES)]:
        chosen = [name for name in getattr(options, kind).split(",") if name]
        if unknown := set(chosen) - set(known):
            parser.error(f"no {kind} {', '.join(sorted(unknown))}; there are {', '.join(known)}")
        setattr(options, kind, chosen)
    return options


def tried(cell):
    """None, or what does not hold."""
    try:
        return cell.run()
    except Failed as failure:
        return str(failure)
    except Exception:  # a cell that cannot be judged is no reason to leave out the others
        return traceback.format_exc()[-1500:]


def print_table(suite, cases, options, states):
    print(f"\n{suite:<64}" + "   ".join(f"{mode:<{5 * len(options.transports)}}" for mode in options.modes))
    print(" " * 64 + "   ".join("".join(f"{t[:4]:<5}" for t in options.transports) for _ in options.modes))
    for case in cases:
        title = case.title if len(case.title) < 63 else case.title[:59] + "…"
        cells = ["".join(f"{states[case, mode, t]:<5}" for t in options.transports) for mode in options.modes]
        print(f"{title:<64}" + "   ".join(cells).rstrip())


def main():
    options = parse()
    begun = time.monotonic()
    binary()
    WORK.mkdir(parents=True, exist_ok=True)
    suites = {name: importlib.import_module("wiretape_tools.acceptance.faults." + name).CASES for name in options.suites}
    suites = {name: [case for case in cases if options.cases in case.title] for name, cases in suites.items()}
    cells: list[Cell] = []
    states: dict[Any, str] = {}
    reasons: collections.Counter[str] = collections.Counter()
    for case in (case for cases in suites.values() for case in cases):
        for mode in options.modes:
            for t in options.transports:
                why = case.why_not(mode, t)
                states[case, mode, t] = "-"
                if why is None:
                    cells.append(Cell(case, mode, t))
                else:
                    reasons[why] += 1
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(zip(cells, pool.map(tried, cells), strict=False))
    for cell, problem in results:
        states[cell.case, cell.mode, cell.t] = "X" if problem else "="
    for name, cases in suites.items():
        if cases:
            print_table(name, cases, options, states)
    print("\n= as it should be   X not   - cannot be:")
    for why, count in reasons.most_common():
        print(f"  {count:4} {why}")
    bad = [(cell, problem) for cell, problem in results if problem]
    for cell, problem in bad:
        print(f"\n{cell.case.title}: {cell.mode} over {cell.t}: {problem}")
        print(f"      again: tools/acceptance/faults --modes {cell.mode} --transports {cell.t} --cases '{cell.case.title}'")
    problems = [f"{len(bad)} cells"] if bad else []
    if options.times:
        problems += slow.resets(options.times)
    rows = sum(map(len, suites.values()))
    seconds = time.monotonic() - begun
    print(f"\nfaults: {len(cells) - len(bad)} of {len(cells)} cells of {rows} rows as they should be, {seconds:.0f} s")
    return fail("; ".join(problems)) if problems or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
