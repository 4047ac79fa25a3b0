"""What record, canon, edit, name and repair write says what they were given, whatever its size; else they refuse.

A WebSocket message, and the body of an answer, of each size, compressible and random, goes through `record` and
`record --canonical`; the tape then through each command in its place. Whatever is written has to pass `validate` and to
carry the bytes that were sent (SHA-256, by a reader of tapes with nothing of ours); a command may refuse instead, with a
sentence, and then the file has to be what it was, byte for byte. `repair` may not refuse: it gets the whole tape, which it
has to leave alone, and one that is cut, of which it has to give the beginning. fragments: a message in so many frames without
bytes is on the tape whole, with a line that says that it had too many. The highest resident memory of each step and of the
`validate` behind it is printed (0: it had ended before it was asked). Exit 1 if one of these does not hold.
"""

import argparse
import hashlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from wiretape_tools.lib import frames, tapes
from wiretape_tools.lib.exchange import read_head
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, fail

MIB = 1 << 20
EDIT = ["--where", "message[1]", "--after", "7ms"]


def content(kind, size):
    """So many bytes: text in which everything comes again, or random bytes."""
    if kind == "compressible":
        return (b"the same words again and again, number by number; " * (size // 50 + 1))[:size]
    return random.Random(size).randbytes(size)


class Origin:
    """A server in a child process for one connection: behave(socket, the request's head, bytes read behind it)."""

    def __init__(self, behave):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                connection, _ = listener.accept()
                behave(connection, *read_head(connection))
                status = 0
            finally:
                os._exit(status)
        listener.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            os.kill(self.pid, signal.SIGKILL)
        if os.waitpid(self.pid, 0)[1] != 0 and kind is None:
            raise Failed("the server did not see what it should")


class Peak:
    """The highest resident memory of a process, in MiB; asked for until it has ended."""

    def __init__(self, process):
        self.process, self.mib = process, 0.0

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            self.look()
            if time.monotonic() > end:
                self.process.kill()
                raise Failed(f"{self.process.args[:3]} still runs after {seconds} s")
            time.sleep(0.01)
        return self.process.returncode

    def look(self):
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return
        for line in text.splitlines():
            if line.startswith("VmHWM"):
                self.mib = max(self.mib, int(line.split()[1]) / 1024)


class Socket:
    """One WebSocket message from the client, between two short ones."""

    name = "message"

    def __init__(self, kind, payload):
        self.opcode, self.payload = (frames.TEXT if kind == "compressible" else frames.BINARY), payload

    def sent(self):
        return [("<", b"ready"), (">", self.payload), ("<", b"done")]

    def pieces(self):
        yield frames.frame(self.opcode, b"", masked=True, length=len(self.payload))
        yield self.payload

    def serve(self, connection, head, data):
        connection.sendall(frames.response(head) + frames.frame(frames.TEXT, b"ready", masked=False))
        total = sum(len(piece) for piece in self.pieces())
        got = len(data)
        while got < total:
            got += len(connection.recv(1 << 20) or exit_now())
        connection.sendall(frames.frame(frames.TEXT, b"done", masked=False))
        while connection.recv(65536):
            pass

    def play(self, port):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(frames.request("/socket", f"127.0.0.1:{port}"))
            _, data = read_head(client)
            reader = frames.FrameReader()
            got: list[tuple[int, bytes]] = []
            got += reader.feed(data)
            while not got:
                got += reader.feed(client.recv(65536) or exit_now())
            for piece in self.pieces():
                client.sendall(piece)
            while len(got) < 2:
                got += reader.feed(client.recv(65536) or exit_now())


class Fragments(Socket):
    """The same in so many frames, all but the first and the last without bytes."""

    name = "fragments"

    def __init__(self, count):
        super().__init__("compressible", b"begin and end")
        self.count = count

    def pieces(self):
        yield frames.frame(frames.TEXT, b"begin ", masked=True, first=0)
        empty = frames.frame(0, b"", masked=True, first=0)
        left = self.count - 2
        while left > 0:
            yield empty * min(left, 100_000)
            left -= 100_000
        yield frames.frame(0, b"and end", masked=True)


class Body:
    """The body of an answer, behind a short event stream on the same connection that makes a session."""

    name = "body"

    def __init__(self, kind, payload):
        self.kind, self.payload = kind, payload

    def sent(self):
        return [("<", b"data: one\n\n"), ("<", self.payload)]

    def answers(self):
        yield "text/event-stream", b"data: one\n\n"
        yield "text/plain" if self.kind == "compressible" else "application/octet-stream", self.payload

    def serve(self, connection, head, _):
        for number, (media, data) in enumerate(self.answers()):
            if number > 0:
                read_head(connection)
            fields = f"Content-Type: {media}\r\nContent-Length: {len(data)}"
            connection.sendall(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode() + data)
        while connection.recv(65536):
            pass

    def play(self, port):
        with socket.create_connection(("127.0.0.1", port)) as client:
            for number, (_, wanted) in enumerate(self.answers()):
                client.sendall(f"GET /{number} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                _, data = read_head(client)
                got = len(data)
                while got < len(wanted):
                    got += len(client.recv(1 << 20) or exit_now())


def exit_now():
    raise Failed("the connection ended early")


def carried(path):
    """(direction, SHA-256, length) of every message and body on a tape that has bytes; parts and pieces are put together."""
    found: list[Any] = []
    pending: dict[Any, Any] = {}
    begun: list[Any] = []

    def add(key, data):
        if key not in pending:
            pending[key] = [hashlib.sha256(), 0]
            begun.append(key)
        pending[key][0].update(data)
        pending[key][1] += len(data)

    def end(key):
        if key in pending:
            digest, size = pending.pop(key)
            if size:
                found.append((key[1], digest.hexdigest(), size))

    for line, whole in tapes.lines(path):
        if not whole or line.startswith(b"#") or line.startswith(b'{"tape"'):
            continue
        event = tapes.json.loads(line)
        kind, c, d = event["e"], event.get("c"), event.get("d")
        if kind in ("message", "part"):
            add((c, d, "ws"), tapes.payload(event))
            if kind == "message" or event.get("last"):
                end((c, d, "ws"))
        elif kind in ("request", "response") and not event.get("interim"):
            key = (c, ">" if kind == "request" else "<", event["x"])
            add(key, tapes.payload(event))
            if not event.get("stream"):
                end(key)
        elif kind == "chunk":
            add((c, d, event["x"]), tapes.payload(event))
        elif kind == "end":
            end((c, d, event["x"]))
    # What the end of the file has cut.
    for key in begun:
        end(key)
    return found


def expected(sent):
    return [(d, hashlib.sha256(data).hexdigest(), len(data)) for d, data in sent if data]


def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def command(*arguments):
    """Runs wiretape; (exit code, last line, MiB)."""
    process = subprocess.Popen(
        [binary(), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    peak = Peak(process)
    assert process.stdout, "it was started with a pipe"
    with process.stdout:
        code = peak.wait(900)
        said = process.stdout.read().decode(errors="replace").strip()
    return code, said.splitlines()[-1] if said else "", peak.mib


class Case:
    def __init__(self, what, title, work):
        self.what, self.title, self.work = what, title, work
        self.tape = work / "roundtrip.tape.gz"
        self.copy = work / "roundtrip-copy.tape.gz"
        self.wanted = expected(what.sent())
        self.results = []

    def run(self):
        _, _, mib = self.record(self.tape)
        self.note("record", "equal", mib, self.check(self.tape, "record"))
        self.canonical()
        for words in (["canon"], ["edit", *EDIT], ["name", "it=1"], ["repair"]):
            self.rewrite(words)
        self.repair_cut()
        for path in (self.tape, self.copy):
            path.unlink()
        return f"{self.title}: " + ", ".join(self.results)

    def note(self, step, outcome, *memory):
        self.results.append(f"{step} {outcome} ({' '.join(f'{mib:.0f}' for mib in memory)} MiB)")

    def record(self, path, *options):
        """Records what is sent: (exit code, what was said, MiB)."""
        with Origin(self.what.serve) as origin:
            # Every byte counts here, also of messages that are too long to be looked at for secrets.
            arguments = ["record", "--upstream", f"http://127.0.0.1:{origin.port}", "--output", path, "--force"]
            arguments += ["--redact", "off", *options]
            with Wiretape(arguments, self.work / "roundtrip.log") as proxy:
                self.what.play(proxy.port)
                peak = Peak(proxy.process)
                peak.look()
                proxy.process.send_signal(signal.SIGINT)
                code = peak.wait(900)
                said = proxy.said()
        if code != 0 and not options:
            raise Failed(f"{self.title}: record ended with {code}: {said}")
        return code, said, peak.mib

    def canonical(self):
        code, said, mib = self.record(self.copy, "--canonical")
        self.verify("record --canonical", code, said.splitlines()[-1] if said else "", mib)

    def check(self, path, step):
        """Fails unless the tape is valid and carries what was sent; the memory that `validate` took."""
        code, said, mib = command("validate", path)
        if code != 0:
            raise Failed(f"{self.title}: validate of what {step} wrote ended with {code}: {said}")
        found = carried(path)
        if found != self.wanted:
            raise Failed(f"{self.title}: {step} wrote {summary(found)}, sent was {summary(self.wanted)}")
        return mib

    def verify(self, step, code, said, *memory):
        """The copy carries what was sent, whether the command has done it or refused."""
        validated = self.check(self.copy, step)
        if code == 0:
            self.note(step, "equal", *memory, validated)
        elif code in (1, 4) and len(said) > 30:
            self.note(step, f"refused […{said[-150:]}]", *memory, validated)
        else:
            raise Failed(f"{self.title}: {step} ended with {code}: {said}")

    def rewrite(self, words):
        shutil.copyfile(self.tape, self.copy)
        before = file_digest(self.copy)
        code, said, mib = command(words[0], self.copy, *words[1:])
        same = file_digest(self.copy) == before
        if code != 0 and not same:
            raise Failed(f"{self.title}: {words[0]} refused and changed the file: {said}")
        if words[0] == "repair" and (code != 0 or not same):
            raise Failed(f"{self.title}: repair of a whole tape ended with {code} ({'un' * same}changed): {said}")
        self.verify(words[0], code, said, mib)

    def repair_cut(self):
        with open(self.tape, "rb") as tape, open(self.copy, "wb") as copy:
            copy.write(tape.read(self.tape.stat().st_size * 6 // 10))
        before = carried(self.copy)
        code, said, mib = command("repair", self.copy)
        if code != 0:
            raise Failed(f"{self.title}: repair of a tape that was cut ended with {code}: {said}")
        code, said, validated = command("validate", self.copy)
        if code != 0:
            raise Failed(f"{self.title}: validate of a repaired tape ended with {code}: {said}")
        found = carried(self.copy)
        if found != before:
            raise Failed(f"{self.title}: repair of a cut tape wrote {summary(found)} of {summary(before)}")
        sent = list(self.what.sent())
        for direction, digest, size in found:
            begins = [d for d in sent if d[0] == direction and hashlib.sha256(d[1][:size]).hexdigest() == digest]
            if not begins:
                raise Failed(f"{self.title}: the repaired tape has {size} bytes that nobody sent")
        self.note(f"repair of 60 % kept {sum(size for *_, size in found) / MIB:.1f} MiB", "equal", mib, validated)


def summary(found):
    return ", ".join(f"{d} {digest[:8]} {size}" for d, digest, size in found) or "nothing"


def check_marks(tape, count):
    """The tape says once that a message had too many frames, and lists none of their lengths."""
    marks, listed = [], 0
    for line, _ in tapes.lines(tape):
        if b'"e":"frame"' in line:
            marks.append(tapes.json.loads(line)["why"])
        listed += b'"frames":' in line
    if len(marks) != 1 or listed:
        raise Failed(f"{count} fragments: the tape has {len(marks)} 'frame' lines and {listed} lists of frames")
    return marks[0]


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/roundtrip", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1,16,17,63,64,65,128", help="in MiB (default: %(default)s)")
    parser.add_argument("--kinds", default="compressible,random")
    parser.add_argument("--carriers", default="message,body")
    parser.add_argument("--fragments", type=int, default=1_000_000, help="0 leaves them out (default: %(default)s)")
    options = parser.parse_args()
    work = ROOT / ".build/acceptance"
    work.mkdir(parents=True, exist_ok=True)
    for size in [float(size) for size in options.sizes.split(",") if size]:
        for kind in options.kinds.split(","):
            payload = content(kind, int(size * MIB))
            for carrier in [c for c in (Socket, Body) if c.name in options.carriers.split(",")]:
                title = f"roundtrip: {carrier.name}, {size:g} MiB, {kind}"
                print(Case(carrier(kind, payload), title, work).run(), flush=True)
    if options.fragments:
        case = Case(Fragments(options.fragments), f"roundtrip: {options.fragments} fragments", work)
        case.record(case.tape)
        print(f"{case.title}: '{check_marks(case.tape, options.fragments)}'")
        case.results.clear()
        print(case.run(), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"roundtrip: {failure}"))
