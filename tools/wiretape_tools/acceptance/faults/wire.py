"""A client's end of a connection as raw bytes: what came, when, and how it ended."""

import socket
import struct
import threading
import time

LIMIT = 15  # seconds for what has to come


made = threading.local()  # the wires of this thread's cell, which closes them


def close_all():
    for one in made.wires:
        one.close()


class Wire:
    """What comes is kept in `got`, with the times in `marks`; `end` is FIN or RST once it is known."""

    def __init__(self, port, window=None):
        self.got, self.marks, self.end, self.is_broken = bytearray(), [], None, False
        self.begun = time.monotonic()
        self.sock = socket.socket()
        if hasattr(made, "wires"):
            made.wires.append(self)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if window:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.sock.settimeout(LIMIT)
        try:
            self.sock.connect(("127.0.0.1", port))
        except OSError:
            self.end = "RST"

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            self.is_broken = True  # what is read next may be the end only: an error is told once
        return self

    def read(self, seconds=LIMIT, most=65536):
        """Takes what comes next; False when nothing does in that time, or nothing more can."""
        if self.end:
            return False
        self.sock.settimeout(max(seconds, 0.001))
        try:
            piece = self.sock.recv(most)
        except TimeoutError:
            return False
        except OSError:
            self.end = "RST"
            return False
        if not piece:
            self.end = "RST" if self.is_broken else "FIN"
            return False
        self.got += piece
        self.marks.append((len(self.got), time.monotonic()))
        return True

    def until(self, enough, seconds=LIMIT):
        """Reads until enough(bytes) holds; False when it did not in that time."""
        by = time.monotonic() + seconds
        while not enough(self.got):
            if self.end or time.monotonic() >= by:
                return False
            self.read(by - time.monotonic())
        return True

    def to_end(self, seconds=LIMIT):
        self.until(lambda _: False, seconds)
        return self.end

    def push(self, piece, quiet=0.4, limit=64 << 20):
        """Sends until nothing is taken for so long: how much was. None when everything is."""
        self.sock.settimeout(quiet)
        taken = 0
        while taken < limit:
            try:
                taken += self.sock.send(piece)
            except TimeoutError:
                return taken
            except OSError:
                self.end = "RST"
                return taken
        return None

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self):
        self.sock.close()


class Answer:
    """What came back for a request, from `start` of the wire's bytes on, as far as it came."""

    def __init__(self, wire, start, name):
        self.wire, self.start, self.name = wire, start, name

    @property
    def raw(self):
        return bytes(self.wire.got[self.start :])

    @property
    def head(self):
        return self.raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if b"\r\n\r\n" in self.raw else b""

    @property
    def body(self):
        return self.raw[len(self.head) :] if self.head else b""

    @property
    def status(self):
        return int(self.head[9:12]) if self.head.startswith(b"HTTP/1.1 ") else None

    @property
    def end(self):
        return self.wire.end

    def field(self, name):
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.lower() == name.lower().encode():
                return value.strip().decode()
        return None

    @property
    def is_whole(self):
        if not self.head:
            return False
        length = self.field("Content-Length")
        return len(self.body) >= int(length) if length else self.status in (101, 204) or self.field("Transfer-Encoding")


def ask(wire, name, method, target, fields=(), body=b"", seconds=LIMIT, extra=b""):
    """Sends a request (and `extra` behind it) and reads its answer, up to its head where the body has no length."""
    lines = [f"{method} {target} HTTP/1.1", "Host: p", *fields]
    if method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    answer = Answer(wire, len(wire.got), name)
    wire.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body + extra)
    wire.until(lambda _: answer.is_whole, seconds)
    return answer
