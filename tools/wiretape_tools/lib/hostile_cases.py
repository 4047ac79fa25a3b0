"""Bytes that are wrong: requests, answers and WebSocket frames, for tools/acceptance/hostile."""

import struct
import zlib
from typing import Any

from wiretape_tools.lib import frames

HOST = b"Host: x\r\n"
SECOND = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def post(*lines: bytes, body: bytes = b"") -> bytes:
    return b"POST /c HTTP/1.1\r\nHost: x\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


# 200: the origin answers as soon as it has the head, which may be before the proxy has seen what is wrong.
CUT_SHORT = {200, 400, 413, 431, None}

# name, bytes, statuses that are right (None: relayed or closed without one is right too)
REQUESTS: list[tuple[str, bytes, Any]] = [
    ("a head of 80 KiB", b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"a" * 80000 + b"\r\n\r\n", {400, 431}),
    ("10,000 fields", b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n" * 20000 + b"\r\n", {400, 431}),
    ("a target of 100 KiB", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", {400, 414, 431}),
    ("16 MiB without a line end", b"a" * (16 << 20), {400, 414, 431, None}),
    ("a bad chunk size", CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n" + SECOND, CUT_SHORT),
    ("a chunk size over 64 bits", CHUNKED + b"fffffffffffffffff\r\nabc\r\n0\r\n\r\n" + SECOND, CUT_SHORT),
    ("a negative chunk size", CHUNKED + b"-1\r\nabc\r\n0\r\n\r\n" + SECOND, CUT_SHORT),
    ("a chunk size with a sign", CHUNKED + b"+3\r\nabc\r\n0\r\n\r\n" + SECOND, CUT_SHORT),
    ("a chunk size in 0x", CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n" + SECOND, CUT_SHORT),
    ("a chunk without its line end", CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n" + SECOND, CUT_SHORT),
    ("a chunk extension of 1 MiB", CHUNKED + b"3;" + b"x" * (1 << 20) + b"\r\nabc\r\n0\r\n\r\n", CUT_SHORT),
    ("trailers of 1 MiB", CHUNKED + b"0\r\n" + b"A: b\r\n" * 200000 + b"\r\n", CUT_SHORT),
    (
        "a length and chunks",
        post(b"Content-Length: 4", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n" + SECOND),
        {400},
    ),
    (
        "chunks and a length",
        post(b"Transfer-Encoding: chunked", b"Content-Length: 4", body=b"0\r\n\r\n" + SECOND),
        {400},
    ),
    ("two lengths that differ", post(b"Content-Length: 3", b"Content-Length: 40", body=b"abc" + SECOND), {400}),
    ("a length with a sign", post(b"Content-Length: +3", body=b"abc" + SECOND), {400}),
    ("a negative length", post(b"Content-Length: -3", body=b"abc" + SECOND), {400}),
    ("a length over 64 bits", post(b"Content-Length: 99999999999999999999999", body=b"abc"), {400, 413}),
    ("a length in hex", post(b"Content-Length: 0x3", body=b"abc" + SECOND), {400}),
    ("a list of lengths that differ", post(b"Content-Length: 3, 40", body=b"abc" + SECOND), {400}),
    ("an empty length", post(b"Content-Length: ", body=b"abc" + SECOND), {400}),
    ("a coding that is not chunked", post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n" + SECOND), {400, 501}),
    ("chunked not last", post(b"Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n" + SECOND), {400, 501}),
    ("chunked twice", post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n" + SECOND), {400, 501}),
    ("a space before the colon", post(b"Transfer-Encoding : chunked", body=b"0\r\n\r\n" + SECOND), {400}),
    ("a bare CR in a field", post(b"A: b\rTransfer-Encoding: chunked", body=b"0\r\n\r\n"), {400}),
    ("a bare CR as line end", b"GET / HTTP/1.1\rHost: x\r\rGET /smuggled HTTP/1.1\r\r", {400, None}),
    ("a NUL in a field", post(b"A: b\0c"), {400}),
    ("a field without a colon", post(b"nonsense"), {400}),
    ("a field without a name", post(b": x"), {400}),
    ("a folded field", post(b"A: b", b" Content-Length: 3", body=b""), {400, 200}),
    ("two spaces in the request line", b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    ("a request line of one word", b"GET\r\n" + HOST + b"\r\n", {400}),
    ("no target", b"GET HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    ("HTTP/3.1", b"GET / HTTP/3.1\r\n" + HOST + b"\r\n", {400, 505}),
    ("a lower-case version", b"GET / http/1.1\r\n" + HOST + b"\r\n", {400, 505}),
    ("a method with a NUL", b"G\0T / HTTP/1.1\r\n" + HOST + b"\r\n", {400, 501}),
    ("a TLS hello", bytes.fromhex("16030100c8010000c40303") + bytes(range(200)) + b"\r\n\r\n", {400, None}),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 505, None}),
    (
        "an upgrade with a body length",
        post(b"Upgrade: websocket", b"Connection: upgrade", b"Content-Length: 99999"),
        None,
    ),
]

ANSWERS = [
    ("garbage", b"\x00\x01\x02garbage\r\n\r\n"),
    ("a head of 1 MiB", b"HTTP/1.1 200 OK\r\nA: " + b"a" * (1 << 20) + b"\r\n\r\n"),
    ("a head cut short", b"HTTP/1.1 200 OK\r\nContent-Le"),
    ("nothing", b""),
    ("a body cut short", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
    ("a bad chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"),
    ("a length and chunks", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    ("a bare CR", b"HTTP/1.1 200 OK\r\nA: b\rC: d\r\nContent-Length: 0\r\n\r\n"),
    ("status 99", b"HTTP/1.1 99 Odd\r\nContent-Length: 0\r\n\r\n"),
    ("status abc", b"HTTP/1.1 abc Odd\r\nContent-Length: 0\r\n\r\n"),
    (
        "1,000 interim answers",
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 1000 + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ),
    ("a 101 that nobody asked for", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    (
        "an answer and more",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
    ),
    ("a gzip bomb", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"),
    ("no gzip", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
]

FRAMES = [  # name, function of `masked` giving the bytes
    ("RSV1 without an extension", lambda m: frames.frame(1, b"abc", m, first=0xC0)),
    ("RSV2 and RSV3", lambda m: frames.frame(1, b"abc", m, first=0xB0)),
    ("opcode 3", lambda m: frames.frame(3, b"abc", m)),
    ("opcode 15", lambda m: frames.frame(15, b"abc", m)),
    ("a ping of 200 bytes", lambda m: frames.frame(9, b"p" * 200, m)),
    ("a ping in fragments", lambda m: frames.frame(9, b"p", m, first=0) + frames.frame(0, b"q", m)),
    ("a continuation of nothing", lambda m: frames.frame(0, b"abc", m)),
    ("a text in a text", lambda m: frames.frame(1, b"abc", m, first=0) + frames.frame(1, b"def", m)),
    ("the wrong mask bit", lambda m: frames.frame(1, b"abc", not m)),
    ("a length of 2^63", lambda m: frames.frame(2, b"abc", m, length=1 << 63)),
    ("a length of 2^64 - 1", lambda m: frames.frame(2, b"abc", m, length=(1 << 64) - 1)),
    ("a length of 2^62", lambda m: frames.frame(2, b"abc", m, length=1 << 62)),
    (
        "a length of 3 in 8 bytes",
        lambda m: bytes([0x82, (0x80 if m else 0) | 127]) + struct.pack(">Q", 3) + (b"\0" * 4 if m else b"") + b"abc",
    ),
    ("text that is no UTF-8", lambda m: frames.frame(1, b"\xff\xfe\xc0\x80", m)),
    ("text cut in a character", lambda m: frames.frame(1, "é".encode()[:1], m)),
    ("a close of one byte", lambda m: frames.frame(8, b"\x03", m)),
    ("a close with code 999", lambda m: frames.frame(8, struct.pack(">H", 999), m)),
    ("a close whose reason is no UTF-8", lambda m: frames.frame(8, struct.pack(">H", 1000) + b"\xff", m)),
    ("data after a close", lambda m: frames.frame(8, struct.pack(">H", 1000), m) + frames.frame(1, b"late", m)),
    (
        "an empty message in 5,000 fragments",
        lambda m: frames.frame(1, b"", m, first=0) + frames.frame(0, b"", m, first=0) * 5000 + frames.frame(0, b"", m),
    ),
    ("half a frame", lambda m: frames.frame(1, b"a" * 1000, m)[:500]),
]


def squeeze(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


DEFLATED = [
    ("a deflate bomb of 1 GiB", lambda m: frames.frame(2, bomb_of(1 << 30), m, first=0xC0)),
    ("bytes that are no deflate", lambda m: frames.frame(1, b"\xff" * 100, m, first=0xC0)),
    ("deflate that goes back too far", lambda m: frames.frame(1, bytes.fromhex("030200"), m, first=0xC0)),
    (
        "RSV1 on a continuation",
        lambda m: frames.frame(1, squeeze(b"abc"), m, first=0x40) + frames.frame(0, b"", m, first=0xC0),
    ),
]


def bomb_of(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    block = bytes(1 << 20)
    return b"".join([packer.compress(block) for _ in range(size >> 20)] + [packer.flush(zlib.Z_SYNC_FLUSH)])[:-4]
