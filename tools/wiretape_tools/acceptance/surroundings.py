"""`wiretape` where the machine says no: port in use, nowhere to write, no upstream, a full disk, no tapes.

Every refusal has its exit code and names what it is about; what was recorded is a whole tape. Exit 1 otherwise.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from wiretape_tools.lib import frames, tapes
from wiretape_tools.lib.exchange import Exchange, whole_answer
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, fail, free_port, run

WORK = ROOT / ".build/acceptance"


def ends_with(arguments, code, *words, **options):
    """`wiretape arguments` ends with that code and says these words."""
    try:
        got, _, err = run([binary(), *arguments], seconds=10, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"wiretape {' '.join(map(str, arguments))} does not end") from None
    missing = [word for word in words if word.lower() not in err.lower()]
    if got != code or missing:
        raise Failed(
            f"wiretape {' '.join(map(str, arguments))}: exit {got} (right is {code}), lacks {missing}: {err[-500:]}"
        )


def refusals():
    """Port in use, places that cannot be written, files that are no tapes."""
    upstream = ["--upstream", "http://127.0.0.1:9"]
    tape = WORK / "surroundings-new.tape.gz"
    tape.unlink(missing_ok=True)
    count = 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ends_with(["record", *upstream, "--output", tape, "--listen", "127.0.0.1:" + port], 1, port, "in use")
        count += 1
    for path in ["/nonexistent/x.tape.gz", "/proc/x.tape.gz", WORK]:
        ends_with(["record", *upstream, "--output", path, "--listen", "127.0.0.1:0"], 1, str(path))
        count += 1
    existing = WORK / "surroundings-there.tape.gz"
    existing.write_bytes(b"precious")
    got, _, err = run([binary(), "record", *upstream, "--output", existing, "--listen", "127.0.0.1:0"], seconds=10)
    if got not in (1, 64) or "--force" not in err or existing.read_bytes() != b"precious":
        raise Failed(f"an existing output: exit {got}, {err[-300:]}")
    files = {
        "nothing.tape.gz": b"",
        "text.tape": b"this is no tape\n",
        "noise.tape.gz": bytes(range(256)) * 10,
        "gzip.tape.gz": b"\x1f\x8b\x08\x00" + b"\xff" * 100,
        "newer.tape": b'{"tape":9,"started":"2026-11-20T17:28:00Z"}\n',
        "json.tape": b'{"hello":1}\n',
    }
    for name, data in files.items():
        path = WORK / name
        path.write_bytes(data)
        for command in ("inspect", "replay"):
            more = ["--listen", "127.0.0.1:0"] if command == "replay" else []
            ends_with([command, path, *more], 4, name)
            count += 1
    return f"{count + 1} refusals: port in use, unwritable, existing output, no tapes"


def upstream_down():
    tape = WORK / "surroundings-down.tape.gz"
    arguments = ["record", "--upstream", f"http://127.0.0.1:{free_port()}", "--output", tape, "--force"]
    with Wiretape(arguments, WORK / "hostile.log") as proxy:
        plain = Exchange(proxy.port, b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n").read(whole_answer)
        upgrade = Exchange(proxy.port, frames.request("/ws", "x")).read(whole_answer)
        # A recording of nothing but refusals is none.
        if (code := proxy.stop()) != 1 or "no request was answered by an upstream" not in proxy.said():
            raise Failed(f"record ended with {code}: {proxy.said()}")
    for answer in (plain, upgrade):
        body = answer.got.split(b"\r\n\r\n", 1)[-1]
        if answer.status != 502 or len(body) < 10 or not body.isascii():
            raise Failed(f"upstream down: the client got {answer.got[:300]!r}")
    statuses = [e["status"] for e in tapes.checked(tape) if e["e"] == "response"]
    if statuses != [502, 502]:
        raise Failed(f"upstream down: the tape has the answers {statuses}")
    return f"upstream down: 502 {body.decode().strip()!r}, on the tape, and record says so with exit 1"


class FullDisk:
    """`record` that writes to a place of 512 KiB: a tmpfs of its own mount namespace, else a limited file."""

    SIZE = 512

    def __init__(self, arguments, port, name):
        self.tape = WORK / f"surroundings-full-{name}.tape.gz"
        self.tape.unlink(missing_ok=True)
        place = WORK / "full"
        place.mkdir(exist_ok=True)
        common = ["record", "--upstream", f"http://127.0.0.1:{port}", *arguments]
        mounted = f"mount -t tmpfs -o size={self.SIZE}k tmpfs '{place}'"
        enter = ["unshare", "-Urm", "sh", "-c"]
        self.tmpfs = bool(shutil.which("unshare")) and run([*enter, mounted])[0] == 0
        inside = place / "x.tape.gz"
        if self.tmpfs:
            script = f"{mounted} && \"$@\"; code=$?; cp '{inside}' '{self.tape}'; exit $code"
            self.proxy = WrappedWiretape([*common, "--output", inside], [*enter, script, "sh"])
        else:
            script = f'trap "" XFSZ; ulimit -f {self.SIZE}; exec "$@"'
            self.proxy = WrappedWiretape([*common, "--output", self.tape], ["sh", "-c", script, "sh"])
        self.how = f"a tmpfs of {self.SIZE} KiB" if self.tmpfs else f"ulimit -f {self.SIZE}"


class WrappedWiretape(Wiretape):
    """wiretape under another program, which has to pass its exit code on."""

    wrapper = ()

    def __init__(self, arguments, wrapper):
        self.wrapper = wrapper
        super().__init__(arguments, WORK / "surroundings-full.log")

    def command(self, arguments):
        return [*self.wrapper, *super().command(arguments)]

    def interrupt(self):
        os.kill(self.ready["pid"], signal.SIGINT)


def push_noise(port, count):
    """Sends messages that do not compress and gives how many came back; ends early when the connection does."""
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(5)
    draw = random.Random(5)
    reader, back = frames.FrameReader(), 0
    try:
        client.sendall(frames.request("/noise", "x"))
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                return back
            head += more
        for _ in range(count):
            client.sendall(frames.frame(2, draw.randbytes(8000), True))
            before = back
            while back == before:
                more = client.recv(65536)
                if not more:
                    return back
                back += sum(1 for _ in reader.feed(more))
            time.sleep(0.002)
    except OSError:
        pass
    finally:
        client.close()
    return back


def echo_origin():
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection):
        head = b""
        while b"\r\n\r\n" not in head:
            more = connection.recv(4096)
            if not more:
                return
            head += more
        connection.sendall(frames.response(head))
        reader = frames.FrameReader()
        while data := connection.recv(65536):
            for first, payload in reader.feed(data):
                connection.sendall(frames.frame(first & 15, payload, masked=False))

    def guarded(connection):
        try:
            with connection:
                serve(connection)
        except OSError:
            pass

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener


def disk_full():
    listener = echo_origin()
    port = listener.getsockname()[1]
    count = 400  # of 8 KB each way: six times what fits
    full = FullDisk([], port, "stop")
    with full.proxy as proxy:
        back = push_noise(proxy.port, count)
        try:
            code = proxy.process.wait(20)
        except subprocess.TimeoutExpired:
            raise Failed(f"disk full: record goes on by default ({back} messages): {proxy.said()}") from None
        said = proxy.said()
    if code != 1 or not any(word in said.lower() for word in ("space", "full", "large")):
        raise Failed(f"disk full: exit {code}, {said[-500:]}")
    stopped = len(tapes.checked(full.tape, stopped=False))

    going = FullDisk(["--on-disk-full", "continue"], port, "continue")
    with going.proxy as proxy:
        back_going = push_noise(proxy.port, count)
        again = push_noise(proxy.port, 10)
        proxy.interrupt()
        try:
            code_going = proxy.process.wait(20)
        except subprocess.TimeoutExpired:
            raise Failed(f"disk full, continue: does not end on SIGINT: {proxy.said()}") from None
        said = proxy.said()
    if back_going != count or again != 10:
        raise Failed(f"disk full, continue: {back_going} of {count} messages, then {again} of 10 on a new connection")
    if not any(word in said.lower() for word in ("space", "full", "large")):
        raise Failed(f"disk full, continue: nothing was said: {said[-500:]}")
    continued = len(tapes.checked(going.tape, stopped=False))
    listener.close()
    return (
        f"disk full ({full.how}): by default exit 1 with {stopped} events on a whole tape; with continue all "
        f"{count + 10} messages passed, exit {code_going}, {continued} events on a whole tape"
    )


PARTS = {"refusals": refusals, "down": upstream_down, "full": disk_full}


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/surroundings", description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="of " + ",".join(PARTS))
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    failed = 0
    for part in options.parts.split(","):
        try:
            print("surroundings, " + PARTS[part](), flush=True)
        except Failed as failure:
            failed += fail(f"surroundings, {part}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
