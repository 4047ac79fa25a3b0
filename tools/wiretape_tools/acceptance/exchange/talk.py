"""A server that notes what is said, and a raw client for it: JSON, a POST, an event stream, a WebSocket."""

import base64
import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import socket
import threading
import time
from collections.abc import Iterator

from wiretape_tools.lib import frames
from wiretape_tools.lib.tapes import Event, payload

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PAGE = b"<!doctype html><title>talk</title>"
EVENTS = [b"data: one\n\n", b"event: second\ndata: two\ndata: lines\n\n", b"id: 3\ndata: three\n\n"]


@dataclasses.dataclass
class Truth:
    """What was said, as the server saw it: (direction, opcode, payload) of the WebSocket, and bodies by method and path."""

    messages: list[tuple[str, str, bytes]] = dataclasses.field(default_factory=list)
    answers: dict[str, bytes] = dataclasses.field(default_factory=dict)
    posted: dict[str, bytes] = dataclasses.field(default_factory=dict)


class Server:
    """Answers on a port of its own until it is closed."""

    def __init__(self) -> None:
        self.truth = Truth()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            rest = b""
            while True:
                while b"\r\n\r\n" not in rest:
                    more = connection.recv(65536)
                    if not more:
                        return
                    rest += more
                head, rest = rest.split(b"\r\n\r\n", 1)
                first, *lines = head.decode("latin-1").split("\r\n")
                fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                while len(rest) < int(fields.get("content-length", 0)):
                    rest += connection.recv(65536)
                body, rest = rest[: int(fields.get("content-length", 0))], rest[int(fields.get("content-length", 0)) :]
                method, target, _ = first.split(" ")
                path = target.split("?")[0]
                if fields.get("upgrade", "").lower() == "websocket":
                    self.websocket(connection, fields["sec-websocket-key"], rest)
                    return
                self.answer(connection, method, path, body)

    def answer(self, connection: socket.socket, method: str, path: str, body: bytes) -> None:
        if path == "/events":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for event in EVENTS:
                connection.sendall(b"%x\r\n%s\r\n" % (len(event), event))
                time.sleep(0.05)
            connection.sendall(b"0\r\n\r\n")
            self.truth.answers["GET /events"] = b"".join(EVENTS)
            return
        kind, out = ("text/html", PAGE) if path == "/" else ("application/json", json.dumps({"path": path, "é": 1}).encode())
        if path == "/bytes":
            kind, out = "application/octet-stream", bytes(range(256))
        if method == "POST":
            self.truth.posted[f"{method} {path}"] = body
        self.truth.answers[f"{method} {path}"] = out
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(out)}\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n"
        connection.sendall(head.encode() + out)

    def websocket(self, connection: socket.socket, key: str, rest: bytes) -> None:
        accept = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()  # noqa: S324
        connection.sendall(
            f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )
        for opcode, data in received(connection, rest):
            if opcode == frames.CLOSE:
                connection.sendall(frames.frame(frames.CLOSE, data[:2], False))
                return
            if opcode not in (frames.TEXT, frames.BINARY):
                continue
            kind = "text" if opcode == frames.TEXT else "binary"
            self.truth.messages.append((">", kind, data))
            for answer, code in ((b"echo " + data, opcode), (bytes([0, 255, len(data) % 256]), frames.BINARY)):
                self.truth.messages.append(("<", "text" if code == frames.TEXT else "binary", answer))
                connection.sendall(frames.frame(code, answer, False))


def received(connection: socket.socket, rest: bytes = b"") -> Iterator[tuple[int, bytes]]:
    """(opcode, payload) of the frames that come."""
    reader = frames.FrameReader()
    data = rest or connection.recv(65536)
    while data:
        for first, body in reader.feed(data):
            yield first & 15, body
        data = connection.recv(65536)


def converse(port: int) -> None:
    """What the browser's page does, over raw sockets."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
        for method, path, body in (
            ("GET", "/api?x=1", b""),
            ("POST", "/post", b'{"q": "\xc3\xa9"}'),
            ("GET", "/bytes", b""),
            ("GET", "/events", b""),
        ):
            head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            head += f"Content-Length: {len(body)}\r\n\r\n"
            one.sendall(head.encode() + body)
            answer(one)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as two:
        key = base64.b64encode(os.urandom(16)).decode()
        two.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        data = b""
        while b"\r\n\r\n" not in data:
            data += two.recv(65536)
        heard = received(two, data.split(b"\r\n\r\n", 1)[1])
        for number in range(5):
            two.sendall(frames.frame(frames.TEXT, f"message {number} é".encode(), True))
            for _ in itertools.islice(heard, 2):
                pass
        two.sendall(frames.frame(frames.BINARY, bytes(range(200)), True))
        for _ in itertools.islice(heard, 2):
            pass
        two.sendall(frames.frame(frames.CLOSE, b"\x03\xe8bye", True))
        for _ in heard:
            pass


def answer(connection: socket.socket) -> bytes:
    """Reads one answer with a length or in chunks."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    fields = head.decode("latin-1").lower()
    if "content-length:" in fields:
        count = int(fields.split("content-length:")[1].split("\r\n")[0])
        while len(body) < count:
            body += connection.recv(65536)
        return body
    while not body.endswith(b"0\r\n\r\n"):
        body += connection.recv(65536)
    return body


def heard(events: list[Event]) -> Truth:
    """What a tape says was said."""
    truth, open_bodies = Truth(), {}
    for event in events:
        key = (event.get("c"), event.get("x"))
        if event["e"] == "message":
            truth.messages.append((event["d"], event["op"], payload(event)))
        elif event["e"] == "request":
            name = f"{event['method']} {event['target'].split('?')[0]}"
            open_bodies[key] = name
            if event["method"] == "POST":
                truth.posted[name] = payload(event)
        elif event["e"] == "response" and event["status"] != 101:
            truth.answers[open_bodies[key]] = payload(event)
        elif event["e"] == "chunk":
            into = truth.answers if event["d"] == "<" else truth.posted
            into[open_bodies[key]] = into.get(open_bodies[key], b"") + payload(event)
    return truth
