"""A capture of WebSocket traffic beside `tshark -T json`: time and memory, and how both grow with the capture."""

import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import time

from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed, Skipped, binary, memory

CONNECTIONS = 16
TIME, MEMORY = 0.2, 0.1  # of tshark's
MOST = 256 << 10  # KiB, whatever the size
# Per byte the largest capture may take so much more time than the middle one.
GROWTH = 1.3

UPGRADE = (
    b"GET /hub HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
SWITCH = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)


class Flow:
    """One connection, packet by packet: Ethernet, IPv4, TCP with right lengths and numbers, without checksums."""

    def __init__(self, number: int) -> None:
        client, server = bytes([10, 1, number >> 8, number & 255]), bytes([10, 2, 0, 1])
        port = struct.pack(">H", 40_000 + number)
        self.ends = {True: (client + server, port + b"\0\x50"), False: (server + client, b"\0\x50" + port)}
        self.numbers = {True: 1_000, False: 2_000}

    def packet(self, time: int, client: bool, flags: int, payload: bytes = b"") -> bytes:
        """A record of a classic capture with nanoseconds."""
        addresses, ports = self.ends[client]
        seconds, rest = divmod(time, 10**9)
        count = 54 + len(payload)
        sequence, acknowledged = self.numbers[client], 0 if flags == 2 else self.numbers[not client]
        self.numbers[client] = (sequence + len(payload) + (flags & 3 != 0)) & 0xFFFFFFFF
        head = struct.pack("<4I", seconds, rest, count, count) + b"\2" * 12 + b"\x08\0\x45\0"
        ip = struct.pack(">H", count - 14) + b"\0\0\x40\0\x40\x06\0\0" + addresses
        return head + ip + ports + struct.pack(">IIBBH", sequence, acknowledged, 0x50, flags, 0xFFFF) + b"\0\0\0\0" + payload


def pool(draw: random.Random) -> dict[bool, list[bytes]]:
    """Messages of a chat as frames of either side."""
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(2_000)]
    out: dict[bool, list[bytes]] = {True: [], False: []}
    key = draw.randbytes(4)
    for number in range(600):
        text = " ".join(draw.choices(words, k=draw.randint(4, 170)))
        said = {"type": 1, "target": "ReceiveMessage", "arguments": [f"user-{number % 40}", text], "at": draw.randint(10**12, 10**13)}
        body = json.dumps(said).encode() + b"\x1e"
        masked = bytes(byte ^ key[i % 4] for i, byte in enumerate(body))
        framed = frames.frame(frames.TEXT, masked, True)
        head = len(framed) - len(masked) - len(key)
        out[True].append(framed[:head] + key + masked)
        out[False].append(frames.frame(frames.TEXT, body, False))
    return out


def write(path: pathlib.Path, mib: int, seed: int) -> int:
    """A capture of so many MiB; how many messages are in it."""
    draw = random.Random(seed)
    said, flows = pool(draw), [Flow(number) for number in range(CONNECTIONS)]
    now, messages, size = 1_790_000_000 * 10**9, 0, 24
    with path.open("wb", buffering=1 << 20) as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for flow in flows:
            opening = [(True, 2, b""), (False, 18, b""), (True, 16, b""), (True, 24, UPGRADE), (False, 24, SWITCH), (True, 16, b"")]
            for client, flags, payload in opening:
                now += 20_000
                size += file.write(flow.packet(now, client, flags, payload))
        while size < mib << 20:
            flow, client = draw.choice(flows), draw.random() < 0.3
            now += draw.randint(5_000, 60_000)
            size += file.write(flow.packet(now, client, 24, draw.choice(said[client])))
            size += file.write(flow.packet(now + 2_000, not client, 16))
            messages += 1
        for flow in flows:
            for client, flags in ((True, 17), (False, 17), (True, 16)):
                now += 20_000
                file.write(flow.packet(now, client, flags))
    return messages


def measured(command: list[object], log: pathlib.Path) -> tuple[float, int, str]:
    """(seconds, KiB at most, standard error) of a program that has to end with 0."""
    with log.open("wb") as err:
        begun, most = time.monotonic(), 0
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        try:
            while process.poll() is None:
                try:
                    most = max(most, memory(process.pid, "VmHWM"))
                except (OSError, Failed):  # it is over
                    continue
                time.sleep(0.01)
        finally:
            process.kill()
            process.wait()
        seconds = time.monotonic() - begun
    said = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode != 0:
        raise Failed(f"{command[0]} ended with {process.returncode}: {said[-300:]}")
    return seconds, most, said


def speed(work: pathlib.Path, sizes: list[int], redact: str) -> str:
    """What was measured; raises Failed when it is more than it may be."""
    if not shutil.which("tshark"):
        raise Skipped("there is no tshark (apt-get install tshark)")
    capture, tape = work / "speed.pcap", work / "speed.tape.gz"
    figures: dict[int, tuple[float, int]] = {}
    try:
        beside = sizes[len(sizes) // 2]
        for size in sizes:
            messages = write(capture, size, size)
            options = [] if redact == "on" else ["--redact", "off"]
            seconds, kib, said = measured([binary(), "import", capture, "-o", tape, "--force", *options], work / "import.log")
            due = messages + 5 * CONNECTIONS + 1  # an opening, a request, its answer and two ends for each, and a stop
            if not re.search(rf"{due} events of {CONNECTIONS} connections", said):
                raise Failed(f"{due} events were due: {said[-300:]}")
            figures[size] = seconds, kib
            print(f"  {size} MiB, {messages} messages: {seconds:.2f} s, {kib >> 10} MiB", flush=True)
            if size == beside:
                theirs, their_kib, _ = measured(["tshark", "-r", capture, "-T", "json"], work / "tshark.log")
                print(f"  tshark -T json: {theirs:.2f} s, {their_kib >> 10} MiB", flush=True)
    finally:
        capture.unlink(missing_ok=True)
        tape.unlink(missing_ok=True)
    mine, my_kib = figures[beside]
    text = f"{mine / theirs:.3f} of tshark's time and {my_kib / their_kib:.3f} of its memory at {beside} MiB"
    if mine > TIME * theirs or my_kib > MEMORY * their_kib:
        raise Failed(f"{text}; wanted {TIME} and {MEMORY}")
    largest = sizes[-1]
    growth = figures[largest][0] / largest / (mine / beside)
    text += f"; a MiB of {largest} takes {growth:.2f} x that of {beside}"
    most = max(kib for _, kib in figures.values())
    if growth > GROWTH or most > MOST:
        raise Failed(f"{text}, {most >> 10} MiB; wanted {GROWTH} and {MOST >> 10} MiB")
    return f"{text}; at most {most >> 10} MiB"
