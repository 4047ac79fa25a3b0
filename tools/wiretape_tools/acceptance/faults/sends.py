"""What is done to messages of the client on their way to the server: what the server hears, and what it answers."""

import json
import time

from wiretape_tools.acceptance.faults.clients import begin
from wiretape_tools.acceptance.faults.expect import Repeats, Rest
from wiretape_tools.acceptance.faults.hub import END, RECORD
from wiretape_tools.acceptance.faults.messages import bits, is_not_utf8, octets
from wiretape_tools.acceptance.faults.stage import SCRIPTS, Case, Script
from wiretape_tools.acceptance.faults.wire import LIMIT
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed

OPERATIONS = dict.fromkeys(("parts", "events"), "an operation sends one message, and no other can be made of it")
NEEDS = "needs a server"


def call(n):
    message = {"type": 1, "invocationId": str(n), "target": "Say", "arguments": [f"{n} aé€😀"]}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + RECORD


def completion(n):
    return f'{{"type":3,"invocationId":"{n}","result":{n}}}'.encode() + RECORD


def reply(payload):
    """To each whole call among the messages; the third is the last."""
    for record in payload.split(RECORD):
        try:
            n = int(json.loads(record)["invocationId"])
        except (ValueError, KeyError, TypeError):
            continue
        yield completion(n)
        if n == 3:
            yield END




def calls(cell, port):
    """Shakes hands, hears the answer, and makes three calls. The answer to the first one may be long in coming."""
    return calling(cell.client(port), sure=(1,))


def at_once(cell, port):
    """The same where the first call is not answered before the second."""
    return calling(cell.client(port), sure=())


def calling(client, sure=(1, 2, 3)):
    begin(client)
    wire = client.seen.wire
    wait_for(client, b"{}" + RECORD, LIMIT)
    for n in (1, 2, 3):
        if wire.end or client.seen.end:
            break
        client.say(call(n))
        # An answer that does not come was lost on its way.
        wait_for(client, completion(n), LIMIT if n in sure else 0.3)
    return client.listen()


def wait_for(client, payload, seconds):
    """Until a message has come."""
    if client.t != "lp":
        client.seen.wire.until(lambda got: payload in got, seconds)
        return
    by = time.monotonic() + seconds
    while payload not in client.seen.raw and not client.seen.end and time.monotonic() < by:
        client.poll_once(by - time.monotonic())


SCRIPTS["calls"] = Script(lambda t, n: completion(n), (1, 2, 3, END), reply, says=[], listen=calling)


def hears(*expected):
    """What reaches the server behind the handshake: numbers of calls, payloads, or functions of what came."""

    def check(cell):
        if cell.mode != "live":
            return
        wanted = [call(n) if isinstance(n, int) else n for n in expected]
        cell.wait(lambda: len(cell.hub.heard) > len(wanted) or cell.hub.ends, "the server hears too little")
        heard = cell.hub.heard[1:]
        if len(heard) != len(wanted):
            raise Failed(f"the server heard {heard}, expected {wanted}")
        for got, want in zip(heard, wanted, strict=False):
            if not (want(got) if callable(want) else got == want):
                raise Failed(f"the server heard {got!r}, expected {want if callable(want) else want!r}")

    return check


def hears_raw(test, end=None):
    """What came over the WebSocket behind the handshake and the first call."""

    def check(cell):
        first = frames.frame(frames.TEXT, call(1), masked=True)
        cell.wait(lambda: cell.hub.raw and first in cell.hub.raw[0] and (end is None or cell.hub.ends), "the server hears too little")
        rest = bytes(cell.hub.raw[0]).split(first, 1)[1]
        if not test(rest):
            raise Failed(f"behind the first call the server got {rest!r}")
        if end and cell.hub.ends[0] != end:
            raise Failed(f"the server saw {cell.hub.ends}, expected {end}")

    return check


def damaged(differs):
    return lambda got: len(got) == len(call(2)) and differs(got, call(2))


WS_ONLY = {**OPERATIONS, "else": "only WebSockets have frames"}


WITH = {"script": "calls", "run": calls, "on": ["ws", "sse", "lp"]}
LIVE = {"cannot": OPERATIONS, "refused": NEEDS}
ALL = ["H", 1, 2, 3, "END"]
SOME = ["H", 1, Rest(), "OVER"]  # what the server makes of a damaged call is not looked at
SECOND = frames.frame(frames.TEXT, call(2), masked=True)  # its length takes one byte
AT_WS = {"script": "calls", "run": calls, "on": ["ws"], "cannot": WS_ONLY}


def cut_call(count, end):
    """`truncate` of a frame to the server: so many bytes, then the end of both legs."""
    rule = f"truncate({count}){' + reset' if end == 'RST' else ''} on Say[2]"
    is_so_long = lambda rest: len(rest) == count and rest[:2] == SECOND[:count][:2]
    cannot = {**WS_ONLY, "replay": "there is no server that would get it"}
    return Case(rule, ["H", 1, end], checks=[hears_raw(is_so_long, end)], **{**AT_WS, "modes": ["live"], "cannot": cannot})


def ended(cell, place, end):
    """A call that arrives may be answered before the end, where there is a server that does so."""
    return ["H", 1, *([Repeats(2)] if place == "after" and cell.mode == "live" else []), end]


def unmasked(rest):
    return rest.startswith(bytes([SECOND[0], SECOND[1] & 0x7F]) + call(2))


def reserved(rest):
    return rest[0] == SECOND[0] | 0x20 and rest[1] == SECOND[1]


def longer(rest):
    return rest[0] == SECOND[0] and rest[1] == SECOND[1] + 1

CASES = [
    Case("drop on Say[2]", ["H", 1, 3, "END"], checks=[hears(1, 3)], cannot=OPERATIONS, **WITH),
    Case("delay(300ms) on Say[2]", ALL, checks=[hears(1, 2, 3)], least={2: 0.3}, cannot=OPERATIONS, **WITH),
    Case("delay(300ms) after Say[2]", ALL, checks=[hears(1, 2, 3)], least={3: 0.3}, cannot=OPERATIONS, **WITH),
    Case("duplicate on Say[2, direction=toServer]", ["H", 1, 2, 2, 3, "END"],
         checks=[lambda c: hears(*([1, 2, 2, 3] if c.t == "ws" else [1, call(2) * 2, 3]))(c)], **WITH, **LIVE),
    Case("reorder(1, 20s) on Say[1, direction=toServer]", ["H", 2, 1, 3, "END"], checks=[hears(2, 1, 3)],
         **{**WITH, "on": ["ws"], "run": at_once},
         cannot={**OPERATIONS, "else": "a send is one body, and the client waits for its answer"}, refused=NEEDS),
    Case("replace(/arguments/0=7) on Say[2, direction=toServer]", ALL,
         checks=[hears(1, lambda got: b'"arguments":[7]' in got, 3)], **WITH, **LIVE),
    Case("replace(hex=00fe) on Say[2, direction=toServer]", ["H", 1, 3, "END"], checks=[hears(1, b"\x00\xfe", 3)], **WITH, **LIVE),
    Case('inject("extra") after Say[2, direction=toServer]', ALL,
         checks=[lambda c: hears(*([1, 2, b"extra", 3] if c.t == "ws" else [1, call(2) + b"extra", 3]))(c)], **WITH, **LIVE),
    Case("corrupt on Say[2, direction=toServer]", SOME, checks=[hears(1, damaged(lambda a, b: bits(a, b) == 1), 3)], **WITH, **LIVE),
    Case("corrupt(bytes=3) on Say[2, direction=toServer]", SOME,
         checks=[hears(1, damaged(lambda a, b: 1 <= octets(a, b) <= 3), 3)], **WITH, **LIVE),
    Case("corrupt(utf8) on Say[2, direction=toServer]", SOME, checks=[hears(1, damaged(is_not_utf8), 3)], **WITH, **LIVE),
    Case("corrupt(json) on Say[2, direction=toServer]", SOME, checks=[hears(1, call(2).replace(b"]}", b"]"), 3)], **WITH, **LIVE),
    Case("corrupt(mask) on Say[2, direction=toServer]", SOME, refused=NEEDS, checks=[hears_raw(unmasked)], **AT_WS),
    Case("corrupt(rsv) on Say[2, direction=toServer]", SOME, refused=NEEDS, checks=[hears_raw(reserved)], **AT_WS),
    Case("corrupt(length) on Say[2, direction=toServer]", SOME, refused=NEEDS, checks=[hears_raw(longer)], **AT_WS),
    *[cut_call(count, end) for count, end in [(0, "FIN"), (1, "FIN"), (1, "RST"), (4, "FIN"), (4, "RST"), (20, "FIN"), (20, "RST")]],
    *[
        Case(f"{word} {place} Say[2]", lambda c, place=place, end=end: ended(c, place, end),
             checks=[hears(1, *([2] if place == "after" else []))], script="calls", run=calls,
             on=["ws", "sse", "lp"], fires=1,
             cannot=OPERATIONS)
        for word, end in [("reset", "RST"), ("disconnect", "FIN")]
        for place in ("before", "on", "after")
    ],
]
