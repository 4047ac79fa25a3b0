"""Replay of large tapes and of many clients.

start: `wiretape replay` is ready within 30 ms for a tape of 10,000 events and for two of 1,000,000 (one long session, and
20,000 short ones); medians of the rounds, beside `wiretape --version` in the same run.
memory: the long session of 1,000,000 events is played to its end at speed instant, and one of the short ones; the RSS
stays under 96 MiB.
clients: 500 clients at once, from one address and with one User-Agent, each play one tape of 200 messages (--clients 500):
all are served, the RSS stays under 200 MiB, and the report shows the equal outcomes as one group.
Exit 1 if one of these does not hold.
"""

import argparse
import asyncio
import json
import pathlib
import statistics
import struct
import subprocess
import sys
import time
import zlib

from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, fail

WORK = ROOT / ".build/acceptance"
REUSE = "--reuse" in sys.argv
HANDSHAKE = '{"protocol":"json","version":1}\x1e'


class TapeFile:
    """Writes a tape of members of at most 1 MiB, each with the field that says what is in it."""

    def __init__(self, path):
        self.file = open(path, "wb")  # noqa: SIM115  # end() closes it
        self.lines, self.size, self.events, self.opens = [], 0, 0, 0
        self.number, self.first = 1, (2**64 - 1, 0, 0)
        self.t, self.connection = 0, 0
        self.line({"tape": 1, "started": "2026-11-21T00:00:00.000000Z", "tool": "scale", "mode": "reverse"})

    def line(self, value):
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        self.lines.append(data)
        self.size += len(data)
        if self.size >= 1 << 20:
            self.flush()

    def event(self, value):
        self.t += 100_000
        if self.events == 0:
            self.first = (self.t, self.number, 0)
        if value["e"] == "open":
            self.opens += 1
            if self.first[2] == 0:
                self.first = (*self.first[:2], self.connection)
        self.events += 1
        self.number += 1
        self.line({"t": self.t, "c": self.connection, **value})

    def flush(self):
        if not self.lines:
            return
        data = b"".join(self.lines)
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        body = packer.compress(data) + packer.flush()
        t, number, connection = self.first
        total = 10 + 2 + 4 + 32 + len(body) + 8
        field = struct.pack("<IIQQII", total, self.events, t, number if self.events else 0, self.opens, connection)
        self.file.write(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H", 36) + b"TD" + struct.pack("<H", 32) + field)
        self.file.write(body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF))
        self.lines, self.size, self.events, self.opens, self.first = [], 0, 0, 0, (2**64 - 1, 0, 0)

    def session(self, path, client, server):
        """A negotiated WebSocket session; client and server give the messages of each side, in turn."""
        self.connection += 1
        token = f"scale{self.connection:017d}"
        answer = {
            "negotiateVersion": 1, "connectionId": token[::-1], "connectionToken": token,
            "availableTransports": [{"transport": "WebSockets", "transferFormats": ["Text", "Binary"]}],
        }
        self.event({"e": "open", "from": "127.0.0.1:1", "to": "127.0.0.1:2"})
        self.event({"e": "request", "x": 1, "method": "POST", "target": f"{path}/negotiate?negotiateVersion=1",
                    "headers": [["Content-Length", "0"]]})
        self.event({"e": "response", "x": 1, "status": 200, "headers": [["Content-Type", "application/json"]],
                    "text": json.dumps(answer)})
        self.event({"e": "request", "x": 2, "method": "GET", "target": f"{path}?id={token}",
                    "headers": [["Connection", "Upgrade"], ["Upgrade", "websocket"]]})
        self.event({"e": "response", "x": 2, "status": 101, "headers": [["Upgrade", "websocket"]]})
        self.message(">", HANDSHAKE)
        self.message("<", "{}\x1e")
        for text in client:
            self.message(">", text)
            self.message("<", next(server))
        for text in server:
            self.message("<", text)
        self.event({"e": "close", "d": ">", "code": 1000})
        for party in ("client", "server"):
            self.event({"e": "gone", "by": party, "how": "fin"})

    def message(self, direction, text):
        self.event({"e": "message", "d": direction, "op": "text", "text": text})

    def close(self):
        self.event({"e": "stop", "events": self.number, "connections": self.connection})
        self.flush()
        self.file.close()


def call(number):
    return '{"type":1,"invocationId":"%d","target":"Echo","arguments":["message %d"]}\x1e' % (number, number)


def completion(number):
    return '{"type":3,"invocationId":"%d","result":"message %d"}\x1e' % (number, number)


def push(number):
    return '{"type":1,"target":"ReceiveMessage","arguments":["somebody","this is message number %d"]}\x1e' % number


def write(name, sessions, messages):
    """A tape of so many sessions; each has messages/4 calls with their answers and messages/2 pushes."""
    path = WORK / f"{name}.tape.gz"
    if REUSE and path.exists():
        return path
    tape = TapeFile(path)
    calls = messages // 4
    for _ in range(sessions):
        client = (call(n) for n in range(calls))
        server = [completion(n) for n in range(calls)] if messages < 10_000 else None
        tail = (push(n) for n in range(messages - 2 * calls))
        answers = iter(server) if server else (completion(n) for n in range(calls))
        tape.session("/scale", client, chain(answers, tail))
    tape.close()
    print(f"  {path.name}: {tape.number - 1:,} events, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return path


def chain(*parts):
    for part in parts:
        yield from part


def version_time():
    start = time.monotonic()
    subprocess.run([binary(), "--version"], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - start) * 1000


def start_time(tape):
    start = time.monotonic()
    with Wiretape(["replay", tape], WORK / "scale.log"):
        return (time.monotonic() - start) * 1000


def start(tapes, rounds):
    plain = statistics.median(version_time() for _ in range(rounds))
    late = []
    for tape in tapes:
        took = statistics.median(start_time(tape) for _ in range(rounds))
        print(f"start: {tape.name} ready after {took:.1f} ms (--version {plain:.1f} ms)", flush=True)
        if took > 30:
            late.append(tape.name)
    if late:
        raise Failed(f"ready later than 30 ms: {', '.join(late)}")


class Client:
    """One SignalR client over a raw WebSocket: negotiates, shakes hands, sends its calls and takes what comes."""

    def __init__(self, port, calls, expected):
        self.port, self.calls, self.expected = port, calls, expected

    async def run(self, gate=None):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        host = f"127.0.0.1:{self.port}"
        writer.write(
            f"POST /scale/negotiate?negotiateVersion=1 HTTP/1.1\r\nHost: {host}\r\nUser-Agent: scale\r\n"
            "Content-Length: 0\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise Failed(f"negotiate was answered {head[:40]!r} {body[:200]!r}")
        token = json.loads(body)["connectionToken"]
        if gate:
            await gate()
        writer.write(frames.request(f"/scale?id={token}", host, extra=("User-Agent: scale",)))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise Failed("the upgrade failed: " + head.split(b"\r\n")[0].decode())
        writer.write(frames.frame(frames.TEXT, HANDSHAKE.encode(), True))
        records, sent = 0, 0
        while records < self.expected + 1:
            while sent < self.calls and records >= sent + 1:
                writer.write(frames.frame(frames.TEXT, call(sent).encode(), True))
                sent += 1
            data = await asyncio.wait_for(reader.read(1 << 20), 120)
            if not data:
                raise Failed(f"the server left after {records} of {self.expected + 1} messages")
            records += data.count(b"\x1e") - data.count(b'{"type":6}\x1e')
        writer.close()
        return records


def play(tape, calls, expected):
    with Wiretape(["replay", tape, "--speed", "instant"], WORK / "scale.log") as server:
        start_at = time.monotonic()
        asyncio.run(Client(server.port, calls, expected).run())
        took = time.monotonic() - start_at
        peak = peak_rss(server)
        code = server.stop()
        if code != 0:
            raise Failed(f"replay of {tape.name} ended with {code}: {server.said()}")
        return took, peak


def peak_rss(server):
    """MiB."""
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise Failed("no VmHWM")


def memory(long_tape, short_tape, messages):
    for tape, count in ((long_tape, messages), (short_tape, 50)):
        calls = count // 4
        took, peak = play(tape, calls, count - calls)
        print(f"memory: {tape.name}: {count:,} messages in {took:.1f} s, peak RSS {peak:.1f} MiB", flush=True)
        if peak > 96:
            raise Failed(f"the replay of {tape.name} took {peak:.1f} MiB")


def clients(count):
    tape = write("clients", 1, 200)
    report = WORK / "clients.json"
    report.unlink(missing_ok=True)
    arguments = ["replay", tape, "--clients", count, "--speed", "instant", "--report", report]
    with Wiretape(arguments, WORK / "clients.log") as server:
        start_at = time.monotonic()

        async def all_of_them():
            # Nobody upgrades before everybody has negotiated.
            waiting, everybody = 0, asyncio.Event()

            async def gate():
                nonlocal waiting
                waiting += 1
                if waiting == count:
                    everybody.set()
                await everybody.wait()

            return await asyncio.gather(*(Client(server.port, 50, 150).run(gate) for _ in range(count)))

        served = asyncio.run(all_of_them())
        took, peak = time.monotonic() - start_at, peak_rss(server)
        code = server.stop()
        said = server.said(100_000)
    result = json.loads(report.read_text(encoding="utf-8"))
    runs = [session for session in result["sessions"] if session["finished"]]
    print(f"clients: {len(served)} served in {took:.1f} s, peak RSS {peak:.1f} MiB, {len(said.splitlines())} lines of report")
    if code != 0 or result["verdict"] != "pass" or len(runs) != count:
        raise Failed(f"exit {code}, verdict {result['verdict']}, {len(runs)} of {count} finished: {said[-1500:]}")
    if peak > 200:
        raise Failed(f"{count} clients took {peak:.1f} MiB")
    if len(said.splitlines()) > 60:
        raise Failed("the report does not group equal outcomes")


def main():
    parser = argparse.ArgumentParser(
        prog="tools/acceptance/scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reuse", action="store_true", help="take the tapes that are there")
    parser.add_argument("--parts", default="start,memory,clients")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=500)
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    parts = arguments.parts.split(",")
    if "start" in parts or "memory" in parts:
        small = write("small", 1, 9_990)
        long_tape = write("long", 1, arguments.events)
        short_tape = write("short", arguments.events // 60, 50)
        if "start" in parts:
            start([small, long_tape, short_tape], arguments.rounds)
        if "memory" in parts:
            memory(long_tape, short_tape, arguments.events)
    if "clients" in parts:
        clients(arguments.clients)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(fail(str(error)))
