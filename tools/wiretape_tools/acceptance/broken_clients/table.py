"""The table: a good client, what bends it, what happens to it, and what has to tell the two apart."""

from dataclasses import dataclass, field, replace
from typing import Any

from wiretape_tools.acceptance.broken_clients.client import (
    Atmosphere,
    Eventflit,
    Events,
    GraphQL,
    Habits,
    SignalR,
    always,
    constant,
)

CUT: dict[type, str] = {
    SignalR: "reset after Tick[3]", GraphQL: "reset after next[3]", Eventflit: "reset after tick[3]",
    Atmosphere: "reset after Message[3, direction=toClient]", Events: "reset after tick[3]",
}  # fmt: skip
# How late the good one may be where being late, or not coming at all, is what tells the two apart: a run lingers behind it.
SOMEWHAT = "late=900ms"
# And where the bent one comes too early: the machine may be busy.
BY_FAR = "late=2s"
DELAYS = "delays(0s, 600ms, 1200ms, {})"
PINGS = ["pings(every=300ms, late=500ms)"]
PAUSE: dict[str, Any] = {"good": {"pings": 0.25, "patience": 4}, "linger": 0.3}
AWAY = ["respond(503) on connect[retry=1..9]"]
# Only the tape knows what a client is to say.
NO_TAPE = "live there is no tape that what a client says could be held against"


@dataclass
class Row:
    """A bent client.

    bent: what differs from the good one; good: what both have that others have not.
    rules: behind the cut that most rows begin with; policies: all of them hold the good client.
    words: one of them stands in the verdict on the bent one; {mode: why} in `cannot` where there is nothing to judge.
    """

    name: str
    kind: type
    bent: dict
    policies: list = field(default_factory=list)
    words: list = field(default_factory=list)
    rules: list = field(default_factory=list)
    good: dict = field(default_factory=dict)
    cut: object = True  # or another rule, or False for none
    options: list = field(default_factory=list)  # of the replay
    cannot: dict = field(default_factory=dict)
    linger: float = 0.8
    end: object = None  # how the server ends the first connection, on the tape and live: `reset`, or a code
    stays: bool = False  # the good one does not come to its end

    @property
    def faults(self):
        first = [CUT[self.kind] if self.cut is True else self.cut] if self.cut else []
        return first + self.rules

    def habits(self, is_bent):
        return replace(Habits(), **{**self.good, **(self.bent if is_bent else {})})

    @property
    def tape(self):
        """What the tape is recorded with: the same kind over the same transport, as many logins, and the same end."""
        return self.kind, self.good.get("order", ("ws",))[:1], self.good.get("logins", 0), self.end


def over(transport):
    return {"order": (transport,)}


WS, SSE, LP = over("ws"), over("sse"), over("lp")


def signalr(name, bent, policies=(), words=(), rules=(), good=None, **more):
    return Row("signalr " + name, SignalR, bent, list(policies), list(words), list(rules), WS if good is None else good, **more)


def silent(name, kind, tick, good=None):
    """Two clients whose connection is stalled: one notices it too late, and one reconnects too early."""
    cut = f"stall(both) after {tick}"
    return [
        Row(f"{name}, is late to notice silence", kind, {"patience": 3.5}, ["detects(within=1s, late=1s)"],
            ["gave the silent connection up"], good=good or {}, cut=cut),
        Row(f"{name}, retries too early after silence", kind, {"wait": constant(0, 0.1, 1.2), "obeys": False},
            [DELAYS.format(BY_FAR)], ["retry 2 (attempt 3) of session 1 came after"], ["respond(503) on connect[retry=1]"],
            {**(good or {}), "obeys": False}, cut=cut),
    ]


def recorded(name, kind, bent, policies, words, end="reset", **more):
    """The server ends the first connection, on the tape and live, and the recorded client reconnects."""
    return Row(f"{name} with a recorded reconnect, {bent[0]}", kind, bent[1], policies, words, cut=False, end=end, **more)


def tape_only(name, kind, bent, words, good=None, **more):
    """What a client says otherwise than it did on the tape."""
    return Row(name, kind, bent, [], words, [], good or {}, cut=False, cannot={"live": NO_TAPE}, **more)


ROWS = [
    signalr("ws, does not join again", {"rejoins": False}, ["resubscribes(JoinGroup)"], ["without asking again", "never came"]),
    signalr("ws, does not join again, and hears no ticks", {"rejoins": False}, ["resubscribes(JoinGroup->Tick)"],
            ["without asking again"], linger=1.2),
    signalr("ws, joins another group", {"rejoins": "rooms"}, ["resubscribes(JoinGroup)"], ["without asking again", "JoinGroup"]),
    signalr("ws, does not retry", {"wait": constant()}, [DELAYS.format(SOMEWHAT)], ["retry 1 of session 1 never came", "never came"],
            linger=1.3),
    signalr("ws, retries too early", {"wait": constant(0, 0.1, 1.2)}, [DELAYS.format(BY_FAR)],
            ["retry 2 (attempt 3) of session 1 came after"], ["respond(503) on connect[retry=1]"]),
    signalr("ws, retries too late", {"wait": constant(0, 2.2)}, [DELAYS.format(SOMEWHAT)],
            ["retry 2 (attempt 3) of session 1 came after"], ["respond(503) on connect[retry=1]"]),
    signalr("ws, waits equally long", {"wait": always(0.4)}, [f"exponential(400ms, factor=2, {BY_FAR})"], ["retry 2"],
            ["respond(503) on connect[retry=1]"], {**WS, "wait": lambda n: 0.4 * 2 ** (n - 1)}),
    signalr("ws, grows by a factor", {"wait": lambda n: 0.15 * 2 ** (n - 1)}, [f"polynomial(150ms, power=2, {BY_FAR})"],
            ["retry 2", "retry 3"], ["respond(503) on connect[retry=1..2]"], {**WS, "wait": lambda n: 0.15 * n * n}),
    signalr("ws, never gives up", {"wait": always(0.2)}, ["gives-up(after=3)"], ["retries in a row"], AWAY,
            {**WS, "wait": constant(0, 0.2, 0.2)}, stays=True, linger=1.3),
    signalr("ws, gives up too early", {"wait": constant(0, 0.2)}, ["gives-up(after=3)"], ["made only 2 retries"], AWAY,
            {**WS, "wait": constant(0, 0.2, 0.2)}, stays=True, linger=1.3),
    signalr("ws, loses a call at a reconnect", {"keeps": False}, ["keeps(Send)"], ["without saying again", "never came"],
            cut="reset on Completion[2]"),
    signalr("ws, says an unanswered call again", {"keeps": True}, ["drops(Send)"], ["said again 1 message"],
            good={**WS, "keeps": False}, cut="reset on Completion[2]"),
    signalr("ws, says an acknowledged call again", {"repeats": True}, ["once(Send)"], ["though it was acknowledged"],
            cut="reset after Tick[4]"),
    signalr("ws, opens two connections", {"second": True}, ["single"], ["asked for a second connection", "no session left"]),
    signalr("ws, does not log in", {"logins": 0}, ['asks("POST /login")'], ["no client sent POST /login"],
            good={**WS, "logins": 1}, cut=False),
    signalr("ws, logs in twice", {"logins": 2}, ['asks("POST /login", times=1)'], ["came 2 times instead of exactly once"],
            good={**WS, "logins": 1}, cut=False),
    signalr("ws, ignores a final code", {"final": ()}, ["stays-away(after=close(4001))"], ["after close 4001"],
            cut="close(4001) after Tick[3]", stays=True),
    signalr("ws, ignores a final range of codes", {"final": ()}, ["stays-away(after=close(4400..4499))"], ["after close 4400"],
            cut="close(4400) after Tick[3]", stays=True),
    signalr("ws, comes back after a 401", {"refused": ()}, ["stays-away(after=status(401))"], ["after status 401"],
            ["respond(401) on connect[retry=1]"], stays=True),
    signalr("ws, ignores Retry-After", {"honours": False}, ["honours(retry-after)"], ["that asked for 1s"],
            ["respond(503, Retry-After=1) on connect[retry=1]"], {**WS, "wait": constant(0, 0.2, 0.2)}),
    signalr("falls back in the wrong order", {"order": ("ws", "lp", "sse")}, ["transports(ws, sse)"], ["tried ws, lp"],
            ["respond(404) on upgrade"], {}, cut=False),
    signalr("does not fall back", {"falls_back": False, "wait": constant()}, ["transports(ws, sse)"], ["tried only ws"],
            ["respond(404) on upgrade"], {}, cut=False),
    signalr("negotiates twelve times", {"negotiations": 12}, ["rate(max=5/s)"], ["began 12 attempts within 1s"]),
    signalr("ws, hammers the server", {"wait": always(0.02)}, ["rate(max=4/s)"], ["attempts within 1s"],
            ["respond(503) on connect[retry=1..8]"], {**WS, "wait": always(0.6)}),
    signalr("ws, never notices silence", {"patience": 20}, ["detects(within=1s, late=1s)"], ["silent connection"],
            cut="stall(both) after Tick[3]", linger=0.3),
    *silent("signalr ws", SignalR, "Tick[3]", WS),
    signalr("sse, does not join again", {"rejoins": False}, ["resubscribes(JoinGroup)"],
            ["without asking again", "never came"], good=SSE),
    signalr("sse, retries too early", {"wait": constant(0, 0.1, 1.2)}, [DELAYS.format(BY_FAR)], ["retry 2"],
            ["respond(503) on connect[retry=1]"], SSE),
    signalr("sse, says an acknowledged call again", {"repeats": True}, ["once(Send)"], ["though it was acknowledged"],
            good=SSE, cut="reset after Tick[4]"),
    signalr("sse, loses a call at a reconnect", {"keeps": False}, ["keeps(Send)"], ["without saying again", "never came"],
            good=SSE, cut="reset on Completion[2]"),
    signalr("lp, does not join again", {"rejoins": False}, ["resubscribes(JoinGroup)"], ["without asking again", "never came"],
            good=LP, cut="expire + reset after Tick[3]"),
    signalr("lp, retries too late", {"wait": constant(0, 2.2)}, [DELAYS.format(SOMEWHAT)], ["retry 2"],
            ["respond(503) on connect[retry=1]"], LP, cut="expire + reset after Tick[3]"),
    tape_only("signalr ws, changes a message", SignalR, {"says": ((2, "ho"), (5, "bye"))}, ["client message 3"], WS),
    tape_only("signalr ws, leaves a message out", SignalR, {"says": ((5, "bye"),)}, ["Send", "never came", "waiting"], WS,
              options=["--patience", "1s", "--grace", "200ms"]),
    tape_only("signalr ws, says one more", SignalR, {"says": ((2, "hi"), (3, "hi hi"), (5, "bye"))}, ["client message 4"], WS),
    tape_only("signalr ws, swaps two messages", SignalR, {"says": ((2, "bye"), (5, "hi"))}, ["client message 3"], WS,
              options=["--match", "strict"]),
    tape_only("signalr lp, says a message twice", SignalR, {"says": ((2, "hi"), (2, "hi"), (5, "bye"))}, ["client message 3"], LP),
    tape_only("signalr sse, leaves early", SignalR, {"leaves": 4}, ["never came"], SSE),
    Row("graphql ws, does not subscribe again", GraphQL, {"rejoins": False}, ["resubscribes"], ["without asking again", "never came"]),
    Row("graphql ws, ignores a fatal code", GraphQL, {"final": ()}, ["stays-away(after=close(4400|4401|4403))"],
        ["after close 4400"], cut="close(4400) after next[3]", stays=True),
    Row("graphql ws, loses a mutation at a reconnect", GraphQL, {"keeps": False}, ["keeps(Say)"],
        ["without saying again", "never came"], cut="reset on next[operation=Say] max=1"),
    Row("graphql ws, says an unanswered mutation again", GraphQL, {"keeps": True}, ["resubscribes", "drops(Say)"],
        ["said again 1 message"], good={"keeps": False}, cut="reset on next[operation=Say] max=1"),
    Row("graphql ws, says a mutation again", GraphQL, {"repeats": True}, ["once(Say)"], ["though it was acknowledged"],
        cut="reset after next[6]"),
    Row("graphql ws, is no Apollo iOS 1", GraphQL, {"wait": always(0.1)}, [f"client(apollo-ios-1, {BY_FAR})"], ["retry 1"],
        good={"wait": always(0.5)}),
    tape_only("graphql ws, asks with other variables", GraphQL, {"says": ((2, "ho"), (5, "bye"))}, ["client message 3"]),
    Row("eventflit, does not subscribe again", Eventflit, {"rejoins": False}, ["resubscribes"],
        ["without asking again", "never came"]),
    Row("eventflit, waits equally long", Eventflit, {"wait": always(0.3)}, [f"client(eventflit-swift, max=3, gap=1s, {BY_FAR})"],
        ["retry 1", "retry 2"], ["respond(503) on connect[retry=1]"], {"wait": constant(0, 1, 1)}),
    Row("eventflit, tries once too often", Eventflit, {"wait": constant(0, 1, 1, 1)},
        ["client(eventflit-swift, max=2, gap=1s)"], ["should not have come"], AWAY, {"wait": constant(0, 1)}, stays=True, linger=1.2),
    Row("eventflit, ignores a final code", Eventflit, {"final": ()}, ["stays-away(after=close(4000..4099))"],
        ["after close 4001"], cut="close(4001) after tick[3]", stays=True),
    Row("eventflit, says a client event again", Eventflit, {"repeats": True}, ["once(client-hi)"], ["though it was acknowledged"]),
    Row("atmosphere ws, comes back too late", Atmosphere, {"wait": always(2)}, [f"client(atmosphere-js, interval=300ms, {SOMEWHAT})"],
        ["retry 1"], good={"wait": always(0.3)}),
    Row("atmosphere ws, does not come back", Atmosphere, {"wait": constant()}, [f"client(atmosphere-js, interval=300ms, {SOMEWHAT})"],
        ["never came"], good={"wait": always(0.3)}, linger=1.6),
    Row("signalr ws, never pings", SignalR, {"pings": 0}, PINGS, ["was silent for"], cut="delay(1500ms) on Tick[4]",
        **{**PAUSE, "good": {**WS, **PAUSE["good"]}}),
    Row("signalr ws, pings too seldom", SignalR, {"pings": 1.2}, PINGS, ["was silent for"], cut="delay(1500ms) on Tick[4]",
        **{**PAUSE, "good": {**WS, **PAUSE["good"]}}),
    Row("signalr sse, never pings", SignalR, {"pings": 0}, PINGS, ["was silent for"], cut="delay(1500ms) on Tick[4]",
        **{**PAUSE, "good": {**SSE, **PAUSE["good"]}}),
    Row("graphql ws, never pings", GraphQL, {"pings": 0}, PINGS, ["was silent for"], cut="delay(1500ms) on next[4]", **PAUSE),
    Row("eventflit, pings too seldom", Eventflit, {"pings": 1.2}, PINGS, ["was silent for"], cut="delay(1500ms) on tick[4]", **PAUSE),
    Row("atmosphere ws, never pings", Atmosphere, {"pings": 0}, PINGS, ["was silent for"],
        cut="delay(1500ms) on Message[4, direction=toClient]", **PAUSE),
    Row("events, does not come back", Events, {"wait": constant(), "obeys": False}, [f"delays(500ms, {SOMEWHAT})"], ["never came"],
        good=SSE, linger=1.8),
    Row("events, comes back before retry:", Events, {"wait": always(0.1), "obeys": False}, [f"delays(500ms, {BY_FAR})"], ["retry 1"],
        good=SSE),
    Row("events, opens two streams", Events, {"second": True}, ["single"], ["asked for a second connection (stream)"],
        good=SSE, cut=False),
    # Live the server would go on elsewhere, and the client miss what was lost with its connection.
    Row("events, does not say which event it had", Events, {"tells": False}, [], ["header.Last-Event-ID=3"],
        ["delay(10ms) on connect[header.Last-Event-ID=3]"], SSE),
    Row("events, asks anew for a stream that ended", Events, {"wait": always(0.02), "obeys": False}, ["rate(max=4/s)"],
        ["attempts within 1s"], ["respond(503) on connect[retry=1..8]"], SSE, stays=True),
    *silent("signalr lp", SignalR, "Tick[3]", LP),
    *silent("signalr sse", SignalR, "Tick[3]", SSE),
    *silent("graphql ws", GraphQL, "next[3]"),
    *silent("eventflit", Eventflit, "tick[3]"),
    *silent("atmosphere ws", Atmosphere, "Message[3, direction=toClient]"),
    *silent("events", Events, "tick[3]", SSE),
    signalr("ws, comes back after Close", {"closes": False}, ["stays-away(after=close)"], ["after close"],
            cut=r'inject("{\"type\":7}") + close(1000) after Tick[3]', stays=True),
    signalr("sse, comes back after Close", {"closes": False}, ["stays-away(after=close)"], ["after close"], good=SSE,
            cut=r'inject("{\"type\":7}") + close(1000) after Tick[3]', stays=True),
    signalr("lp, comes back after a 401", {"refused": ()}, ["stays-away(after=status(401))"], ["after 401", "after status 401"],
            good=LP, cut="respond(401) on poll[4]", stays=True),
    signalr("lp, sends late and does not join again", {"rejoins": False}, ["resubscribes(JoinGroup)"],
            ["without asking again", "never came"], good={**LP, "late": True}, cut="expire + reset after Tick[3]"),
    signalr("ws, gives a held upgrade up and does not join again", {"rejoins": False}, ["resubscribes(JoinGroup)"],
            ["without asking again", "never came"], ["delay(9s) on upgrade[2] max=1"], {**WS, "wait": always(0.2)}),
    recorded("signalr ws", SignalR, ("retries too late", {"wait": constant(2.2)}), [f"delays(600ms, {SOMEWHAT})"], ["retry 1"],
             good={**WS, "wait": constant(0.6, 1.2)}),
    recorded("signalr ws", SignalR, ("retries too early", {"wait": constant(0.1)}), [f"delays(600ms, {BY_FAR})"], ["retry 1"],
             good={**WS, "wait": constant(0.6, 1.2)}),
    recorded("signalr ws", SignalR, ("ignores a final code", {"final": ()}), ["stays-away(after=close(4401))"],
             ["after close 4401"], 4401, good={**WS, "final": (4401,)}, stays=True),
    recorded("graphql ws", GraphQL, ("retries too early", {"wait": constant(0.1)}), [f"delays(600ms, {BY_FAR})"], ["retry 1"],
             good={"wait": constant(0.6, 1.2)}),
    recorded("eventflit", Eventflit, ("does not subscribe again", {"rejoins": False}), ["resubscribes"],
             ["without asking again", "never came"]),
    recorded("atmosphere ws", Atmosphere, ("comes back too late", {"wait": always(2)}),
             [f"client(atmosphere-js, interval=300ms, {SOMEWHAT})"], ["retry 1"], good={"wait": always(0.3)}),
    recorded("events", Events, ("comes back before retry:", {"wait": always(0.1), "obeys": False}),
             [f"delays(500ms, {BY_FAR})"], ["retry 1"], good=SSE),
    tape_only("atmosphere ws, changes a message", Atmosphere, {"says": ((2, "ho"), (5, "bye"))}, ["client message 1"]),
]  # fmt: skip
