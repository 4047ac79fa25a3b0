"""Files of other tools become tapes, and tapes files of theirs.

mitmdump, playwright with Debian's Chromium, tshark and DuckDB are the real ones; what is not here is skipped with a sentence.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable

from wiretape_tools.acceptance.exchange.talk import Server, Truth, converse, heard
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import ROOT, Failed, Program, Skipped, Wiretape, binary, fail, free_port, run, wait_for_port
from wiretape_tools.lib.tapes import Event, events

WORK = ROOT / ".build/acceptance/exchange"
VENV = ROOT / ".build/exchange-venv"
PACKAGES = ["mitmproxy", "duckdb", "playwright"]
RECORDINGS = sorted((ROOT / "recordings").glob("*.tape.gz"))
TAPES = 1000


def venv(program: str) -> pathlib.Path:
    """A program of the venv, which is made at the first call."""
    path = VENV / "bin" / program
    if not path.exists():
        run([sys.executable, "-m", "venv", VENV], seconds=120)
        code, _, err = run([VENV / "bin/pip", "install", "-q", *PACKAGES], seconds=500)
        if code != 0 or not path.exists():
            raise Skipped(f"{program} cannot be had from PyPI: {err.strip()[-200:]}")
    return path


def wiretape(*arguments: object, seconds: float = 120) -> str:
    """stderr of a command that has to end well."""
    code, _, err = run([binary(), *arguments], seconds=seconds)
    if code != 0:
        raise Failed(f"wiretape {' '.join(map(str, arguments))} ended with {code}: {err.strip()[-600:]}")
    return err


def same(truth: Truth, found: Truth, without: tuple[str, ...] = ()) -> str:
    """What was compared; raises Failed when something differs."""
    if found.messages != truth.messages:
        raise Failed(f"the WebSocket's messages differ: {found.messages} in place of {truth.messages}")
    for name, body in truth.answers.items():
        if name not in without and found.answers.get(name) != body:
            raise Failed(f"{name}: {found.answers.get(name)!r} in place of {body!r}")
    for name, body in truth.posted.items():
        if found.posted.get(name) != body:
            raise Failed(f"{name}: the request's body is {found.posted.get(name)!r} in place of {body!r}")
    return f"{len(truth.messages)} messages, {len(truth.answers) - len(without)} answers"


def take_in(file: pathlib.Path) -> list[Event]:
    tape = WORK / (file.name + ".tape")
    wiretape("import", file, "-o", tape, "--force", "--redact", "off")
    return events(tape)[1]


def plays(file: pathlib.Path) -> None:
    """`wiretape replay FILE` gives the recorded answer to a request."""
    with Wiretape(["replay", file], WORK / "replay.log") as replay:
        with socket.create_connection(("127.0.0.1", replay.port), timeout=20) as client:
            client.sendall(b"GET /api?x=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            got = b""
            while more := client.recv(65536):
                got += more
        replay.stop(signal.SIGINT)
    if b'"path": "/api"' not in got:
        raise Failed(f"replay of {file.name} answered {got[:200]!r}")


def mitmdump() -> str:
    """Flows and a HAR that mitmdump wrote, and a HAR of ours that it reads."""
    program, flows, har = venv("mitmdump"), WORK / "talk.flows", WORK / "mitmproxy.har"
    flows.unlink(missing_ok=True)
    with Server() as server:
        port = free_port()
        command = [program, "-q", "--mode", f"reverse:http://127.0.0.1:{server.port}", "--listen-host", "127.0.0.1", "-p", str(port)]
        command += ["-w", flows, "--set", f"hardump={har}", "--set", f"confdir={WORK / 'mitmproxy'}"]
        with Program("mitmdump", [str(c) for c in command], WORK / "mitmdump.log") as proxy:
            wait_for_port(port, proxy)
            converse(port)
            time.sleep(1)
            proxy.stop(signal.SIGINT)
        text = same(server.truth, heard(take_in(flows)))
        same(server.truth, heard(take_in(har)))
        if not any(e["e"] == "close" and e.get("code") == 1000 for e in take_in(flows)):
            raise Failed("the flow's close code is not on the tape")
    plays(har)
    plays(flows)
    # Ours, read by mitmdump, comes back with the same bodies.
    ours, again = WORK / "ours.har", WORK / "ours.flows"
    again.unlink(missing_ok=True)
    wiretape("export", WORK / "talk.flows.tape", "-o", ours, "--force")
    code, _, err = run([program, "-q", "-n", "-r", ours, "-w", again, "--set", f"confdir={WORK / 'mitmproxy'}"])
    if code != 0 or not again.exists():
        raise Failed(f"mitmdump does not read our HAR: {err[-300:]}")
    kept = heard(take_in(again))
    for name, body in server.truth.answers.items():
        if kept.answers.get(name) != body:
            raise Failed(f"through mitmdump {name} is {kept.answers.get(name)!r}")
    return f"{text}, from flows and from its HAR; our HAR comes back through it"


def chromium() -> str:
    """HARs of Playwright's recorder with Debian's Chromium, all in one and with side files in a ZIP."""
    if not pathlib.Path("/usr/bin/chromium").exists():
        raise Skipped("there is no /usr/bin/chromium (apt-get install chromium)")
    python = venv("playwright").parent / "python"
    told = []
    for name, content in (("chromium.har", "embed"), ("chromium.har.zip", "attach")):
        har = WORK / name
        har.unlink(missing_ok=True)
        with Server() as server:
            script = pathlib.Path(__file__).with_name("browser.py")
            code, _, err = run([python, script, f"http://127.0.0.1:{server.port}/", har, content], seconds=120)
            if code != 0:
                raise Failed(f"the browser's script ended with {code}: {err[-500:]}")
            server.truth.answers.pop("GET /favicon.ico", None)
            told.append(f"{name}: " + same(server.truth, heard(take_in(har))))
        plays(har)
    return "; ".join(told)


def lines(tape: pathlib.Path) -> list[object]:
    header, found = events(tape)
    return [header, *found]


def round_trip() -> str:
    """Every recording as a HAR and back: line by line the same."""
    count = 0
    for tape in RECORDINGS:
        har, back = WORK / "round.har", WORK / "round.tape.gz"
        wiretape("export", tape, "-o", har, "--force", "-q")
        value = json.loads(har.read_text(encoding="utf-8"))
        if value["log"]["version"] != "1.2":
            raise Failed(f"{tape.name}: no HAR 1.2")
        wiretape("import", har, "-o", back, "--force", "-q", "--redact", "off")
        before, after = lines(tape), lines(back)
        if before != after:
            place = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
            was, now = ((kept[place:] or ["nothing"])[0] for kept in (before, after))
            raise Failed(f"{tape.name}: line {place + 1} differs: {now} in place of {was}")
        count += len(before)
    return f"{len(RECORDINGS)} tapes, {count} lines"


def tshark() -> str:
    """Every recording as a capture: nothing malformed, no complaint, and as many requests and messages as on the tape."""
    if not shutil.which("tshark"):
        raise Skipped("there is no tshark (apt-get install tshark)")
    requests = messages = 0
    for tape in RECORDINGS:
        pcapng = WORK / "shown.pcapng"
        wiretape("export", tape, "-o", pcapng, "--force", "-q")
        fields = [
            "frame.time_epoch",
            "http.request.method",
            "websocket.opcode",
            "_ws.malformed",
            "_ws.expert.severity",
            "_ws.expert.message",
        ]
        command = [
            "tshark",
            "-r",
            pcapng,
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
            "-T",
            "fields",
            "-E",
            "aggregator=|",
        ]
        for field in fields:
            command += ["-e", field]
        code, out, err = run(command, seconds=120)
        if code != 0:
            raise Failed(f"{tape.name}: tshark ended with {code}: {err[-300:]}")
        asked = said = 0
        for line in out.splitlines():
            _, method, opcode, malformed, severity, message = (line.split("\t") + [""] * 6)[:6]
            # 0x200000 is a chat, 0x400000 a note: what dissectors say of good traffic too. A reset that was recorded is one.
            levels = zip(severity.split("|"), message.split("|"), strict=False)
            grave = [text for level, text in levels if level and int(level, 0) >= 0x600000 and text != "Connection reset (RST)"]
            if malformed or grave:
                raise Failed(f"{tape.name}: tshark complains: {message or malformed}")
            asked += len([m for m in method.split("|") if m])
            said += len([o for o in opcode.split("|") if o in ("1", "2")])
        found = events(tape)[1]
        want = (sum(e["e"] == "request" for e in found), sum(e["e"] == "message" for e in found))
        if (asked, said) != want:
            raise Failed(f"{tape.name}: tshark sees {asked} requests and {said} messages in place of {want[0]} and {want[1]}")
        requests, messages = requests + asked, messages + said
    return f"{len(RECORDINGS)} tapes, {requests} requests, {messages} messages, no complaint"


def jsonl() -> str:
    """As `inspect --format json` prints them.

    `inspect` shows no secrets, so that it reads pieces of a stream together where a secret might begin at the end of one. A message
    that came in several pieces has another hash then, which is of the piece that ended it.
    """
    count = joined = 0
    for tape in RECORDINGS:
        out = WORK / "messages.jsonl"
        wiretape("export", tape, "-o", out, "--force", "-q")
        _, shown, verdict = run([binary(), "inspect", tape, "--format", "json"])
        exported = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        inspected = [json.loads(line) for line in shown.splitlines()]
        if len(exported) != len(inspected):
            raise Failed(f"{tape.name}: {len(exported)} lines in place of the {len(inspected)} of inspect")
        lost = len(events(tape)[1]) - int(re.findall(r"(\d+) events", verdict)[-1])
        for number, (mine, its) in enumerate(zip(exported, inspected, strict=True), 1):
            differing = {name for name in mine.keys() | its.keys() if mine.get(name) != its.get(name)}
            if differing and not (differing == {"sha256"} and mine["transport"] in ("sse", "stream", "lp") and lost > 0):
                raise Failed(f"{tape.name}: line {number} differs from that of inspect in {', '.join(sorted(differing))}")
            lost -= 1 if differing else 0
            joined += 1 if differing else 0
        count += len(exported)
    return f"{count} messages, {joined} of them read together from several pieces by inspect"


def duckdb() -> str:
    """The queries of docs/queries.md over 1,000 tapes in place."""
    python = venv("python")
    folder = WORK / "folder"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("tapes", "messages"):
        (folder / name).mkdir(parents=True)
    for number in range(TAPES):
        tape = RECORDINGS[number % len(RECORDINGS)]
        shutil.copy(tape, folder / "tapes" / f"{number:04}-{tape.name}")
    page = (ROOT / "docs/queries.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(sh|sql)\n(.*?)```", page, re.DOTALL)
    (folder / "bin").mkdir()
    (folder / "bin/wiretape").symlink_to(pathlib.Path(binary()).resolve())
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    begun = time.monotonic()
    shell = next(text for kind, text in blocks if kind == "sh")
    code, _, err = run(["bash", "-euc", shell], cwd=folder, seconds=900, env={**os.environ, "PATH": path})
    if code != 0:
        raise Failed(f"the page's loop ended with {code}: {err[-300:]}")
    exported = time.monotonic() - begun
    script = (
        "import duckdb, json, sys\nduckdb.sql('SET enable_progress_bar = false')\nfor text in json.load(sys.stdin):\n"
        "    result = duckdb.sql(text)\n    rows = [] if result is None else result.fetchall()\n"
        "    print(json.dumps([list(map(str, row)) for row in rows]))\n"
    )
    queries = [text for kind, text in blocks if kind == "sql"]
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    begun = time.monotonic()
    code, out, err = run(["bash", "-c", 'exec "$1" -c "$2" < queries.json', "bash", python, script], cwd=folder, seconds=600)
    if code != 0:
        raise Failed(f"a query of the page failed: {err[-500:]}")
    answers = [json.loads(line) for line in out.splitlines()]
    total = sum(sum(e["e"] == "message" for e in events(RECORDINGS[n % len(RECORDINGS)])[1]) for n in range(TAPES))
    size = next(rows for rows, text in zip(answers, queries, strict=True) if "AS connections" in text and "AS bytes" in text)
    if size[0][0] != str(TAPES) or size[0][2] != str(total):
        raise Failed(f"DuckDB counts {size[0][2]} messages on {size[0][0]} tapes in place of {total} on {TAPES}")
    empty = [
        text.split("\n")[0]
        for rows, text in zip(answers, queries, strict=True)
        if not rows and not text.startswith(("CREATE", "COPY"))
    ]
    asked = time.monotonic() - begun
    seconds = f"{asked:.0f} s (export {exported:.0f} s)"
    return f"{len(queries)} queries over {TAPES} tapes, {total} messages, {seconds}; without a row: {len(empty)}"


def sink(listener: socket.socket) -> None:
    """A WebSocket server that listens and says nothing."""
    connection, _ = listener.accept()
    with connection:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(65536)
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
        )
        while connection.recv(1 << 20):
            pass


def say(port: int, rate: int, seconds: int) -> int:
    """Messages a second over one WebSocket, each with its number."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(
            b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        begun, sent = time.monotonic(), 0
        while sent < rate * seconds:
            due = min(rate * seconds, int((time.monotonic() - begun) * rate) + 1)
            batch = b"".join(frames.frame(frames.TEXT, b'{"n":%d,"pad":"%s"}' % (n, b"x" * (n % 200)), True) for n in range(sent, due))
            client.sendall(batch)
            sent = due
            time.sleep(0.002)
        client.sendall(frames.frame(frames.CLOSE, struct.pack(">H", 1000), True))
        client.shutdown(socket.SHUT_WR)
        time.sleep(0.5)
    return sent


def live(rate: int, seconds: int) -> str:
    """`capture` beside `record` of the same traffic: the same messages, nothing dropped."""
    if os.geteuid() != 0:
        raise Skipped("live captures need root here")
    tapes = [WORK / "recorded.tape.gz", WORK / "captured.tape.gz"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=sink, args=(listener,), daemon=True).start()
        upstream = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Wiretape(["record", "--upstream", upstream, "-o", tapes[0], "--force", "--redact", "off"], WORK / "record.log") as record:
            command = [
                binary(),
                "capture",
                "-i",
                "lo",
                "--filter",
                f"tcp port {record.port}",
                "-o",
                tapes[1],
                "--force",
                "--redact",
                "off",
            ]
            with Program("wiretape capture", [str(c) for c in command], WORK / "capture.log") as capture:
                end = time.monotonic() + 15
                while "capturing on" not in capture.said():
                    if time.monotonic() > end or capture.process.poll() is not None:
                        raise Failed(f"capture does not begin: {capture.said()}")
                    time.sleep(0.05)
                sent = say(record.port, rate, seconds)
                time.sleep(1)
                code = capture.stop(signal.SIGINT, seconds=60)
                told = capture.said(4000).strip().splitlines()[-1]
            record.stop(signal.SIGINT)
    if code != 0 or " 0 dropped" not in told:
        raise Failed(f"capture ended with {code}: {told}")
    said = [[(e["d"], e["op"], e.get("text"), e.get("b64")) for e in events(tape)[1] if e["e"] == "message"] for tape in tapes]
    if said[0] != said[1] or len(said[0]) != sent:
        raise Failed(f"{len(said[0])} messages recorded, {len(said[1])} captured, {sent} sent")
    return f"{sent} messages at {rate} a second for {seconds} s, the same on both; {told.split(': ', 1)[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/acceptance/exchange", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", default="", help="only those whose name contains this")
    parser.add_argument("--seconds", type=int, default=60, help="of the live capture")
    parser.add_argument("--rate", type=int, default=5000, help="messages a second of the live capture")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    cases: dict[str, Callable[[], str]] = {
        "round-trip": round_trip,
        "jsonl": jsonl,
        "tshark": tshark,
        "mitmdump": mitmdump,
        "chromium": chromium,
        "duckdb": duckdb,
        "live": lambda: live(options.rate, options.seconds),
    }
    failed = 0
    for name, case in cases.items():
        if options.cases not in name:
            continue
        begun = time.monotonic()
        try:
            print(f"passed  {name}: {case()} ({time.monotonic() - begun:.0f} s)", flush=True)
        except Skipped as reason:
            print(f"skipped {name}: {reason}", flush=True)
        except Failed as failure:
            failed += 1
            print(f"FAILED  {name}: {failure}", flush=True)
    return fail(f"{failed} cases") if failed else 0


if __name__ == "__main__":
    sys.exit(main())
