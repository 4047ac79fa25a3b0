"""Hostile HTTP and WebSocket bytes through `wiretape record`, from clients and from servers.

They are answered or relayed as they came, never a crash, never a second request slipped past, memory bounded, and
what was recorded before stays on the tape. Exit 1 if one of these does not hold.
"""

import argparse
import contextlib
import socket
import sys
import threading
import time
import zlib

from wiretape_tools.lib import frames, tapes
from wiretape_tools.lib.exchange import Exchange, whole_answer
from wiretape_tools.lib.hostile_cases import ANSWERS, DEFLATED, FRAMES, REQUESTS, post
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, fail

WORK = ROOT / ".build/acceptance"
LIMIT = 64 * 1024  # KiB of RSS


class Origin:
    """A server of raw bytes: answers by target, keeps what every connection sent."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.scripts = {}  # target: what to send, or a function of (socket, head)
        self.received = []  # bytearray for each connection, in order
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        log = bytearray()
        with self.lock:
            self.received.append(log)
        try:
            with connection:
                self.talk(connection, log)
        except OSError:
            pass

    def talk(self, connection, log):
        seen = 0
        while True:
            more = connection.recv(65536)
            if not more:
                return
            log += more
            while (end := log.find(b"\r\n\r\n", seen)) >= 0:
                head = bytes(log[seen : end + 4])
                seen = end + 4
                target = head.split(b" ")[1].decode("latin-1") if head.count(b" ") > 1 else ""
                script = self.scripts.get(target, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                if callable(script):
                    connection.sendall(script(head))
                    seen = 1 << 60  # from here on bytes are only kept
                else:
                    connection.sendall(script)
                    if target.startswith("/end"):
                        connection.shutdown(socket.SHUT_WR)

    def saw(self, needle):
        return any(needle in log for log in self.received)


class Bench:
    """One record in front of one origin; checks after each case that it lives, serves and is small."""

    def __init__(self, arguments=(), options=None):
        self.origin = Origin()
        self.tape = WORK / "hostile.tape.gz"
        command = ["record", "--upstream", f"http://127.0.0.1:{self.origin.port}", "--output", self.tape, "--force"]
        self.proxy = Wiretape([*command, *arguments], WORK / "hostile.log", **(options or {}))
        self.cases = 0

    def alive(self, name):
        self.cases += 1
        if self.proxy.process.poll() is not None:
            raise Failed(f"{name}: record ended with {self.proxy.process.returncode}: {self.proxy.said()}")
        answer = Exchange(self.proxy.port, b"GET /alive HTTP/1.1\r\nHost: x\r\n\r\n").read(whole_answer)
        if answer.status != 200:
            raise Failed(f"{name}: afterwards a plain request got {answer.got[:200]!r}")
        if (rss := self.proxy.rss()) > LIMIT:
            raise Failed(f"{name}: RSS is {rss / 1024:.0f} MiB afterwards")

    def finish(self):
        if (code := self.proxy.stop()) != 0:
            raise Failed(f"record ended with {code}: {self.proxy.said()}")
        tapes.checked(self.tape)
        self.origin.listener.close()


# ---------------------------------------------------------------- requests that are wrong


def requests(bench):
    """Each case on a connection of its own; a second request must never reach the origin."""
    for name, data, right in REQUESTS:
        bench.origin.received.clear()
        answer = Exchange(bench.proxy.port, data).read(whole_answer)
        if right is not None and answer.status not in right:
            raise Failed(f"{name}: answered {answer.status} {answer.got[:120]!r}, right is {right}")
        time.sleep(0.02)
        if bench.origin.saw(b"/smuggled") and b"/smuggled" in data:
            raise Failed(f"{name}: a second request slipped past: {bench.origin.received}")
        bench.alive(name)
    for name, data in [
        ("cut in the head", b"GET / HTTP/1.1\r\nHo"),
        ("cut in the body", post(b"Content-Length: 9", body=b"abc")),
    ]:
        Exchange(bench.proxy.port, data, end=True, wait=1).read()
        bench.alive(name + " by FIN")
        Exchange(bench.proxy.port, data, reset=True)
        bench.alive(name + " by RST")


# ---------------------------------------------------------------- answers that are wrong


def answers(bench):
    """The client gets an answer, or the end of the connection; it is not left hanging."""
    bomb = zlib.compressobj(9, wbits=31)
    squeezed = bomb.compress(bytes(200 << 20)) + bomb.flush()
    for number, (name, data) in enumerate(ANSWERS):
        target = f"/end/{number}"
        bench.origin.scripts[target] = data % len(squeezed) + squeezed if b"%d" in data else data
        request = f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        answer = Exchange(bench.proxy.port, request, wait=10).read(
            lambda got: whole_answer(got) and not got.startswith(b"HTTP/1.1 103")
        )
        if not answer.got and not answer.closed:
            raise Failed(f"an upstream that answers {name}: the client hangs")
        bench.alive(f"an upstream that answers {name}")


# ---------------------------------------------------------------- WebSocket frames that are wrong


def websocket(bench, cases, extension):
    """Each case from the client and from the server: relayed byte for byte, or that side's connection is closed."""
    offer = ["Sec-WebSocket-Extensions: permessage-deflate"] if extension else []
    for number, (name, make) in enumerate(cases):
        # from the client
        target = f"/ws/{extension}/{number}"
        bench.origin.scripts[target] = lambda head: frames.response(head, offer)
        bench.origin.received.clear()
        first = frames.frame(1, b"first", True)
        sent = first + make(True)
        answer = upgraded(bench, target, offer, sent)
        relayed = bytes(b"".join(bench.origin.received)).split(b"\r\n\r\n", 1)[-1]
        check_passed(f"{name} from a client", sent, relayed, answer)
        bench.alive(f"{name} from a client")
        # from the server
        data = frames.frame(1, b"first", False) + make(False)
        bench.origin.scripts[target + "/s"] = lambda head, data=data: frames.response(head, offer) + data
        answer = upgraded(bench, target + "/s", offer, b"", expect=len(data))
        got = answer.got.split(b"\r\n\r\n", 1)[-1]
        if got != data and not (data.startswith(got[:7]) and answer.closed):
            raise Failed(f"{name} from a server: relayed as {got[:100]!r} ({len(got)} of {len(data)} bytes)")
        bench.alive(f"{name} from a server")


def upgraded(bench, target, offer, data, expect=0):
    exchange = Exchange(bench.proxy.port, frames.request(target, "x", extra=offer), wait=5)
    exchange.client.settimeout(5)
    head = b""
    while b"\r\n\r\n" not in head:
        more = exchange.client.recv(65536)
        if not more:
            raise Failed(f"no answer to an upgrade of {target}")
        head += more
    exchange.got = head
    with contextlib.suppress(OSError):
        exchange.client.sendall(data)
    wanted = len(head.split(b"\r\n\r\n", 1)[0]) + 4 + expect
    exchange.client.settimeout(2 if expect else 0.3)
    return exchange.read(lambda got: expect and len(got) >= wanted)


def check_passed(name, sent, relayed, answer):
    if relayed == sent:
        return
    closed = answer.closed or frames.CLOSE in [
        first & 15 for first, _ in frames.FrameReader().feed(answer.got.split(b"\r\n\r\n", 1)[-1])
    ]
    if not (sent.startswith(relayed) and closed):
        raise Failed(
            f"{name}: the origin got {relayed[:100]!r} ({len(relayed)} of {len(sent)} bytes), "
            f"the client {answer.got[-100:]!r}"
        )


def first_messages(events, wanted):
    """The message before each bad one is on the tape."""
    found = sum(e.get("e") == "message" and e.get("text") == "first" for e in events)
    if found != wanted:
        raise Failed(f"{found} of {wanted} messages that came before bad bytes are on the tape")


def bytes_from_outside():
    bench = Bench()
    with bench.proxy:
        requests(bench)
        answers(bench)
        websocket(bench, FRAMES, extension=False)
        websocket(bench, DEFLATED, extension=True)
        bench.finish()
        events = tapes.checked(bench.tape)
        first_messages(events, 2 * (len(FRAMES) + len(DEFLATED)))
    return (
        f"{bench.cases} cases of bad bytes: answered, relayed or closed, RSS under 64 MiB, "
        f"tape whole ({len(events)} events)"
    )


def main():
    argparse.ArgumentParser(prog="tools/acceptance/hostile", description=__doc__.split("\n")[0]).parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    print("hostile: " + bytes_from_outside())
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"hostile: {failure}"))
