"""WebSocket bytes by hand (RFC 6455), for tests that send what no library sends and count what none counts."""

import base64
import hashlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def request(target: str, host: str, key: str | None = None, extra: Iterable[str] = ()) -> bytes:
    """The bytes of an upgrade request."""
    key = key or base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {target} HTTP/1.1",
        f"Host: {host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        *extra,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def response(head: bytes, extra: Iterable[str] = ()) -> bytes:
    """The 101 that answers a request's head."""
    key = next(
        line.split(b":", 1)[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")
    )
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
    lines = [
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {accept}",
        *extra,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def frame(opcode: int, payload: bytes, masked: bool, first: int = 0x80, length: int | None = None) -> bytes:
    """One frame. The mask key of a client's frame is zero, which leaves the payload readable.

    first: the FIN and reserved bits; length: another length than the payload's, to lie.
    """
    size = len(payload) if length is None else length
    bit = 0x80 if masked else 0
    if size < 126:
        head = bytes([first | opcode, bit | size])
    elif size < 65536:
        head = bytes([first | opcode, bit | 126]) + struct.pack(">H", size)
    else:
        head = bytes([first | opcode, bit | 127]) + struct.pack(">Q", size)
    return head + (b"\0\0\0\0" if masked else b"") + payload


class FrameReader:
    """Frames out of bytes in any split; payloads are unmasked."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yields (first byte, payload) of every whole frame."""
        self.buffer += data
        at = 0
        while len(self.buffer) - at >= 2:
            first, second = self.buffer[at], self.buffer[at + 1]
            body, size = at + 2, second & 0x7F
            if size >= 126:
                width = 2 if size == 126 else 8
                if len(self.buffer) < body + width:
                    break
                size = int.from_bytes(self.buffer[body : body + width], "big")
                body += width
            key = b""
            if second & 0x80:
                key = bytes(self.buffer[body : body + 4])
                body += 4
            if len(self.buffer) < body + size:
                break
            payload = bytes(self.buffer[body : body + size])
            if any(key):
                payload = bytes(b ^ key[i & 3] for i, b in enumerate(payload))
            yield first, payload
            at = body + size
        del self.buffer[:at]


class Inflater:
    """permessage-deflate of one direction (RFC 7692), as the server's answer has it; None where there is none."""

    def __init__(self, fields: Iterable[tuple[str, str]], direction: str) -> None:
        given = next((value for name, value in fields if name.lower() == "sec-websocket-extensions"), "")
        parts = [part.strip() for part in given.split(",")[0].split(";")]
        self.is_used = parts[0] == "permessage-deflate"
        side = "client" if direction == ">" else "server"
        self.keeps = f"{side}_no_context_takeover" not in parts
        self.stream = zlib.decompressobj(-15)

    def message(self, data: bytes) -> bytes:
        if not self.is_used:
            raise ValueError("a compressed WebSocket frame without permessage-deflate")
        found = self.stream.decompress(data + b"\0\0\xff\xff")
        if not self.keeps:
            self.stream = zlib.decompressobj(-15)
        return found
