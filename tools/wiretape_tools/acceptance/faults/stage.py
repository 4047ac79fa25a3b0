"""One cell: a rule, live between the hub and a raw client, or in the replay of a tape of them."""

import json
import threading
import time
from typing import Any, ClassVar

from wiretape_tools.acceptance.faults import wire
from wiretape_tools.acceptance.faults.clients import Client, Plan, begin, listens
from wiretape_tools.acceptance.faults.expect import Units, bytes_of, matches, ordered_end, split
from wiretape_tools.acceptance.faults.hub import END, RECORD, GraphQL, Hub, SignalR
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, run

WORK = ROOT / ".build/acceptance/faults"
TRANSPORTS = ["ws", "sse", "lp", "parts", "events"]
MODES = ["live", "replay"]
TEXT = "aé€😀"


def tick(t, n, text=TEXT):
    """The n-th message of the script, as each protocol says it."""
    if t in ("parts", "events"):
        data = {"data": {"tick": n, "text": text}}
        data = {"payload": data} if t == "parts" else data
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    message = {"type": 1, "target": "Tick", "arguments": [n, text]}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + RECORD


PING = b'{"type":6}' + RECORD
HELD = {"parts": "next", "events": "next"}  # what rules call the messages, where it is not Tick


class Script:
    """What the server says: units by name and their order.

    - reply: to what the client says, as the hub has it; then `says` is what it says by itself.
    - listen: what the client does when a tape is made.
    - prepare: makes a client one of the script's protocol.
    """

    def __init__(self, make, order=(1, 2, 3, END), reply=lambda _: [], says=None, listen=None,
                 prepare=lambda _: None):
        self.make, self.order, self.reply, self.says = make, order, reply, says
        self.listen, self.prepare = listen or listens, prepare

    def units(self, t):
        known = {n: self.make(t, n) for n in self.order if isinstance(n, int)}
        greeting = {} if t in ("parts", "events") else {"H": b"{}" + RECORD}
        return Units({**greeting, **known, "P": PING})

    def protocol(self, t):
        return GraphQL() if t in ("parts", "events") else SignalR()

    def client(self, port, t, plan):
        client = Client(port, t, plan)
        self.prepare(client)
        return client

    def hub(self, t):
        units = self.units(t)
        order = self.order if self.says is None else self.says
        return Hub(self.protocol(t), [END if n == END else units[n] for n in order], self.reply)


SCRIPTS = {
    "ticks": Script(tick),
    "pings": Script(tick, (1, "P", 2, "P", 3, END)),
    # The server leaves the end to the client.
    "stays": Script(tick, (1, 2, 3)),
    # Two bytes of length in the header of a frame.
    "long": Script(lambda t, n: tick(t, n, "x" * 300)),
}


class Cell:
    """Where a case is tried, and what it sees there."""

    tapes: ClassVar[dict[Any, Any]] = {}
    making = threading.Lock()

    def __init__(self, case, mode, t):
        self.case, self.mode, self.t = case, mode, t
        self.name = f"{case.number}-{mode}-{t}"
        self.script = SCRIPTS[case.script]
        self.units = self.script.units(t)
        self.hub: Any = None
        self.report: Any = None
        self.seen: Any = None
        self.said: Any = None
        self.head: Any = None  # of a poll's answer, where measuring is all that the cell does

    def fill(self, text):
        return text.replace("{M}", HELD.get(self.t, "Tick"))

    def given(self, what):
        """A value, or one for each transport, or for each cell."""
        if callable(what):
            return what(self)
        return what.get(self.t, what.get("*")) if isinstance(what, dict) else what

    @property
    def tokens(self):
        tokens = list(self.given(self.case.expect))
        return [n for n in tokens if n in self.units or not isinstance(n, str) or n != "H"]

    def plan(self, tokens):
        """How many bytes to wait for."""
        inner, end = split(tokens)
        count = sum(token.size(self.t, self.units) if hasattr(token, "size") else len(bytes_of(self.t, self.units, token))
                    for token in inner)
        closes = end == "END" or any(type(token).__name__ == "Close" for token in inner)
        last = ordered_end(self.t) if end == "END" else b""
        return Plan(count + len(last), end, closes, last)

    def client(self, port):
        """A client that waits for what is expected."""
        return self.script.client(port, self.t, self.plan(self.tokens))

    def arguments(self):
        found = ["--seed", "7"]
        for rule in self.given(self.case.rules):
            found += ["--fault", self.fill(rule)]
        report = WORK / f"{self.name}.json"
        return [*found, "--report", report, *self.case.options], report

    def run(self):
        if self.mode == "replay" and self.case.refused:
            return self.refuse()
        arguments, report = self.arguments()
        if self.mode == "live":
            self.hub = self.script.hub(self.t)
            command = ["proxy", "--upstream", f"http://127.0.0.1:{self.hub.port}", *arguments]
        else:
            command = ["replay", self.tape(), "--keepalive", self.case.keepalive, *arguments]
        report.unlink(missing_ok=True)
        wire.made.wires = []
        try:
            with Wiretape(command, WORK / f"{self.name}.log") as proxy:
                self.seen = self.case.run(self, proxy.port)
                self.seen.ended = self.seen.ended or time.monotonic()
                # Else it waits for them, for a moment.
                wire.close_all()
                self.code = proxy.stop()
                self.said = proxy.said()
        finally:
            wire.close_all()
            if self.hub:
                self.hub.close()
        self.report = json.loads(report.read_text(encoding="utf-8"))
        self.judge()
        return None

    def refuse(self):
        """A plan that cannot apply is refused when it is loaded."""
        code, _, said = run([binary(), "replay", self.tape(), *self.arguments()[0]])
        if code != 64 or self.case.refused not in said:
            raise Failed(f"exit {code}, {said!r}; expected 64 and '{self.case.refused}'")

    def tape(self):
        """Recorded once for each script and transport."""
        key = (self.case.script, self.t)
        with self.making:
            if key not in self.tapes:
                path = WORK / f"{self.case.script}-{self.t}.tape"
                path.unlink(missing_ok=True)
                hub = self.script.hub(self.t)
                with Wiretape(["record", "--upstream", f"http://127.0.0.1:{hub.port}", "--output", path], f"{path}.log") as proxy:
                    order = [("END" if n == END else n) for n in self.script.order]
                    everything = [*(["H"] if "H" in self.units else []), *order, *([] if "END" in order else ["SILENCE"])]
                    seen = self.script.listen(self.script.client(proxy.port, self.t, self.plan(everything)))
                    matches(self.t, self.units, everything, seen.raw)
                    if proxy.stop() != 0 or seen.end != everything[-1]:
                        raise Failed(f"the tape of {key}: {seen.end}, {proxy.said()}")
                hub.close()
                self.tapes[key] = path
        return self.tapes[key]

    heads: ClassVar[dict[Any, Any]] = {}

    @property
    def poll_head(self):
        """Bytes of the head of the answer that carries unit 2 to a poll, measured where no rule fires."""
        with self.making:
            known = self.heads.get(self.mode)
        if known is None:
            plain = Cell(Case("drop on {M}[attempt=9]", ["H", 1, 2, 3, "END"], fires=0, run=measuring), self.mode, self.t)
            plain.name += f"-{id(self)}"
            plain.run()
            known = self.heads[self.mode] = plain.head
        return known

    def hub_was_asked(self, kind):
        """Whether the request that is meant reached the server."""
        asked = self.hub.asked
        if kind == "negotiate":
            return any("negotiate" in one for one in asked)
        return any(one.startswith("POST") and "negotiate" not in one for one in asked) if kind == "send" else (
            any("negotiate" not in one for one in asked))

    def wait(self, condition, otherwise, seconds=10):
        by = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > by:
                raise Failed(otherwise)
            time.sleep(0.01)

    def judge(self):
        fired = [one["rule"] for one in self.report["faults"]]
        wanted = self.given(self.case.fires)
        if wanted is not None and len(fired) != wanted:
            raise Failed(f"{len(fired)} rules fired: {fired}")
        if wanted == 0 and self.code != 5:
            raise Failed(f"exit {self.code} though the rule never fired")
        if self.case.expect is not None:
            tokens = self.tokens
            try:
                places = matches(self.t, self.units, tokens, self.seen.raw)
            except Failed as problem:
                raise Failed(f"{problem} (the end: {self.seen.end})") from None
            if self.seen.end != split(tokens)[1]:
                raise Failed(f"the end is {self.seen.end}, expected {split(tokens)[1]}")
            for place, least in self.case.least.items():
                if place >= len(places) - 1:
                    continue
                if (moment := self.seen.at(places[place])) < least:
                    raise Failed(f"place {place + 1} came {moment:.3f} s after the client began, not {least} s")
            if self.t == "lp" and self.seen.cut and not self.case.cuts:
                raise Failed(f"a part of an answer: {self.seen.cut!r}")
            if (ended := self.seen.ended - self.seen.begun) < self.case.ends_after:
                raise Failed(f"the end came {ended:.3f} s after the client began, not {self.case.ends_after} s")
        for check in self.case.checks:
            check(self)


def listening(cell, port):
    return listens(cell.client(port))


def measuring(cell, port):
    """Listens over long polling, and keeps the length of the head of the answer with unit 2."""
    client = cell.client(port)
    begin(client)
    poll = client.poll_once

    def polling(seconds):
        poll(seconds)
        if cell.units[2] in client.seen.answers["poll"].body:
            cell.head = len(client.seen.answers["poll"].head)

    client.poll_once = polling
    return client.listen()


class Case:
    """A row of the matrix: rules, and what a client sees of them over each transport.

    - rules: one or more, `{M}` is the name of the messages; a function or a dict where transports differ.
    - expect: tokens as in expect.py; "H" is left out where there is no handshake. None: the checks say it.
    - least: by place of the token, the seconds after the client's beginning before which it must not come.
    - cannot: {"replay", "lp" or "replay lp": why} for cells that cannot be.
    - checks: functions of the cell.
    - refused: what a replay says that refuses the rule.
    """

    count = 0
    where: str = ""  # the request that is meant, and how long it is waited for
    wait: float = 0

    def __init__(self, rules, expect=None, on=TRANSPORTS, script="ticks", run=listening, least=(), fires=1, checks=(),
                 cannot=(), keepalive="off", options=(), cuts=False, title=None, modes=MODES,
                 ends_after=0, refused=None):
        Case.count += 1
        self.number = Case.count
        self.rules = [rules] if isinstance(rules, str) else rules
        self.title = title or (" + ".join(self.rules) if isinstance(self.rules, list) else str(rules))
        self.expect, self.on, self.script, self.run, self.fires = expect, on, script, run, fires
        self.least, self.checks, self.cannot = dict(least), checks, dict(cannot)
        self.ends_after, self.refused = ends_after, refused
        self.keepalive, self.options, self.cuts, self.modes = keepalive, list(options), cuts, modes

    def why_not(self, mode, t):
        """The reason why there is no such cell."""
        for key in (f"{mode} {t}", t, mode):
            if key in self.cannot:
                return self.cannot[key]
        return None if t in self.on and mode in self.modes else self.cannot.get("else", "")
