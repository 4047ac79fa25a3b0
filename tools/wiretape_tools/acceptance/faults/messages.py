"""What is done to a message itself, on its way to the client."""

from wiretape_tools.acceptance.faults.expect import Damaged, Masked, Payload, Raw, Repeats, carried
from wiretape_tools.acceptance.faults.stage import Case, tick
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed


def bits(got, sent):
    return sum((a ^ b).bit_count() for a, b in zip(got, sent, strict=False))


def octets(got, sent):
    return sum(a != b for a, b in zip(got, sent, strict=False))


def is_not_utf8(got, sent):
    return octets(got, sent) == 1 and b"\xff" in got


def without_bracket(t, n):
    payload = tick(t, n)
    at = max(payload.rfind(b"}"), payload.rfind(b"]"))
    return payload[:at] + payload[at + 1 :]


def fragmented(payload, size):
    """The frames of a message, each with at most `size` bytes."""
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)]
    last = len(pieces) - 1
    return b"".join(
        frames.frame(frames.TEXT if i == 0 else 0, piece, masked=False, first=0x80 if i == last else 0)
        for i, piece in enumerate(pieces))


WHOLE = ["H", 1, 2, 3, "END"]
ONLY_WS = dict.fromkeys(("sse", "lp", "parts", "events"), "only WebSockets have frames")


def lengthened(cell):
    """The length that is told is one too large: of the frame, the chunk or the body."""
    data = carried(cell.t, cell.units[2])
    if cell.t == "ws":
        return ["H", 1, Raw(data[:1] + bytes([data[1] + 1]) + data[2:]), 3, "END"]
    if cell.t == "lp":
        return ["H", 1, 2, "SILENCE"]
    size, _, rest = data.partition(b"\r\n")
    return ["H", 1, Raw(f"{int(size, 16) + 1:x}\r\n".encode() + rest), 3, "END"]


def tells_more(cell):
    """A client of long polling waits for the byte that does not come."""
    if cell.t == "lp" and f"Content-Length: {len(cell.units[2]) + 1}".encode() not in cell.seen.cut:
        raise Failed(f"the answer is {cell.seen.cut!r}")


def overtaken(cell):
    """Keepalives pass what is delayed: those of the script live, those of the schedule in a replay."""
    if cell.mode == "live":
        return ["H", 1, Repeats("P", 2), 2, 3, "END"]
    p = Repeats("P")
    return ["H", p, 1, Repeats("P", 1), 2, p, 3, p, "END"]


def silenced(cell):
    """No keepalive behind the first message, however long the client listens."""
    return ["H", 1, 2, 3, "SILENCE"] if cell.mode == "live" else ["H", Repeats("P"), 1, Repeats("P"), 2, 3, "SILENCE"]


KEPT = {
    "script": "pings", "keepalive": "200ms", "on": ["ws", "sse"],
    "cannot": {
        "lp": "a poll is answered whole, and its protocol has no keepalives",
        **dict.fromkeys(("parts", "events"), "no keepalives"),
    },
}
SCRIPTED = {
    "script": "pings", "on": ["ws", "sse"], "modes": ["live"],
    "cannot": {"replay": "keepalives of a replay are its own", "else": "no keepalives"},
}
CASES = [
    Case("drop on {M}[attempt=9]", WHOLE, fires=0),
    Case("delay(300ms) on {M}[2]", WHOLE, least={2: 0.3}),
    Case("delay(300ms..320ms) on {M}[2]", WHOLE, least={2: 0.3}),
    Case("delay(normal, 300ms, 0ms) on {M}[2]", WHOLE, least={2: 0.3}),
    Case("delay(pareto, 300ms, 16) on {M}[2]", WHOLE, least={2: 0.3}),
    Case("delay(300ms) before {M}[2]", WHOLE, least={2: 0.3}),
    Case("delay(300ms) after {M}[2]", WHOLE, least={3: 0.3}),
    Case("drop on {M}[2]", ["H", 1, 3, "END"]),
    Case("duplicate on {M}[2]", ["H", 1, 2, 2, 3, "END"]),
    Case("duplicate(3) on {M}[2]", ["H", 1, 2, 2, 2, 2, 3, "END"]),
    Case("reorder on {M}[1]", ["H", 2, 1, 3, "END"]),
    Case("reorder(2, 20s) on {M}[1]", ["H", 2, 3, 1, "END"]),
    Case("reorder(9, 1500ms) on {M}[1]", ["H", 2, 3, 1, "SILENCE"], script="stays", least={3: 1.5},
         cannot={"live lp": "the server answers its polls: it comes with the next messages"}),
    Case('replace("other") on {M}[2]', ["H", 1, Payload(b"other"), 3, "END"]),
    Case("replace(hex=00fe) on {M}[2]", ["H", 1, Payload(b"\x00\xfe", frames.BINARY), 3, "END"]),
    Case('inject("extra") before {M}[2]', ["H", 1, Payload(b"extra"), 2, 3, "END"]),
    Case('inject("extra") after {M}[2]', ["H", 1, 2, Payload(b"extra"), 3, "END"]),
    Case('inject("extra") on {M}[2]', ["H", 1, Payload(b"extra"), 3, "END"]),
    Case("inject(hex=00fe) after {M}[2]", ["H", 1, 2, Payload(b"\x00\xfe", frames.BINARY), 3, "END"]),
    Case("corrupt on {M}[2]", ["H", 1, Damaged(2, lambda a, b: bits(a, b) == 1), 3, "END"]),
    Case("corrupt(bits=5) on {M}[2]", ["H", 1, Damaged(2, lambda a, b: 1 <= bits(a, b) <= 5), 3, "END"]),
    Case("corrupt(bytes=4) on {M}[2]", ["H", 1, Damaged(2, lambda a, b: 1 <= octets(a, b) <= 4), 3, "END"]),
    Case("corrupt(utf8) on {M}[2]", ["H", 1, Damaged(2, is_not_utf8), 3, "END"]),
    Case("corrupt(json) on {M}[2]", lambda c: ["H", 1, Payload(without_bracket(c.t, 2)), 3, "END"]),
    Case("corrupt(length) on {M}[2]", lengthened, checks=[tells_more], cuts=True),
    Case("corrupt(mask) on {M}[2]", ["H", 1, Masked(2), 3, "END"], on=["ws"], cannot=ONLY_WS),
    Case("corrupt(rsv) on {M}[2]", lambda c: ["H", 1, Raw(b"\xa1" + carried("ws", c.units[2])[1:]), 3, "END"], on=["ws"],
         cannot=ONLY_WS),
    Case("fragment(9) on {M}[2]", lambda c: ["H", 1, Raw(fragmented(c.units[2], 9)), 3, "END"], on=["ws"], cannot=ONLY_WS),
    Case("corrupt(mask) on {M}[2]", WHOLE, fires=0, on=list(ONLY_WS), cannot={"ws": "above"},
         title="corrupt(mask) on {M}[2]: fires on WebSockets only"),
    Case("delay(1500ms) on {M}[2]", overtaken, title="delay(1500ms) on {M}[2]: keepalives pass", **KEPT),
    Case("delay(300ms) on Ping", ["H", 1, "P", 2, "P", 3, "END"], fires=2, least={2: 0.3, 4: 0.6}, **SCRIPTED),
    Case("drop on Ping", ["H", 1, 2, 3, "END"], fires=2, **SCRIPTED),
    Case("inject(\"extra\") since handshake=2500ms", ["H", 1, 2, 3, Payload(b"extra"), "SILENCE"], script="stays",
         least={4: 2.5}, on=["ws", "sse", "lp"],
         cannot={"live lp": "the server answers its polls: it comes with the next messages",
                 **dict.fromkeys(("parts", "events"), "an operation has no handshake")}),
]
