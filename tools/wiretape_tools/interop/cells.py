"""The cells of the matrix: what a client observes live, through record, and from a tape, each compared with live."""

import concurrent.futures
import difflib
import json
import re
import sys
import threading
import time
from typing import Any

from wiretape_tools.interop.peers import KEEPALIVE, SERVERS, TRANSPORTS, Pool, script_for, supports
from wiretape_tools.lib.processes import Failed, Wiretape

SCRIPTS = ["own", "common", "calls"]
# Who records the common script: as many different clients as there are, so that tapes go from one to another.
LEADS = {
    ("aspnetcore", "json"): {"ws": "pysignalr", "sse": "signalrcore", "lp": "signalr-js"},
    ("aspnet11", "json"): {"ws": "signalr-dotnet", "sse": "signalr-dotnet", "lp": "signalr-dotnet"},
    ("aspnet11", "messagepack"): {"ws": "signalr-dotnet", "lp": "signalr-dotnet"},
    ("aiosignalr", "json"): {"ws": "signalr-js", "sse": "aiosignalr", "lp": "aiosignalr"},
    ("aiosignalr", "messagepack"): {"ws": "pysignalr", "lp": "aiosignalr"},
}
LEAST = {"own": 60, "common": 60, "calls": 10}  # observations: fewer mean that the script did not run
LIVE_LIMIT, REPLAY_LIMIT = 60, 30  # seconds


def chains(observations):
    grouped: dict[Any, Any] = {}
    for seen in observations:
        grouped.setdefault(seen["chain"], []).append(json.dumps(seen, sort_keys=True, ensure_ascii=False))
    return grouped


def unsigned(line):
    """Without a signature: the tape holds another one, and what the server says of it at replay is that one."""
    return re.sub(r"but got [0-9a-f]{64}", "but got SIGNATURE", line)


def compare(wanted, got, name):
    """Raises with the first chain that differs; the order between chains is free."""
    for chain in sorted(wanted.keys() | got.keys()):
        mine, other = (list(map(unsigned, side.get(chain, []))) for side in (wanted, got))
        if mine != other:
            lines = difflib.unified_diff(mine, other, "live", name, lineterm="", n=1)
            shown = "\n      ".join(line[:300] for line in list(lines)[:40])
            raise Failed(f"chain '{chain}' differs from live:\n      {shown}")


def judge(report, cell):
    """The report tells of one session, played whole, in one attempt, over the transport that the client took."""
    sessions = report["sessions"]
    told = [(s["finished"], len(s["attempts"]), s["transports"]) for s in sessions]
    if report["verdict"] != "pass" or told != [(True, 1, [cell.replayed])]:
        raise Failed(f"the report tells {report['verdict']} and (finished, attempts, transports) {told}")


class Row:
    """One client playing one script in one hub protocol, with one server: a line of the matrix."""

    def __init__(self, server, protocol, client, script):
        self.server, self.protocol, self.client, self.script = server, protocol, client, script
        offered = SERVERS[server].get(protocol, [])
        self.transports = [t for t in supports(server, client, script, protocol) if t in offered]
        if script == "calls" and server in ("aspnetcore", "aspnet11"):
            self.transports = []
        self.name = f"{server}-{protocol}-{client}-{script}"
        self.reference = None
        self.referenced = threading.Lock()

    def recorder(self, transport, clients):
        """The client that makes the tape which this row replays, or None."""
        if self.script != "common":
            return self.client if transport in self.transports else None
        wanted = LEADS.get((self.server, self.protocol), {}).get(transport)
        order = [wanted] + [client for client in clients if client != wanted]
        able = [c for c in order if c in clients and transport in supports(self.server, c, "common", self.protocol)]
        return able[0] if able and transport in SERVERS[self.server].get(self.protocol, []) else None


class Cell:
    """One run of a client: kind is live, record or replay."""

    def __init__(self, row, kind, recorded, replayed=None, tape=None):
        self.row, self.kind, self.recorded, self.replayed, self.tape = row, kind, recorded, replayed, tape
        self.state, self.text, self.seconds = "not run", "", 0.0

    @property
    def transport(self):
        return self.replayed or self.recorded

    @property
    def name(self):
        return f"{self.row.name}-{self.kind}-" + "-".join(filter(None, [self.recorded, self.replayed]))

    def title(self):
        way = f"{self.recorded} → {self.replayed}" if self.replayed else self.recorded
        return f"{self.row.server}, {self.row.protocol}, {self.row.client}, {self.row.script}: {self.kind} {way}"

    def again(self):
        row = self.row
        arguments = f"--servers {row.server} --protocols {row.protocol} --clients {row.client} --scripts {row.script}"
        return f"tools/interop {arguments}" + (f" --recorded {self.recorded}" if self.kind == "replay" else "")

    def json(self):
        row = self.row
        where = {"server": row.server, "protocol": row.protocol, "client": row.client, "script": row.script}
        what = {"kind": self.kind, "recorded": self.recorded, "replayed": self.replayed}
        return {**where, **what, "state": self.state, "text": self.text, "seconds": round(self.seconds, 3)}


class Matrix:
    """All cells of a choice of servers, protocols, clients and transports, and how they are run."""

    def __init__(self, peers, chosen):
        self.peers, self.clients = peers, chosen["clients"]
        self.rows, self.cells = [], []
        for server in chosen["servers"]:
            for protocol in chosen["protocols"]:
                for client in chosen["clients"]:
                    for script in chosen["scripts"]:
                        row = Row(server, protocol, client, script)
                        if row.transports:
                            self.rows.append(row)
        for row in self.rows:
            self.cells += [Cell(row, "live", t) for t in row.transports]
        self.tapes = {}
        for row in self.rows:
            for recorded in (t for t in TRANSPORTS if t in chosen["recorded"]):
                self.add_replays(row, recorded, [t for t in row.transports if t in chosen["replayed"]])

    def add_replays(self, row, recorded, transports):
        recorder = row.recorder(recorded, self.clients)
        if recorder is None:
            return
        key = (row.server, row.protocol, recorder, row.script, recorded)
        tape = self.tapes.setdefault(key, self.peers.work / ("-".join(key) + ".tape.gz"))
        if recorder == row.client:
            self.cells.append(Cell(row, "record", recorded, tape=tape))
        self.cells += [Cell(row, "replay", recorded, replayed, tape) for replayed in transports]

    def script(self, cell):
        row = cell.row
        path = self.peers.work / f"{cell.name}.script.json"
        return script_for(row.server, row.client, cell.transport, row.protocol, row.script, path)

    def play(self, jobs):
        """Live first, then through record; the servers are gone when the tapes are played."""
        pools = {server: Pool(self.peers, server) for server in {row.server for row in self.rows}}
        try:
            for kind, action in (("live", self.live), ("record", self.record)):
                mine = [cell for cell in self.cells if cell.kind == kind]
                self.run(mine, jobs, lambda cell, action=action: self.served(cell, pools[cell.row.server], action))
        finally:
            for pool in pools.values():
                pool.close()
        self.run([cell for cell in self.cells if cell.kind == "replay"], jobs, self.replay)

    def run(self, cells, jobs, action):
        if not cells:
            return
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
            list(executor.map(lambda cell: self.attempt(cell, action), cells))
        seconds = time.monotonic() - begun
        well = sum(cell.state == "equal" for cell in cells)
        print(f"{cells[0].kind}: {well} of {len(cells)}, {seconds:.0f} s", file=sys.stderr, flush=True)

    def attempt(self, cell, action):
        begun = time.monotonic()
        try:
            action(cell)
            cell.state = "equal"
        except Failed as failure:
            cell.state, cell.text = "failed", str(failure)
            print(f"failed: {cell.title()}", file=sys.stderr, flush=True)
        cell.seconds = time.monotonic() - begun

    def served(self, cell, pool, action):
        port = pool.take()
        try:
            action(cell, port)
        finally:
            pool.give(port)

    def live(self, cell, port):
        row = cell.row
        url = f"http://127.0.0.1:{port}/hub"
        seen = chains(self.peers.client(row.client, url, self.script(cell), LIVE_LIMIT))
        total = sum(map(len, seen.values()))
        if total < LEAST[row.script]:
            raise Failed(f"only {total} observations: the script did not run")
        with row.referenced:
            if row.reference is None:
                row.reference = seen
        compare(row.reference, seen, f"live over {cell.recorded}")

    def record(self, cell, port):
        cell.tape.unlink(missing_ok=True)
        making = cell.tape.with_name("making-" + cell.tape.name)
        making.unlink(missing_ok=True)
        arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", making]
        seen, code, said = self.through(cell, arguments, LIVE_LIMIT)
        if code != 0:
            raise Failed(f"record ended with {code}: {said}")
        compare(self.reference(cell), seen, "record")
        making.rename(cell.tape)

    def replay(self, cell):
        if not cell.tape.exists():
            raise Failed("nothing was recorded")
        report = self.peers.work / f"{cell.name}.report.json"
        report.unlink(missing_ok=True)
        arguments = ["replay", cell.tape, "--report", report, "--keepalive", KEEPALIVE + "s"]
        seen, code, said = self.through(cell, arguments, REPLAY_LIMIT)
        compare(self.reference(cell), seen, "replay")
        if code != 0 or not report.exists():
            raise Failed(f"replay ended with {code}: {said}")
        judge(json.loads(report.read_text(encoding="utf-8")), cell)

    def through(self, cell, arguments, seconds):
        """What the client saw through wiretape, wiretape's exit code and its last words."""
        with Wiretape(arguments, self.peers.work / f"{cell.name}.log") as proxy:
            try:
                observed = self.peers.client(cell.row.client, proxy.url + "/hub", self.script(cell), seconds)
            except Failed as failure:
                raise Failed(f"{failure}\n      {proxy.said()}") from None
            code = proxy.stop()
            return chains(observed), code, proxy.said()

    def reference(self, cell):
        if cell.row.reference is None:
            raise Failed("there is nothing to compare with: live failed")
        return cell.row.reference


def table(matrix, chosen):
    """The matrix as text: a block a server and protocol, a line a client and script."""
    marks = {"equal": "=", "failed": "X", "not run": "?"}
    found = {(c.row, c.kind, c.recorded, c.replayed): marks[c.state] for c in matrix.cells}
    recorded = [t for t in TRANSPORTS if t in chosen["recorded"]]
    replayed = [t for t in TRANSPORTS if t in chosen["replayed"]]
    lines = []
    for server, protocol in dict.fromkeys((row.server, row.protocol) for row in matrix.rows):
        rows = [row for row in matrix.rows if (row.server, row.protocol) == (server, protocol)]
        groups = [("live", TRANSPORTS), ("record", recorded)] + [(f"{t} to", replayed) for t in recorded]
        lines.append("")
        lines.append(f"{SERVERS[server]['title']}, {protocol}")
        lines.append(f"  {'client':<15}{'script':<8}" + "".join(
            f"  {name:<7}" + " ".join(f"{t:<3}" for t in transports) for name, transports in groups
        ).rstrip())
        for row in rows:
            line = f"  {row.client:<15}{row.script:<8}"
            for name, transports in groups:
                marked = []
                for t in transports:
                    if name in ("live", "record"):
                        mark = found.get((row, name, t, None), "-")
                        if name == "record" and mark == "-" and row.script == "common" and row.recorder(t, matrix.clients):
                            mark = "."
                    else:
                        mark = found.get((row, "replay", name.split()[0], t), "-")
                    marked.append(f"{mark:<3}")
                line += f"  {'':<7}" + " ".join(marked)
            lines.append(line.rstrip())
        leads = {t: row.recorder(t, matrix.clients) for row in rows if row.script == "common" for t in recorded}
        if any(leads.values()):
            lines.append("  common tapes: " + ", ".join(f"{t} by {who}" for t, who in leads.items() if who))
    return lines
