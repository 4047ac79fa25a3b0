"""A client of raw bytes."""

import socket
import struct
from collections.abc import Callable

from wiretape_tools.lib.processes import Failed

WAIT = 3  # seconds for an answer


class Exchange:
    """What a client of raw bytes got back."""

    def __init__(self, port: int, data: bytes, end: bool = False, wait: float = WAIT, reset: bool = False) -> None:
        self.got, self.closed = b"", False
        self.client = socket.create_connection(("127.0.0.1", port))
        self.client.settimeout(wait)
        try:
            self.client.sendall(data)
            if end:
                self.client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before all was sent: the answer says why
        if reset:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.client.close()

    def read(self, enough: Callable[[bytes], bool] = lambda got: False) -> "Exchange":
        try:
            while not enough(self.got):
                more = self.client.recv(65536)
                if not more:
                    self.closed = True
                    break
                self.got += more
        except TimeoutError:
            pass
        except OSError:
            self.closed = True
        self.client.close()
        return self

    @property
    def status(self) -> int | None:
        return int(self.got[9:12]) if self.got.startswith(b"HTTP/1.") and self.got[9:12].isdigit() else None


def whole_answer(got: bytes) -> bool:
    """A response with a Content-Length and all of its body (or without one) is there."""
    if b"\r\n\r\n" not in got:
        return False
    head, body = got.split(b"\r\n\r\n", 1)
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


def read_head(connection: socket.socket) -> tuple[bytes, bytes]:
    """The head of an HTTP message and what came after it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            raise Failed(f"the connection ended in the head: {data[:200]!r}")
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    return head, rest
