"""Real clients go through faults, live (`wiretape record` in front of a real server) and in replay (a tape of the same
client). The attempts of the report have to be those of a packet capture: as many, with the same outcomes, each beginning,
and each delay as long, give or take 50 ms. The capture is read by course.py, which shares nothing with Wiretape.

Then what --expect says: real clients meet the policies that are theirs, bent ones do not, and the reason says why.

    tools/acceptance/faults-clients [--parts table,verdicts] [--clients NAME,…] [--faults NAME,…] [--modes live,replay]
                                    [--verdicts NAME;…] [--jobs N]

Runs under the packages of tools/interop (.build/interop-venv, or WIRETAPE_VENV); the JavaScript clients need WIRETAPE_PEERS.
Needs root for the capture. Exit 1 on any difference.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from wiretape_tools.acceptance.faults_clients.course import Course
from wiretape_tools.acceptance.faults_clients.rows import ROWS, STAYS
from wiretape_tools.acceptance.faults_clients.verdicts import CASES
from wiretape_tools.lib.capture import Capture, allowed
from wiretape_tools.lib.processes import ROOT, Failed, Program, Wiretape, binary, fail, free_port, wait_for_port

HERE = pathlib.Path(__file__).resolve().parent
SERVERS = HERE.parents[1] / "interop"
WORK = ROOT / ".build/acceptance/faults-clients"
MOST = 50.0  # milliseconds
LIMIT = 60  # seconds of one client
PYTHON = pathlib.Path(os.environ.get("WIRETAPE_VENV") or ROOT / ".build/interop-venv") / "bin/python"
PEERS = pathlib.Path(os.environ.get("WIRETAPE_PEERS") or ROOT.parent / "shared/peers")


class Surroundings:
    """Servers, shared by kind where clients do not hear each other, and the folder of the JavaScript packages."""

    def __init__(self, stack):
        self.stack, self.ports = stack, {}
        self.node_path = None
        if PEERS.is_dir():
            unpacked = subprocess.run([PEERS / "npm/unpack"], check=True, capture_output=True, text=True)
            self.node_path = unpacked.stdout.strip()

    @property
    def environment(self):
        return {**os.environ, "NODE_PATH": self.node_path or ""}

    def start(self, kind, log, stack):
        port = free_port()
        command = {
            "hub": [PYTHON, SERVERS / "aiosignalr_hub.py", port, "1"],
            "pusher": [PYTHON, SERVERS / "pusher_server.py", port],
            "graphql": ["node", SERVERS / "graphql_server.js", port],
        }[kind]
        program = stack.enter_context(Program(kind, [str(part) for part in command], log, env=self.environment))
        wait_for_port(port, program)
        return port

    def prepare(self, kinds):
        for kind in sorted(kinds - {"pusher"}):
            self.ports[kind] = self.start(kind, WORK / f"{kind}.log", self.stack)

    def port(self, kind, log, stack):
        """Everybody on a Pusher channel hears everybody: each client has a server of its own."""
        return self.ports[kind] if kind in self.ports else self.start(kind, log, stack)


@dataclasses.dataclass
class Measured:
    """A cell: what the report told beside what the capture showed. Times are milliseconds."""

    attempts: int = 0
    starts: float = 0.0
    delays: float = 0.0
    problem: str = ""

    @property
    def text(self):
        return "X" if self.problem else f"{self.attempts}: {max(self.starts, self.delays):.0f}"


def come_back(row, around, url, log, limit=LIMIT):
    """Runs the client's program to its end; the lines that it printed."""
    command: list[Any] = [PYTHON] if row.script.endswith(".py") else ["node"]
    command += [HERE / row.script, row.program, url + row.path, json.dumps(row.settings)]
    environment = {**around.environment, **row.environment}
    with Program(row.name, [str(part) for part in command], log, env=environment) as client:
        code = client.process.wait(limit)
        if code != 0:
            raise Failed(f"the client ended with {code}: {client.said(300)}")
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]


def file(row, *more):
    return WORK / "-".join(part.replace(" ", "-") for part in (row.name, *more))


def record(row, around):
    """The tape of the client without faults."""
    tape = file(row, "tape").with_suffix(".tape.gz")
    tape.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        port = around.port(row.server, file(row, "server.log"), stack)
        arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", tape]
        proxy = stack.enter_context(Wiretape(arguments, file(row, "record.log")))
        lines = come_back(row, around, proxy.url, file(row, "record.client"))
        if (code := proxy.stop()) != 0:
            raise Failed(f"record ended with {code}: {proxy.said()}")
    if not any(line["what"] == "left" and line["content"] for line in lines):
        raise Failed(f"{row.name} does not get what it wants without faults: {lines[-2:]}")
    return tape


def run(row, fault, mode, around, tape):
    """One client through one fault: the report's attempts, the capture's, and what the client said."""
    name = file(row, fault, mode)
    report = name.with_suffix(".json")
    report.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        if mode == "live":
            port = around.port(row.server, name.with_suffix(".server"), stack)
            output = name.with_suffix(".tape.gz")
            output.unlink(missing_ok=True)
            arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", output]
        else:
            arguments = ["replay", tape, "--on-reconnect", "restart", "--keepalive", "1s"]
        for rule in row.rules(fault):
            arguments += ["--fault", rule]
        proxy = stack.enter_context(Wiretape([*arguments, "--report", report], name.with_suffix(".log")))
        with Capture(proxy.port, name.with_suffix(".pcap")) as capture:
            lines = come_back(row, around, proxy.url, name.with_suffix(".client"))
        code = proxy.stop()
        if code != 0:
            raise Failed(f"ended with {code}: {proxy.said()[-500:]}")
    told = json.loads(report.read_text(encoding="utf-8"))
    return told, Course(capture.connections(), deaf=fault == "stall").attempts, lines


def compare(told, seen):
    """Measures how far the report is from the capture."""
    attempts = sorted((a for s in told["sessions"] for a in s["attempts"]), key=lambda a: a["t_ms"])
    ours = [a["outcome"] for a in attempts]
    theirs = [one.outcome for one in seen]
    if ours != theirs:
        raise Failed(f"attempts {', '.join(map(str, ours))}; the capture shows {', '.join(map(str, theirs))}")
    found = Measured(len(attempts))
    for i, (ours, theirs) in enumerate(zip(attempts, seen, strict=False)):
        start = (theirs.start - seen[0].start) * 1000
        found.starts = max(found.starts, abs(ours["t_ms"] - attempts[0]["t_ms"] - start))
        if i and ours["delay_ms"] is not None:
            delay = (theirs.start - seen[i - 1].ended) * 1000
            found.delays = max(found.delays, abs(ours["delay_ms"] - delay))
    return found


def cell(row, fault, mode, around, tape):
    try:
        told, seen, _ = run(row, fault, mode, around, tape)
        found = compare(told, seen)
        if found.starts > MOST:
            raise Failed(f"an attempt begins {found.starts:.1f} ms off")
        if found.delays > MOST:
            raise Failed(f"a delay is {found.delays:.1f} ms off")
        if fault not in STAYS and found.attempts < 2:
            raise Failed("the client did not come back")
        return found
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        return Measured(problem=str(error))


def verdict(case, around):
    """What each policy said of the client: (policy, whether that was right, the words)."""
    row = dataclasses.replace(case.row, settings=case.settings, environment=case.environment)
    name = WORK / ("verdict-" + case.name.replace(" ", "-").replace(",", ""))
    report = name.with_suffix(".json")
    report.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        port = around.port(row.server, name.with_suffix(".server"), stack)
        arguments = ["proxy", "--upstream", f"http://127.0.0.1:{port}", "--report", report]
        for rule in case.rules:
            arguments += ["--fault", rule]
        for policy in [*case.met, *case.unmet]:
            arguments += ["--expect", policy]
        proxy = stack.enter_context(Wiretape(arguments, name.with_suffix(".log")))
        come_back(row, around, proxy.url, name.with_suffix(".client"), limit=120)
        time.sleep(case.linger)
        code = proxy.stop()
    told = json.loads(report.read_text(encoding="utf-8"))
    if told["unfired"]:
        raise Failed(told["unfired"][0]["reason"])
    if len(told["sessions"]) != 1:
        raise Failed(f"{len(told['sessions'])} sessions")
    if code != (5 if case.unmet else 0):
        raise Failed(f"ended with {code}: {proxy.said()[-400:]}")
    found = []
    for policy in [*case.met, *case.unmet]:
        one = next(e for e in told["expectations"] if e["policy"] == policy)
        words = case.unmet.get(policy)
        right = one["met"] if words is None else not one["met"] and words in one["reason"]
        found.append((policy, right, one["reason"] or f"met: {one['actual']}"))
    return found


def judged(case, around):
    try:
        return verdict(case, around)
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        return [("", False, str(error))]


def verdicts(cases, around, executor):
    """Runs the cases and prints what was said; the problems."""
    problems = []
    futures = [(case, executor.submit(judged, case, around)) for case in cases]
    for case, future in futures:
        print(case.name)
        for policy, right, words in future.result():
            print(f"  {'=' if right else 'X'} {policy:<44} {words.removeprefix('wiretape: ')}")
            if not right:
                problems.append(f"{case.name}: {policy}: {words}")
    return problems


def table(rows, cells):
    """A line a client and mode: attempts, and the largest difference in ms."""
    for row in rows:
        for mode in dict.fromkeys(mode for name, _, mode in cells if name == row.name):
            found = {f: c for (name, f, m), c in cells.items() if (name, m) == (row.name, mode)}
            print(f"{row.name:<27}{mode:<8}" + "  ".join(f"{fault} {one.text}" for fault, one in found.items()))


def parse():
    parser = argparse.ArgumentParser(prog="tools/acceptance/faults-clients", description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default="table,verdicts")
    parser.add_argument("--verdicts", default="")
    parser.add_argument("--clients", default=",".join(row.name for row in ROWS))
    parser.add_argument("--faults", default="")
    parser.add_argument("--modes", default="live,replay")
    parser.add_argument("--jobs", type=int, default=4)
    options = parser.parse_args()
    names = options.clients.split(",")
    if unknown := set(names) - {row.name for row in ROWS}:
        parser.error(f"no client {', '.join(unknown)}")
    wanted = [row for row in ROWS if row.name in names]
    options.rows = [row for row in wanted if PEERS.is_dir() or not row.needs_peers]
    options.parts = options.parts.split(",")
    asked = [case for case in CASES if not options.verdicts or case.name in options.verdicts.split(";")]
    options.cases = [case for case in asked if PEERS.is_dir() or not case.row.needs_peers]
    options.absent = {
        "clients of the table": (len(wanted) - len(options.rows)) if "table" in options.parts else 0,
        "verdicts": (len(asked) - len(options.cases)) if "verdicts" in options.parts else 0,
    }
    options.wanted = options.faults.split(",") if options.faults else None
    return options


def main():
    options = parse()
    WORK.mkdir(parents=True, exist_ok=True)
    binary()
    if not PYTHON.exists():
        return fail(f"{PYTHON} is not there; tools/interop sets it up")
    if not allowed():
        return fail("a packet capture needs root")
    begun = time.monotonic()
    problems = []
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        around = Surroundings(stack)
        around.prepare({row.server for row in options.rows} | {case.row.server for case in options.cases})
        if "table" in options.parts:
            problems += compared(options, around, executor)
        if "verdicts" in options.parts:
            problems += verdicts(options.cases, around, executor)
    if any(options.absent.values()):
        counts = " and ".join(f"{count} {what}" for what, count in options.absent.items() if count)
        print(f"skipped {counts}, of which nothing is known: the JavaScript packages are not here (WIRETAPE_PEERS)")
    print(f"{time.monotonic() - begun:.0f} s")
    if not (options.rows and "table" in options.parts) and not (options.cases and "verdicts" in options.parts):
        problems.append("nothing was looked at")
    for problem in problems:
        fail(problem)
    return 1 if problems else 0


def compared(options, around, executor):
    """Every client through its faults, in each mode; the problems."""
    cells, problems = {}, []
    tapes = {row.name: executor.submit(record, row, around) for row in options.rows}
    for row in options.rows:
        try:
            tape = tapes[row.name].result()
        except (Failed, subprocess.TimeoutExpired) as error:
            problems.append(f"{row.name}: {error}")
            continue
        for fault in row.faults:
            for mode in options.modes.split(","):
                if options.wanted is None or fault in options.wanted:
                    cells[row.name, fault, mode] = executor.submit(cell, row, fault, mode, around, tape)
    cells = {key: future.result() for key, future in cells.items()}
    table(options.rows, cells)
    problems += [f"{' / '.join(key)}: {one.problem}" for key, one in cells.items() if one.problem]
    good = [one for one in cells.values() if not one.problem]
    worst = [max((getattr(one, kind) for one in good), default=0) for kind in ("starts", "delays")]
    print(
        f"{len(good)} of {len(cells)} runs, {sum(one.attempts for one in good)} attempts: starts within {worst[0]:.1f} ms,"
        f" delays within {worst[1]:.1f} ms of the capture"
    )
    return problems


if __name__ == "__main__":
    sys.exit(main())
