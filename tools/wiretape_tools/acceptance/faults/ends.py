"""What ends a connection: which bytes come before it, whether it is FIN, RST or a close frame, and where a cut falls."""

from typing import Any

from wiretape_tools.acceptance.faults.expect import Beginning, Close, Raw, carried
from wiretape_tools.acceptance.faults.hub import LAST_CHUNK
from wiretape_tools.acceptance.faults.stage import Case
from wiretape_tools.lib.processes import Failed

WS_ONLY = {"else": "only a WebSocket has close frames"}


def closed(*before):
    """The proper end of each transport; that of an operation is one of HTTP alone, as it is not complete."""
    over = [*before, Raw(LAST_CHUNK), "OVER"]
    return {"ws": ["H", *before, Close(), "FIN"], "parts": over, "events": over, "*": ["H", *before, "END"]}


def codes():
    """Every kind of code: usual ones, those that must not be sent, none, the first and the last."""
    for text, code, reason in [
        ("1000", 1000, b""), ("1001", 1001, b""), ("1005", 1005, b""), ("1006", 1006, b""), ("1015", 1015, b""),
        ("0", 0, b""), ("999", 999, b""), ("65535", 65535, b""), ('4403, "Forbidden"', 4403, b"Forbidden"),
        (f'1011, "{"r" * 123}"', 1011, b"r" * 123), ("", None, b""),
    ]:
        rule = f"close({text}) after {{M}}[2]" if text else "close after {M}[2]"
        yield Case(rule, ["H", 1, 2, Close(code, reason), "FIN"], on=["ws"], cannot=WS_ONLY, title=rule[:60])


def server_sees(end):
    """The server's connection ends as the client's does."""

    def check(cell):
        if cell.mode == "live" and cell.t != "lp":
            cell.wait(lambda: cell.hub.ends, "the server's connection does not end")
            if cell.hub.ends[0] != end:
                raise Failed(f"the server saw {cell.hub.ends}, expected {end}")

    return check


def told(how):
    """The report's attempt ended by the rule, in that way."""

    def check(cell):
        attempts = cell.report["sessions"][0]["attempts"]
        ended = attempts[0].get("ended") or {}
        if not str(ended.get("by", "")).startswith("fault:") or ended.get("how") != how:
            raise Failed(f"the report says that the attempt ended {ended}, expected {how} by the rule")

    return check


# Where a cut falls -------------------------------------------------------------------------------------------------

def inside_character(cell):
    """So many bytes of what carries unit 2 that the last one is the first of a character's three."""
    data = bytes(carried(cell.t, cell.units[2]))
    return data.index("€".encode()) + 1


def cut(title, count, end, script="ticks", on=("ws", "sse", "parts", "events"), why="an answer of a poll is cut below"):
    """`truncate` at a place; count: bytes, for each transport or for each cell."""
    tail = " + reset" if end == "RST" else ""

    def rules(cell):
        return [f"truncate({cell.given(count)}){tail} on {{M}}[2]"]

    def expect(cell):
        return ["H", 1, Beginning(2, cell.given(count)), end]

    return Case(rules, expect, on=list(on), script=script, cannot={"lp": why}, title=f"truncate{tail}: {title}")


def poll_cut(title, count, end):
    """Of the answer to a poll, its head counted."""
    tail = " + reset" if end == "RST" else ""

    def body(cell):
        """Bytes of the payload that are left."""
        return max(0, cell.given(count) - cell.poll_head)

    def rules(cell):
        return [f"truncate({cell.given(count)}){tail} on {{M}}[2]"]

    def expect(cell):
        return ["H", 1, Beginning(2, body(cell)), end] if body(cell) else ["H", 1, end]

    def is_so_long(cell):
        if len(cell.seen.cut) != cell.given(count) or not b"HTTP/1.1 200 OK\r\n".startswith(cell.seen.cut[:17]):
            raise Failed(f"{len(cell.seen.cut)} bytes of an answer: {cell.seen.cut!r}")

    only = {"else": "the cuts of the other transports stand above"}
    return Case(rules, expect, on=["lp"], cuts=True, checks=[is_so_long], cannot=only, title=f"truncate{tail}: {title}")


def in_body(cell):
    return cell.poll_head + cell.units[2].index("€".encode()) + 1


# From where `since` counts, with what is expected of the row.
MARKS: list[tuple[str, dict[str, Any]]] = [
    # The run may have begun before the client.
    ("run", {"ends_after": 1}),
    ("connect", {"ends_after": 2.5}),
    ("handshake", {
        "ends_after": 2.5, "on": ["ws", "sse", "lp"], "cannot": dict.fromkeys(("parts", "events"), "no handshake"),
    }),
]
CASES = [
    *[
        Case(f"{word} {place} {{M}}[2]", ["H", 1, *([2] if place == "after" else []), end],
             checks=[server_sees(end), told(how)])
        for word, end, how in [("reset", "RST", "reset"), ("disconnect", "FIN", "fin")]
        for place in ("before", "on", "after")
    ],
    Case("close after {M}[2]", closed(1, 2)),
    Case("close on {M}[2]", closed(1)),
    Case("close before {M}[2]", closed(1)),
    *codes(),
    Case("drop on close[by=server]", {"sse": ["H", 1, 2, 3, "END"], "*": ["H", 1, 2, 3, "SILENCE"]}, on=["ws"],
         cannot={"else": "an answer that has ended cannot go on"}),
    Case("delay(300ms) on close[by=server]", ["H", 1, 2, 3, "END"], on=["ws"], least={4: 0.3},
         cannot={"else": "no close frame"}),
    Case("close(4000) on close[by=server, code=1000]", ["H", 1, 2, 3, Close(4000), "FIN"], on=["ws"], cannot=WS_ONLY),
    *[
        Case(f"{rule} since {mark}=2500ms", expect, script="stays", **more)
        for rule, expect in [
            ("reset", ["H", 1, 2, 3, "RST"]), ("disconnect", ["H", 1, 2, 3, "FIN"]),
            ("close(4000)", {**closed(1, 2, 3), "ws": ["H", 1, 2, 3, Close(4000), "FIN"]}),
        ]
        for mark, more in MARKS
    ],
    cut("inside the header", {"ws": 1}, "FIN", on=["ws"], why=""),
    cut("inside the header", {"ws": 1}, "RST", on=["ws"], why=""),
    cut("inside the length of two bytes", {"ws": 3}, "RST", script="long", on=["ws"], why=""),
    cut("behind the header", {"ws": 2}, "FIN", on=["ws"], why=""),
    cut("nothing of it", 0, "FIN"),
    cut("nothing of it", 0, "RST"),
    cut("inside the chunk's size", {"*": 1}, "FIN", on=["sse", "parts", "events"]),
    cut("inside the chunk's size", {"*": 1}, "RST", on=["sse", "parts", "events"]),
    cut("between the size's CR and LF", {"*": 3}, "FIN", on=["sse", "parts", "events"]),
    cut("inside the line's field", {"*": 6}, "FIN", on=["sse", "parts", "events"]),
    cut("inside the line's field", {"*": 6}, "RST", on=["sse", "parts", "events"]),
    cut("inside the payload", {"ws": 12, "*": 50}, "FIN"),
    cut("inside the payload", {"ws": 12, "*": 50}, "RST"),
    cut("inside a UTF-8 character", inside_character, "FIN"),
    cut("inside a UTF-8 character", inside_character, "RST"),
    poll_cut("inside the answer's status line", 12, "FIN"),
    poll_cut("inside the answer's status line", 12, "RST"),
    poll_cut("inside a UTF-8 character of the answer", in_body, "FIN"),
    poll_cut("inside a UTF-8 character of the answer", in_body, "RST"),
]
