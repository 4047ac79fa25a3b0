"""What faults cost that are not there: `wiretape proxy` without rules, with an empty plan, with rules that cannot touch the
route, and in hold mode, in the loads (a) and (b) of tools/bench.

    tools/acceptance/faults-cost [--rounds 10] [--seconds 3] [--parts speed,counted,hold]

speed: paired medians of interleaved rounds within 10 % of the run without rules. counted: allocations and system calls a
frame, which have to be equal. hold: round trips with a rule on another label, at least 0.6 x of those without rules.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
from typing import Any

from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import ROOT, Failed, Program, binary, fail, free_port, wait_for_port

WORK = ROOT / ".build/acceptance/faults-cost"
SOURCE = pathlib.Path(os.environ.get("WIRETAPE_BENCH") or ROOT / "tools/wiretape_tools/bench/load")
OTHER = ["--fault", "respond(503) on request[path=/other]"]
HELD = ["--fault", "drop on NothingOfTheKind"]
EMPTY = WORK / "empty.yaml"


def prepare():
    WORK.mkdir(parents=True, exist_ok=True)
    EMPTY.write_text("rules: []\n", encoding="ascii")
    # peers.sh splits its commands at blanks.
    (WORK / "other.yaml").write_text("rules:\n  - fault: respond(503) on request[path=/other]\n    optional: true\n")
    (WORK / "held.yaml").write_text("rules:\n  - fault: drop on NothingOfTheKind\n    optional: true\n")
    for name in ("Makefile", "peers.sh", "rtload.c", "summary.py"):
        shutil.copy(SOURCE / name, WORK / name)
        (WORK / name).chmod(0o755)
    subprocess.run(["make", "-s", "-C", WORK, "rtload"], check=True)
    link = WORK / "wiretape"
    link.unlink(missing_ok=True)
    link.symlink_to(binary())


def bench(loads, rounds, seconds, **commands):
    """{(load, peer): [figure of each round]}; the figure is p50 for (a), round trips/s for (b)."""
    base = "./wiretape proxy --upstream http://127.0.0.1:%O --listen 127.0.0.1:%L --quiet"
    environment = dict(os.environ)
    for peer, plan in commands.items():
        environment[peer.upper() + "_CMD"] = base + (f" --faults {plan}" if plan else "")
    done = subprocess.run(
        ["./peers.sh", "-r", str(rounds), "-s", str(seconds), "-l", loads, "-p", " ".join(commands), "-o", "./out"],
        cwd=WORK, env=environment, capture_output=True, text=True, check=False,
    )
    if done.returncode:
        raise Failed(f"peers.sh ended with {done.returncode}: {done.stderr[-500:]}")
    figures: dict[Any, Any] = {}
    for line in (WORK / "out/runs.jsonl").read_text().splitlines():
        run = json.loads(line)
        if run["rc"] or not run["r"]:
            raise Failed(f"load {run['load']} on {run['peer']}, round {run['round']}: exit {run['rc']}")
        value = run["r"]["rtt_us"]["p50"] if run["load"] == "a" else run["r"]["msg_per_s"]
        figures.setdefault((run["load"], run["peer"]), []).append(value)
    return figures


def paired(figures, load, peer, base="extra"):
    """The median of the rounds' ratios to the run without rules."""
    return statistics.median(b / a for a, b in zip(figures[load, base], figures[load, peer], strict=False))


def speed(rounds, seconds):
    figures = bench("a b", rounds, seconds, extra="", extra2="empty.yaml", extra3="other.yaml")
    problems = []
    for load, what in (("a", "p50"), ("b", "round trips/s")):
        base = statistics.median(figures[load, "extra"])
        for peer, name in (("extra2", "empty plan"), ("extra3", "rules elsewhere")):
            ratio = paired(figures, load, peer)
            print(f"speed ({load}) {name}: {what} {ratio:.3f} x of no rules ({base:,.1f})")
            if not 0.9 <= ratio <= 1.1:
                problems.append(f"({load}) {name}: {ratio:.3f}")
    return problems


def hold(rounds, seconds):
    figures = bench("b", rounds, seconds, extra="", extra2="held.yaml")
    ratio = paired(figures, "b", "extra2")
    print(f"hold (b): {ratio:.2f} x the round trips/s of pass mode ({statistics.median(figures['b', 'extra']):,.0f})")
    return [] if ratio >= 0.6 else [f"hold mode: {ratio:.2f} < 0.6"]


def talk(port, count):
    """So many frames there and back, one at a time."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(frames.request("/", "127.0.0.1"))
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(4096)
        out = frames.frame(frames.BINARY, b"x" * 120, masked=True)
        for _ in range(count):
            client.sendall(out)
            left = 122
            while left:
                left -= len(client.recv(left))


def counted_run(origin, arguments, count):
    """(allocations, system calls) of a whole run with so many frames each way."""
    library, counter, trace = WORK / "count.so", WORK / "count", WORK / "strace"
    counter.write_bytes(bytes(8))
    figures = []
    for wrap in ([], ["strace", "-f", "-c", "-qq", "-o", str(trace)]):
        port = free_port()
        environment = dict(os.environ)
        if not wrap:
            environment |= {"LD_PRELOAD": str(library), "WIRETAPE_COUNT": str(counter)}
        command = [*wrap, binary(), "proxy", "--upstream", f"http://127.0.0.1:{origin}",
                   "--listen", f"127.0.0.1:{port}", "--quiet", *arguments]
        with Program("wiretape", command, WORK / "counted.log", env=environment) as program:
            wait_for_port(port, program)
            talk(port, count)
            pids = [program.process.pid]
            if wrap:
                children = pathlib.Path(f"/proc/{pids[0]}/task/{pids[0]}/children").read_text().split()
                pids = [int(child) for child in children]
            for pid in pids:
                os.kill(pid, signal.SIGINT)
            program.process.wait(20)
        if wrap:
            figures.append(sum(int(line.split()[3]) for line in trace.read_text().splitlines()
                               if len(line.split()) >= 5 and line.split()[0].replace(".", "").isdigit()
                               and line.split()[-1] in ("read", "write", "writev", "epoll_wait", "epoll_pwait", "epoll_ctl",
                                                        "recvmsg", "sendmsg", "recvfrom", "sendto", "ioctl", "poll")))
        else:
            figures.append(int.from_bytes(counter.read_bytes()[:8], "little"))
    return figures


def counted():
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", WORK / "count.so",
                    pathlib.Path(__file__).with_suffix(".c")], check=True)
    few, many = 1_000, 6_000
    problems = []
    port = free_port()
    with Program("origin", [WORK / "rtload", "echo-server", "--port", str(port)], WORK / "origin.log") as origin:
        wait_for_port(port, origin)
        first = None
        for name, arguments in (("no rules", []), ("empty plan", ["--faults", EMPTY]), ("rules elsewhere", OTHER),
                                ("hold mode", HELD)):
            a, b = counted_run(port, arguments, few), counted_run(port, arguments, many)
            each = [(y - x) / (2 * (many - few)) for x, y in zip(a, b, strict=False)]
            print(f"counted {name}: {each[0]:.3f} allocations and {each[1]:.3f} system calls a frame")
            first = first or each
            if name != "hold mode" and any(abs(x - y) > 0.02 for x, y in zip(first, each, strict=False)):
                problems.append(f"{name}: {each} a frame, without rules {first}")
    return problems


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/faults-cost")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--parts", default="counted,speed,hold")
    arguments = parser.parse_args()
    prepare()
    problems = []
    for part in arguments.parts.split(","):
        if part == "counted":
            problems += counted()
        elif part == "speed":
            problems += speed(arguments.rounds, arguments.seconds)
        else:
            problems += hold(max(3, arguments.rounds // 2), arguments.seconds)
    return fail("; ".join(problems)) if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(fail(str(error)))
