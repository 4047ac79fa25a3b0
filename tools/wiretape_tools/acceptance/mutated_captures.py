"""Captures changed as networks change them: nothing on the tape is wrong, and what is missing is named.

What was said is known from the capture as it is, whose tape has been compared with its truth file before.
"""

import collections
import concurrent.futures
import dataclasses
import pathlib
import random
import re
import time

from wiretape_tools.lib import segments
from wiretape_tools.lib.processes import Failed, run
from wiretape_tools.lib.said import DIRECTIONS, Said, connections, gap
from wiretape_tools.lib.tapes import Event, events, import_of

Ends = tuple[str, str]  # client, server

# Of all messages so many have to be there whole, in hundredths: nobody passes by telling nothing.
LEAST = {"lost": 60, "snap length": 15, "no beginning": 25, "no end": 35, "all at once": 40}


@dataclasses.dataclass
class Talk:
    """What one connection said, with its gaps, and which sides ended it."""

    said: list[Said]
    ended: set[str]
    numbers: int = 1  # connections of the tape

    def way(self, direction: str) -> list[Said]:
        return [one for one in self.said if one.direction == direction]

    @property
    def gaps(self) -> int:
        return sum(one.kind == "gap" for one in self.said)

    def pairs(self) -> set[tuple[str, str, str, str]]:
        """Requests and their answers: heads and digests."""
        asked = {one.exchange: one for one in self.said if one.kind == "request" and one.exchange}
        told = {one.exchange: one for one in self.said if one.kind == "response" and one.exchange}
        both = [(asked[x], told[x]) for x in asked.keys() & told.keys() if asked[x].whole and told[x].whole]
        return {(question.head, question.digest, answer.head, answer.digest) for question, answer in both}


def talks(found: list[Event]) -> dict[Ends, Talk]:
    """By the ends of the connections; those that the tape has twice are one."""
    out: dict[Ends, Talk] = {}
    said = connections(found, gaps=True)
    for event in found:
        if event["e"] != "open":
            continue
        ended = {
            {"client": "c2s", "server": "s2c"}.get(one["by"], "") for one in found if one["e"] == "gone" and one["c"] == event["c"]
        }
        talk, ends = Talk(said.get(event["c"], []), ended), (event["from"], event["to"])
        if old := out.get(ends):
            middle = [gap(direction, 0) for direction in DIRECTIONS.values()]
            talk = Talk([*old.said, *middle, *talk.said], ended, old.numbers + 1)
        out[ends] = talk
    return out


def agrees(one: Said, true: Said) -> bool:
    if (one.kind, one.head) != (true.kind, true.head):
        return False
    if one.torn:
        return true.body.startswith(one.body)
    return one.whole == true.whole and one.body == true.body


def follows(said: list[Said], truth: list[Said], ended: bool) -> None:
    """Every message is the true one in its place, and where some are left out a gap stands; raises Failed."""
    places = {0}  # how many of the true ones may have been passed
    for number, one in enumerate(said, 1):
        if one.kind == "gap":
            places = set(range(min(places), len(truth) + 1))
            continue
        next_places = {place + 1 for place in places if place < len(truth) and agrees(one, truth[place])}
        if not next_places:
            first = min(places)
            expected = truth[first] if first < len(truth) else "nothing more"
            raise Failed(f"{one.direction}, item {number}: {one} where {expected} was said")
        places = next_places
    if ended and len(truth) not in places:
        raise Failed(f"{truth[0].direction}: {len(truth) - max(places)} messages at the end are missing without a gap")


def check(
    found: list[Event], truth: dict[Ends, Talk], told: str, captured: set[Ends], harmless: bool, late: set[Ends] | None = None
) -> int:
    """How many messages are there whole; raises Failed when something is wrong, or missing without a word.

    captured: the connections of which the capture has bytes. late: those whose first bytes stand before their SYN, which are taken
    for older than the capture. told: what the import said.
    """
    mine = talks(found)
    if strangers := mine.keys() - truth.keys():
        raise Failed(f"connections that nobody made: {strangers}")
    count = 0
    for ends, true in truth.items():
        talk = mine.get(ends)
        if talk is None:
            if ends in captured and any(true.said) and not names(told, ends):
                raise Failed(f"the connection {ends} is missing, and that is not told: {told}")
            continue
        for direction in DIRECTIONS.values():
            said = [one for one in true.way(direction) if one.kind != "gap"]
            follows(talk.way(direction), said, direction in talk.ended)
        if wrong := talk.pairs() - true.pairs():
            raise Failed(f"{ends}: answers to other requests: {wrong}")
        if harmless and (talk.numbers, talk.gaps) != (1, true.gaps) and ends not in (late or ()):
            raise Failed(f"{ends}: {talk.gaps} gaps, {talk.numbers} connections, where nothing is missing")
        count += sum(one.whole for one in talk.said if one.kind != "gap")
    if harmless and (missing := truth.keys() - mine.keys()):
        raise Failed(f"{missing} are missing, where nothing is")
    return count


def names(told: str, ends: Ends) -> bool:
    """Whether the import told that the connection, or packets whose headers were cut, are not on the tape."""
    ways = [f"not on the tape: {one} to {other}:" for one, other in (ends, ends[::-1])]
    return any(way in told for way in ways) or "without a whole header" in told


def bent(found: list[Event], truth: dict[Ends, Talk], captured: set[Ends]) -> int:
    """Tapes with one thing wrong are found out: how many were tried; raises Failed when one passes."""
    carrying = ("request", "response", "chunk", "message", "part")
    places = [i for i, event in enumerate(found) if event["e"] in carrying and (event.get("text") or event.get("b64"))]
    whole = [i for i, event in enumerate(found) if event["e"] == "message" or event["e"] == "response" and not event.get("stream")]

    def changed(i: int) -> list[Event]:
        event = dict(found[i])
        if event.get("text"):
            event["text"] = ("X" if event["text"][0] != "X" else "Y") + event["text"][1:]
        else:
            event["b64"] = ("B" if event["b64"][0] != "B" else "C") + event["b64"][1:]
        return [*found[:i], event, *found[i + 1 :]]

    tried = 0
    draw = random.Random(7)
    trials = [("a changed byte", changed(i)) for i in draw.sample(places, min(5, len(places)))]
    for i in draw.sample(whole, min(5, len(whole))):
        trials.append(("a message that is missing", found[:i] + found[i + 1 :]))
        trials.append(("a message that is there twice", found[: i + 1] + found[i:]))
    for what, tape in trials:
        try:
            check(tape, truth, "", captured, harmless=False)
        except (Failed, KeyError):
            tried += 1
            continue
        raise Failed(f"the check does not see {what}")
    return tried


def late(found: list[segments.Packet], ends: set[Ends]) -> set[Ends]:
    """The connections of which bytes stand before the SYN of their client."""
    early: set[tuple[int, int]] = set()
    out = set()
    for packet in found:
        segment = packet.segment
        if segment is None:
            continue
        way = (port(segment[0]), port(segment[1]))
        if segment[4]:
            early |= {way, way[::-1]}
        if segment[3] & segments.SYN and way in early:
            out |= {way, way[::-1]}
    return {one for one in ends if ports(one) in out}


def ports(ends: Ends) -> tuple[int, int]:
    return int(ends[0].rsplit(":", 1)[1]), int(ends[1].rsplit(":", 1)[1])


def captured(found: list[segments.Packet], ends: set[Ends]) -> set[Ends]:
    """The connections of which there are bytes."""
    have = set()
    for packet in found:
        segment = packet.segment
        if segment and segment[4]:
            have |= {(port(segment[0]), port(segment[1])), (port(segment[1]), port(segment[0]))}
    return {one for one in ends if ports(one) in have}


def port(end: tuple[bytes, int]) -> int:
    return end[1]


@dataclasses.dataclass
class Outcome:
    name: str
    imports: int
    bent: int
    whole: collections.Counter[str]
    due: collections.Counter[str]
    failures: list[str]


def capture(folder: pathlib.Path, work: pathlib.Path, seeds: range, kinds: list[str]) -> Outcome:
    """All mutations of one capture."""
    data = next(folder.glob("capture.pcap*")).read_bytes()
    keys = work / f"{folder.name}.keys"
    log = folder / "keys.log"
    if known := (log.read_bytes() if log.is_file() else b"") + segments.secrets(data):
        keys.write_bytes(known)
    packets = segments.read(data)
    mutated, tape = work / f"{folder.name}.pcap", work / f"{folder.name}.mutated.tape"

    def imported(packets: list[segments.Packet]) -> tuple[list[Event], str]:
        mutated.write_bytes(segments.written(packets))
        tape.unlink(missing_ok=True)
        code, _, err = run(import_of(mutated, tape, keys))
        nothing = ("no TCP connection with HTTP", "nothing that can be read", "there is no packet")
        if code != 0 and not (code == 1 and any(text in err for text in nothing)):
            raise Failed(f"import ended with {code}: {err[-500:]}")
        return (events(tape)[1] if code == 0 else []), err

    # The tape of the capture as it is, which was compared with the truth file.
    found = events(work / f"{folder.name}.tape")[1]
    truth = talks(found)
    outcome = Outcome(folder.name, 0, 0, collections.Counter(), collections.Counter(), [])
    try:
        outcome.bent = bent(found, truth, captured(packets, set(truth)))
    except Failed as failure:
        outcome.failures.append(f"{folder.name}: {failure}")
    messages = sum(one.whole for talk in truth.values() for one in talk.said if one.kind != "gap")
    for kind in kinds:
        for seed in seeds:
            draw = random.Random(f"{folder.name} {kind} {seed}")
            changed = segments.MUTATIONS[kind](packets, draw)
            outcome.imports += 1
            try:
                found, told = imported(changed)
                ends = set(truth)
                whole = check(found, truth, told, captured(changed, ends), kind in segments.HARMLESS, late(changed, ends))
                if kind in segments.HARMLESS and whole != messages:
                    raise Failed(f"{whole} messages of {messages}")
                outcome.whole[kind] += whole
                outcome.due[kind] += messages
            except Failed as failure:
                place = f"{folder.name}, {kind}, seed {seed}"
                outcome.failures.append(f"{place}: {failure}")
                (work / (re.sub(r"\W+", "-", place) + ".pcap")).write_bytes(mutated.read_bytes())
    for path in (mutated, tape, keys):
        path.unlink(missing_ok=True)
    return outcome


def mutate(folders: list[pathlib.Path], work: pathlib.Path, seeds: int, jobs: int, kind: str) -> list[str]:
    """What failed."""
    kinds = [name for name in segments.MUTATIONS if kind in name]
    if not kinds:
        raise SystemExit(f"no mutation is called '{kind}': {', '.join(segments.MUTATIONS)}")
    begun, failures = time.monotonic(), []
    whole: collections.Counter[str] = collections.Counter()
    due: collections.Counter[str] = collections.Counter()
    imports = trials = 0
    with concurrent.futures.ProcessPoolExecutor(jobs) as executor:
        tasks = [executor.submit(capture, folder, work, range(seeds), kinds) for folder in folders]
        for task in tasks:
            outcome = task.result()
            whole, due = whole + outcome.whole, due + outcome.due
            imports, trials = imports + outcome.imports, trials + outcome.bent
            failures += outcome.failures
            for failure in outcome.failures[:3]:
                print(f"FAILED  {failure}"[:1500], flush=True)
    for name in kinds:
        share = 100 * whole[name] // max(1, due[name])
        print(f"{name}: {whole[name]} of {due[name]} messages are whole ({share} %), the others are named")
        # Of a few captures the share may be anything.
        if len(folders) > 8 and share < LEAST.get(name, 100):
            failures.append(f"{name}: {share} % of the messages where {LEAST.get(name, 100)} are due")
    print(
        f"captures: {imports} mutated captures, {len(failures)} failures; {trials} tapes with one thing wrong found out; "
        f"{time.monotonic() - begun:.0f} s"
    )
    return failures
