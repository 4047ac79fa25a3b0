"""Broken clients, each the bent copy of a good one: every one of them is caught, and its good original passes, live
(`wiretape proxy` in front of a server of ours) and in the replay of a tape of the good one, at speed 1 and at speed instant.

    tools/acceptance/broken-clients [--rows TEXT] [--modes live,replay,instant] [--jobs N]

A bent client ends the run with exit 2 or 5, and the verdict names the attempt or the message; the good one with 0. A dash is a
mode in which there is nothing to judge; why stands below the table. Exit 1 when a cell is otherwise.
"""

import argparse
import asyncio
import json
import sys
import time

from wiretape_tools.acceptance.broken_clients.client import Habits
from wiretape_tools.acceptance.broken_clients.room import Server
from wiretape_tools.acceptance.broken_clients.table import ROWS
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, fail

WORK = ROOT / ".build/acceptance/broken-clients"
LIMIT = 12  # seconds of one client
MODES = ["live", "replay", "instant"]
SPEED = {"replay": "1", "instant": "instant"}


class Run:
    """One client against one program: its exit code, and what the report says."""

    def __init__(self, name, command, kind, habits, linger=0.3):
        self.name, self.command, self.kind, self.habits, self.linger = name, command, kind, habits, linger

    async def run(self):
        report = WORK / f"{self.name}.json"
        report.unlink(missing_ok=True)
        log = WORK / f"{self.name}.log"
        proxy = await asyncio.to_thread(Wiretape, [*self.command, "--report", report], log)
        try:
            client = self.kind(proxy.port, self.habits)
            try:
                await asyncio.wait_for(client.run(), LIMIT)
            except TimeoutError:
                client.abandon()
            await asyncio.sleep(self.linger)
            self.code = await asyncio.to_thread(proxy.stop)
        finally:
            proxy.kill()
        self.is_content = client.is_content
        self.report = json.loads(report.read_text(encoding="utf-8"))
        return self

    @property
    def said(self):
        return "; ".join(self.report["reasons"])


class Bench:
    def __init__(self, jobs):
        self.turn, self.tapes = asyncio.Semaphore(jobs), {}

    async def tape(self, row):
        """Recorded once for each kind, transport, number of logins and end."""
        if row.tape not in self.tapes:
            self.tapes[row.tape] = asyncio.ensure_future(self.record(*row.tape))
        return await self.tapes[row.tape]

    async def record(self, kind, order, logins, end):
        path = WORK / f"{kind.__name__}-{order[0]}{'-login' if logins else ''}{f'-{end}' if end else ''}.tape"
        path.unlink(missing_ok=True)
        async with Server(end) as server:
            command = ["record", "--upstream", f"http://127.0.0.1:{server.port}", "--output", path]
            # Whatever the server's end, the client of a tape comes back.
            run = await Run(path.stem, command, kind, Habits(order=order, logins=logins, final=())).run()
        if run.code != 0 or not run.is_content:
            raise Failed(f"the tape of {path.stem}: exit {run.code}, {run.said}")
        return path

    async def cell(self, row, mode, is_bent):
        """None, or what is not as it should be."""
        try:
            return await self.judged(row, mode, is_bent)
        except (Failed, OSError, ValueError) as error:
            return str(error)

    async def judged(self, row, mode, is_bent):
        arguments = ["--seed", "7"]
        for rule in row.faults:
            arguments += ["--fault", rule]
        for policy in row.policies:
            arguments += ["--expect", policy]
        name = f"{ROWS.index(row) + 1}-{mode}-{'bent' if is_bent else 'good'}"
        habits = row.habits(is_bent)
        if mode in SPEED:
            command = ["replay", await self.tape(row), "--speed", SPEED[mode], *arguments, *row.options]
            async with self.turn:
                run = await Run(name, command, row.kind, habits, row.linger).run()
        else:
            async with self.turn, Server(row.end) as server:
                command = ["proxy", "--upstream", f"http://127.0.0.1:{server.port}", *arguments]
                run = await Run(name, command, row.kind, habits, row.linger).run()
        if is_bent:
            if run.code not in (2, 5):
                return f"exit {run.code}"
            # What speaks against it is what it did, and not that nothing could be judged.
            return None if any(word in run.said for word in row.words) else f"the verdict does not name it: {run.said}"
        if run.code != 0:
            return f"exit {run.code}: {run.said}"
        return None if row.stays or run.is_content else "it did not come to its end"


def parse():
    parser = argparse.ArgumentParser(prog="tools/acceptance/broken-clients", description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="", metavar="TEXT", help="rows with TEXT in their name")
    parser.add_argument("--modes", default=",".join(MODES), help="of " + ",".join(MODES))
    parser.add_argument("--jobs", type=int, default=10, help="runs at a time; they mostly wait")
    options = parser.parse_args()
    options.modes = options.modes.split(",")
    if unknown := set(options.modes) - set(MODES):
        parser.error(f"no mode {', '.join(sorted(unknown))}; there are {', '.join(MODES)}")
    return options


async def tried(rows, options):
    bench = Bench(options.jobs)
    cells = {
        (row.name, mode, is_bent): asyncio.ensure_future(bench.cell(row, mode, is_bent))
        for row in rows
        for mode in options.modes
        if mode not in row.cannot
        for is_bent in (False, True)
    }
    await asyncio.gather(*cells.values())
    return {key: task.result() for key, task in cells.items()}


def main():
    options = parse()
    begun = time.monotonic()
    binary()
    WORK.mkdir(parents=True, exist_ok=True)
    rows = [row for row in ROWS if options.rows in row.name]
    cells = asyncio.run(tried(rows, options))
    heads = [f"{mode}, {what}" for mode in options.modes for what in ("good", "bent")]
    print(f"{'':>3} {'client':<52}" + "  ".join(heads) + "  what tells")
    whole = 0
    for number, row in enumerate(rows, 1):
        marks = []
        for mode in options.modes:
            for is_bent in (False, True):
                key = (row.name, mode, is_bent)
                marks.append("-" if key not in cells else "X" if cells[key] else "=")
        whole += "X" not in marks and "=" in marks
        columns = "  ".join(f"{mark:^{len(head)}}" for mark, head in zip(marks, heads, strict=False))
        print(f"{number:>3} {row.name:<52}{columns}  {', '.join(row.policies) or 'divergence'}")
    for why in dict.fromkeys(why for row in rows for why in row.cannot.values()):
        print(f"  - {why}")
    bad = {key: problem for key, problem in cells.items() if problem}
    for (name, mode, is_bent), problem in bad.items():
        print(f"\n{name}: {mode}, {'bent' if is_bent else 'good'}: {problem}")
    seconds = time.monotonic() - begun
    print(f"\nbroken clients: {whole} of {len(rows)} caught, and their originals pass, {seconds:.0f} s")
    return fail(f"{len(bad)} runs") if bad or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
