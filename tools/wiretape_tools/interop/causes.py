"""Checks that replay sends no effect before its cause. Real pairs whose client sends its messages in requests of their own, and
receives the answers on a stream or poll, run through `wiretape record`. Then the tape is played at speed 1, instant, and one
message at a time (`--speed step`). All replays must give the observations of the recording and one digest, and the tape of each
replay must have each server message after the client messages that precede it on the recorded tape. A case may name the path of plain
requests, which carry no message. They count as client messages.
"""

import collections
import contextlib
import json
import subprocess
import threading
import urllib.request

from wiretape_tools.interop import atmosphere, eventflit, events, graphql_http
from wiretape_tools.interop.cases import TALK, WELCOME
from wiretape_tools.interop.cells import compare
from wiretape_tools.interop.peers import KEEPALIVE
from wiretape_tools.interop.replays import play
from wiretape_tools.lib.processes import Failed, binary

SPEEDS = ["1", "instant", "step"]
# Messages that are no cause and have no place in the order: those that the protocol makes by itself, and cancellations, which only
# their own chain waits for (docs/replay.md).
FREE = {"handshake", "keepalive", "ack", "close", "cancel"}


class Item:
    """A message or plain request of a tape. key: what it has in common with its counterpart on another tape."""

    def __init__(self, told):
        self.event, self.connection, self.role, self.chain = told["event"], told["c"], told.get("role"), told.get("chain")
        self.session, self.is_client = told.get("session"), told["d"] == ">"
        self.asked = 0  # the event of a reply's request
        self.key = (told["d"], told["type"], told.get("target"))

    def __str__(self):
        return " ".join(filter(None, self.key[1:])) + f" (event {self.event})"


def items(tape, path):
    """The messages of a tape and the requests of a path, in its order."""
    found = {}
    for selector in ("message", "request"):
        command = [binary(), "inspect", tape, "--format", "json", "--filter", selector]
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            told = json.loads(line)
            if told["target"] == path if told["type"] == "request" else told["role"] not in FREE:
                found[told["event"]] = Item(told)
    return [found[event] for event in sorted(found)]


def numbered(tape):
    """The items of a tape by key and number: the second message of a key has the number 2."""
    asked: dict[str, int] = {}
    counts: collections.Counter[tuple[str, ...]] = collections.Counter()
    found = {}
    for item in tape:
        if item.is_client:
            asked.setdefault(item.chain, item.event)
        elif item.role == "reply":
            item.asked = asked.get(item.chain, 0)
        counts[item.key] += 1
        found[item.key, counts[item.key]] = item
    return found


def is_cause(item, effect):
    """Whether an item is a client message of another connection that precedes a server message on the recorded tape, and that the
    server message waits for. A reply waits for its own chain. Of other sessions it waits for what follows its request."""
    if not item.is_client or item.event > effect.event or item.connection == effect.connection:
        return False
    if effect.role != "reply":
        return True
    if item.session == effect.session:
        return item.chain == effect.chain
    return item.event > effect.asked


def check_order(recorded, actual, path):
    """Compares the order of two tapes. Returns how many pairs of a cause and its effect it looked at."""
    first, second = numbered(items(recorded, path)), numbered(items(actual, path))
    looked = 0
    for name, effect in first.items():
        if effect.is_client or name not in second:
            continue
        for other, cause in first.items():
            if not is_cause(cause, effect):
                continue
            looked += 1
            if other not in second:
                raise Failed(f"{effect} is on the tape of the replay, and its cause {cause} is not")
            if second[other].event > second[name].event:
                raise Failed(f"the replay sends {second[name]} before its cause {second[other]}")
    return looked


@contextlib.contextmanager
def stepping(proxy):
    """Lets one message of each session leave at a time, until the block ends."""
    ended = threading.Event()

    def call(path, body=None):
        asked = urllib.request.Request(proxy.ready["control"] + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return json.load(answer)

    def loop():
        while not ended.wait(0.005):
            with contextlib.suppress(OSError):
                for session in call("/v1/sessions")["sessions"]:
                    if session["paused"]:
                        call(f"/v1/sessions/{session['session']}/advance", b'{"by":1}')

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def replay(stage, tape, speed, client, path):
    """Plays the tape. client: a function that runs the client with the URL of the replay. Returns what it observes, the digest, and
    how many pairs of a cause and its effect were looked at."""
    folder = stage.path(".run")
    options = ["--report", f"{folder}/", "--keepalive", f"{KEEPALIVE}s", "--control", "127.0.0.1:0"]
    seen = play(stage, tape, speed, client, *options, during=stepping if speed == "step" else None)
    (actual,) = folder.glob("actual.tape*")
    return seen, json.loads((folder / "report.json").read_text(encoding="utf-8"))["digest"], check_order(tape, actual, path)


def at_every_speed(stage, tape, wanted, client, equal=compare, path=None):
    """Plays the tape at each speed. wanted: what the client observes live. equal: raises when two observations differ. path: that of
    plain requests that count as client messages."""
    digests, looked = set(), 0
    for speed in SPEEDS:
        seen, digest, count = replay(stage, tape, speed, client, path)
        equal(wanted, seen, f"replay at speed {speed}")
        digests.add(digest)
        looked += count
    if len(digests) != 1:
        raise Failed(f"the digests at the speeds {', '.join(SPEEDS)} differ: {digests}")
    if looked == 0:
        raise Failed("no server message follows a client message of another connection: the case did not test its subject")
    return f"{looked} pairs of cause and effect in order at speeds {', '.join(SPEEDS)}, with one digest"


def signalr(transport):
    def case(stage):
        tape, script = stage.tape(), stage.script([WELCOME, *TALK], transport=transport)
        with stage.server() as port, stage.record(port, tape) as proxy:
            live = stage.observe(proxy.url + "/hub", script)
        return at_every_speed(stage, tape, live, lambda url: stage.observe(url + "/hub", script))

    return case


def graphql(name):
    """Three subscriptions at once. The client stops one of them. There is no second stage: the client ends its stream when no
    operation is left, so a second stage may begin another session."""
    pair = graphql_http.PAIRS[name]
    stages = pair["stages"][:1]

    def case(stage):
        tape, script = stage.tape(), graphql_http.script(stage, pair, stages)
        live = graphql_http.record(stage, pair, tape, stages)
        return at_every_speed(stage, tape, live, lambda url: graphql_http.observe(stage, pair, url + "/graphql", script))

    return case


def pusher(client):
    def case(stage):
        live, path, tape = eventflit.recorded(stage, client, eventflit.TALK)
        return at_every_speed(stage, tape, live, lambda url: eventflit.observe(stage, client, url, path))

    return case


def atmospheric(transport):
    """Each message that the client sends in a POST comes back on its stream or poll."""

    def case(_):
        stage = atmosphere.Stage(f"causes-{transport}")

        def client(url):
            return stage.observe(url, transport, [*atmosphere.TALK, *atmosphere.END], lengths=False)

        port, program = stage.server()
        with program:
            tape, live = stage.record(port, client)
        return at_every_speed(stage, tape, live, client, atmosphere.same)

    return case


def commands(stage):
    """Each command is a plain POST, and its answer comes on an event stream."""

    def client(url):
        return events.observe(url, "commands")

    tape = stage.tape()
    with events.server(stage, "identity") as port, stage.record(port, tape) as proxy:
        live = client(proxy.url)
    return at_every_speed(stage, tape, live, client, path="/command")


def two_clients(_):
    """What one client sends causes messages to the other."""
    stage = atmosphere.Stage("causes-two-clients")

    def client(url):
        first, second = atmosphere.two_clients(stage, url)
        return first + second

    port, program = stage.server()
    with program:
        tape, live = stage.record(port, client)
    return at_every_speed(stage, tape, live, client, atmosphere.same)


CASES = {f"causes: SignalR {transport}": (["aspnetcore", "signalr-js"], signalr(transport)) for transport in ("sse", "lp")}
CASES["causes: graphql sse single"] = (["npm"], graphql("sse single"))
CASES |= {f"causes: pusher-js {way}": (["npm"], pusher(f"pusher-js {way}")) for way in ("xhr_streaming", "xhr_polling")}
CASES |= {f"causes: atmosphere {transport}": ([], atmospheric(transport)) for transport in ("sse", "stream", "lp")}
CASES["causes: atmosphere two clients"] = ([], two_clients)
CASES["causes: plain requests and an event stream"] = ([], commands)
