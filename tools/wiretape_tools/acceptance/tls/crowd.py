"""Ten thousand TLS connections that ask nothing and five hundred that never end their request, beside one that works.

All processes share the machine, those that make the crowd too. So every question to the server is followed by one to its twin, which
runs with the same options and has no crowd: both meet the same moments of the machine, and what the twin is slower is the machine's.
Both figures are printed; the ratio that counts is what is left.
"""

import contextlib
import os
import select
import socket
import ssl
import statistics
import time

from wiretape_tools.acceptance.tls.stage import WORK, Authority, Origin, Shaken, proxy, raise_limit, trusting
from wiretape_tools.lib.processes import Failed, Skipped, Wiretape

MOST = 40  # KiB a connection
RATIO = 2.0
ASKED = 3000  # requests of the good client in a round
# One round's p99 varies by a factor of three on a shared machine, whoever is beside it: medians of so many are compared, half
# of those alone before the others came and half after they went.
ROUNDS = 12


class Crowd:
    """A child process that shakes hands so often and says nothing more, or a byte at a time."""

    def __init__(self, port, pem, idle, slow):
        ready, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ready)
            os.nice(10)
            try:
                gather(port, pem, idle, slow, told)
            finally:
                os._exit(0)
        os.close(told)
        with os.fdopen(ready, "rb") as pipe:
            self.count = int(pipe.readline() or b"0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def gather(port, pem, idle, slow, told):
    raise_limit(idle + slow + 100)
    context = trusting(pem)
    held, done = [], 0
    started: dict[int, ssl.SSLSocket] = {}
    poll = select.epoll()
    while done < idle + slow:
        # Two dozen handshakes at a time.
        while len(started) < 24 and done + len(started) < idle + slow:
            plain = socket.create_connection(("127.0.0.1", port), 60)
            plain.setblocking(False)
            stream = context.wrap_socket(plain, server_hostname="localhost", do_handshake_on_connect=False)
            started[stream.fileno()] = stream
            poll.register(stream.fileno(), select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        for number, _ in poll.poll(60):
            stream = started[number]
            try:
                stream.do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                continue
            poll.unregister(number)
            held.append(started.pop(number))
            done += 1
    os.write(told, b"%d\n" % len(held))
    os.close(told)
    slow_ones = held[:slow]
    for stream in slow_ones:
        stream.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
    while True:
        for stream in slow_ones:
            stream.send(b"a")
            time.sleep(1 / max(1, slow))


def round_of(ports, pem):
    """The 99th percentiles of so many requests on one connection to each, asked by turns, in microseconds."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Shaken(port, trusting(pem))) for port in ports]
        for client in clients:
            if client.error:
                raise Failed(f"the good client is not let in: {client.error}")
            client.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times: list[list[float]] = [[] for _ in clients]
        for _ in range(ASKED):
            for client, took in zip(clients, times, strict=True):
                started = time.perf_counter()
                if (got := client.get()) != "GET / HTTP/1.1":
                    raise Failed(f"the good client got {got!r}")
                took.append(time.perf_counter() - started)
        return [statistics.quantiles(took, n=100)[98] * 1e6 for took in times]


def spread(rounds):
    return f"{statistics.median(rounds):.0f} us ({min(rounds):.0f} to {max(rounds):.0f})"


def slower(among, alone):
    return statistics.median(among) / statistics.median(alone)


def beside(server, twin, pem, idle, slow):
    """Memory a connection, and the good client's p99 alone and beside them."""
    ports = (server.port, twin.port)
    round_of(ports, pem)
    alone = [round_of(ports, pem) for _ in range(ROUNDS // 2)]
    before = server.rss()
    started = time.monotonic()
    with Crowd(server.port, pem, idle, slow) as them:
        if them.count != idle + slow or "make room" in server.said(20000):
            raise Failed(f"{them.count} of {idle + slow} were let in: {server.said()}")
        took = time.monotonic() - started
        each = (server.rss() - before) / (idle + slow)
        among = [round_of(ports, pem) for _ in range(ROUNDS)]
    time.sleep(1)
    alone += [round_of(ports, pem) for _ in range(ROUNDS // 2)]
    (its_among, twins_among), (its_alone, twins_alone) = zip(*among, strict=True), zip(*alone, strict=True)
    ratio, machine = slower(its_among, its_alone), max(1.0, slower(twins_among, twins_alone))
    text = (
        f"{server.name}, {idle} idle and {slow} slow TLS connections in {took:.0f} s: {each:.1f} KiB a connection; "
        f"p99 of a client beside them {spread(its_among)}, alone {spread(its_alone)}, ratio {ratio:.2f} "
        f"(the machine alone {machine:.2f})"
    )
    if each > MOST:
        raise Failed(text + f"; more than {MOST} KiB")
    if ratio / machine > RATIO:
        raise Failed(text + f"; {ratio / machine:.2f} is more than {RATIO}")
    return text


def crowd(options):
    """A replay and both kinds of relay with all of them: those that ask nothing need one descriptor each."""
    wanted = options.idle + options.slow
    limit = raise_limit(wanted + 500)
    if limit < wanted + 500:
        raise Skipped(f"{wanted} connections need as many descriptors, and there are {limit} (ulimit -Hn)")
    authority = Authority()
    tape = WORK / "crowd.tape"
    patient = ("--idle-timeout", "off", "--head-timeout", "off")
    with Origin() as origin:
        with proxy(origin, authority, "--output", tape, "--force", kind="record") as server:
            with Shaken(server.port, trusting(authority.pem)) as client:
                client.get()
            server.stop()

        def start(kind, name):
            log = f"crowd-{name}.log"
            if kind == "replay":
                return Wiretape([kind, tape, *authority.options, *patient, "--speed", "instant"], WORK / log)
            kept = ("--output", WORK / f"crowd-{name}.tape", "--force") if kind == "record" else ()
            return proxy(origin, authority, *patient, *kept, kind=kind, log=log)

        told = []
        for kind in ("replay", "proxy", "record"):
            with start(kind, "server") as server, start(kind, "twin") as twin:
                told.append(beside(server, twin, authority.pem, options.idle, options.slow))
    return "; ".join(told)
