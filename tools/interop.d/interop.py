"""The matrix of tools/interop: real clients against real servers, direct, through record, and from replay.

Each cell runs one client program with the same script three times. What its application observed is grouped by chain
(a callback, an invocation, a stream, the connection) and must be equal in all three; the order between chains is free.
"""

import argparse
import difflib
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))

from processes import ROOT, Failed, Program, Wiretape, binary, free_port, run, wait_for_port

CLIENTS = ["signalr-js", "pysignalr", "signalrcore"]
SERVERS = ["aspnetcore", "aiosignalr"]
WAYS = ["direct", "record", "replay"]
KEEPALIVE = "2"  # seconds; signalrcore's stop() waits for the next thing that the server sends


class Peers:
    """What is there to run: PyPI packages always, the peers' folder and node when present."""

    def __init__(self, work):
        self.work = work
        folder = os.environ.get("WIRETAPE_PEERS") or ROOT.parent / "shared/peers"
        self.folder = pathlib.Path(folder) if pathlib.Path(folder).is_dir() else None
        if os.environ.get("WIRETAPE_PEERS") and not self.folder:
            raise Failed(f"WIRETAPE_PEERS={folder} is not a folder")
        self.node_path = None
        if self.folder:
            self.node_path = subprocess.run(
                [self.folder / "npm/unpack"], check=True, capture_output=True, text=True
            ).stdout.strip()

    def missing(self, name):
        """Why this server or client cannot run here, or None."""
        if name in ("aspnetcore", "signalr-js") and not self.folder:
            return "no peers' folder (WIRETAPE_PEERS)"
        return None

    def start(self, server, port, log):
        if server == "aspnetcore":
            command = [self.folder / "aspnetcore/run", str(port), "--keepalive", KEEPALIVE]
        else:
            command = [sys.executable, HERE / "aiosignalr_hub.py", str(port), KEEPALIVE]
        program = Program(server, command, log)
        try:
            wait_for_port(port, program)
        except BaseException:
            program.kill()
            raise
        return program

    def client(self, client, url, script):
        """The observations of one run of the client's program."""
        environment = dict(os.environ)
        if client == "signalr-js":
            check_node()
            command = ["node", HERE / "client.js", url, script]
            environment["NODE_PATH"] = self.node_path
        else:
            command = [sys.executable, HERE / f"client_{client}.py", url, script]
        try:
            code, out, err = run(command, seconds=60, env=environment)
        except subprocess.TimeoutExpired as expired:
            raise Failed(f"{client} hangs; its last line: {last_line((expired.stdout or b'').decode())}") from None
        if code != 0:
            raise Failed(f"{client} ended with {code}: {last_line(out)} {err[-500:]}")
        return [json.loads(line) for line in out.splitlines()]


def last_line(text):
    return text.rstrip().rpartition("\n")[2]


def check_node():
    node = shutil.which("node")
    version = run([node, "--version"])[1].strip() if node else ""
    if not version or int(version[1:].split(".")[0]) < 20:
        raise Failed(f"node 20 or newer is needed for @microsoft/signalr, found {version or 'none'}")


def script_for(server, client, path):
    script = json.loads((HERE / "script.json").read_text(encoding="utf-8"))
    steps = []
    for step in script["steps"]:
        if server not in step.get("servers", SERVERS) or client not in step.get("clients", CLIENTS):
            continue
        if "repeat" in step:
            step["args"] = [argument * step["repeat"] for argument in step["args"]]
        steps.append(step)
    path.write_text(json.dumps({**script, "steps": steps}), encoding="utf-8")
    return path


def chains(observations):
    grouped = {}
    for seen in observations:
        grouped.setdefault(seen["chain"], []).append(json.dumps(seen, sort_keys=True, ensure_ascii=False))
    return grouped


def compare(direct, other, way):
    """Raises with the first chain that differs."""
    for chain in sorted(direct.keys() | other.keys()):
        wanted, got = direct.get(chain, []), other.get(chain, [])
        if wanted != got:
            lines = difflib.unified_diff(wanted, got, "direct", way, lineterm="", n=1)
            raise Failed(
                f"chain '{chain}' differs from direct:\n      " + "\n      ".join(line[:300] for line in lines)
            )


class Cell:
    """One client with one server: the three ways and what came of them."""

    def __init__(self, peers, server, client):
        self.peers, self.server, self.client = peers, server, client
        self.name = f"{server}-{client}"
        self.script = script_for(server, client, peers.work / f"{self.name}.script.json")
        self.tape = peers.work / f"{self.name}.tape.gz"
        self.result = {}
        self.seen = None

    def attempt(self, way, action):
        try:
            self.result[way] = action()
        except Failed as failure:
            self.result[way] = f"FAILED: {failure}"

    def direct(self, port):
        self.seen = chains(self.peers.client(self.client, f"http://127.0.0.1:{port}/hub", self.script))
        total = sum(map(len, self.seen.values()))
        if total < 60:
            raise Failed(f"only {total} observations: the script did not run")
        return f"{total} observations"

    def record(self, port):
        self.tape.unlink(missing_ok=True)
        log = self.peers.work / f"{self.name}.record.log"
        arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", self.tape]
        with Wiretape(arguments, log) as proxy:
            seen = chains(self.peers.client(self.client, proxy.url + "/hub", self.script))
            code = proxy.stop()
            if code != 0:
                raise Failed(f"record ended with {code}: {proxy.said()}")
        compare(self.reference(), seen, "record")
        return "equal"

    def replay(self):
        if not self.tape.exists():
            raise Failed("nothing was recorded")
        report = self.peers.work / f"{self.name}.report.json"
        report.unlink(missing_ok=True)
        log = self.peers.work / f"{self.name}.replay.log"
        arguments = ["replay", self.tape, "--report", report, "--keepalive", KEEPALIVE + "s"]
        with Wiretape(arguments, log) as proxy:
            try:
                seen = chains(self.peers.client(self.client, proxy.url + "/hub", self.script))
            except Failed as failure:
                raise Failed(f"{failure}\n      {proxy.said()}") from None
            code = proxy.stop()
            said = proxy.said()
        compare(self.reference(), seen, "replay")
        verdict = json.loads(report.read_text()).get("verdict") if report.exists() else "no report"
        if code != 0 or verdict != "pass":
            raise Failed(f"replay ended with {code}, verdict {verdict}: {said}")
        return "equal"

    def reference(self):
        if self.seen is None:
            raise Failed("there is nothing to compare with: direct failed")
        return self.seen

    def failed(self):
        return any(str(self.result.get(way, "")).startswith("FAILED") for way in WAYS)


def play(peers, servers, clients, ways):
    cells = []
    for server in servers:
        mine = [Cell(peers, server, client) for client in clients]
        cells += mine
        port = free_port()
        with peers.start(server, port, peers.work / f"{server}.log"):
            for cell in mine:
                print(f"{server} × {cell.client} …", file=sys.stderr, flush=True)
                cell.attempt("direct", lambda: cell.direct(port))
                if "record" in ways:
                    cell.attempt("record", lambda: cell.record(port))
        if "replay" in ways:  # the server is gone
            for cell in mine:
                print(f"{server} × {cell.client} from the tape …", file=sys.stderr, flush=True)
                cell.attempt("replay", cell.replay)
    return cells


def table(cells, skipped, ways):
    rows = [["server", "client", *ways]]
    rows += [[c.server, c.client, *(c.result[w].split(":")[0] for w in ways)] for c in cells]
    rows += [[server, client, *("not run" for _ in ways)] for server, client, _ in skipped]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(prog="tools/interop", description=__doc__.split("\n")[0])
    parser.add_argument("--servers", default=",".join(SERVERS), help="of " + ",".join(SERVERS))
    parser.add_argument("--clients", default=",".join(CLIENTS), help="of " + ",".join(CLIENTS))
    parser.add_argument("--ways", default=",".join(WAYS), help="direct is always run; of " + ",".join(WAYS))
    options = parser.parse_args()
    chosen = {kind: getattr(options, kind).split(",") for kind in ("servers", "clients", "ways")}
    for kind, known in (("servers", SERVERS), ("clients", CLIENTS), ("ways", WAYS)):
        if unknown := set(chosen[kind]) - set(known):
            parser.error(f"no {kind} {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    ways = [way for way in WAYS if way in chosen["ways"] or way == "direct"]
    if "record" not in ways and "replay" in ways:
        parser.error("replay plays what record made: choose both")

    work = ROOT / ".build/interop"
    work.mkdir(parents=True, exist_ok=True)
    if len(ways) > 1:
        binary()
    peers = Peers(work)
    absent = {name: why for name in chosen["servers"] + chosen["clients"] if (why := peers.missing(name))}
    pairs = [(s, c, absent.get(s) or absent.get(c)) for s in chosen["servers"] for c in chosen["clients"]]
    skipped = [pair for pair in pairs if pair[2]]
    servers = [s for s in chosen["servers"] if s not in absent]
    clients = [c for c in chosen["clients"] if c not in absent]

    cells = play(peers, servers, clients, ways)
    print()
    table(cells, skipped, ways)
    for server, client, why in skipped:
        print(f"not run: {client} with {server}: {why}")
    bad = [cell for cell in cells if cell.failed()]
    for cell in bad:
        for way in ways:
            if cell.result[way].startswith("FAILED"):
                print(f"\n{cell.server} × {cell.client}, {way}: {cell.result[way]}")
    good = sum(1 for c in cells for w in ways if not c.result[w].startswith("FAILED"))
    total = len(cells) * len(ways)
    print(f"\ninterop: {good} of {total} cells well, {len(skipped) * len(ways)} not run ({', '.join(ways)})")
    return 0 if total and good == total else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"tools/interop: {failure}")
