"""The cases of autobahntestsuite through Wiretape: no case may end otherwise than it does without it.

    tools/acceptance/autobahn [--cases 1.*,2.* | --ci] [--through record,proxy,rules,replay] [--seconds N]

The suite's client (PyPI, under Python 2.7 from the PATH or pyenv) speaks to an echo server of the `websockets` package:
directly, through `record`, through `proxy`, through `record` with a rule that never fires, and to `replay` of the tape that
was recorded. In `replay` every connection has to get its own session, so its outcomes are those of `record`. OK and
NON-STRICT are one, since both are right and a race at the close decides between them. In case 7.1.5 it depends on how the
client's bytes are cut what the server itself does: it is asked several times, also with all bytes of a moment joined, and each of
its outcomes is right. Exit 1 when another case differs.

--cases names patterns of the suite; without it, all but the long ones of 12 and 13 (of each of their groups the first four).
`--cases '*'` is everything: about ten minutes for each arrangement. `--ci` is a choice of each kind, in less than three minutes.
"""

import argparse
import asyncio
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import threading
from typing import Any

from websockets.asyncio.server import serve

from wiretape_tools.lib.exchange import Exchange, whole_answer
from wiretape_tools.lib.forwarder import Forwarder
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, fail

WORK = ROOT / ".build/acceptance/autobahn"
SUITE = "autobahntestsuite==25.10.1"
CHOICE = [f"{n}.*" for n in (1, 2, 3, 4, 5, 6, 7, 9, 10)]
CHOICE += [f"{n}.{group}.{case}" for n, groups in ((12, 5), (13, 7)) for group in range(1, groups + 1) for case in range(1, 5)]
# Of each kind some, so that all arrangements together take less than three minutes.
CI = [f"{n}.*" for n in (1, 2, 3, 4, 5, 7)] + [f"6.{n}.*" for n in (1, 2, 3, 5, 6, 12, 23)] + ["6.4.1", "6.4.3", "10.1.1"]
CI += [f"9.{n}.1" for n in range(1, 9)] + ["9.1.2", "9.2.2"]
CI += [f"12.{n}.1" for n in range(1, 6)] + [f"13.{n}.1" for n in range(1, 8)]
# The server's own outcome depends on how the bytes come: so often it is asked what it may be.
RACES = {"7.1.5": 3}
# What may stand for each other.
SAME = {"NON-STRICT": "OK"}
THROUGH = ["record", "proxy", "rules", "replay"]
RULE = "reset after message[4000000000]"


def python2():
    """A Python 2.7: the suite runs under no newer one."""
    for name in ("python2.7", "python2"):
        if found := shutil.which(name):
            # One of pyenv's stand-ins fails where no version is chosen.
            if subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
                return found
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    for path in sorted(root.glob("versions/2.7*/bin/python"), reverse=True):
        return str(path)
    sys.exit("autobahn: no Python 2.7, under which the suite runs; 'pyenv install 2.7' brings one")


def suite(python):
    """The folder into which pip has put the suite."""
    site = WORK / "site"
    if not (site / ".complete").exists():
        print(f"autobahn: installing {SUITE} into {site}", file=sys.stderr, flush=True)
        shutil.rmtree(site, ignore_errors=True)
        command = [python, "-m", "pip", "install", "-q", "--target", str(site), SUITE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"autobahn: pip says\n{done.stderr[-2000:]}")
        (site / ".complete").touch()
    return site


class Echo:
    """The server, on a loop and a thread of its own."""

    def __enter__(self):
        ready = threading.Event()
        self.loop = asyncio.new_event_loop()

        async def echo(socket):
            async for message in socket:
                await socket.send(message)

        async def main():
            self.stopped = asyncio.Event()
            async with serve(echo, "127.0.0.1", 0, max_size=None, ping_interval=None) as server:
                self.port = server.sockets[0].getsockname()[1]
                ready.set()
                await self.stopped.wait()

        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(main(),), daemon=True)
        self.thread.start()
        ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.stopped.set)
        self.thread.join(10)


class Autobahn:
    def __init__(self, cases, seconds):
        self.python, self.cases, self.seconds = python2(), cases, seconds
        self.site = suite(self.python)

    def outcomes(self, name, port, cases=None):
        """{case: (behaviour, behaviour at the close)} of the server at this port."""
        folder = WORK / name
        shutil.rmtree(folder, ignore_errors=True)
        spec = WORK / f"{name}.json"
        # The suite's configuration is read by Python 2: plain ASCII.
        servers = [{"agent": name, "url": f"ws://127.0.0.1:{port}"}]
        spec.write_text(json.dumps({
            "outdir": str(folder), "servers": servers, "cases": cases or self.cases, "exclude-cases": [], "exclude-agent-cases": {},
        }), encoding="ascii")  # fmt: skip
        start = f"import site; site.addsitedir({str(self.site)!r}); from autobahntestsuite.wstest import run; run()"
        command = [self.python, "-c", start, "-m", "fuzzingclient", "-s", str(spec)]
        with open(WORK / f"{name}.log", "wb") as log:
            try:
                subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=self.seconds, check=True)
            except subprocess.TimeoutExpired:
                raise Failed(f"{name}: the suite takes longer than {self.seconds} s (--seconds)") from None
            except subprocess.CalledProcessError as error:
                raise Failed(f"{name}: the suite ended with {error.returncode}; see {log.name}") from None
        index = folder / "index.json"
        if not index.exists():
            raise Failed(f"{name}: the suite has written no result; see {WORK / name}.log")
        found = json.loads(index.read_text(encoding="utf-8")).get(name)
        if not found:
            raise Failed(f"{name}: the suite reached nobody; see {WORK / name}.wiretape.log")
        return {case: (SAME.get(one["behavior"], one["behavior"]), one["behaviorClose"]) for case, one in found.items()}


    def races(self, direct, port):
        """{case: its outcomes} of the cases that the server alone does not always end alike: as its bytes come, and joined."""
        with Forwarder(port, gather=0.02) as joining:
            return {
                case: {direct[case]} | {self.outcomes("race", way, [case])[case] for way in [port, joining.port] * times}
                for case, times in RACES.items() if case in direct
            }  # fmt: skip


def differing(name, found, wanted, races):
    """The cases that ended otherwise, for people."""
    if set(found) != set(wanted):
        return [f"{name}: {len(found)} cases were run and not {len(wanted)}"]
    order = sorted(wanted, key=lambda case: [int(n) for n in case.split(".")])
    return [
        f"{name}: case {case} ends {'/'.join(found[case])}, and {'/'.join(wanted[case])} without it"
        for case in order if found[case] != wanted[case] and found[case] not in races.get(case, ())
    ]  # fmt: skip


def through(name, echo, autobahn):
    tape = WORK / "record.tape.gz"
    upstream = ["--upstream", f"http://127.0.0.1:{echo.port}"]
    commands: dict[str, list[Any]] = {
        "record": ["record", *upstream, "--output", tape, "--force"],
        "proxy": ["proxy", *upstream],
        "rules": ["record", *upstream, "--output", WORK / "rules.tape.gz", "--force", "--fault", RULE],
        # The long cases alone have more than half a GiB of messages.
        "replay": ["replay", tape, "--speed", "instant", "--on-divergence", "warn", "--memory", "4GiB"],
    }
    with Wiretape(commands[name], WORK / f"{name}.wiretape.log") as program:
        if name == "replay":
            # The suite waits five seconds for an answer. Whoever asks while a long tape is read waits longer: nobody does here.
            Exchange(program.port, b"GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", wait=120).read(whole_answer)
        found = autobahn.outcomes(name, program.port)
        program.stop(seconds=60)
    return found


def parse():
    parser = argparse.ArgumentParser(prog="tools/acceptance/autobahn", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", default=",".join(CHOICE), metavar="LIST", help="patterns such as 1.*,12.1.1; * for all")
    parser.add_argument("--ci", action="store_true", help="a choice of cases, in less than three minutes")
    parser.add_argument("--through", default=",".join(THROUGH), metavar="LIST", help="of " + ",".join(THROUGH))
    parser.add_argument("--seconds", type=int, default=1800, help="for each arrangement")
    options = parser.parse_args()
    options.through = options.through.split(",")
    if options.ci:
        options.cases = ",".join(CI)
    if unknown := set(options.through) - set(THROUGH):
        parser.error(f"nothing is called {', '.join(sorted(unknown))}; there are {', '.join(THROUGH)}")
    if "replay" in options.through and "record" not in options.through:
        parser.error("replay needs what record records")
    return options


def main():
    options = parse()
    # The suite breaks every rule there is, and the server would tell of each.
    logging.disable()
    binary()
    WORK.mkdir(parents=True, exist_ok=True)
    autobahn = Autobahn(options.cases.split(","), options.seconds)
    wrong = []
    with Echo() as echo:
        results = {"direct": autobahn.outcomes("direct", echo.port)}
        races = autobahn.races(results["direct"], echo.port)
        print(f"direct: {len(results['direct'])} cases, {good(results['direct'])} OK", flush=True)
        for name in sorted(options.through, key=THROUGH.index):
            if name == "replay" and options.cases == "*":
                # All cases make a tape of 7 GB, and a replay keeps its messages in memory (--memory).
                print("replay: of the cases that are run without --cases", flush=True)
                autobahn.cases = CHOICE
                results["record"] = through("record", echo, autobahn)
            results[name] = through(name, echo, autobahn)
            wanted = results["record" if name == "replay" else "direct"]
            bad = differing(name, results[name], wanted, races)
            wrong += bad
            print(f"{name}: {good(results[name])} OK, {len(bad)} otherwise", flush=True)
    for line in wrong[:40]:
        print(line)
    if wrong:
        return fail(f"{len(wrong)} cases end otherwise")
    print(f"autobahn: {len(results['direct'])} cases, each through {', '.join(options.through)} as without Wiretape")
    return 0


def good(found):
    return sum(one[0] == "OK" for one in found.values())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(fail(str(error)))
