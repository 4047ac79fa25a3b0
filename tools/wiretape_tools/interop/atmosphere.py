"""Atmosphere: a client that follows the protocol against a server that does, direct, recorded and replayed, a tape of every
transport over every transport; and the captures of real servers, made into tapes and played to that client.

    tools/wiretape_tools/start interop.atmosphere [CASE…]       these cases alone, which need nothing installed

What the client's application observed must be equal everywhere.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

from wiretape_tools.lib.processes import ROOT, Failed, Program, Skipped, Wiretape, binary, free_port, run, wait_for_port
from wiretape_tools.lib.tapes import import_of

HERE = pathlib.Path(__file__).resolve().parent
TRANSPORTS = ["ws", "sse", "stream", "lp"]
LIMIT = 30  # seconds of one client
PEERS = pathlib.Path(os.environ.get("WIRETAPE_PEERS") or ROOT.parent / "shared/peers")
CAPTURES = PEERS.parent / "captures"

# Lengths make a stream of bytes into messages; without them what shares a chunk or a poll could not be told apart.
TALK = [
    ["push", "hello"], ["wait", 1], ["push", "héllo € 😀"], ["wait", 2], ["push", "pipe|5|x"], ["wait", 3],
    ["push", '{"author":"a","message":"hi"}'], ["wait", 4], ["push", "!later 2 120"], ["wait", 6],
]
TRACKED = [
    *TALK, ["push", "!burst 3"], ["wait", 9], ["push", "!cut héllo € 😀 again"], ["wait", 10], ["push", "!big 40000"],
    ["wait", 11],
]
END = [["pause", 0.1], ["close"]]
SAMPLE = [*TRACKED[:-2], *END]  # what recordings/ has


class Stage:
    """Server, recorder, replay and client of one case, and its files."""

    def __init__(self, name):
        self.name = name
        self.work = ROOT / ".build/interop/atmosphere"
        self.work.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def path(self, suffix):
        self.count += 1
        return self.work / f"{self.name}-{self.count}{suffix}"

    def server(self, *options):
        port = free_port()
        command = [sys.executable, HERE / "atmosphere_server.py", str(port), *options]
        program = Program("atmosphere_server", command, self.path(".server.log"))
        wait_for_port(port, program)
        return port, program

    def start(self, url, transport, steps, path="/chat", **more):
        script = self.path(".script.json")
        script.write_text(json.dumps({"transport": transport, "steps": steps, **more}), encoding="utf-8")
        command = [sys.executable, HERE / "client_atmosphere.py", url + path, script]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def wait_for(client, text):
        """What the client shows until it has got that message."""
        lines = []
        for line in iter(client.stdout.readline, ""):
            lines.append(line)
            if json.loads(line).get("text") == text:
                break
        return "".join(lines)

    def finish(self, client, shown=""):
        try:
            out, err = (client.stdout.read(), client.stderr.read()) if shown else client.communicate(timeout=LIMIT)
            out = shown + out
            client.wait(LIMIT)
        except subprocess.TimeoutExpired:
            client.kill()
            out, err = client.communicate()
            raise Failed(f"the client still runs after {LIMIT} s: {out[-500:]} {err[-500:]}") from None
        if client.returncode != 0:
            raise Failed(f"the client ended with {client.returncode}: {out[-700:]} {err[-1500:]}")
        return [json.loads(line) for line in out.splitlines()]

    def observe(self, url, transport, steps, path="/chat", **more):
        return self.finish(self.start(url, transport, steps, path, **more))

    def record(self, port, play, *options, suffix=".tape.gz"):
        """The tape of what `play(url)` does, and what it returned."""
        tape = self.path(suffix)
        tape.unlink(missing_ok=True)
        arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", tape, *options]
        with Wiretape(arguments, self.path(".log")) as proxy:
            seen = play(proxy.url)
            if (code := proxy.stop()) != 0:
                raise Failed(f"record ended with {code}: {proxy.said()}")
        return tape, seen

    def replay(self, tape, play, *options, code=0):
        """What `play(url)` returned, and the report."""
        report = self.path(".report.json")
        report.unlink(missing_ok=True)
        with Wiretape(["replay", tape, "--report", report, *options], self.path(".log")) as proxy:
            try:
                seen = play(proxy.url)
            except Failed as failure:
                raise Failed(f"{failure}\n      {proxy.said()}") from None
            ended = proxy.stop()
            if ended != code:
                raise Failed(f"replay ended with {ended}: {proxy.said()}\n      observed {seen}")
        return seen, json.loads(report.read_text(encoding="utf-8"))


def same(wanted, got, name):
    if wanted != got:
        lines = [f"      {'=' if a == b else '≠'} {a} | {b}" for a, b in zip(wanted, got, strict=False)]
        raise Failed(f"{name} observed other things ({len(wanted)} | {len(got)}):\n" + "\n".join(lines)[:1800])


def transports(report):
    return [session["transports"] for session in report["sessions"]]


def pairs(stage, recorded, steps, replayed, server=(), path="/chat", **more):
    """Live over all, recorded over one, replayed over the others."""
    port, program = stage.server(*server)
    with program:
        live = stage.observe(f"http://127.0.0.1:{port}", recorded, steps, path, **more)
        tape, seen = stage.record(port, lambda url: stage.observe(url, recorded, steps, path, **more))
    if sum(one["what"] == "message" for one in live) < 6 or live[-1]["what"] != "done":
        raise Failed(f"the script did not run: {live}")
    same(live, seen, f"recorded over {recorded}")
    for transport in replayed:
        got, report = stage.replay(tape, lambda url, t=transport: stage.observe(url, t, steps, path, **more))
        same(live, got, f"{recorded} over {transport}")
        told = [(s["protocol"], s["transports"], s["finished"]) for s in report["sessions"]]
        if report["verdict"] != "pass" or told != [("atmosphere", ["lp" if transport == "jsonp" else transport], True)]:
            raise Failed(f"{recorded} over {transport}: the report tells {report['verdict']} and {told}")
    return f"{len(live)} observations, over {', '.join(replayed)}"


# Reconnects: the client loses its connection in the middle and is back with its id.
CUT: list[Any] = [
    ["push", "hello"], ["wait", 1], ["push", "!later 4 150"], ["wait", 2], ["cut", 0.4], ["wait", 5], ["push", "bye"],
    ["wait", 6], *END,
]
UNCUT = [step for step in CUT if step[0] != "cut"]


def messages(seen):
    return [one["text"] for one in seen if one["what"] == "message"]


def recorded_cut(stage, transport):
    """The cut is on the tape: it plays back."""
    port, program = stage.server()
    with program:
        tape, seen = stage.record(port, lambda url: stage.observe(url, transport, CUT))
    wanted = ["hello", "later-0", "later-1", "later-2", "later-3", "bye"]
    same(wanted, messages(seen), "the recorded client")
    for policy in ("resume", "live"):
        got, report = stage.replay(tape, lambda url: stage.observe(url, transport, CUT), "--on-reconnect", policy)
        same(messages(seen), messages(got), f"--on-reconnect {policy}")
        if len(report["sessions"]) != 1 or len(report["sessions"][0]["attempts"]) < (1 if transport == "lp" else 2):
            raise Failed(f"the report tells {report['sessions']}")
    return f"over {transport}"


def cut_at_replay(stage, transport, back):
    """The tape has no cut. The messages that fell due meanwhile are the cache's: none is lost, whatever the policy."""
    port, program = stage.server()
    with program:
        tape, seen = stage.record(port, lambda url: stage.observe(url, "ws", UNCUT))
    steps = [["cut", 0.4, back] if step[0] == "cut" else step for step in CUT]
    for policy in ("resume", "live"):
        got, report = stage.replay(tape, lambda url: stage.observe(url, transport, steps), "--on-reconnect", policy)
        same(messages(seen), messages(got), f"{transport}, back over {back}, --on-reconnect {policy}")
        if report["verdict"] != "pass" or transports(report) != [list(dict.fromkeys([transport, back]))]:
            raise Failed(f"the report tells {report['verdict']} and {transports(report)}")
    return f"{transport}, back over {back}"


def ends(stage, transport):
    """The server ends the connection in order, then resets it: both are on the tape. (A poll that failed before one that
    did not is none.)"""
    drop = [] if transport == "lp" else [["end", "!drop"]]
    steps = [
        ["push", "hello"], ["wait", 1], ["end"], ["push", "two"], ["wait", 2], *drop, ["push", "three"], ["wait", 3], *END,
    ]
    port, program = stage.server()
    with program:
        tape, seen = stage.record(port, lambda url: stage.observe(url, transport, steps))
    got, report = stage.replay(tape, lambda url: stage.observe(url, transport, steps))
    same(messages(seen), messages(got), f"replayed over {transport}")
    return f"over {transport}: {[a['ended'] and a['ended']['how'] for a in report['sessions'][0]['attempts']]}"


def refusal(stage, transport):
    """501 and the protocol's own header to a client that is too old, recorded and replayed."""
    port, program = stage.server()
    with program:
        tape, seen = stage.record(
            port, lambda url: stage.observe(url, transport, [], framework="2.0.6-javascript"))
    status = [{"what": "status", "status": 501, "error": "Atmosphere Protocol version not supported."}]
    same(status, [one for one in seen if one["what"] == "status"], "the recorded client")
    got, _ = stage.replay(tape, lambda url: stage.observe(url, transport, [], framework="2.0.6-javascript"))
    same(seen, got, "replayed")
    return f"over {transport}"


def heartbeats(stage, transport):
    """Both ways: they are in no script, and each side makes its own."""
    steps = [["push", "hello"], ["wait", 1], ["pause", 1.3], ["push", "bye"], ["wait", 2], *END]
    port, program = stage.server("--heartbeat", "0.4", "--client-heartbeat", "300")
    with program:
        tape, seen = stage.record(port, lambda url: stage.observe(url, transport, steps))
    got, _ = stage.replay(tape, lambda url: stage.observe(url, transport, steps), "--keepalive", "400ms")
    same(seen, got, "replayed")
    return f"over {transport}"


def two_clients(stage, url):
    """Two clients over different transports talk to each other. Returns what each of them observes."""
    ada = [["push", "ada is here"], ["wait", 2], ["push", "from ada"], ["wait", 3], *END]
    bob = [["push", "from bob"], ["wait", 2], *END]
    first = stage.start(url, "ws", ada)
    shown = stage.wait_for(first, "ada is here")
    second = stage.start(url, "lp", bob)
    return stage.finish(first, shown), stage.finish(second)


def several(stage):
    """Two clients talk to each other. Each gets its own session."""

    def play(url):
        return two_clients(stage, url)

    port, program = stage.server()
    with program:
        tape, seen = stage.record(port, play)
    got, report = stage.replay(tape, play)
    for i in (0, 1):
        same(seen[i], got[i], f"client {i + 1}")
    return f"{transports(report)}"


def canonical(stage, transport):
    """Two recordings differ in nothing but times, and the canonical tape replays. The client does not push at once: the head
    of a plain stream is held back for 5 ms by the recorder, and a push within them stands before it."""
    steps = [["pause", 0.05], *SAMPLE]
    port, program = stage.server()
    texts = []
    with program:
        for _ in range(2):
            tape, seen = stage.record(
                port, lambda url: stage.observe(url, transport, steps), "--canonical", suffix=".tape")
            text = re.sub(r'"started":"[^"]*"|"t":\d+', "", tape.read_text(encoding="utf-8"))
            # The server's end of a stream races with the client that leaves.
            texts.append([line for line in text.splitlines() if '"e":"end"' not in line and '"e":"stop"' not in line])
    same(texts[0], texts[1], "the second recording")
    got, _ = stage.replay(tape, lambda url: stage.observe(url, transport, steps))
    same(seen[1:], got[1:], "replayed")  # the id is another one
    return f"{len(texts[0])} lines"


# The captures of real servers


def tape_of(stage, name):
    capture = CAPTURES / name / "capture.pcapng"
    if not capture.is_file():
        raise Skipped(f"no packet capture {name} (WIRETAPE_PEERS)")
    tape = stage.path(".tape")
    code, _, err = run(import_of(capture, tape))
    if code != 0:
        raise Failed(f"import ended with {code}: {err}")
    return tape


def observed_then(name, who):
    """What the capture's own client said that it got: its words, not Wiretape's."""
    text = (CAPTURES / name / "client.log").read_text(encoding="utf-8")
    return [re.sub(r"\.\.\. \(\d+ characters\)$", "", m) for m in re.findall(rf"{who} message '(.*?)'?$", text, re.M)]


def capture_longpolling(stage):
    tape = tape_of(stage, "atmosphere-longpolling")
    hello, pipe = '{"author":"a","message":"hello"}', '{"author":"a","message":"pipe | and 5|x"}'
    # What each client did and when, by its log.
    roles = {
        "fast": ("/fast/chat", True, 0, [
            ["pause", 1.1], ["push", hello], ["wait", 1], ["pause", 0.4], ["push", pipe], ["wait", 3], ["pause", 0.8],
            ["push", "!burst 3"], ["wait", 6], ["pause", 7.3], ["cut", 1.0], ["wait", 9], *END]),
        "timeout": ("/timeout/chat", True, 0, [["pause", 9.7], ["push", "after a timeout"], ["wait", 1], *END]),
        "plain": ("/chat", False, 0, [
            ["pause", 2.4], ["push", "untracked one"], ["wait", 1], ["push", "untracked two"], ["push", "untracked three"],
            ["wait", 3], *END]),
        "other": ("/fast/chat", True, 0.5, [
            ["wait", 2], ["pause", 0.4], ["push", "second client says hi"], ["wait", 3], ["wait", 6], ["pause", 7.6],
            ["push", "missed 0"], ["push", "missed 1"], ["push", "missed 2"], ["wait", 9], ["push", "!big 3000"],
            ["wait", 10], *END]),
    }

    def play(url):
        clients = {}
        for who, (path, lengths, later, steps) in roles.items():
            time.sleep(later)
            clients[who] = stage.start(url, "lp", steps, path, lengths=lengths)
        return {who: stage.finish(client) for who, client in clients.items()}

    seen, report = stage.replay(tape, play)
    for who, got in seen.items():
        wanted = observed_then("atmosphere-longpolling", who)
        texts = [m if not m.startswith("3000 units") else "B" for m in messages(got)]
        same([re.sub("^B+$", "B", m) for m in wanted][: len(texts)], texts, who)
        if len(texts) < len(wanted) - 1:
            raise Failed(f"{who} got {len(texts)} of {len(wanted)}")
    if report["verdict"] != "pass":
        raise Failed(f"the report tells {report['verdict']}: {report['reasons']}")
    return f"{sum(len(messages(got)) for got in seen.values())} messages of 4 sessions"


def capture_seed(stage):
    """The 2013 seed's client and its pusher, whose requests have no id: ordinary ones beside the sessions."""
    tape = tape_of(stage, "atmosphere-seed-objc")
    bodies = ['{"hello":0}', '{"hello":1}', '{"hello":2}', "one", "two", "plain text"]

    def play(url):
        first = stage.start(url, "lp", [["wait", 6]], "/nopad/chat", lengths=False, old=True, bare=True)
        query = "X-Atmosphere-tracking-id=0&X-Atmosphere-Framework=2.0.6-javascript&X-Atmosphere-Transport=polling"
        answers = [push(f"{url}/nopad/chat?{query}", text) for text in bodies]
        if answers != [200] * 6:
            raise Failed(f"the pushes were answered {answers}")
        return stage.finish(first), stage.observe(url, "lp", [["wait", 2]], "/chat", lengths=False, old=True)

    (first, second), _ = stage.replay(tape, play)
    same(bodies, messages(first), "the seed without padding")
    same(['{"hello":"padded"}', '{"hello":"again"}'], messages(second), "the seed with padding")
    return "8 messages of 2 sessions, 6 requests beside them"


def push(url, text):
    asked = urllib.request.Request(url, text.encode(), {"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


ACTIONS: dict[str, Any] = {
    **{f"lengths-{t}": lambda s, t=t: pairs(s, t, [*TRACKED, *END], TRANSPORTS) for t in TRANSPORTS},
    **{f"bare-{t}": lambda s, t=t: pairs(s, t, [*TALK, *END], TRANSPORTS, lengths=False) for t in TRANSPORTS},
    "jsonp": lambda s: pairs(s, "jsonp", [*TRACKED, *END], ["jsonp"]),
    "jsonp-bare": lambda s: pairs(s, "jsonp", [*TALK, *END], ["jsonp"], lengths=False),
    "old-server": lambda s: pairs(s, "lp", [*TALK, *END], TRANSPORTS, ["--old"], lengths=False, old=True),
    "no-padding": lambda s: pairs(s, "lp", [*TRACKED, *END], TRANSPORTS, path="/bare", bare=True),
    "latin": lambda s: pairs(s, "stream", [*TALK, *END], ["lp", "stream"], path="/latin", lengths=False, charset="latin-1"),
    **{f"cut-recorded-{t}": lambda s, t=t: recorded_cut(s, t) for t in TRANSPORTS},
    **{f"cut-{t}": lambda s, t=t: cut_at_replay(s, t, t) for t in TRANSPORTS},
    "cut-ws-lp": lambda s: cut_at_replay(s, "ws", "lp"),
    "cut-lp-ws": lambda s: cut_at_replay(s, "lp", "ws"),
    "cut-sse-stream": lambda s: cut_at_replay(s, "sse", "stream"),
    **{f"ends-{t}": lambda s, t=t: ends(s, t) for t in ["ws", "sse", "stream", "lp"]},
    **{f"refusal-{t}": lambda s, t=t: refusal(s, t) for t in ["lp", "stream", "sse"]},
    **{f"heartbeats-{t}": lambda s, t=t: heartbeats(s, t) for t in TRANSPORTS},
    **{f"canonical-{t}": lambda s, t=t: canonical(s, t) for t in TRANSPORTS},
    "several": several,
    "capture-longpolling": capture_longpolling,
    "capture-seed": capture_seed,
}
CASES: dict[str, Any] = {f"atmosphere: {name}": ((), lambda _, n=name, a=action: a(Stage(n))) for name, action in ACTIONS.items()}


def main():
    names = sys.argv[1:] or list(ACTIONS)
    if unknown := [name for name in names if name not in ACTIONS]:
        raise SystemExit(f"no case {', '.join(unknown)}; there are {', '.join(ACTIONS)}")
    binary()

    def attempt(name):
        try:
            return "passed", f"  passed  {name:<22} {ACTIONS[name](Stage(name))}"
        except Skipped as reason:
            return "not run", f"  not run {name:<22} {reason}"
        except Failed as failure:
            return "failed", f"  failed  {name:<22} {failure}"

    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        results = list(executor.map(attempt, names))
    print("\n".join(text for _, text in results))
    states = [state for state, _ in results]
    if skipped := states.count("not run"):
        print(f"skipped {skipped} of {len(names)} cases: they play packet captures, and those are not here (WIRETAPE_PEERS)")
    return 0 if "passed" in states and "failed" not in states else 1


if __name__ == "__main__":
    sys.exit(main())
