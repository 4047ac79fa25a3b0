"""Memory of `wiretape record` is flat: many messages on one connection, and a client that stops reading.

many: 2 million messages echoed on one connection; the RSS after them under 48 MiB, 16 of them for what may wait for the writer. Once
more with `--memory 64MiB`, where 4 MiB may wait: the RSS after them within 10 MiB of the RSS after 200,000.
stall: a client stops reading while the server pushes 1 GiB; the RSS stays under 64 MiB, and nothing is lost, reordered
or altered when it reads on. upload: the same the other way round. The tapes have to hold every message.

The others are held against `--memory 256MiB` and what a process costs besides (BASE). held: 12 clients that never end a
message, or a body, of 63 MiB, at `replay` and at `record` with a rule, and 250 of 1 MiB without one, while a well-behaved
client is served. trees: messages of 16 MiB that are millions of values, said to `replay`. files: small tapes of such messages,
and of one long text, under `inspect`, `validate`, `diff` and `canon`. large: a replay of 400 messages of 1 MB. idle: what a
connection costs on which nothing is said. unread: a thousand clients send through `proxy`, and through `record`, to a server that
reads nothing.

Exit 1 if one of these does not hold.
"""

import argparse
import gzip
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from wiretape_tools.lib import frames, tapes
from wiretape_tools.lib.exchange import read_head
from wiretape_tools.lib.processes import ROOT, Failed, PeakMemory, Wiretape, binary, fail

MIB = 1024  # KiB
MEMORY = 256 * MIB
BASE = 48 * MIB  # A process with its loop, libraries and what malloc keeps.


class Echoes:
    """A WebSocket server on threads that sends back what comes, and takes what is no end."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            head, rest = read_head(connection)
            connection.sendall(frames.response(head))
            echo(connection, rest)
        except (OSError, Failed, StopIteration):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Origin:
    """A WebSocket server in a child process for one connection: behave(socket, bytes read already)."""

    def __init__(self, behave):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                connection, _ = listener.accept()
                head, rest = read_head(connection)
                connection.sendall(frames.response(head))
                behave(connection, rest)
                status = 0
            finally:
                os._exit(status)
        listener.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            os.kill(self.pid, 9)
        if os.waitpid(self.pid, 0)[1] != 0 and kind is None:
            raise Failed("the origin did not see what it should")


def open_client(port, receive_buffer=None):
    client = socket.socket()
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.connect(("127.0.0.1", port))
    client.sendall(frames.request("/memory", f"127.0.0.1:{port}"))
    head, rest = read_head(client)
    if b" 101 " not in head.split(b"\r\n")[0]:
        raise Failed(f"no upgrade: {head[:100]!r}")
    return client, rest


def numbered(number, size):
    """A message of `size` bytes that tells its number."""
    return f'{{"type":1,"target":"Tick","arguments":[{number:08}],"pad":"'.encode().ljust(size - 2, b"~") + b'"}'


def record(port, tape, work, *options):
    arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", tape, "--force", *options]
    return Wiretape(arguments, work / "memory.log")


def finish(proxy):
    if (code := proxy.stop(seconds=60)) != 0:
        raise Failed(f"record ended with {code}: {proxy.said()}")


def count_on_tape(tape, direction, size, total):
    """Every numbered message of that direction is on the tape, once, whole and in order."""
    expected = 0
    pending = b""
    mark = f'"d":"{direction}"'.encode()
    for line, _ in tapes.lines(tape):
        if mark not in line or b'"arguments' not in line and b"~~~" not in line:
            continue
        event = tapes.json.loads(line)
        if event["e"] not in ("message", "part"):
            continue
        pending += tapes.payload(event)
        if event["e"] == "part" and not event.get("last"):
            continue
        if pending != numbered(expected, size):
            raise Failed(f"{direction} message {expected} is not on the tape, there is {pending[:60]!r}")
        expected, pending = expected + 1, b""
    if expected != total:
        raise Failed(f"{expected} of {total} messages {direction} are on the tape")


def echo(connection, rest):
    reader = frames.FrameReader()
    data = rest
    while True:
        answer = b"".join(frames.frame(first & 15, payload, masked=False) for first, payload in reader.feed(data))
        if answer:
            connection.sendall(answer)
        data = connection.recv(1 << 18)
        if not data:
            return


def many(total, early, work, memory):
    """`total` messages echoed in batches on one connection; RSS after `early` and after all.

    How much waits for the writer depends on how fast the machine is at that moment: 16 MiB at most, or a sixteenth of `memory`.
    """
    size, batch = 100, 500
    tape = work / "memory-many.tape.gz"
    with Origin(echo) as origin, record(origin.port, tape, work, *(["--memory", memory] if memory else [])) as proxy:
        client, rest = open_client(proxy.port)
        begun = proxy.rss()
        reader, back, sent = frames.FrameReader(), 0, 0
        at_early: Any = None
        started = time.monotonic()
        while back < total:
            while sent < total and sent - back < 2 * batch:
                client.sendall(b"".join(frames.frame(1, numbered(sent + i, size), masked=True) for i in range(batch)))
                sent += batch
            rest = rest or client.recv(1 << 18)
            if not rest:
                raise Failed(f"the connection ended after {back} messages")
            for _, payload in reader.feed(rest):
                if payload != numbered(back, size):
                    raise Failed(f"message {back} came back as {payload[:60]!r}")
                back += 1
            rest = b""
            if at_early is None and back >= early:
                at_early = proxy.rss()
        took = time.monotonic() - started
        at_end = proxy.rss()
        client.close()
        finish(proxy)
    count_on_tape(tape, ">", size, total)
    count_on_tape(tape, "<", size, total)
    on_disk = tape.stat().st_size
    tape.unlink()
    text = (
        f"many{', --memory ' + memory if memory else ''}: {total} messages echoed on one connection in {took:.0f} s: "
        f"RSS {begun / MIB:.1f} MiB at first, "
        f"{at_early / MIB:.1f} after {early}, {at_end / MIB:.1f} at the end; "
        f"{on_disk / total / 2:.1f} bytes a message on disk"
    )
    if memory and at_end - at_early > 10 * MIB:
        raise Failed(text + "; more than 10 MiB apart")
    if at_end > BASE:
        raise Failed(text + f"; more than {BASE / MIB:.0f} MiB")
    return text


def pushes(count, size, masked):
    def behave(connection, _):
        for number in range(count):
            connection.sendall(frames.frame(1, numbered(number, size), masked))
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(120)
        while connection.recv(65536):
            pass

    return behave


def receive_all(connection, rest, count, size):
    """Reads the numbered messages to the end of the stream; any that differs fails."""
    reader, got = frames.FrameReader(), 0
    while True:
        for _, payload in reader.feed(rest):
            if payload != numbered(got, size):
                raise Failed(f"message {got} came as {payload[:60]!r}")
            got += 1
        rest = connection.recv(1 << 18)
        if not rest:
            break
    if got != count:
        raise Failed(f"{got} of {count} messages came through")


def stall(total_bytes, seconds, work):
    """The server pushes; the client reads nothing for a while, then all of it."""
    size = 65536
    count = total_bytes // size
    tape = work / "memory-stall.tape.gz"
    with Origin(pushes(count, size, masked=False)) as origin, record(origin.port, tape, work) as proxy:
        with PeakMemory(proxy) as watch:
            client, rest = open_client(proxy.port, receive_buffer=65536)
            time.sleep(seconds)
            stalled = watch.kib
            receive_all(client, rest, count, size)
            client.close()
        finish(proxy)
    return judge("stall", f"a client that stopped reading for {seconds} s", tape, "<", size, count, stalled, watch.kib)


def upload(total_bytes, seconds, work):
    """The client pushes; the server reads nothing for a while, then all of it."""
    size = 65536
    count = total_bytes // size
    tape = work / "memory-upload.tape.gz"

    def behave(connection, rest):
        time.sleep(seconds)
        receive_all(connection, rest, count, size)

    with Origin(behave) as origin, record(origin.port, tape, work) as proxy:
        with PeakMemory(proxy) as watch:
            client, _ = open_client(proxy.port)
            pushes(count, size, masked=True)(client, b"")
            client.close()
        finish(proxy)
    return judge(
        "upload", f"a server that stopped reading for {seconds} s", tape, ">", size, count, watch.kib, watch.kib
    )


def judge(name, what, tape, direction, size, count, stalled, peak):
    count_on_tape(tape, direction, size, count)
    tape.unlink()
    text = (
        f"{name}: {what}, {count * size >> 20} MiB pushed: RSS at most {stalled / MIB:.1f} MiB during the stall, "
        f"{peak / MIB:.1f} in all; {count} messages through and on the tape"
    )
    if peak >= 64 * MIB:
        raise Failed(text + "; not under 64 MiB")
    return text


def tape_of(path, messages, level=1):
    """A tape of one session over a WebSocket of no known protocol: (direction, text) each."""
    host, key = "127.0.0.1", "dGhlIHNhbXBsZSBub25jZQ=="
    head = [["Host", host], ["Upgrade", "websocket"], ["Connection", "Upgrade"], ["Sec-WebSocket-Key", key]]
    answer = [["Upgrade", "websocket"], ["Connection", "Upgrade"], ["Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]]
    lines = [
        {"tape": 1, "started": "2026-01-01T00:00:00.000000Z", "upstreams": {"main": "http://127.0.0.1:5000"}},
        {"t": 1, "c": 1, "e": "open", "from": "127.0.0.1:1"},
        {
            "t": 2, "c": 1, "e": "request", "x": 1, "method": "GET", "target": "/memory",
            "headers": head + [["Sec-WebSocket-Version", "13"]],
        },
        {"t": 3, "c": 1, "e": "response", "x": 1, "status": 101, "headers": answer},
    ]  # fmt: skip
    pack = gzip.open(path, "wb", level)  # noqa: SIM115  # one after the other, each a member
    for line in lines:
        pack.write(json.dumps(line).encode() + b"\n")
    for number, (direction, text) in enumerate(messages):
        line = {"t": 4 + number, "c": 1, "e": "message", "d": direction, "op": "text", "text": text}
        pack.write(json.dumps(line).encode() + b"\n")
        pack.close()
        pack = gzip.open(path, "ab", level)  # noqa: SIM115
    pack.write(json.dumps({"t": 10**9, "c": 1, "e": "gone", "by": "client", "how": "fin"}).encode() + b"\n")
    pack.close()


def bounded(text, peak, most=MEMORY + BASE):
    text += f": at most {peak / MIB:.0f} MiB"
    if peak > most:
        raise Failed(text + f"; not under {most / MIB:.0f}")
    return text


def replay(tape, work, *options):
    return Wiretape(["replay", tape, "--allow-unplayed", *options], work / "memory.log")


def greedy(port, kind, size, sent):
    """A client that sends `sent` bytes of a message or body of `size` and waits."""
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(60)
    try:
        if kind == "message":
            client.sendall(frames.request("/memory", f"127.0.0.1:{port}"))
            read_head(client)
            client.sendall(frames.frame(1, b"", masked=True, length=size))
        else:
            client.sendall(f"POST /memory HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode())
        block = b"a" * (1 << 20)
        for _ in range(sent >> 20):
            client.sendall(block)
    except (OSError, Failed):
        pass  # It was refused.
    return client


def ask(port):
    """A small request that is answered, with whatever."""
    with socket.create_connection(("127.0.0.1", port)) as good:
        good.settimeout(30)
        good.sendall(b"POST /memory HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
        if not good.recv(100).startswith(b"HTTP/1.1 "):
            raise Failed("the client beside them got no answer")


def await_pong(client, rest=b""):
    """Until what was said before a ping has been handled; the connection may have ended then."""
    reader, data = frames.FrameReader(), rest
    client.settimeout(60)
    client.sendall(frames.frame(frames.PING, b"", masked=True))
    while True:
        if any(first & 15 in (frames.PONG, frames.CLOSE) for first, _ in reader.feed(data)):
            return
        data = client.recv(1 << 18)
        if not data:
            return


def crowd(proxy, kind, clients, text, ask, sent=63 << 20, most=MEMORY + BASE):
    """So many clients that each want 63 MiB, and one that wants little."""
    opened = []

    def run():
        opened.append(greedy(proxy.port, kind, 64 << 20, sent))

    with PeakMemory(proxy) as watch:
        threads = [threading.Thread(target=run) for _ in range(clients)]
        for thread in threads:
            thread.start()
        worst = 0.0
        while any(thread.is_alive() for thread in threads):
            started = time.monotonic()
            ask()
            worst = max(worst, time.monotonic() - started)
            time.sleep(0.05)
        for thread in threads:
            thread.join()
        time.sleep(0.2)
    for client in opened:
        client.close()
    return bounded(text, watch.kib, most) + f", a client beside them answered within {worst * 1000:.0f} ms"


def held(work):
    tape = work / "memory-held.tape.gz"
    tape_of(tape, [("<", '{"hello":1}')])
    told = []
    for kind in ("message", "body"):
        with replay(tape, work, "--memory", "256MiB") as proxy:
            name = "messages" if kind == "message" else "bodies"
            told.append(crowd(proxy, kind, 12, f"12 unfinished {name} of 63 MiB, replay", lambda: ask(proxy.port)))
            if proxy.stop(seconds=60) < 0:
                raise Failed(f"replay died: {proxy.said()}")
    with Echoes() as origin:
        rule = ["--fault", "drop on message[9999, direction=toServer]", "--memory", "256MiB"]
        arguments = ["record", "--upstream", f"http://127.0.0.1:{origin.port}", "--output", tape, "--force", *rule]
        with Wiretape(arguments, work / "memory.log") as proxy:
            client, _ = open_client(proxy.port)

            def say():
                client.sendall(frames.frame(1, b"hi", masked=True))
                if not client.recv(100):
                    raise Failed("the client beside them was cut")

            told.append(crowd(proxy, "message", 12, "the same under a rule, record", say))
            client.close()
            proxy.stop(seconds=60)
        # Without rules nothing is held on the way; the tape's messages are.
        arguments = [*arguments[: -len(rule)], "--memory", "64MiB"]
        with Wiretape(arguments, work / "memory.log") as proxy:
            client, _ = open_client(proxy.port)
            text = "250 unfinished messages of 1 MiB without rules, record --memory 64MiB"
            told.append(crowd(proxy, "message", 250, text, say, sent=1 << 20, most=(64 << 10) + BASE))
            client.close()
            proxy.stop(seconds=60)
    tape.unlink(missing_ok=True)
    return "held: " + "; ".join(told)


SHAPES = {"[],": "empty lists", "0,": "zeros", "{},": "empty objects", "[0],": "lists of one", '{"":0},': "objects of one"}


def shape(item, size):
    return "[" + item * (size // len(item)) + "0]"


def trees(work):
    tape = work / "memory-trees.tape.gz"
    tape_of(tape, [("<", '{"hello":1}'), (">", '{"bye":1}')])
    told = []
    for item, name in SHAPES.items():
        with replay(tape, work, "--memory", "256MiB", "--on-divergence", "ignore") as proxy, PeakMemory(proxy) as watch:
            client, rest = open_client(proxy.port)
            started = time.monotonic()
            client.sendall(frames.frame(1, shape(item, 16 << 20).encode(), masked=True))
            await_pong(client, rest)
            took = time.monotonic() - started
            client.close()
            time.sleep(0.1)
        told.append(bounded(f"16 MiB of {name} said to replay", watch.kib) + f" in {took:.1f} s")
    tape.unlink()
    return "trees: " + "; ".join(told)


def peak_of(*arguments):
    """The most memory of a run to its end, in KiB, and its exit code."""
    child = subprocess.Popen(
        [binary(), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = 0
    while child.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        except OSError:
            break
        peak = max([peak] + [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")])
        time.sleep(0.005)
    return peak, child.wait()


def files(work):
    told = []
    tape = work / "memory-files.tape.gz"
    cases = [(shape(item, size << 20), f"{size} MiB of {name}") for item, name in SHAPES.items() for size in (16, 60)]
    cases.append(('{"a":"' + "x" * (60 << 20) + '"}', "a text of 60 MiB"))
    for text, name in cases:
        tape_of(tape, [("<", text)])
        for command in (["inspect"], ["validate"], ["diff", tape], ["canon", "--check"]):
            peak, code = peak_of(*command, tape, "--memory", "256MiB")
            if code not in (0, 2, 4):
                raise Failed(f"{command[0]} of {name} exits {code}")
            told.append((peak, bounded(f"{command[0]} of a tape of {tape.stat().st_size >> 10} KiB with {name}", peak)))
    tape.unlink()
    return f"files: {len(told)} runs, the largest: " + max(told)[1]


def large(work):
    tape = work / "memory-large.tape.gz"
    pad = "~" * 999_950
    tape_of(tape, [("<", f'{{"n":{n},"pad":"{os.urandom(8).hex()}{pad}"}}') for n in range(400)])
    with replay(tape, work, "--speed", "instant", "--memory", "256MiB") as proxy, PeakMemory(proxy) as watch:
        client, rest = open_client(proxy.port)
        reader, got = frames.FrameReader(), 0
        client.settimeout(120)
        while got < 400:
            got += len(list(reader.feed(rest)))
            rest = client.recv(1 << 18) if got < 400 else b""
        client.close()
    tape.unlink()
    return "large: " + bounded("400 messages of 1 MB replayed", watch.kib, 128 * MIB)


def idle(work):
    tape = work / "memory-idle.tape.gz"
    tape_of(tape, [("<", '{"hello":1}')])
    told = []
    count = 400
    with Echoes() as origin:
        record = ["record", "--upstream", f"http://127.0.0.1:{origin.port}", "--output", work / "memory-idle-own.tape", "--force"]
        rule = ["--fault", "drop on message[9999, direction=toServer]"]
        for name, arguments in (
            ("replay", ["replay", tape, "--allow-unplayed"]), ("record", record), ("record with a rule", record + rule),
        ):  # fmt: skip
            with Wiretape(arguments, work / "memory.log") as proxy:
                before = proxy.rss()
                clients = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(count)]
                for client in clients:
                    client.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
                time.sleep(1)
                told.append(f"{(proxy.rss() - before) / count:.1f} KiB a connection of {name}")
                for client in clients:
                    client.close()
                proxy.stop(seconds=60)
    return "idle: " + ", ".join(told)


class Deaf(Echoes):
    """One that reads no more once it has accepted a WebSocket."""

    def __init__(self):
        self.kept = []
        super().__init__()
        # Little for the kernel to take: it is the proxy that has to hold the rest back.
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    def serve(self, connection):
        head, _ = read_head(connection)
        connection.sendall(frames.response(head))
        self.kept.append(connection)


def unread(work):
    count, told = 1000, []
    message = frames.frame(1, b"x" * 60_000, masked=True)
    for mode in (["proxy"], ["record", "--output", work / "memory-unread.tape.gz", "--force"]):
        arguments = [*mode, "--memory", "64MiB", "--upstream"]
        with (
            Deaf() as server, Wiretape([*arguments, f"http://127.0.0.1:{server.port}"], work / "memory.log") as proxy,
            PeakMemory(proxy) as watch,
        ):  # fmt: skip
            clients = [open_client(proxy.port)[0] for _ in range(count)]
            places = [0] * count
            for client in clients:
                client.setblocking(False)
            # Until nobody takes any more.
            while True:
                taken = 0
                for index, client in enumerate(clients):
                    try:
                        taken += (sent := client.send(message[places[index] :]))
                        places[index] = (places[index] + sent) % len(message)
                    except BlockingIOError:
                        pass
                if not taken:
                    break
            time.sleep(0.5)
            for client in clients:
                client.close()
            proxy.stop(seconds=60)
        told.append(bounded(f"{count} clients of a server that reads nothing, {mode[0]} --memory 64MiB", watch.kib, 64 * MIB + BASE))
    (work / "memory-unread.tape.gz").unlink(missing_ok=True)
    return "unread: " + "; ".join(told)


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/memory", description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default="many,stall,upload")
    parser.add_argument("--messages", type=int, default=2_000_000)
    parser.add_argument("--early", type=int, default=200_000)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--seconds", type=float, default=5, help="how long nothing is read (5)")
    options = parser.parse_args()
    work = ROOT / ".build/acceptance"
    work.mkdir(parents=True, exist_ok=True)
    for part in options.parts.split(","):
        if part == "many":
            for memory in (None, "64MiB"):
                print("memory, " + many(options.messages, options.early, work, memory), flush=True)
        elif part == "stall":
            print("memory, " + stall(options.bytes, options.seconds, work), flush=True)
        elif part == "upload":
            print("memory, " + upload(options.bytes, options.seconds, work), flush=True)
        elif part in (own := {"held": held, "trees": trees, "files": files, "large": large, "idle": idle, "unread": unread}):
            print("memory, " + own[part](work), flush=True)
        else:
            parser.error(f"no part {part}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"memory: {failure}"))
