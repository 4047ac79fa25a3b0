"""Files that `import` reads, changed at random: a clear error or a tape, never a trap, in bounded memory and time."""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import re
import shutil
import ssl
import sys
import threading
import time
from collections.abc import Callable

from wiretape_tools.acceptance.captures import folders
from wiretape_tools.acceptance.mutated_captures import captured, check, talks
from wiretape_tools.lib import sealed, segments
from wiretape_tools.lib.processes import ROOT, Failed, binary, fail, run
from wiretape_tools.lib.tapes import Event, events

WORK = ROOT / ".build/acceptance/mutations"
SEEDS = ROOT / "Tests/Fixtures/fuzz"
SECONDS, MEMORY = 1.0, 256 << 10  # of processor time; KiB
LARGEST = 100_000  # bytes of a file that is changed

REQUEST = b"POST /hub HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n"
HOVERFLY = (
    b'{"data":{"pairs":[{"request":{"method":[{"matcher":"exact","value":"GET"}],"path":[{"matcher":"exact","value":"/a"}],'
    b'"destination":[{"matcher":"exact","value":"h"}]},"response":{"status":200,"body":"aGk=","encodedBody":true,'
    b'"headers":{"X":["1","2"]}}}]},"meta":{"schemaVersion":"v5.2"}}'
)
WIREMOCK = (
    b'{"mappings":[{"request":{"method":"GET","urlPath":"/x"},"response":{"status":200,"body":"{}",'
    b'"headers":{"Content-Type":"application/json"}}},{"request":{"method":"ANY","url":"/y"},'
    b'"response":{"status":404,"base64Body":"AP8="}}]}'
)
TOXIPROXY = (
    b'[{"name":"api","listen":"127.0.0.1:0","upstream":"127.0.0.1:80","enabled":true,"toxics":[{"type":"latency","toxicity":0.5,'
    b'"stream":"downstream","attributes":{"latency":100,"jitter":10}},{"type":"bandwidth","attributes":{"rate":64}}]}]'
)


@dataclasses.dataclass
class Subject:
    """A file that is changed, and what else its import needs."""

    name: str
    data: bytes
    head: int = 0  # bytes that tell what it is, which mostly stay
    capture: pathlib.Path | None = None  # whose key log it is


def captures() -> list[Subject]:
    found = [Subject(folder.name, next(folder.glob("capture.pcap*")).read_bytes(), 24) for folder in folders()]
    found.append(Subject("small", (SEEDS / "capture/small.pcap").read_bytes(), 24))
    found.append(Subject("plain", segments.written(segments.made([(True, REQUEST), (False, ANSWER)])), 24))
    return [one for one in found if len(one.data) <= LARGEST]


def hars() -> list[Subject]:
    found = [Subject(path.name, path.read_bytes(), 1) for path in sorted((SEEDS / "har").glob("*.har"))]
    for tape in sorted((ROOT / "recordings").glob("*.tape.gz")):
        out = WORK / (tape.name + ".har")
        code, _, err = run([binary(), "export", tape, "-o", out, "--force", "-q"])
        if code != 0:
            raise Failed(f"{tape.name} is not exported: {err[-300:]}")
        found.append(Subject(tape.name, out.read_bytes(), 1))
    return [one for one in found if len(one.data) <= LARGEST]


def flows() -> list[Subject]:
    found = [Subject(path.name, path.read_bytes(), 4) for path in sorted((SEEDS / "flows").glob("*.flows"))]
    return [*found, Subject("both", b"".join(one.data for one in found), 4)]


def stubs() -> list[Subject]:
    return [Subject("hoverfly", HOVERFLY, 8), Subject("wiremock", WIREMOCK, 12), Subject("toxiproxy", TOXIPROXY, 1)]


def key_logs() -> list[Subject]:
    """Of captures of real connections, and of two that are made here."""
    found = []
    for folder in folders():
        if (folder / "keys.log").is_file():
            capture = next(folder.glob("capture.pcap*"))
            found.append(Subject(folder.name, (folder / "keys.log").read_bytes(), capture=capture))
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        turns, log = sealed.talk(WORK, version, [(True, REQUEST), (False, ANSWER)] * 3)
        capture = WORK / f"{version.name}.pcap"
        capture.write_bytes(segments.written(segments.made(turns)))
        found.append(Subject(version.name, log, capture=capture))
    return found


SUBJECTS: dict[str, Callable[[], list[Subject]]] = {
    "captures": captures,
    "hars": hars,
    "flows": flows,
    "key logs": key_logs,
    "stubs": stubs,
}

NUMBERS = [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\x01\0\0\0", b"\0\0\x10\0"]
WORDS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"-1", b"1e999", b"18446744073709551616", b"\\ud800", b"\\u0000", b"\xff"),
    *(b"\r\n", b"\r\n\r\n", b"\0", b"0:", b"99999999999:", b"data:", b"chunked", b"CLIENT_RANDOM ", b" ", b"#"),
    b"[" * 300,
]


def changed(subject: Subject, others: list[Subject], draw: random.Random) -> bytes:
    """With one to eight things wrong."""
    data = bytearray(subject.data)
    low = subject.head if draw.random() < 0.9 else 0
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(low, max(low + 1, len(data)))
        count = draw.randint(1, draw.choice([2, 20, 300, 3000]))
        match draw.randrange(10):
            case 0 | 1:
                data[at : at + 1] = bytes([draw.randrange(256)])
            case 2:
                del data[at : at + count]
            case 3:
                data[at:at] = data[at : at + count]
            case 4:
                data[at : at + 4] = draw.choice(NUMBERS)
            case 5:
                data[at:at] = draw.choice(WORDS)
            case 6:
                other = draw.choice(others).data
                begin = draw.randrange(len(other) or 1)
                data[at : at + count] = other[begin : begin + count]
            case 7:
                if digits := re.compile(rb"\d+").search(data, at):
                    data[digits.start() : digits.end()] = draw.choice([b"0", b"-5", b"7" * 30, b"4294967295", b"1.5"])
            case 8:
                if draw.random() < 0.2:
                    del data[at:]
            case 9:
                piece = bytes(data[at : at + count])
                del data[at : at + count]
                to = draw.randrange(low, max(low + 1, len(data)))
                data[to:to] = piece
    return bytes(data)


@dataclasses.dataclass
class Tally:
    outcomes: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    seconds: float = 0
    kib: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)


def spawned(command: list[object], err: pathlib.Path) -> tuple[int, float, int]:
    """(exit code, seconds of processor time, KiB at most) of a program whose standard error goes to a file."""
    words = [str(word) for word in command]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(err), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
    ]
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=actions)
    hang = threading.Timer(60, os.kill, (pid, 9))
    hang.start()
    _, status, usage = os.wait4(pid, 0)
    hang.cancel()
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def honest(found: list[Event], told: str) -> None:
    """What an import said of its tape holds; raises Failed when it does not."""
    gaps = sum(event["e"] == "gap" for event in found)
    said = re.search(r"; (\d+) gaps?\b", told)
    if gaps != (int(said[1]) if said else 0):
        raise Failed(f"the tape has {gaps} gaps: {told}")
    there = {(event["from"], event["to"]) for event in found if event["e"] == "open"}
    for what, one, other in re.findall(r"(not on the tape|not all of it is on the tape): (\S+) to (\S+): ", told):
        if ((one, other) in there) != (what != "not on the tape"):
            raise Failed(f"{one} to {other} is {'' if (one, other) in there else 'not '}on the tape: {told}")


def attempt(kind: str, subject: Subject, data: bytes, place: pathlib.Path, tally: Tally) -> None:
    """One import; raises Failed when it does not end as it should."""
    suffix = {"captures": ".pcap", "hars": ".har", "flows": ".flows", "key logs": ".keys", "stubs": ".json"}[kind]
    file, tape, said = place.with_suffix(suffix), place.with_suffix(".tape"), place.with_suffix(".err")
    file.write_bytes(data)
    tape.unlink(missing_ok=True)
    source: list[object] = [subject.capture, "--keylog", file] if subject.capture else [file]
    # What is told of a capture's connections is part of what is checked.
    quiet = [] if subject.capture else ["-q"]
    command: list[object] = [binary(), "import", *source, "-o", tape, "--force", "--redact", "off", *quiet]
    code, seconds, kib = spawned(command, said)
    tally.seconds, tally.kib = max(tally.seconds, seconds), max(tally.kib, kib)
    told = said.read_text(encoding="utf-8", errors="replace").strip()
    last = told.splitlines()[-1] if told else ""
    if code not in (0, 1, 4):
        raise Failed(f"exit {code}: {told[-500:]}")
    if code != 0 and not re.match(rf"wiretape: failed \(exit {code}\): .{{10,}}", last):
        raise Failed(f"exit {code} without a sentence: {told[-500:]!r}")
    if seconds > SECONDS:
        raise Failed(f"it took {seconds:.2f} s")
    if kib > MEMORY:
        raise Failed(f"it took {kib >> 10} MiB")
    if code == 0 and not tape.exists():
        raise Failed("exit 0 without a tape")
    tally.outcomes["taken" if code == 0 else "taken up to a place" if tape.exists() else "refused"] += 1
    if not tape.exists() or not tape.read_bytes().startswith(b'{"tape"'):
        return  # Toxiproxy's configuration becomes a plan
    _, found = events(tape)
    times = [event["t"] for event in found]
    if times != sorted(times) and not any(event["e"] == "take" for event in found):
        raise Failed("its times go back")
    if subject.capture:
        honest(found, told)
        # Keys do not change what was said: it is on the tape, or told to be missing.
        truth, packets = TRUTHS[subject.name]
        check(found, truth, told, captured(packets, set(truth)), harmless=False)


TRUTHS: dict[str, tuple] = {}


def mutate(kind: str, numbers: range, seed: int, jobs: int) -> Tally:
    subjects, tally = SUBJECTS[kind](), Tally()
    for subject in subjects:
        if subject.capture:
            log, tape = WORK / "whole.keys", WORK / "whole.tape"
            log.write_bytes(subject.data)
            command = [binary(), "import", subject.capture, "--keylog", log, "-o", tape, "--force", "--redact", "off", "-q"]
            code, _, err = run(command)
            if code != 0:
                raise Failed(f"{subject.name} is not imported with its own keys: {err[-300:]}")
            TRUTHS[subject.name] = (talks(events(tape)[1]), segments.read(subject.capture.read_bytes()))

    def work(job: int) -> None:
        for number in numbers[job::jobs]:
            draw = random.Random(f"{kind} {seed} {number}")
            subject = draw.choice(subjects)
            data = changed(subject, subjects, draw)
            try:
                attempt(kind, subject, data, WORK / f"{kind.replace(' ', '-')}-{job}", tally)
            except Exception as failure:  # a reader of ours that stumbles is a finding, too
                kept = WORK / f"failed-{kind.replace(' ', '-')}-{number}"
                kept.write_bytes(data)
                tally.failures.append(f"{kind} {number} of {subject.name} ({kept}): {failure}")

    with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
        for done in [executor.submit(work, job) for job in range(jobs)]:
            done.result()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/acceptance/mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="files of each kind (10,000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one: a failure again with --first N --count 1")
    parser.add_argument("--kinds", default="", help="only those whose name contains this: " + ", ".join(SUBJECTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="imports at a time (2)")
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    failures: list[str] = []
    for kind in [name for name in SUBJECTS if options.kinds in name]:
        begun = time.monotonic()
        tally = mutate(kind, range(options.first, options.first + options.count), options.seed, options.jobs)
        failures += tally.failures
        for failure in tally.failures[:5]:
            print(f"FAILED  {failure}"[:1000])
        outcomes = ", ".join(f"{count} {what}" for what, count in tally.outcomes.most_common())
        print(
            f"{kind}: {options.count} changed, {outcomes}; at most {tally.seconds:.2f} s of processor time and {tally.kib >> 10} MiB; "
            f"{len(tally.failures)} failures; {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        few = options.count < 100
        if not few and (not tally.outcomes["taken"] or not sum(tally.outcomes.values()) - tally.outcomes["taken"]):
            failures.append(f"{kind}: the changes show nothing: {outcomes}")
    return fail(f"{len(failures)}: {failures[0][:300]}") if failures else 0


if __name__ == "__main__":
    sys.exit(main())
