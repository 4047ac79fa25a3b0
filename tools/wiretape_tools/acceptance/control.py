"""The control API from outside: schemathesis against docs/openapi.json, the token, subscribers that never read.

schema       drawn requests, right and wrong, to every operation but the event stream, against a replay and a recording, while a
             client plays: no 5xx, no answer that the document does not have. schemathesis comes from PyPI, into .build/control-venv.
token        an address beyond loopback: refused without a token, 401 and 403 without the right one.
subscribers  1,000 that never read, while 20,000 messages are replayed: memory, and the time that the replay takes without and with.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from wiretape_tools.lib.processes import ROOT, Failed, Program, Wiretape, binary, fail, run, wait_for_port

WORK = ROOT / ".build/acceptance/control"
VENV = ROOT / ".build/control-venv"
SCHEMATHESIS = "schemathesis==4.32.5"
TAPE = ROOT / "recordings/chat.tape.gz"
# What is answered without the token: the page asks for it.
OPEN = {"/healthz": (200, 200), "/": (200, 200), "/page/{file}": (404, 404)}
# Rules, selectors and policies have grammars that no JSON schema says, and paths and ids have to be there: a request that the schema
# takes may be refused with 4xx all the same.
LEFT_OUT = "positive_data_acceptance"


def ask(url, method="GET", body=None, token=None, timeout=30.0):
    """(status, value or text)."""
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode())
    if token:
        request.add_header("Authorization", "Bearer " + token)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            status, data = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, data = error.code, error.read()
    try:
        return status, json.loads(data)
    except ValueError:
        return status, data.decode(errors="replace")


def schemathesis() -> pathlib.Path:
    program = VENV / "bin/st"
    if not program.exists():
        for command in (
            [sys.executable, "-m", "venv", VENV],
            [VENV / "bin/pip", "install", "--quiet", SCHEMATHESIS],
        ):
            code, out, err = run(command, seconds=600)
            if code:
                raise Failed(f"{SCHEMATHESIS} cannot be installed: {(err or out).strip()[-300:]}")
    return program


@contextlib.contextmanager
def playing(url):
    """A raw client that connects again and again, says half of the tape and leaves."""
    over = threading.Event()
    host, port = url.split("//")[1].split(":")

    def play():
        while not over.is_set():
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 2) as client:
                client.settimeout(0.3)
                client.sendall(
                    b"GET /hub HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                )
                with contextlib.suppress(TimeoutError):
                    client.recv(4096)
                    text = b'{"protocol":"json","version":1}\x1e'
                    client.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
                    client.recv(4096)
            over.wait(0.05)

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def schema(options):
    """Both kinds of run, each with its own process."""
    shutil.copy(TAPE, WORK / "chat.tape.gz")
    with Program("origin", [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"], WORK / "origin.err", cwd=WORK) as origin:
        port = None
        for _ in range(100):
            found = re.search(r"port (\d+)", (WORK / "origin.err").read_text())
            if found:
                port = int(found[1])
                break
            time.sleep(0.05)
        if port is None:
            raise Failed("the origin does not listen")
        wait_for_port(port, origin)
        runs = [
            ("replay", ["replay", "chat.tape.gz", "--clients", "10000", "--when-exhausted", "repeat", "--speed", "instant",
                        "--on-divergence", "warn", "--allow-unplayed"]),
            ("record", ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", "own.tape", "--force"]),
        ]
        for kind, arguments in runs:
            one_schema(kind, arguments, options)


def one_schema(kind, arguments, options):
    with Wiretape([*arguments, "--control", "127.0.0.1:0", "--quiet"], WORK / f"{kind}.err", cwd=WORK) as wiretape:
        control = wiretape.ready["control"]
        log = WORK / f"schemathesis-{kind}.txt"
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "wiretape_tools.acceptance.control_hooks"}
        command = [
            schemathesis(), "run", ROOT / "docs/openapi.json", "--url", control, "--max-examples", str(options.examples),
            "--seed", str(options.seed), "--exclude-operation-id", "streamEvents", "--exclude-checks", LEFT_OUT,
            "--request-timeout", "20", "--continue-on-failure", "--generation-database", "none", "--no-color",
            "--report", "ndjson", "--report-ndjson-path", str(WORK / f"{kind}.ndjson"),
        ]
        with playing(wiretape.url), open(log, "wb") as out:
            done = subprocess.run(
                [str(c) for c in command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment,
                cwd=WORK,
                timeout=1800, check=False,
            )
        text = log.read_text(errors="replace")
        status, value = ask(control + "/v1/status")
        if status != 200:
            raise Failed(f"{kind}: /v1/status answers {status} afterwards: {value}")
        counted = re.search(r"wiretape_control_requests_total (\d+)", ask(control + "/metrics")[1])
        asked = counted[1] if counted else "no"
        rss = wiretape.rss() // 1024
        if done.returncode:
            raise Failed(f"{kind}: schemathesis found something, {log} has all of it:\n" + text[-3000:])
        summary = re.findall(r"(\d+ generated|\d+ / \d+ operations?|Operations?:.*|API Operations.*|Test cases:.*)", text)
        print(f"schema, {kind}: {asked} requests to the API answered as docs/openapi.json has it, no 5xx; RSS {rss} MiB"
              + (f" ({'; '.join(s.strip() for s in summary[:2])})" if summary else ""))
        code = wiretape.stop()
        if code not in (0, 1, 2, 5):
            raise Failed(f"{kind} ends with {code}: {wiretape.said()}")


def own_address() -> str | None:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        with contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
    return None


def token(_options):
    code, _, err = run([binary(), "replay", str(TAPE), "--control", "0.0.0.0:0"])
    if code != 64 or "--control-token" not in err:
        raise Failed(f"an address beyond loopback without a token: exit {code}, {err.strip()[-200:]}")
    secret = "a-token-of-this-test"
    arguments = ["replay", str(TAPE), "--allow-unplayed", "--control", "0.0.0.0:0", "--control-token", secret]
    with Wiretape(arguments, WORK / "token.err", cwd=WORK) as wiretape:
        port = wiretape.ready["control"].rsplit(":", 1)[1]
        hosts = ["127.0.0.1"] + [a for a in [own_address()] if a and not a.startswith("127.")]
        document = json.loads((ROOT / "docs/openapi.json").read_text())
        asked = 0
        for host in hosts:
            for path, operations in document["paths"].items():
                for method in operations:
                    url = f"http://{host}:{port}" + re.sub(r"\{\w+\}", "1", path)
                    wanted = OPEN.get(path, (401, 403))
                    for given, status in zip((None, secret[:-1] + "x"), wanted, strict=True):
                        got, value = ask(url, method.upper(), {} if method in ("post", "put") else None, given)
                        asked += 1
                        if got != status:
                            raise Failed(f"{method.upper()} {url} with token {given}: {got}, not {status}: {value}")
            if ask(f"http://{host}:{port}/v1/status", token=secret)[0] != 200:
                raise Failed(f"{host}: the right token is not taken")
        print(f"token: {asked} requests to {', '.join(hosts)} without it and with a wrong one: 401 and 403, page and /healthz aside")


def long_tape(path: pathlib.Path, count: int) -> None:
    """An event stream of many messages, as `wiretape validate` takes it."""
    head = {"tape": 1, "started": "2026-01-01T00:00:00Z", "tool": "acceptance", "mode": "reverse",
            "upstreams": {"main": "http://127.0.0.1:1"}, "redaction": "none"}
    lines = [head]
    request = {"e": "request", "c": 1, "t": 1_000_000, "x": 1, "method": "GET", "target": "/feed",
               "headers": [["Host", "x"], ["Accept", "text/event-stream"]]}
    response = {"e": "response", "c": 1, "t": 2_000_000, "x": 1, "status": 200, "reason": "OK",
                "headers": [["Content-Type", "text/event-stream"], ["Transfer-Encoding", "chunked"]], "stream": True}
    lines += [{"e": "open", "c": 1, "t": 0, "from": "127.0.0.1:1", "to": "127.0.0.1:2", "upstream": "main"}, request, response]
    for n in range(count):
        data = f"event: tick\nid: {n}\ndata: {json.dumps({'n': n, 'text': 'x' * 200})}\n\n"
        lines.append({"e": "chunk", "c": 1, "t": 3_000_000 + n * 1000, "x": 1, "d": "<", "text": data})
    lines.append({"e": "end", "c": 1, "t": 4_000_000 + count * 1000, "x": 1, "d": "<"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read_feed(url, count) -> float:
    """Seconds until all of the tape has come."""
    host, port = url.split("//")[1].split(":")
    began = time.monotonic()
    with socket.create_connection((host, int(port)), 10) as client:
        client.sendall(b"GET /feed HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        client.settimeout(60)
        seen = b""
        last = f"id: {count - 1}\n".encode()
        while last not in seen:
            more = client.recv(1 << 20)
            if not more:
                raise Failed("the replay ended before the end of the tape")
            seen = seen[-200:] + more
    return time.monotonic() - began


def subscribers(options):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    count, many = 20_000, options.subscribers
    long_tape(WORK / "feed.tape", count)
    code, _, err = run([binary(), "validate", WORK / "feed.tape"])
    if code:
        raise Failed(f"the tape of the test is none: {err.strip()[-500:]}")
    arguments = ["replay", "feed.tape", "--speed", "instant", "--clients", "1000", "--control", "127.0.0.1:0"]
    with Wiretape(arguments, WORK / "subscribers.err", cwd=WORK) as wiretape:
        control = wiretape.ready["control"]
        host, port = control.split("//")[1].split(":")
        times = {}
        read_feed(wiretape.url, count)
        times["alone"] = min(read_feed(wiretape.url, count) for _ in range(3))
        before = wiretape.rss()
        sleepers = []
        try:
            for _ in range(many):
                sleeper = socket.socket()
                # A reader with little room: what it does not read waits in the API.
                sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                sleeper.connect((host, int(port)))
                sleeper.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                sleepers.append(sleeper)
            end = time.monotonic() + 20
            wanted = f"wiretape_control_subscribers {many}\n"
            while wanted not in ask(control + "/metrics")[1]:
                if time.monotonic() > end:
                    raise Failed(f"not all of {many} subscribers are there after 20 s")
                time.sleep(0.05)
            # Their kernel buffers fill with the first of these.
            first = read_feed(wiretape.url, count)
            times["beside"] = min(read_feed(wiretape.url, count) for _ in range(3))
            after = wiretape.rss()
            asked = time.monotonic()
            status = ask(control + "/v1/status")[0]
            asked = time.monotonic() - asked
            sleepers[0].settimeout(10)
            told = b""
            with contextlib.suppress(TimeoutError):
                more = b"."
                while more and b"event: gap" not in told:
                    more = sleepers[0].recv(1 << 16)
                    told = told[-64:] + more
        finally:
            for sleeper in sleepers:
                sleeper.close()
        # The machine has its moods: alone is before and after.
        times["alone"] = max(times["alone"], min(read_feed(wiretape.url, count) for _ in range(3)))
        grown = (after - before) // 1024
        figures = (f"{many} subscribers that never read: {count} messages in {times['beside']:.2f} s beside them,"
                   f" {times['alone']:.2f} s alone (the first {first:.2f} s); RSS {before // 1024} MiB, {grown} MiB more with them;"
                   f" /v1/status in {asked * 1000:.0f} ms; the first that reads is told of its gap")
        if status != 200 or b"event: gap" not in told:
            raise Failed(f"{figures}: status {status}, gap told: {b'event: gap' in told}")
        if grown > 256 or times["beside"] > 1.5 * times["alone"] + 0.2:
            raise Failed(figures)
        print(figures)
        wiretape.stop()


PARTS = {"token": token, "subscribers": subscribers, "schema": schema}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which of them, with commas")
    parser.add_argument("--examples", type=int, default=50, help="drawn requests for each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--subscribers", type=int, default=1000)
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for part in options.parts.split(","):
        if part not in PARTS:
            raise SystemExit(f"there is no part '{part}'; there are {', '.join(PARTS)}")
        PARTS[part](options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(str(failure)))
