"""Replay keeps the tape's time, and at speed instant it is about as fast as its stack.

pace: a tape of 1,000 frames/s is replayed at speed 1, and a bare loop of timerfd and write (pace.c, compiled here) plays
the same schedule to the same client in turn, several rounds of each. Lateness of a frame: its arrival against the
schedule, counted from the frame that came earliest. p50 within 0.3 ms and p99 within 3 ms of the bare loop's, medians of
the rounds.
sse, ndjson: streams of no protocol, 100 events and lines a second, against the bare timer's frames of the same schedule: p99 within
5 ms above it.
instant: frames of 128 B at speed instant against `sample-hub --push`, the plainest server of this stack, each pinned to
one core with the client on the other; at least 0.6 of its frames/s, medians of the rounds.
Exit 1 if one of these does not hold.
"""

import argparse
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import time
from typing import Any

from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import ROOT, Failed, Program, Wiretape, binary, fail

WORK = ROOT / ".build/acceptance"
HANDSHAKE = b'{"protocol":"json","version":1}\x1e'
SIZE = 128


def push(number):
    """A hub message whose frame's payload has SIZE bytes."""
    text = '{"type":1,"target":"Tick","arguments":["%s"]}\x1e'
    room = SIZE - len(text % "")
    return text % f"{number:0{room}d}"


def write_tape(path, gaps):
    """One session over a WebSocket: the handshake and then pushes after these gaps in ns."""
    t = 1_000_000
    lines = [{"tape": 1, "started": "2026-11-21T00:00:00.000000Z", "tool": "pace", "mode": "reverse"}]
    events: list[dict[str, Any]] = [
        {"e": "open", "from": "127.0.0.1:1", "to": "127.0.0.1:2"},
        {"e": "request", "x": 1, "method": "GET", "target": "/pace",
         "headers": [["Connection", "Upgrade"], ["Upgrade", "websocket"]]},
        {"e": "response", "x": 1, "status": 101, "headers": [["Upgrade", "websocket"]]},
        {"e": "message", "d": ">", "op": "text", "text": HANDSHAKE.decode()},
        {"e": "message", "d": "<", "op": "text", "text": "{}\x1e"},
    ]
    for event in events:
        lines.append({"t": t, "c": 1, **event})
    for number, gap in enumerate(gaps):
        t += gap
        lines.append({"t": t, "c": 1, "e": "message", "d": "<", "op": "text", "text": push(number)})
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")


def connect(port):
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.sendall(frames.request("/pace", f"127.0.0.1:{port}"))
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65536)
    if b" 101 " not in data.split(b"\r\n")[0]:
        raise Failed(f"no upgrade: {data[:200]!r}")
    return client, data.split(b"\r\n\r\n", 1)[1]


def arrivals(port, count):
    """When each of the frames behind the handshake's answer was there, in ns. All have the same size."""
    client, rest = connect(port)
    answer, size = len(frames.frame(frames.TEXT, b"{}\x1e", False)), len(frames.frame(frames.TEXT, b"x" * SIZE, False))
    seen = len(rest)
    times: list[float] = []
    client.sendall(frames.frame(frames.TEXT, HANDSHAKE, True))
    while len(times) < count:
        more = client.recv(65536)
        now = time.monotonic_ns()
        if not more:
            raise Failed(f"the server left after {len(times)} of {count} frames")
        seen += len(more)
        times += [now] * ((seen - answer) // size - len(times))
    client.close()
    return times


def lateness(times, gaps):
    """Of each frame in ms, counted from the one that came earliest."""
    due, t = [], 0
    for gap in gaps:
        t += gap
        due.append(t)
    behind = [at - planned for at, planned in zip(times, due, strict=False)]
    return sorted((value - min(behind)) / 1e6 for value in behind)


def percentile(values, p):
    return values[min(len(values) - 1, int(len(values) * p / 100))]


def replayed(tape, count, speed):
    log = WORK / "pace.log"
    with Wiretape(["replay", tape, "--speed", speed], log, preexec_fn=on_core(0)) as server:
        return arrivals(server.port, count)


def bare(program, schedule, count):
    with Program("pace", [program, schedule], WORK / "bare.log", read_stdout=True, preexec_fn=on_core(0)) as server:
        return arrivals(int(server.stdout.readline()), count)


def on_core(number):
    cores = sorted(os.sched_getaffinity(0))
    return (lambda: os.sched_setaffinity(0, {cores[number % len(cores)]})) if len(cores) > 1 else None


def pace(rounds, seconds):
    randomness = random.Random(1)
    gaps = [int(randomness.uniform(0.2, 1.8) * 1e6) for _ in range(seconds * 1000)]
    tape, schedule, program = WORK / "pace.tape", WORK / "pace.schedule", WORK / "pace-bare"
    write_tape(tape, gaps)
    schedule.write_text("\n".join(map(str, gaps)) + "\n", encoding="ascii")
    source = pathlib.Path(__file__).with_name("pace.c")
    subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    ours: list[Any] = []
    theirs: list[Any] = []
    for number in range(rounds):
        for name, results, run in (
            ("replay", ours, lambda: replayed(tape, len(gaps), 1)),
            ("timerfd", theirs, lambda: bare(program, schedule, len(gaps))),
        ):
            late = lateness(run(), gaps)
            results.append((percentile(late, 50), percentile(late, 99)))
            print(f"  round {number + 1} {name:8} p50 {results[-1][0]:.3f} ms  p99 {results[-1][1]:.3f} ms", flush=True)
    (p50, p99), (bare50, bare99) = (
        tuple(statistics.median(column) for column in zip(*results, strict=False)) for results in (ours, theirs)
    )
    print(f"pace: {len(gaps)} frames at 1,000/s: p50 {p50:.3f} ms against {bare50:.3f}, p99 {p99:.3f} ms against {bare99:.3f}")
    if p50 > bare50 + 0.3 or p99 > bare99 + 3:
        raise Failed("replay is more than 0.3 ms (p50) or 3 ms (p99) later than a bare timerfd loop")


STREAMS = {
    "sse": ("text/event-stream", lambda n: f"id: {n}\nevent: tick\ndata: {n:08d}\n\n", b"data: "),
    "ndjson": ("application/x-ndjson", lambda n: f'{{"tick":"{n:08d}"}}\n', b'{"tick":'),
}


def write_stream(path, kind, gaps):
    """One answer that is streamed: an event or a line after each of these gaps in ns."""
    t = 2_000_000
    media, unit, _ = STREAMS[kind]
    headers = [["Content-Type", media], ["Transfer-Encoding", "chunked"]]
    lines = [
        {"tape": 1, "started": "2026-11-21T00:00:00.000000Z", "tool": "pace", "mode": "reverse"},
        {"t": 1_000_000, "c": 1, "e": "open", "from": "127.0.0.1:1", "to": "127.0.0.1:2"},
        {"t": 1_000_000, "c": 1, "e": "request", "x": 1, "method": "GET", "target": "/pace", "headers": []},
        {"t": t, "c": 1, "e": "response", "x": 1, "status": 200, "headers": headers, "stream": True},
    ]
    for number, gap in enumerate(gaps):
        t += gap
        lines.append({"t": t, "c": 1, "e": "chunk", "x": 1, "d": "<", "text": unit(number)})
    lines.append({"t": t, "c": 1, "e": "end", "x": 1, "d": "<"})
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")


def streamed(tape, kind, count):
    """When each event of a replay was there, in ns."""
    log, mark = WORK / "pace.log", STREAMS[kind][2]
    with Wiretape(["replay", tape, "--speed", "1"], log, preexec_fn=on_core(0)) as server:
        client = socket.create_connection(("127.0.0.1", server.port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(b"GET /pace HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        data = b""
        times: list[float] = []
        while len(times) < count:
            more = client.recv(65536)
            now = time.monotonic_ns()
            if not more:
                raise Failed(f"the server left after {len(times)} of {count} events")
            data += more
            times += [now] * (data.count(mark) - len(times))
        client.close()
        return times


def stream(kind, rounds, seconds):
    randomness = random.Random(2)
    gaps = [int(randomness.uniform(2, 18) * 1e6) for _ in range(seconds * 100)]
    tape, schedule, program = WORK / f"pace-{kind}.tape", WORK / f"pace-{kind}.schedule", WORK / "pace-bare"
    write_stream(tape, kind, gaps)
    schedule.write_text("\n".join(map(str, gaps)) + "\n", encoding="ascii")
    subprocess.run(["cc", "-O2", "-o", program, pathlib.Path(__file__).with_name("pace.c")], check=True)
    ours: list[Any] = []
    theirs: list[Any] = []
    for number in range(rounds):
        for name, results, run in (
            ("replay", ours, lambda: streamed(tape, kind, len(gaps))),
            ("timerfd", theirs, lambda: bare(program, schedule, len(gaps))),
        ):
            late = lateness(run(), gaps)
            results.append((percentile(late, 50), percentile(late, 99)))
            print(f"  {kind} round {number + 1} {name:8} p50 {results[-1][0]:.3f} ms  p99 {results[-1][1]:.3f} ms", flush=True)
    (p50, p99), (bare50, bare99) = (
        tuple(statistics.median(column) for column in zip(*results, strict=False)) for results in (ours, theirs)
    )
    print(f"{kind}: {len(gaps)} at 100/s: p50 {p50:.3f} ms against {bare50:.3f}, p99 {p99:.3f} ms against {bare99:.3f}")
    if p99 > bare99 + 5:
        raise Failed(f"replay of {kind} is more than 5 ms (p99) later than a bare timerfd loop")


def swallow(port, count):
    """Frames/s from the handshake on."""
    client, rest = connect(port)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    due = count * len(frames.frame(frames.TEXT, b"x" * SIZE, False))
    seen, buffer = len(rest), bytearray(1 << 20)
    start = time.monotonic_ns()
    client.sendall(frames.frame(frames.TEXT, HANDSHAKE, True))
    while seen < due:
        got = client.recv_into(buffer)
        if not got:
            raise Failed(f"the server left after {seen} of {due} bytes")
        seen += got
    client.close()
    return count / ((time.monotonic_ns() - start) / 1e9)


def instant(rounds, count):
    tape = WORK / "instant.tape"
    write_tape(tape, [1_000_000] * count)
    hub = str(pathlib.Path(binary()).with_name("sample-hub"))
    ours: list[Any] = []
    theirs: list[Any] = []
    for number in range(rounds):
        with Wiretape(["replay", tape, "--speed", "instant"], WORK / "instant.log", preexec_fn=on_core(0)) as server:
            time.sleep(1)  # The tape may still be read behind the listener.
            ours.append(swallow(server.port, count))
        push_server = [hub, "--push", f"{count}x{SIZE}"]
        with Program("sample-hub", push_server, WORK / "push.log", read_stdout=True, preexec_fn=on_core(0)) as server:
            url = json.loads(server.stdout.readline())["url"]
            theirs.append(swallow(int(url.rsplit(":", 1)[1]), count))
        print(f"  round {number + 1} replay {ours[-1]:,.0f}/s  bare server {theirs[-1]:,.0f}/s", flush=True)
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"instant: {mine:,.0f} frames/s of {SIZE} B, {mine / other:.2f} of the bare server's {other:,.0f}")
    if mine < 0.6 * other:
        raise Failed("replay at speed instant is slower than 0.6 of a bare server")


def main():
    parser = argparse.ArgumentParser(
        prog="tools/acceptance/pace", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="pace,sse,ndjson,instant")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="length of the tape of pace")
    parser.add_argument("--frames", type=int, default=200_000, help="frames of instant")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if on_core(1):
        on_core(1)()
    parts = arguments.parts.split(",")
    if "pace" in parts:
        pace(arguments.rounds, arguments.seconds)
    for kind in STREAMS:
        if kind in parts:
            stream(kind, arguments.rounds, arguments.seconds)
    if "instant" in parts:
        instant(arguments.rounds, arguments.frames)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(fail(str(error)))
