"""kill -9 of `wiretape record` under load, many times at random moments.

After each: the tape opens, every message that had passed more than 500 ms before the kill is on it, and after
`wiretape repair` the last line that zcat gives is whole JSON. Exit 1 if one of these does not hold.
"""

import argparse
import asyncio
import functools
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from wiretape_tools.lib import frames, tapes
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, fail, run

ALLOWED = 0.5  # seconds before the kill within which events may be lost
# connections, sizes of messages, most seconds between an echo and the next message: many members a second, or few
HEAVY = (16, [20, 100, 400, 1000, 1000, 40000], 0.02)
LIGHT = (2, [20, 100, 400], 0.08)


class Echo(asyncio.Protocol):
    """The origin: answers each message with itself and notes when it came."""

    def __init__(self, log):
        self.log, self.reader = log, frames.FrameReader()
        self.head: Any = b""  # what came of the request's head; None after it

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        now = time.monotonic()
        if self.head is not None:
            self.head += data
            if b"\r\n\r\n" not in self.head:
                return
            head, data = self.head.split(b"\r\n\r\n", 1)
            self.head = None
            self.transport.write(frames.response(head))
        for first, payload in self.reader.feed(data):
            self.log.append((now, payload[:KEY]))
            self.transport.write(frames.frame(first & 15, payload, masked=False))


KEY = len('{"k":"00","n":00000')  # connection and number


class Sender(asyncio.Protocol):
    """One client connection: keeps a few messages under way."""

    def __init__(self, number, port, draw, log, sizes, pause):
        self.number, self.port, self.draw, self.log = number, port, draw, log
        self.sizes, self.pause = sizes, pause
        self.reader, self.sent = frames.FrameReader(), 0
        self.head: Any = b""

    def connection_made(self, transport):
        self.transport = transport
        transport.write(frames.request(f"/load/{self.number}", f"127.0.0.1:{self.port}"))

    def data_received(self, data):
        now = time.monotonic()
        if self.head is not None:
            self.head += data
            if b"\r\n\r\n" not in self.head:
                return
            data = self.head.split(b"\r\n\r\n", 1)[1]
            self.head = None
            for _ in range(4):
                self.send()
        for _, payload in self.reader.feed(data):
            self.log.append((now, payload[:KEY]))
            asyncio.get_running_loop().call_later(self.draw.random() * self.pause, self.send)

    def send(self):
        if self.transport.is_closing():
            return
        size = self.draw.choice(self.sizes)
        pad = "".join(self.draw.choices("abcdefgh0123", k=min(size, 200))) * (size // 200 + 1)
        text = f'{{"k":"{self.number:02}","n":{self.sent:05},"pad":"{pad[:size]}"}}'
        self.sent += 1
        self.transport.write(frames.frame(frames.TEXT, text.encode(), masked=True))


async def load_until_killed(proxy, seconds, draw, origin_log, kind):
    """Runs a load of that kind and kills the proxy; gives the moment and what the clients had got."""
    loop = asyncio.get_running_loop()
    log: list[Any] = []
    transports = []
    del origin_log[:]
    connections, sizes, pause = kind
    for number in range(connections):
        transport, _ = await loop.create_connection(
            functools.partial(Sender, number, proxy.port, draw, log, sizes, pause), "127.0.0.1", proxy.port
        )
        transports.append(transport)
    await asyncio.sleep(seconds)
    killed = time.monotonic()
    proxy.process.send_signal(signal.SIGKILL)
    proxy.process.wait()
    for transport in transports:
        transport.abort()
    return killed, log


def check_tape(tape, killed, seen, where):
    """What passed more than ALLOWED before the kill is on the tape: (due, on the tape, age of the oldest lost)."""
    _, events = tapes.events(tape)
    found: dict[str, set[Any]] = {">": set(), "<": set()}
    for _, direction, _, payload in tapes.messages(events):
        found[direction].add(payload[:KEY])
    due = 0
    latest_lost = None
    for direction, log in seen.items():
        for at, key in log:
            if key in found[direction]:
                continue
            if at < killed - ALLOWED:
                raise Failed(f"{where}: {direction} {key.decode()} passed {killed - at:.3f} s before the kill, missing")
            latest_lost = min(latest_lost or at, at)
        due += sum(at < killed - ALLOWED for at, _ in log)
    lost = 0 if latest_lost is None else killed - latest_lost
    return due, sum(map(len, found.values())), lost


def repair(tape, where):
    code, out, err = run([binary(), "repair", tape])
    if code != 0:
        raise Failed(f"{where}: repair ended with {code}: {err or out}")
    last = subprocess.run(f"zcat < '{tape}' | tail -1", shell=True, capture_output=True, check=True)
    if last.stderr:
        raise Failed(f"{where}: after repair zcat says {last.stderr.decode()}")
    json.loads(last.stdout)


async def one(index, draw, origin_port, origin_log, work, longest):
    seconds = draw.uniform(0.05, longest)
    where = f"kill {index + 1} (after {seconds:.3f} s of load)"
    tape = work / "kill.tape.gz"
    arguments = ["record", "--upstream", f"http://127.0.0.1:{origin_port}", "--output", tape, "--force"]
    with Wiretape(arguments, work / "kill.log") as proxy:
        killed, log = await load_until_killed(proxy, seconds, draw, origin_log, LIGHT if index % 2 else HEAVY)
        await asyncio.sleep(0.05)
    code, _, err = run([binary(), "inspect", tape, "--format", "json"])
    if code != 0:
        raise Failed(f"{where}: inspect ended with {code}: {err[-500:]}")
    due, there, lost = check_tape(tape, killed, {">": list(origin_log), "<": log}, where)
    repair(tape, where)
    _, there_again, _ = check_tape(tape, killed, {">": list(origin_log), "<": log}, where + ", repaired")
    if there_again < there:
        raise Failed(f"{where}: repair lost {there - there_again} messages")
    return due, there, lost


async def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/kill", description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--longest", type=float, default=2.5, help="seconds of load at most (2.5)")
    options = parser.parse_args()
    (ROOT / ".build/acceptance").mkdir(parents=True, exist_ok=True)
    # On the project's device, where the tests' temporary folder may be memory; its own, so that several can run at once.
    with tempfile.TemporaryDirectory(prefix="kill-", dir=ROOT / ".build/acceptance") as folder:
        return await kills(options, pathlib.Path(folder))


async def kills(options, work):
    draw = random.Random(options.seed)
    origin_log: list[Any] = []
    origin = await asyncio.get_running_loop().create_server(lambda: Echo(origin_log), "127.0.0.1", 0)
    port = origin.sockets[0].getsockname()[1]
    totals = [0, 0]
    worst = 0
    print(f"seed {options.seed}", file=sys.stderr)
    for index in range(options.times):
        due, there, lost = await one(index, draw, port, origin_log, work, options.longest)
        totals[0] += due
        totals[1] += there
        worst = max(worst, lost)
        print(
            f"{index + 1}: {due} messages due, {there} on the tape, lost back to {lost * 1000:.0f} ms", file=sys.stderr
        )
    print(
        f"kill: {options.times} kills, seed {options.seed}: every tape opened and repaired; {totals[0]} messages due, "
        f"none missing ({totals[1]} on the tapes); the oldest one lost had passed {worst * 1000:.0f} ms before its kill"
    )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except Failed as failure:
        sys.exit(fail(f"kill: {failure}"))
