"""What is done to requests and their answers: at the negotiation, at what opens the stream, at sends, at connections."""

from typing import Any

from wiretape_tools.acceptance.faults.clients import EVENTS, HELLO, OPENING, OPERATION, UPGRADE, Client, Plan
from wiretape_tools.acceptance.faults.stage import Case
from wiretape_tools.acceptance.faults.wire import LIMIT, Wire, ask
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed

NEGOTIATED = {"parts": "an operation is not negotiated", "events": "an operation is not negotiated"}
SENT = dict.fromkeys(("ws", "parts", "events"), "nothing is sent beside it")
FIELDS = {"ws": UPGRADE, "sse": EVENTS, "lp": [], **OPERATION}
GARBAGE = b"HTTQ/1.l 2OO\r\nContent-Length= no\r\n\r\n"
CUT_JSON = b'{"connectionId":"wiretape","availableTransports":[{"tran'


def asked(where, follow=0, fields=(), seconds=LIMIT):
    """Asks up to the request that is meant, and waits for what its connection does then."""

    def run(cell, port):
        client = Client(port, cell.t, Plan(0, "SILENCE"))
        client.fields = list(fields)
        seen = client.seen
        if where == "operation" or cell.t in OPERATION:
            answer = client.open()
        elif where == "negotiate":
            seen.wire = Wire(port)
            target = f"{client.path}/negotiate?negotiateVersion=1"
            answer = ask(seen.wire, "negotiate", "POST", target, client.fields, seconds=seconds)
        else:
            client.negotiate()
            answer = client.open()
            if where == "send":
                seen.wire = Wire(port)
                answer = ask(seen.wire, "send", "POST", f"{client.path}?id={client.token}", client.fields, HELLO)
        seen.answer = answer
        seen.targets = []
        for _ in range(follow):
            seen.targets.append(answer.field("Location"))
            method = "POST" if where == "negotiate" or cell.t in OPERATION else "GET"
            more = [] if where == "negotiate" else FIELDS[cell.t]
            seen.answer = answer = ask(Wire(port), "again", method, seen.targets[-1] or "/", more)
        # An answer that is whole may be followed by the end of its connection.
        if not answer.end:
            answer.wire.until(lambda _: False, cell.case.wait)
        seen.end = answer.end or "SILENCE"
        seen.raw = answer.raw
        return seen

    return run


def answered(status=None, end="SILENCE", body=None, fields=(), raw=None, length=None, hub=None):
    """What the answer is, how its connection ended, and whether the server was asked."""

    def check(cell):
        answer = cell.seen.answer
        if status is not None and answer.status != status:
            raise Failed(f"{answer.raw[:200]!r}, expected {status}")
        for name, value in dict(fields).items():
            if answer.field(name) != value:
                raise Failed(f"{name} is {answer.field(name)!r}, expected {value!r}")
        if body is not None and answer.body != body:
            raise Failed(f"the body is {answer.body!r}, expected {body!r}")
        if raw is not None and answer.raw != raw:
            raise Failed(f"{answer.raw!r}, expected {raw!r}")
        if length is not None and (len(answer.raw) != length or not answer.raw.startswith(b"HTTP/1.1 "[:length])):
            raise Failed(f"{len(answer.raw)} bytes, expected {length}: {answer.raw!r}")
        if cell.seen.end != end:
            raise Failed(f"the end is {cell.seen.end}, expected {end}")
        if hub is not None and cell.mode == "live":
            wanted = bool(hub)
            if (cell.hub_was_asked(cell.case.where)) != wanted:
                raise Failed(f"the server was asked {cell.hub.asked}")

    return check


# Where a request stands: what rules call it, and for which transports.
PLACES = {
    "negotiate": (["ws", "sse", "lp"], NEGOTIATED),
    "upgrade": (["ws"], {}),
    "stream": (["sse"], {}),
    "poll": (["lp"], {}),
    "operation": (["parts", "events"], {}),
    "send": (["sse", "lp"], SENT),
}
def requests(rule, check, kinds=("negotiate", "opening", "send"), wait=0.15, **more):
    """A row for each place; `opening` is the request that opens the stream, whatever its kind."""
    for kind in kinds:
        if kind == "opening":
            rules: Any
            on = ["ws", "sse", "lp", "parts", "events"]
            cannot: dict[str, str] = {}
            rules = lambda c: [rule.replace("{K}", OPENING[c.t])]
            title = rule.replace("{K}", "upgrade|stream|poll|operation")
        else:
            on, cannot = PLACES[kind]
            rules, title = [rule.replace("{K}", kind)], rule.replace("{K}", kind)
        checks = [check(kind) if check.__name__ == "by_kind" else check]
        case = Case(rules, on=on, cannot=cannot, run=asked(kind, **more), checks=checks, title=title)
        case.where, case.wait = kind, wait
        yield case


def malformed(part):
    def by_kind(kind):
        def check(cell):
            is_head = part == "head" or part is None and kind == "opening" and cell.t == "ws"
            if is_head:
                return answered(raw=GARBAGE, end="FIN", hub=False)(cell)
            answered(200, body=CUT_JSON, hub=False)(cell)
            return None

        return check

    return by_kind


def looped(cell):
    answered(307)(cell)
    targets = cell.seen.targets
    if None in targets or len(set(targets)) != len(targets):
        raise Failed(f"the client was sent to {targets}")


def upgraded(wrong):
    def check(cell):
        answer = cell.seen.answer
        if answer.status != 101:
            raise Failed(f"{answer.raw!r}, expected 101")
        right = frames.response(b"GET\r\n" + UPGRADE[-1].encode())
        accept = answer.field("Sec-WebSocket-Accept")
        if (accept.encode() in right) != (wrong != "accept"):
            raise Failed(f"Sec-WebSocket-Accept is {accept}")
        protocol = answer.field("Sec-WebSocket-Protocol")
        if cell.mode == "live" and wrong == "accept" and protocol != "chat" or wrong == "none" and protocol is not None:
            raise Failed(f"the subprotocol is {protocol}")
        if wrong == "other" and protocol in ("chat", None) or wrong == "x" and protocol != "x":
            raise Failed(f"the subprotocol is {protocol}")

    return check


OFFER = ["Sec-WebSocket-Protocol: chat"]
LATER = {"status": 503, "body": b"later", "fields": {"Retry-After": "1", "Content-Length": "5"}, "hub": False}

CASES = [
    *requests('respond(503, Retry-After=1, "later") on {K}', answered(**LATER)),
    *requests("respond(401) on {K}", answered(401, body=b"", hub=False)),
    *requests('respond(204, X-A="b c") on {K}', answered(204, fields={"X-A": "b c"}, hub=False), kinds=["negotiate", "send"]),
    *requests('respond(429) on request[method=POST]', answered(429, hub=False), kinds=["negotiate", "operation"]),
    *requests("malformed on {K}", malformed(None)),
    *requests("malformed(head) on {K}", malformed("head")),
    *requests("malformed(body) on {K}", malformed("body")),
    *requests("redirect-loop on {K}[1]", looped, kinds=["negotiate", "opening"], follow=3),
    *requests("reset on {K}", answered(raw=b"", end="RST", hub=False)),
    *requests("disconnect on {K}", answered(raw=b"", end="FIN", hub=False)),
    *requests("refuse on {K}", answered(raw=b"", end="RST", hub=False)),
    *requests("stall on {K}", answered(raw=b""), wait=0.5, seconds=0.5),
    *requests("truncate(20) on {K}", answered(length=20, end="FIN")),
    *requests("truncate(20) + reset on {K}", answered(length=20, end="RST")),
    *requests("truncate(0) on {K}", answered(length=0, end="FIN")),
    *requests("truncate(170) on {K}", answered(200, length=170, end="FIN"), kinds=["negotiate"]),
    *requests("reset after {K}", answered(200, end="RST", hub=True), kinds=["negotiate", "send"], wait=5),
    *requests("disconnect after {K}", answered(200, end="FIN", hub=True), kinds=["negotiate", "send"], wait=5),
    *requests("wrong-accept on upgrade", upgraded("accept"), kinds=["upgrade"], fields=OFFER),
    *requests("wrong-subprotocol on upgrade", upgraded("other"), kinds=["upgrade"], fields=OFFER),
    *requests("wrong-subprotocol(none) on upgrade", upgraded("none"), kinds=["upgrade"], fields=OFFER),
    *requests('wrong-subprotocol("x") on upgrade', upgraded("x"), kinds=["upgrade"], fields=OFFER),
]

# Answers that come later, in pieces or whole, and streams that end right behind their opening.
WHOLE = ["H", 1, 2, 3, "END"]


def at_opening(rule, expect, **more):
    return Case(lambda c: [rule.replace("{K}", OPENING[c.t])], expect,
                title=rule.replace("{K}", "upgrade|stream|poll|operation"), **more)


CASES += [
    Case("delay(300ms) on negotiate", WHOLE, on=["ws", "sse", "lp"], cannot=NEGOTIATED, least={0: 0.3}),
    at_opening("delay(300ms) on {K}", WHOLE, least={0: 0.3}, fires={"lp": None, "*": 1}),
    at_opening("slice(10, 5ms) on {K}", WHOLE, fires={"lp": None, "*": 1}),
    Case("throttle(2kB/s) on accept", WHOLE, script="long", fires=None, least={3: 0.3}),
    at_opening("reset after {K}", {"lp": ["OVER"], "*": ["RST"]}, on=["ws", "sse", "parts", "events"], cannot={"lp": "below"}),
]
