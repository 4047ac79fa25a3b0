"""A TCP forwarder on loopback whose connections can be reset: what a network does, where wiretape must not be the one to do it."""

import contextlib
import socket
import struct
import threading
import time
from typing import Self

Pair = tuple[socket.socket, socket.socket]


class Forwarder:
    """Accepts on a port of its own and passes bytes on to another one of this machine.

    With `gather`, what comes within so many seconds of a first byte is passed on together.
    """

    def __init__(self, target: int, gather: float = 0.0) -> None:
        self.target = target
        self.gather = gather
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.pairs: list[Pair] = []
        self.held = 0.0
        self.changing = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # shutdown() wakes the thread that accepts; close() alone would not
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            time.sleep(max(0, self.held - time.monotonic()))
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            pair = (near, far)
            with self.changing:
                self.pairs.append(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self.pump, args=(source, sink, pair), daemon=True).start()

    def pump(self, source: socket.socket, sink: socket.socket, pair: Pair) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.gather:
                    time.sleep(self.gather)
                    with contextlib.suppress(BlockingIOError):
                        data += source.recv(65536, socket.MSG_DONTWAIT)
                sink.sendall(data)
        with self.changing:
            whole = pair in self.pairs
        if whole:
            with contextlib.suppress(OSError):
                sink.shutdown(socket.SHUT_WR)

    def cut(self, hold: float = 0.0) -> None:
        """Resets every connection, both sides of it; new ones go on only after hold seconds."""
        self.held = time.monotonic() + hold
        with self.changing:
            pairs, self.pairs = self.pairs, []
        for end in (end for pair in pairs for end in pair):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
                # The descriptor stays in use while its thread reads; shutdown() ends that.
                end.shutdown(socket.SHUT_RD)
                end.close()
