"""Checks rtload against itself and against the Python `websockets` package.

venv/bin/python test_rtload.py [./rtload]
"""

import asyncio
import base64
import hashlib
import http.client
import json
import logging
import os
import socket
import struct
import subprocess
import sys
import time

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

logging.disable(logging.CRITICAL)  # the servers here are cut off on purpose
BIN = sys.argv[1] if len(sys.argv) > 1 else "./rtload"
PORT = 18500 + os.getpid() % 400
PY = PORT + 500
URL = f"ws://127.0.0.1:{PORT}"
failed = 0


def check(name, ok, detail=""):
    global failed
    failed += not ok
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f"   {detail}"))


async def load(*args):
    p = await asyncio.create_subprocess_exec(BIN, *map(str, args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await asyncio.wait_for(p.communicate(), 60)
    if b"ERROR: " in err or b"runtime error" in err:
        check("sanitizer " + " ".join(map(str, args)), False, err.decode()[:2000])
    return p.returncode, json.loads(out) if out else {"stderr": err.decode()}


# ------------------------------------------------------------ our server, their client
async def server_side():
    async with connect(URL + "/any/path", compression=None, max_size=None, subprotocols=["foo", "bar"]) as ws:
        check("first subprotocol is chosen", ws.subprotocol == "foo", ws.subprotocol)
        for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 125, 126, 127, 128, 1000, 65535, 65536, 65537, 300_000, 3_000_000):
            t, b = "".join(chr(97 + i % 26) for i in range(n)), os.urandom(n)
            await ws.send(t)
            await ws.send(b)
            check(f"echo of {n} bytes", await ws.recv() == t and await ws.recv() == b)
        await ws.send("žluťoučký kůň 🐎")
        check("echo of UTF-8", await ws.recv() == "žluťoučký kůň 🐎")
        await ws.send(["Hel", "", "lo ", "world"])
        check("echo of fragments", await ws.recv() == "Hello world")
        await ws.send([b"a" * 70000, b"b" * 10])
        frames = [f async for f in ws.recv_streaming(decode=False)]
        check(
            "fragments stay fragments",
            b"".join(frames) == b"a" * 70000 + b"b" * 10 and len(frames) == 3,
            [len(f) for f in frames],
        )
        pong = await ws.ping(b"hello")
        check("ping is answered", (await asyncio.wait_for(pong, 5)) < 5)
        many = [os.urandom(i % 300) for i in range(2000)]
        for m in many:
            await ws.send(m)
        check("2000 messages in order", [await ws.recv() for _ in many] == many)
        await ws.close(4001, "bye")
        check("close code is returned", ws.close_code == 4001 and ws.protocol.close_rcvd.code == 4001, ws.protocol.close_rcvd)
    async with connect(URL, compression="deflate") as ws:
        check("no extension is accepted", not ws.protocol.extensions)
        check("no subprotocol unless offered", ws.subprotocol is None)
    async with connect(URL + "/push?rate=200&size=100&count=50") as ws:
        t0, got = time.monotonic_ns(), [m async for m in ws]
        ev = [json.loads(m) for m in got]
        check("push: 50 messages of 100 bytes", len(got) == 50 and {len(m) for m in got} == {100})
        check("push: sequence", [int(e["seq"], 16) for e in ev] == list(range(50)))
        ts = [int(e["t"], 16) for e in ev]
        check(
            "push: times",
            all(0.2e6 < b - a < 60e6 for a, b in zip(ts, ts[1:], strict=False))
            and abs(ts[0] - t0) < 1e9
            and abs((ts[-1] - ts[0]) / 49e6 - 5) < 0.5,
            (ts[-1] - ts[0]) / 49e6,
        )
        check("push: closed with 1000", ws.close_code == 1000)


def http_get(path, method="GET", body=None, conn=None):
    c = conn or http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    c.request(method, path, body)
    r = c.getresponse()
    return r, r.read()


def raw(data, wait=0.3):
    s = socket.create_connection(("127.0.0.1", PORT))
    s.settimeout(5)
    s.sendall(data)
    got = b""
    try:
        while chunk := s.recv(65536):
            got += chunk
            s.settimeout(wait)
    except TimeoutError:
        got += b"<open>"
    except ConnectionResetError:
        pass
    return got


UP = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"


def server_http():
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    r, b = http_get("/", conn=c)
    check("GET /", r.status == 200 and b == b"ok\n")
    r, b = http_get("/nothing", conn=c)
    check("404, same connection", r.status == 404)
    r, b = http_get("/negotiate", "POST", b"x" * 300_000, conn=c)
    check("POST with a body, same connection", r.status == 200 and b == b"ok\n")
    t = time.monotonic()
    r, b = http_get("/poll?ms=150&size=37", conn=c)
    check("poll waits", r.status == 200 and len(b) == 37 and 0.149 < time.monotonic() - t < 0.5)
    r, b = http_get("/", "HEAD", conn=c)
    check("HEAD", r.status == 200 and b == b"" and r.getheader("content-length") == "3")
    r, b = http_get("/sse?rate=100&size=80&count=20", conn=c)
    ev = [e.split("\n") for e in b.decode().split("\n\n") if e]
    check(
        "sse",
        r.getheader("content-type") == "text/event-stream"
        and len(ev) == 20
        and [e[0] for e in ev] == [f"id: {i}" for i in range(20)]
        and [int(json.loads(e[1][6:])["seq"], 16) for e in ev] == list(range(20))
        and {len(e[1]) for e in ev} == {86},
    )
    r, b = http_get("/", conn=c)
    check("connection lives on after sse", r.status == 200)
    out = raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /poll?ms=50&size=3 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n")
    check("pipelined requests", out.count(b"200 OK") == 3 and b"<open>" not in out, out)
    out = raw(b"GET /sse?count=2&rate=100 HTTP/1.0\r\n\r\n")
    check(
        "sse over HTTP/1.0 has no chunks", out.count(b"\ndata: ") == 2 and b"chunked" not in out and out.endswith(b"}\n\n"), out
    )
    out = raw(UP)
    check("accept value of RFC 6455", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in out and out.endswith(b"<open>"), out)
    check("426 on a wrong version", b" 426 " in raw(UP.replace(b"Version: 13", b"Version: 8")))
    check("400 on a bad key", b" 400 " in raw(UP.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"abc")))
    check("400 on nonsense", b" 400 " in raw(b"nonsense\r\n\r\n"))
    check("400 on an endless head", b" 400 " in raw(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000))
    mask = lambda b: b"\1\2\3\4" + bytes(x ^ (1, 2, 3, 4)[i & 3] for i, x in enumerate(b))
    bad = {
        "unmasked": b"\x81\x02hi",
        "reserved bit": b"\xc1\x82" + mask(b"hi"),
        "opcode 3": b"\x83\x82" + mask(b"hi"),
        "long ping": b"\x89\xfe\x00\x7e" + mask(b"x" * 126),
        "fragmented ping": b"\x09\x82" + mask(b"hi"),
        "continuation first": b"\x80\x82" + mask(b"hi"),
        "text inside a message": b"\x01\x82" + mask(b"hi") + b"\x81\x82" + mask(b"hi"),
        "length not minimal": b"\x81\xfe\x00\x05" + mask(b"hello"),
        "64-bit length not minimal": b"\x81\xff" + struct.pack(">Q", 5) + mask(b"hello"),
        "huge length": b"\x82\xff" + struct.pack(">Q", 1 << 62) + b"\1\2\3\4",
    }
    for name, frame in bad.items():
        out = raw(UP + frame).split(b"\r\n\r\n", 1)[1]
        check("1002 on " + name, out.endswith(b"\x88\x02\x03\xea") or out == b"\x88\x02\x03\xea", out)
    s = socket.create_connection(("127.0.0.1", PORT))
    s.settimeout(5)
    for b in UP + b"\x01\x83" + mask(b"abc") + b"\x89\x82" + mask(b"pi") + b"\x80\x82" + mask(b"de"):
        s.sendall(bytes([b]))  # one byte at a time, a ping between fragments
    want, got = b"\x01\x03abc\x8a\x02pi\x80\x02de", b""
    while not got.endswith(want[-4:]):
        got += s.recv(4096)
    check("byte by byte, ping inside a message", got.split(b"\r\n\r\n", 1)[1] == want, got)
    s.close()


# ------------------------------------------------------------ our client, their server
async def client_side():
    async def echo(ws):
        async for m in ws:
            await ws.send(m)

    async def fragments(ws):  # echoes in pieces, with pings between them
        async for m in ws:

            async def pieces(m=m):
                for i in range(0, len(m), 50):
                    yield m[i : i + 50]
                    await ws.ping()

            await ws.send(pieces())

    def spoil(at, how):
        async def handler(ws):
            k, held = 0, None
            async for m in ws:
                k += 1
                if k == at:
                    if how == "flip":
                        m = m[:-1] + ("!" if isinstance(m, str) else b"!")
                    elif how == "drop":
                        continue
                    elif how == "twice":
                        await ws.send(m)
                    elif how == "swap":
                        held = m
                        continue
                    elif how == "close":
                        await ws.close(1011)
                        return
                    elif how == "cut":
                        ws.transport.abort()
                        return
                    elif how == "binary":
                        m = m.encode()
                await ws.send(m)
                if held:
                    await ws.send(held)
                    held = None

        return handler

    async def run(handler, *args, **kw):
        async with serve(handler, "127.0.0.1", PY, max_size=None, **{"compression": None, **kw}):
            return await load(*args)

    u = f"ws://127.0.0.1:{PY}/"
    for size in (0, 1, 5, 15, 16, 125, 126, 127, 1000, 65535, 65536, 200_000):
        rc, r = await run(echo, "ws", "--url", u, "--conns", 3, "--size", size, "--seconds", 0.3, "--warmup", 0)
        check(f"client: size {size}", rc == 0 and r["messages"] > 5 and r["clean_closes"] == 3, r)
    rc, r = await run(
        echo, "ws", "--url", u, "--conns", 4, "--size", 999, "--fragment", 100, "--ping-every", 3, "--seconds", 0.5, "--warmup", 0
    )
    check("client: sends fragments and pings", rc == 0 and r["messages"] > 50 and r["pongs_received"] > 10, r)
    rc, r = await run(fragments, "ws", "--url", u, "--conns", 4, "--size", 999, "--seconds", 0.5, "--warmup", 0)
    check("client: takes fragments, answers pings", rc == 0 and r["messages"] > 50 and r["pings_received"] > 100, r)
    rc, r = await run(
        echo, "ws", "--url", u, "--conns", 2, "--opcode", "binary", "--payload", "signalr", "--size", 300, "--seconds", 0.3
    )
    check("client: binary, signalr", rc == 0 and r["messages"] > 5, r)
    rc, r = await run(echo, "ws", "--url", u, "--conns", 8, "--rate", 50, "--size", 1024, "--seconds", 1, "--payload", "signalr")
    check("client: open loop", rc == 0 and r["messages"] == 400 and r["rtt_us"]["n"] == 400, r)
    rc, r = await run(echo, "ws", "--url", u, "--conns", 2, "--seconds", 0.2, "--subprotocol", "x,y", subprotocols=["y"])
    check("client: subprotocol", rc == 0 and r["messages"] > 5, r)
    rc, r = await run(echo, "ws", "--url", u, "--conns", 2, "--seconds", 0.2, "--subprotocol", "x,y")
    check("client: subprotocol refused is an error", rc == 1 and r["bad_handshakes"] == 2, r)
    rc, r = await run(echo, "churn", "--url", u, "--parallel", 8, "--seconds", 0.5, "--warmup", 0)
    check("client: churn", rc == 0 and r["connections"] > 20, r)
    rc, r = await run(echo, "idle", "--url", u, "--conns", 50, "--hold", 0.3, ping_interval=0.1)
    check("client: idle, pinged", rc == 0 and r["echo_ok"] == 50 and r["pings_received"] >= 50, r)
    rc, r = await run(lambda ws: ws.close(), "idle", "--url", u, "--conns", 5, "--hold", 0.3, "--timeout", 1)
    check("client: idle sees dropped connections", rc == 1 and r["failures"] == 5 and r["dropped"] == 5, r)
    args = ("ws", "--url", u, "--conns", 1, "--seconds", 0.5, "--warmup", 0)
    for how, key in (("flip", "mismatched"), ("binary", "mismatched"), ("close", "dropped"), ("cut", "dropped")):
        rc, r = await run(spoil(20, how), *args)
        check(f"client: sees {how}", rc == 1 and r[key] >= 1, r)
    for rate in (0, 2000):
        rc, r = await run(spoil(20, "twice"), *args, "--rate", rate)
        check(f"client: sees twice, rate {rate}", rc == 1 and r["unexpected"] + r["out_of_order"] == 1, r)
    for how, key in (("drop", "lost"), ("swap", "lost")):
        rc, r = await run(spoil(20, how), *args, "--rate", 2000)
        check(f"client: open loop sees {how}", rc == 1 and r[key] >= 1, r)
    rc, r = await run(spoil(20, "drop"), *args)
    check("client: closed loop sees drop", rc == 1 and r["unanswered"] == 1, r)

    async def answer(reply):  # a server of the plainest kind
        async def handler(rd, wr):
            head = await rd.readuntil(b"\r\n\r\n")
            key = next((line[19:] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key: ")), b"")
            acc = base64.b64encode(hashlib.sha1(key.strip() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            wr.write(reply.replace(b"@", acc))
            await wr.drain()
            await asyncio.sleep(0.5)
            wr.close()

        return await asyncio.start_server(handler, "127.0.0.1", PY)

    ok101 = b"HTTP/1.1 101 X\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: @\r\n"
    for name, reply, key in (
        ("wrong accept", ok101.replace(b"@", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") + b"\r\n", "bad_handshakes"),
        ("extension", ok101 + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", "bad_handshakes"),
        ("no upgrade", ok101.replace(b"Upgrade: W", b"Downgrade: W") + b"\r\n", "bad_handshakes"),
        ("status 200", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "bad_handshakes"),
        ("masked frame", ok101 + b"\r\n\x81\x81\1\2\3\4x", "protocol_errors"),
        ("silence", b"", "refused"),
    ):
        srv = await answer(reply)
        rc, r = await load(*args)
        check(f"client: refuses {name}", rc == 1 and r[key] == 1, r)
        srv.close()
        await srv.wait_closed()
    rc, r = await load(*args)
    check("client: nobody listens", rc == 1 and r["refused"] == 1, r)

    def sse_server(chunks, head=b"Transfer-Encoding: chunked\r\n"):
        return answer(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + head + b"\r\n" + b"".join(chunks))

    _, b = http_get("/sse?count=6&rate=1000&size=100")

    def chunked(b, k):
        return [b"%x;ext=1\r\n%s\r\n" % (len(b[i : i + k]), b[i : i + k]) for i in range(0, len(b), k)] + [
            b"0\r\nTrailer: x\r\n\r\n"
        ]

    ev = [e + b"\n\n" for e in b.split(b"\n\n") if e]
    for name, chunks, head, want in (
        ("chunks of 7", chunked(b, 7), None, (6, 0, 0, 0)),
        ("CRLF lines and comments", chunked(b.replace(b"\n", b"\r\n") + b": c\r\n\r\n", 50), None, (6, 0, 0, 0)),
        ("content-length", [b], b"Content-Length: %d\r\n" % len(b), (6, 0, 0, 0)),
        ("until the end", [b], b"", (6, 0, 0, 0)),
        ("a missing event", chunked(b"".join(ev[:2] + ev[3:]), 1000), None, (5, 1, 0, 0)),
        ("a missing tail", chunked(b"".join(ev[:4]), 1000), None, (4, 2, 0, 0)),
        ("a repeated event", chunked(b"".join(ev[:4] + ev[3:]), 1000), None, (6, 0, 1, 0)),
        ("a spoilt event", chunked(b.replace(ev[2][-9:], b"!" + ev[2][-8:], 1), 1000), None, (5, 1, 0, 1)),
    ):
        srv = await sse_server(chunks, b"Transfer-Encoding: chunked\r\n" if head is None else head)
        rc, r = await load("sse", "--url", f"http://127.0.0.1:{PY}/sse?count=6", "--conns", 2)
        got = tuple(r.get(k, -1) // 2 for k in ("events", "missing", "out_of_order", "mismatched"))
        check(f"client: sse, {name}", got == want and rc == (want != (6, 0, 0, 0)), (got, r))
        srv.close()
        await srv.wait_closed()


# ------------------------------------------------------------ both ends ours
async def both():
    for args in (
        ["--size", 0],
        ["--size", 128, "--conns", 64],
        ["--size", 70000, "--fragment", 1000, "--ping-every", 5],
        ["--size", 4_000_000, "--conns", 3],
        ["--rate", 500, "--conns", 20, "--size", 700],
        ["--rate", 3, "--conns", 200, "--size", 100_000],
    ):
        rc, r = await load("ws", "--url", URL, "--seconds", 1, *args)
        n = r.get("conns", 0)
        check("own ws " + " ".join(map(str, args)), rc == 0 and r["messages"] > 5 and r["clean_closes"] == n, r)
    rc, r = await load("push", "--url", URL + "/push?rate=0&size=1000&count=20000", "--conns", 3)
    check("own push, as fast as it goes", rc == 0 and r["events"] == 60000 and r["missing"] == 0, r)
    rc, r = await load("sse", "--url", f"http://127.0.0.1:{PORT}/sse?rate=0&size=1000&count=20000", "--conns", 3)
    check("own sse, as fast as it goes", rc == 0 and r["events"] == 60000 and r["missing"] == 0, r)
    rc, r = await load("sse", "--url", f"http://127.0.0.1:{PORT}/sse?rate=50", "--conns", 100, "--seconds", 1)
    check("own sse at a rate", rc == 0 and 4800 <= r["events"] <= 5200, r)
    rc, r = await load("poll", "--url", f"http://127.0.0.1:{PORT}/poll?ms=30&size=1000", "--conns", 50, "--seconds", 1)
    check("own poll", rc == 0 and r["responses"] > 600, r)
    rc, r = await load("poll", "--url", f"http://127.0.0.1:{PORT}/", "--conns", 5, "--seconds", 0.5)
    check("own plain GET", rc == 0 and r["responses"] > 100, r)
    rc, r = await load("idle", "--url", URL, "--conns", 6000, "--hold", 0.5, "--sources", 7, "--watch-pid", server.pid)
    check("own idle 6000 over 7 addresses", rc == 0 and r["echo_ok"] == 6000 and r["rss_held_kb"] >= r["rss_before_kb"] > 1000, r)
    rc, r = await load("churn", "--url", URL, "--seconds", 1, "--watch-pid", server.pid)
    check("own churn", rc == 0 and r["connections"] > 500 and r["watch_cpu_us_per_unit"] > 0, r)
    rc, r = await load("ws", "--url", URL, "--conns", 100000)
    check("too many connections are refused", rc == 2 and "RLIMIT_NOFILE" in r["stderr"], r)


server = subprocess.Popen([BIN, "echo-server", "--port", str(PORT), "--threads", "2"], stderr=subprocess.PIPE)
time.sleep(0.5)
try:
    asyncio.run(server_side())
    server_http()
    asyncio.run(client_side())
    asyncio.run(both())
    check("server still runs", server.poll() is None)
finally:
    server.terminate()
    assert server.stderr
    err = server.stderr.read().decode()
    check("server: nothing from a sanitizer", "ERROR: " not in err and "runtime error" not in err, err[:3000])
print("all passed" if not failed else f"{failed} FAILED")
sys.exit(bool(failed))
