"""A well-behaved client beside 3,000 hostile sockets, in front of `record`, `proxy` and `replay`, with and without rules.

The hostile ones send heads and bodies a byte at a time, bombs as messages and bodies, floods of tiny frames, half requests
with an end behind them, or nothing at all. The good client asks and is answered on one WebSocket, in rounds alone and beside
them by turns: every answer is right, the medians of its p50 and p99 beside them are at most twice those alone, the memory
stays under 256 MiB, and the tape holds exactly what it said and heard. Exit 1 if one of these does not hold.

All processes share the machine: every question is followed by one that is asked of the server directly, so that both meet the
same moments of the machine, and what that is slower beside the crowd is the machine's, not the program's. Both figures are printed;
the ratio that counts is what is left.
"""

import argparse
import contextlib
import gzip
import json
import os
import random
import resource
import select
import socket
import statistics
import sys
import time
from typing import Any

from wiretape_tools.lib import frames, tapes
from wiretape_tools.lib.hostile_cases import bomb_of
from wiretape_tools.lib.processes import ROOT, Failed, PeakMemory, Wiretape, fail

WORK = ROOT / ".build/acceptance"
RSS_LIMIT = 256 * 1024  # KiB
RATIO = 2.0
PATIENCE = 30  # seconds
HOST = b"Host: 127.0.0.1\r\n"
PATH = "/crowd"
DEFLATE = ("Sec-WebSocket-Extensions: permessage-deflate",)
# Each inflates to 16 MiB, as a message or as a body: a recorder that waits for its disk (--on-overload wait) slows down
# everybody when it has to inflate more than a processor can, by design. So only some acts of those sockets are bombs.
BOMBS = 0.01
KINDS = ("slow head", "slow body", "bomb", "gzip body", "flood", "half-close", "silent")


# ---------------------------------------------------------------- the server


class Origin:
    """A child process: echoes WebSocket messages as they come, takes bodies, answers the rest."""

    def __init__(self):
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = listener.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                Echo(listener).run()
            finally:
                os._exit(0)
        listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


class Echo:
    def __init__(self, listener):
        self.listener = listener
        self.poll = select.epoll()
        self.poll.register(listener.fileno(), select.EPOLLIN)
        listener.setblocking(False)
        self.peers = {}

    def run(self):
        while True:
            for number, _ in self.poll.poll():
                if number == self.listener.fileno():
                    self.accept()
                else:
                    self.hear(number)

    def accept(self):
        try:
            while True:
                connection, _ = self.listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.peers[connection.fileno()] = [connection, bytearray(), None]
                self.poll.register(connection.fileno(), select.EPOLLIN)
        except OSError:
            return

    def hear(self, number):
        peer = self.peers[number]
        connection, buffer, reader = peer
        try:
            data = connection.recv(65536)
            if not data:
                raise ConnectionError
            if reader:
                self.echo(connection, reader, data)
                return
            buffer += data
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(buffer[: end + 4])
            if b"pgrade: websocket" not in head:
                # Bodies are swallowed; whoever asks without one is answered.
                if head.startswith(b"GET"):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    buffer.clear()
                else:
                    del buffer[end + 4 :]
                return
            extra = ("Sec-WebSocket-Extensions: permessage-deflate",) if b"permessage-deflate" in head else ()
            connection.sendall(frames.response(head, extra))
            peer[2] = frames.FrameReader()
            self.echo(connection, peer[2], bytes(buffer[end + 4 :]))
        except OSError:
            self.poll.unregister(number)
            self.peers.pop(number)
            connection.close()

    def echo(self, connection, reader, data):
        # Only what the good client says is answered: the flood is for the proxy, not for this process.
        for first, payload in reader.feed(data):
            if first == 0x81 and payload.startswith(b"ask "):
                connection.sendall(frames.frame(frames.TEXT, b"answer " + payload[4:], False))


# ---------------------------------------------------------------- the crowd


class Crowd:
    """A child process with so many hostile sockets; it does its worst until it is ended, at a bounded rate."""

    def __init__(self, port, count, rate, kinds):
        ready, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ready)
            os.nice(10)
            try:
                Hostile(port, count, rate, kinds).run(told)
            finally:
                os._exit(0)
        os.close(told)
        with os.fdopen(ready, "rb") as pipe:
            self.connected = int(pipe.readline() or b"0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


class Hostile:
    def __init__(self, port, count, rate, kinds):
        self.port, self.count, self.rate, self.kinds = port, count, rate, kinds
        self.sockets = []
        self.turn = random.Random(1)
        bomb = bomb_of(16 << 20)
        self.bomb = frames.frame(frames.TEXT, bomb, True, first=0xC0)
        packed = gzip.compress(bytes(16 << 20), 9)
        self.body = packed
        self.head = (
            b"POST /body HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
            b"Content-Length: %d\r\n\r\n" % len(packed)
        )
        self.flood = frames.frame(frames.TEXT, b"x", True) * 16 + frames.frame(frames.PING, b"", True) * 4

    def opening(self, kind):
        if kind == "slow head":
            return b"GET /slow HTTP/1.1\r\n" + HOST + b"X: "
        if kind == "slow body":
            return b"POST /slow HTTP/1.1\r\n" + HOST + b"Content-Length: 100000\r\n\r\n"
        if kind == "bomb":
            return frames.request(PATH, "127.0.0.1", extra=DEFLATE)
        if kind == "flood":
            return frames.request(PATH, "127.0.0.1")
        if kind == "gzip body":
            return self.head
        if kind == "half-close":
            return b"GET /half HTTP/1.1\r\n" + HOST
        return b""

    def connect(self, kind):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.sendall(self.opening(kind))
        if kind == "half-close":
            connection.shutdown(socket.SHUT_WR)
        connection.setblocking(False)
        return connection

    def act(self, place):
        kind = self.kinds[place % len(self.kinds)]
        connection = self.sockets[place]
        try:
            while connection.recv(65536):
                pass
            raise ConnectionError  # It was sent away, and comes again.
        except BlockingIOError:
            pass
        except OSError:
            connection.close()
            self.sockets[place] = self.connect(kind)
            return
        try:
            if kind in ("slow head", "slow body"):
                connection.send(b"a")
            elif kind == "bomb" and self.turn.random() < BOMBS:
                connection.send(self.bomb)
            elif kind == "gzip body" and self.turn.random() < BOMBS:
                connection.send(self.body)
                connection.close()
                self.sockets[place] = self.connect(kind)
            elif kind == "flood":
                connection.send(self.flood)
        except OSError:
            pass

    def run(self, told):
        for place in range(self.count):
            self.sockets.append(self.connect(self.kinds[place % len(self.kinds)]))
        os.write(told, b"%d\n" % len(self.sockets))
        began, done = time.monotonic(), 0
        while True:
            if done > self.rate * (time.monotonic() - began):
                time.sleep(0.002)
                continue
            done += 1
            with contextlib.suppress(OSError):
                self.act(self.turn.randrange(self.count))


# ---------------------------------------------------------------- the good client


class Good:
    """Asks on one WebSocket, one question after the other."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(frames.request(PATH + "?good", "127.0.0.1"))
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(65536)
            if not more:
                raise Failed(f"the good client was not let in: {data[:200]!r}")
            data += more
        if b" 101 " not in data[:20]:
            raise Failed(f"the good client was not let in: {data[:200]!r}")
        self.reader = frames.FrameReader()
        self.asked = 0

    def ask(self):
        """The time of one answer, in milliseconds."""
        self.asked += 1
        began = time.perf_counter()
        self.socket.sendall(frames.frame(frames.TEXT, b"ask %06d" % self.asked, True))
        while not (found := list(self.reader.feed(self.hear()))):
            pass
        took = (time.perf_counter() - began) * 1000
        if found != [(0x81, b"answer %06d" % self.asked)]:
            raise Failed(f"question {self.asked} was answered {found}")
        return took

    def hear(self):
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            raise Failed(f"question {self.asked} was not answered for {PATIENCE} s") from None
        if not data:
            raise Failed(f"the good client's connection ended behind question {self.asked}")
        return data

    def close(self):
        self.socket.sendall(frames.frame(frames.CLOSE, b"\x03\xe8", True))
        self.socket.close()


def percentiles(times):
    times = sorted(times)
    return statistics.median(times), times[min(len(times) - 1, len(times) * 99 // 100)]


def both(good, direct, count):
    """The percentiles of so many answers through the program, and of as many directly: by turns, so that both meet the same
    moments of the machine."""
    through, control = [], []
    for _ in range(count):
        through.append(good.ask())
        time.sleep(0.001)
        control.append(direct.ask())
        time.sleep(0.001)
    return percentiles(through), percentiles(control)


def course(program, origin, options, peak):
    """Rounds alone and beside the crowd by turns: what is too slow, in sentences."""
    good, direct = Good(program.port), Good(origin.port)
    alone: list[Any] = []
    beside: list[Any] = []
    control: dict[bool, list[Any]] = {True: [], False: []}
    for _ in range(options.rounds):
        through, directly = both(good, direct, options.questions)
        alone.append(through)
        control[False].append(directly)
        with Crowd(program.port, options.sockets, options.rate, options.kinds.split(",")) as crowd:
            if crowd.connected < options.sockets:
                raise Failed(f"only {crowd.connected} of {options.sockets} hostile sockets were accepted")
            time.sleep(0.5)
            through, directly = both(good, direct, options.questions)
            beside.append(through)
            control[True].append(directly)
        time.sleep(0.5)
    good.close()
    direct.close()
    wrong, text = [], []
    for index, name in enumerate(("p50", "p99")):
        figures = [statistics.median(r[index] for r in rounds) for rounds in (alone, beside, *control.values())]
        ratio = figures[1] / figures[0]
        machine = max(1.0, figures[2] / figures[3])
        text.append(
            f"{name} {figures[0]:.2f} ms alone, {figures[1]:.2f} ms beside: {ratio:.2f} x "
            f"(the machine alone {machine:.2f} x)"
        )
        if ratio / machine > RATIO:
            wrong.append(f"{name} is {ratio / machine:.2f} x of that alone")
    print(f"  {'; '.join(text)}; peak RSS {peak.kib / 1024:.0f} MiB", flush=True)
    return good.asked, wrong


def check_tape(path, asked):
    """What the good client said and heard is on the tape, in order, once."""
    # The bombs stand on it as what they inflate to: only the good client's lines are looked into.
    opening = f'"target":"{PATH}?good"'.encode()
    mine, found, last = None, [], b""
    for line, whole in tapes.lines(path):
        last = line if whole else b"a line without an end"
        if mine is None and opening in line[:400]:
            mine = json.loads(line)["c"]
        elif mine is not None and f'"c":{mine},'.encode() in line[:60]:
            found.append(json.loads(line))
    if mine is None or b'"e":"stop"' not in last:
        raise Failed(f"{path} lacks the good client's request, or ends with {last[:100]!r}")
    said: dict[str, list[Any]] = {">": [], "<": []}
    for connection, direction, _, payload in tapes.messages(found):
        if connection == mine:
            said[direction].append(payload)
    for direction, word in ((">", b"ask"), ("<", b"answer")):
        if said[direction] != [b"%s %06d" % (word, n) for n in range(1, asked + 1)]:
            raise Failed(f"the tape has {len(said[direction])} of {asked} messages in direction {direction}, or others")


def script(path, count):
    """A tape for the replay: so many questions and answers on one WebSocket."""
    lines = ['{"tape":1,"started":"2026-01-01T00:00:00.000000Z","tool":"crowd","redaction":"none"}']
    lines.append('{"t":0,"c":1,"e":"open"}')
    fields = '[["Host","127.0.0.1"],["Upgrade","websocket"],["Connection","Upgrade"],["Sec-WebSocket-Version","13"],'
    fields += '["Sec-WebSocket-Key","AAAAAAAAAAAAAAAAAAAAAA=="]]'
    lines.append(f'{{"t":1000,"c":1,"e":"request","x":1,"method":"GET","target":"{PATH}","headers":{fields}}}')
    answer = '[["Upgrade","websocket"],["Connection","Upgrade"],["Sec-WebSocket-Accept","ICX+Yqv66kxgM0FcWaLWlFLwTAI="]]'
    lines.append(f'{{"t":2000,"c":1,"e":"response","x":1,"status":101,"headers":{answer}}}')
    for n in range(1, count + 1):
        lines.append(f'{{"t":{n * 10000},"c":1,"e":"message","d":">","op":"text","text":"ask {n:06}"}}')
        lines.append(f'{{"t":{n * 10000 + 5000},"c":1,"e":"message","d":"<","op":"text","text":"answer {n:06}"}}')
    path.write_text("\n".join(lines) + "\n")


def part(mode, rules, options):
    print(f"{mode}, {'a rule that never fires' if rules else 'no rules'}:", flush=True)
    tape = WORK / f"crowd-{mode}.tape.gz"
    with Origin() as origin:
        if mode == "replay":
            tape = WORK / "crowd.tape"
            script(tape, 2 * options.rounds * options.questions)
            # The good client is quiet between its rounds, and nothing is said ahead meanwhile.
            arguments = ["replay", tape, "--speed", "instant", "--on-divergence", "ignore", "--grace", "1h"]
            arguments += ["--patience", "1h", "--clients", "100000", "--ignore", f"{PATH}:?good"]
        else:
            arguments = [mode, "--upstream", f"http://127.0.0.1:{origin.port}"]
            arguments += ["--output", tape, "--force"] if mode == "record" else []
        if rules:
            arguments += ["--fault", "reset after message[99999999]"]
        with Wiretape(arguments, WORK / "crowd.log") as program:
            with PeakMemory(program) as peak:
                asked, wrong = course(program, origin, options, peak)
            if program.process.poll() is not None:
                raise Failed(f"{program.name} ended with {program.process.returncode}: {program.said()}")
            code = program.stop(seconds=60)
            if mode != "replay" and code not in ((0, 5) if rules else (0,)):
                raise Failed(f"{program.name} ended with {code}: {program.said()}")
    if mode == "record":
        check_tape(tape, asked)
    if peak.kib > RSS_LIMIT:
        wrong.append(f"the memory went up to {peak.kib / 1024:.0f} MiB")
    return [f"{mode}{' with rules' if rules else ''}: {text}" for text in wrong]


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/crowd", description=__doc__)
    parser.add_argument("--sockets", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=1000, help="for each round")
    parser.add_argument("--rate", type=int, default=1000, help="hostile acts a second, a flood of 20 frames or a bomb each")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of hostile sockets")
    parser.add_argument("--modes", default="record,proxy,replay")
    parser.add_argument("--rules", default="off,on")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < 3 * options.sockets:
        raise SystemExit(f"{options.sockets} sockets need {3 * options.sockets} descriptors: raise ulimit -n, or use --sockets")
    WORK.mkdir(parents=True, exist_ok=True)
    wrong = []
    for mode in options.modes.split(","):
        for rules in options.rules.split(","):
            try:
                wrong += part(mode, rules == "on", options)
            except (Failed, OSError) as failure:
                wrong.append(f"{mode}, rules {rules}: {failure}")
    if wrong:
        return fail("\n".join(wrong))
    return 0


sys.exit(main())
