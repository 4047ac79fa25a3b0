"""What is done to sessions and to everybody: outages, refusals, transports that stop working, sessions that are forgotten."""

import time

from wiretape_tools.acceptance.faults.clients import EVENTS, OPERATION, UPGRADE, Client, Plan, begin
from wiretape_tools.acceptance.faults.expect import Close
from wiretape_tools.acceptance.faults.stage import Case
from wiretape_tools.acceptance.faults.wire import Wire, ask
from wiretape_tools.lib.processes import Failed

PATIENCE = 20  # seconds for a server to come back


def again(cell, port, path="/chat/negotiate?negotiateVersion=1"):
    """Asks once more, as the same client does: (status or None, the end of the connection)."""
    fields = OPERATION.get(cell.t, [])
    if cell.t in OPERATION:
        answer = ask(Wire(port), "again", "POST", "/graphql", fields, b'{"query":"subscription { tick }"}')
    else:
        answer = ask(Wire(port), "again", "POST", path, fields)
    answer.wire.close()
    return answer.status, answer.end


def comes_back(during, least):
    """Listens to the end, asks at once, and until all is well again."""

    def run(cell, port):
        client = cell.client(port)
        begin(client)
        seen = client.listen()
        cut = time.monotonic()
        # Where nothing is cut, the outage may still be to come.
        first = again(cell, port)
        while "cut=none" in cell.case.title and first != during and time.monotonic() - cut < least:
            first = again(cell, port)
        if "cut=none" not in cell.case.title and time.monotonic() - cut > least * 0.8:
            raise Failed("this machine is too slow to look into an outage")
        if first != during:
            raise Failed(f"during the outage a request gets {first}, expected {during}")
        # A replay whose session is over answers in its own words.
        while (state := again(cell, port)) == during:
            if time.monotonic() - cut > PATIENCE:
                raise Failed("the server does not come back")
            time.sleep(0.1)
        if (away := time.monotonic() - seen.begun) < least:
            raise Failed(f"a request gets {state} {away:.3f} s after the client began, {during} for {least} s expected")
        return seen

    return run


def reopens(expected):
    """Listens to the end, and then asks for its session by the name that it has."""

    def run(cell, port):
        client = cell.client(port)
        begin(client)
        seen = client.listen()
        target = f"{client.path}?id={client.token}"
        answer = ask(Wire(port), "again", "GET", target, {"ws": UPGRADE, "sse": EVENTS}.get(cell.t, []))
        if answer.status != expected:
            raise Failed(f"the old name gets {answer.raw[:100]!r}, expected {expected}")
        return seen

    return run


def downgraded(taken):
    """Negotiates and asks for each transport: those that were taken away get no answer that opens them."""

    def run(cell, port):
        client = Client(port, cell.t, Plan(0, "OVER"))
        client.negotiate()
        target = f"{client.path}?id={client.token}"
        for t, fields in [("ws", UPGRADE), ("sse", EVENTS), ("lp", [])]:
            wire = Wire(port)
            answer = ask(wire, t, "GET", target, fields)
            wire.close()
            is_open = answer.status in (101, 200)
            if is_open == (t in taken):
                raise Failed(f"{t} is answered {answer.raw[:80]!r} after downgrade({', '.join(taken)})")
            if is_open:
                break
        return client.seen

    return run


def refused(count):
    """The first connections are refused, the next one is not."""

    def run(cell, port):
        states = [again(cell, port) for _ in range(count + 1)]
        if states != [(None, "RST")] * count + [(200, None)]:
            raise Failed(f"the connections came to {states}")
        return Client(port, cell.t, Plan(0, "OVER")).seen

    return run


OPERATIONS = dict.fromkeys(OPERATION, "an operation has no session")
ONCE = {"ws": "one row is enough", "lp": "one row is enough", **OPERATIONS}
OUT = (None, "RST")
CASES = [
    Case("outage(3s) after {M}[2]", ["H", 1, 2, "RST"], run=comes_back(OUT, 3)),
    Case("outage(3s, cut=disconnect) after {M}[2]", ["H", 1, 2, "FIN"], run=comes_back(OUT, 3)),
    Case("outage(3s, cut=1001) after {M}[2]", ["H", 1, 2, Close(1001), "FIN"], run=comes_back(OUT, 3), on=["ws"],
         cannot={"else": "a code needs a close frame"}),
    Case("outage(3s, cut=1001) after {M}[2]", ["H", 1, 2, "END"], run=comes_back(OUT, 3), on=["sse", "lp"],
         cannot={"else": "above"}, title="outage(3s, cut=1001) after {M}[2]: the proper end"),
    Case("outage(3s, cut=none) after {M}[2]", ["H", 1, 2, 3, "END"], run=comes_back(OUT, 3),
         on=["ws", "sse", "parts", "events"], cannot={"lp": "each poll is a new request"}),
    Case("outage(3s, answer=503) after {M}[2]", ["H", 1, 2, "RST"], run=comes_back((503, None), 3)),
    Case("outage(3s, answer=502, cut=disconnect) on {M}[2]", ["H", 1, "FIN"], run=comes_back((502, None), 3)),
    Case("refuse on accept[1..2]", run=refused(2), fires=2),
    Case("refuse on accept", run=lambda c, p: refused(0)(c, p), on=[]),
    Case("expire + reset after {M}[2]", ["H", 1, 2, "RST"], run=reopens(404), on=["ws", "sse", "lp"], cannot=OPERATIONS),
    Case("expire + disconnect on {M}[2]", ["H", 1, "FIN"], run=reopens(404), on=["ws", "sse", "lp"], cannot=OPERATIONS),
    *[
        Case(f"downgrade({', '.join(taken)}) on negotiate[1]", run=downgraded(taken), on=["sse"], cannot=ONCE)
        for taken in (["ws"], ["sse"], ["lp"], ["ws", "sse"])
    ],
]
CASES = [case for case in CASES if case.on]
