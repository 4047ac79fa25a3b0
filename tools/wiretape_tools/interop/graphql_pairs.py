"""GraphQL: each pair of a real client and a real server plays one script live, through record and from replay, with equal
observations. Then the tape is played to the same client in another spelling, to one with another variable, to a client
that loses its connection in the middle, and to another implementation.

A pair is a line of PAIRS; programs are client_graphql.js, client_gql.py, graphql_server.js and strawberry_server.py.
"""

import json
import os
import subprocess
import sys
from typing import Any

from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, Wiretape, binary, free_port, run, wait_for_port

LIMIT = 30  # seconds of one client
COUNT = "subscription Count($to: Int!, $delayMs: Int!) { counter(to: $to, delayMs: $delayMs) }"
STAGES: list[list[dict[str, Any]]] = [
    [  # the same document twice with other variables, at once, and one that the client stops
        {"chain": "count 6", "query": COUNT, "operationName": "Count", "variables": {"to": 6, "delayMs": 40}},
        {"chain": "count 4", "query": COUNT, "operationName": "Count", "variables": {"to": 4, "delayMs": 70}},
        {"chain": "stopped", "query": "subscription Long { counter(to: 1000, delayMs: 50) }", "stop": 3},
    ],
    [
        {"chain": "hello", "query": "query Hello($name: String!) { hello(name: $name) }", "variables": {"name": 'héllo "€" 😀'}},
        {"chain": "default", "query": "{ hello }"},
        {"chain": "add", "query": "mutation { add(a: 20, b: 22) }"},
        {"chain": "long", "query": "query Long($name: String!) { hello(name: $name) }", "variables": {"name": "wörld " * 2000}},
    ],
    [
        {"chain": "failing", "query": "subscription { failing }"},
        {"chain": "unknown", "query": "subscription { nosuchfield }"},
    ],
]
# The same, as another build of the application would write it.
SPELLED = {
    COUNT: "subscription Count(\n  $to : Int!,\n  $delayMs : Int!\n) {\n  # ticks\n  counter ( to : $to, delayMs : $delayMs, )\n}\n",
    "{ hello }": "query {\n  hello\n}",
}
PAIRS = {
    "graphql-ws": {"server": "node", "client": "node", "protocol": "graphql-transport-ws"},
    "subscriptions-transport-ws": {"server": "node", "client": "node", "protocol": "graphql-ws"},
    "gql transport-ws": {"server": "strawberry", "client": "gql", "protocol": "graphql-transport-ws"},
    "gql legacy": {"server": "strawberry", "client": "gql", "protocol": "graphql-ws"},
    "graphql-ws with strawberry": {"server": "strawberry", "client": "node", "protocol": "graphql-transport-ws"},
}


def script(stage, pair, stages=STAGES, **how):
    path = stage.path(".script.json")
    path.write_text(json.dumps({"protocol": pair["protocol"], "stages": stages, **how}), encoding="utf-8")
    return path


def spelled():
    return [[{**o, "query": SPELLED.get(o["query"], o["query"])} for o in reversed(stage)] for stage in STAGES]


def start(stage, pair, port):
    if pair["server"] == "node":
        command, environment = ["node", HERE / "graphql_server.js", port], {"NODE_PATH": stage.peers.node_path}
    else:
        command, environment = [sys.executable, HERE / "strawberry_server.py", port], {}
    program = Program(pair["server"], [str(part) for part in command], stage.path(".server.log"), env={**os.environ, **environment})
    try:
        wait_for_port(port, program)
    except BaseException:
        program.kill()
        raise
    return program


def observe(stage, pair, url, script):
    programs = {"node": ["node", HERE / "client_graphql.js"], "gql": [sys.executable, HERE / "client_gql.py"]}
    environment = {**os.environ, "NODE_PATH": stage.peers.node_path}
    try:
        code, out, err = run([*programs[pair["client"]], url, script], seconds=LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        raise Failed(f"{pair['client']} did not end within {LIMIT} s") from None
    if code != 0:
        raise Failed(f"{pair['client']} ended with {code}: {out[-300:]} {err[-500:]}")
    return chains(json.loads(line) for line in out.splitlines())


def replay(stage, pair, tape, script, *options, code=0, by=observe):
    """What the client observes, the report, and what wiretape said. `by` runs the client."""
    report = stage.path(".report.json")
    with Wiretape(["replay", tape, "--report", report, *options], stage.path(".log")) as proxy:
        try:
            seen = by(stage, pair, proxy.url + "/graphql", script)
        except Failed as failure:
            raise Failed(f"{failure}\n      {proxy.said()}") from None
        if (ended := proxy.stop()) != code:
            raise Failed(f"replay ended with {ended}: {proxy.said()}")
        return seen, json.loads(report.read_text(encoding="utf-8")), proxy.said()


def record(stage, pair, tape):
    """The observations live, and equal ones through record."""
    usual = script(stage, pair)
    port = free_port()
    with start(stage, pair, port):
        live = observe(stage, pair, f"http://127.0.0.1:{port}/graphql", usual)
        if sum(map(len, live.values())) < 20:
            raise Failed(f"only {live}: the script did not run")
        with stage.record(port, tape) as proxy:
            compare(live, observe(stage, pair, proxy.url + "/graphql", usual), "record")
    return live


def whole(report, sessions=1):
    told = [session["finished"] for session in report["sessions"]]
    if report["verdict"] != "pass" or told != [True] * sessions:
        raise Failed(f"the report tells {report['verdict']} and finished {told}")


def equal(stage, pair):
    tape = stage.tape()
    live = record(stage, pair, tape)
    seen, report, _ = replay(stage, pair, tape, script(stage, pair))
    compare(live, seen, "replay")
    sessions = 3 if pair["client"] == "gql" else 1  # client_gql.py makes a connection a stage
    whole(report, sessions)
    seen, report, _ = replay(stage, pair, tape, script(stage, pair, spelled(), reorder=True))
    compare(live, seen, "replay to another spelling")
    whole(report, sessions)
    other = [[{**STAGES[0][1], "variables": {"to": 5, "delayMs": 70}}, STAGES[0][0]]]
    seen, _, said = replay(stage, pair, tape, script(stage, pair, other), "--on-divergence", "warn", "--patience", "1s", code=2)
    # Whichever comes first: the equal operation gets its own answer, and the other variable one or the protocol's error.
    compare({"count 6": live["count 6"]}, {"count 6": seen.get("count 6", [])}, "replay to another variable")
    if not (lines := seen.get("count 4")) or json.loads(lines[-1])["event"] not in ("complete", "error"):
        raise Failed(f"another variable: its operation does not end: {lines}")
    if "/payload/variables/to" not in said:
        raise Failed(f"another variable: the report does not say which: {said}")
    count = sum(map(len, live.values()))
    return f"{count} observations equal live, recorded, replayed and in another spelling; another variable is named"


def numbers(lines):
    return [json.loads(line)["data"]["counter"] for line in lines if json.loads(line)["event"] == "next"]


def lost(stage, pair):
    """A reset between two results: the client comes back by its own means and asks again, under resume and live."""
    tape = stage.tape()
    counts = [STAGES[0][:2]]
    port = free_port()
    with start(stage, pair, port), stage.record(port, tape) as proxy:
        live = observe(stage, pair, proxy.url + "/graphql", script(stage, pair, counts))
    fault = ["--fault", f"reset after {'data' if pair['protocol'] == 'graphql-ws' else 'next'}[4]"]
    again = script(stage, pair, counts, reconnect=True)
    seen, report, _ = replay(stage, pair, tape, again, *fault)
    back = seen.pop("connection", [])
    if len(back) != 1:
        raise Failed(f"the client came back {len(back)} times")
    compare(live, seen, "resume")
    whole(report)
    seen, report, _ = replay(stage, pair, tape, again, *fault, "--on-reconnect", "live")
    whole(report)
    for chain, lines in live.items():
        got = numbers(seen[chain])
        if got != sorted(set(got)) or not set(got) <= set(numbers(lines)) or seen[chain][-1] != lines[-1]:
            raise Failed(f"live: {chain}: {seen[chain]}")
    missed = sum(len(lines) - len(seen[chain]) for chain, lines in live.items())
    return f"reset after the fourth result: resume loses nothing, live {missed} results, the rest once and in order"


def across(stage):
    """graphql-ws's tape played to gql, whose ids are numbers and whose documents are spelled otherwise."""
    tape = stage.tape()
    pair = PAIRS["graphql-ws"]
    live = record(stage, pair, tape)
    other = {**pair, "client": "gql"}
    seen, report, _ = replay(stage, other, tape, script(stage, other, [sum(STAGES, [])]))
    whole(report)
    for chain in ("failing", "unknown"):  # clients have their own words for failures
        seen.pop(chain), live.pop(chain)
    compare(live, seen, "replay to gql")
    return "another implementation gets the same under its own ids"


def bridged(stage, tape_of, to):
    """A tape of one subprotocol played to a real client of the other one: the application sees the same."""
    tape = stage.tape()
    live = record(stage, PAIRS[tape_of], tape)
    pair = PAIRS[to]
    # gql opens a connection a stage, which its tape has, too.
    stages = STAGES if pair["client"] == PAIRS[tape_of]["client"] else [sum(STAGES, [])]
    seen, report, said = replay(stage, pair, tape, script(stage, pair, stages))
    whole(report, 3 if PAIRS[tape_of]["client"] == "gql" else 1)
    if f"the client speaks {pair['protocol']} instead of {PAIRS[tape_of]['protocol']}" not in said:
        raise Failed(f"the translation is not told: {said}")
    for chain in ("failing", "unknown"):  # clients have their own words for failures
        lines = seen.pop(chain, []), live.pop(chain)
        ends = [json.loads(one[-1])["event"] if one else "nothing" for one in lines]
        if "nothing" in ends or (ends[0] == "next"):
            raise Failed(f"{chain} ends with {ends[0]}, and live with {ends[1]}")
    compare(live, seen, f"{tape_of} tape to {to}")
    return f"{sum(map(len, live.values()))} observations equal, translated"


def unknown_subprotocol(stage):
    """A client that offers none of the dialects is refused, with both sides named."""
    tape = stage.tape()
    record(stage, PAIRS["graphql-ws"], tape)
    with Wiretape(["replay", tape], stage.path(".log")) as proxy:
        pair = {**PAIRS["gql legacy"], "protocol": "graphql"}
        try:
            observe(stage, pair, proxy.url + "/graphql", script(stage, pair, [[STAGES[1][1]]]))
        except Failed:
            pass
        else:
            raise Failed("it was served")
        said = proxy.said()
        if (code := proxy.stop()) != 2 or "graphql-transport-ws" not in said or "offers (graphql)" not in said:
            raise Failed(f"replay ended with {code}: {said}")
    return "refused, exit 2"


def sparse(stage):
    """The tape that `wiretape new graphql` explains: no heads, no opening, three messages of the server."""
    tape = stage.path(".tape")
    tape.unlink(missing_ok=True)
    code, _, err = run([binary(), "new", "graphql", "--route", "/graphql", tape])
    if code != 0:
        raise Failed(f"new ended with {code}: {err}")
    query = "subscription OnTick($limit: Int!) { tick(limit: $limit) }"
    steps = [[{"chain": "tick", "query": query, "operationName": "OnTick", "variables": {"limit": 2}}]]
    seen, report, _ = replay(stage, PAIRS["graphql-ws"], tape, script(stage, PAIRS["graphql-ws"], steps))
    whole(report)
    events = [json.loads(line) for line in seen["tick"]]
    if [(e["event"], e.get("data")) for e in events] != [("next", {"tick": 1}), ("next", {"tick": 2}), ("complete", None)]:
        raise Failed(f"{seen}")
    return "graphql-ws plays a tape written by hand"


APPSYNC = """{"tape":1,"protocol":"graphql","route":"/graphql"}
{"d":">","json":{"type":"connection_init"}}
{"d":"<","json":{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}}
{"d":"<","json":{"type":"ka"}}
{"d":">","json":{"id":"u","type":"start","payload":{"data":"{\\"query\\":\\"subscription OnPut { onPut { id } }\\"}","extensions":{"authorization":{}}}}}
{"d":"<","json":{"id":"u","type":"start_ack"}}
{"d":"<","after":"50ms","json":{"id":"u","type":"data","payload":{"data":{"onPut":{"id":"1"}}}}}
{"d":"<","after":"50ms","json":{"id":"u","type":"data","payload":{"data":{"onPut":{"id":"2"}}}}}
{"d":">","json":{"id":"u","type":"stop"}}
{"d":"<","json":{"id":"u","type":"complete"}}
"""  # noqa: E501


def appsync(stage):
    """AppSync cannot be run here: gql's client for it plays a tape written by hand after its documentation, over a lost
    connection too, on which it must be told start_ack again."""
    tape = stage.path(".tape")
    tape.write_text(APPSYNC, encoding="utf-8")
    pair = {"client": "gql", "protocol": "appsync"}
    steps = [[{"chain": "put", "query": "subscription OnPut { onPut { id } }", "operationName": "OnPut", "stop": 2}]]
    for fault in ([], ["--fault", "reset after data[1]"]):
        seen, report, _ = replay(stage, pair, tape, script(stage, pair, steps, reconnect=True), *fault)
        whole(report)
        events = [(e["event"], e.get("data")) for e in map(json.loads, seen["put"])]
        puts = [("next", {"onPut": {"id": str(n)}}) for n in (1, 2)]
        if events != [*puts, ("stopped", None)]:
            raise Failed(f"{seen}")
    return "gql's AppSync client: header in the URL, data as text, start_ack, ka"


NEEDS = ("npm",)


def needs(*pairs):
    """Which peers these pairs cannot do without: the packages of npm, where a program of theirs is JavaScript."""
    return NEEDS if any({"node", "sse"} & {pair["server"], pair["client"]} for pair in pairs) else ()


CASES: dict[str, Any] = {
    f"graphql: {name}": (needs(pair), lambda s, pair=pair: equal(s, pair)) for name, pair in PAIRS.items()
}
CASES |= {
    f"graphql: {name} lost": (needs(PAIRS[name]), lambda s, name=name: lost(s, PAIRS[name]))
    for name in ("graphql-ws", "subscriptions-transport-ws", "gql transport-ws")
}
CASES |= {"graphql: across clients": (NEEDS, across), "graphql: unknown subprotocol": (NEEDS, unknown_subprotocol)}
CASES |= {"graphql: sparse tape": (NEEDS, sparse)}
CASES |= {"graphql: gql appsync": ((), appsync)}
CASES |= {
    f"graphql: {a} tape to {b}": (needs(PAIRS[a], PAIRS[b]), lambda s, a=a, b=b: bridged(s, a, b))
    for a, b in [
        ("graphql-ws", "subscriptions-transport-ws"), ("subscriptions-transport-ws", "graphql-ws"),
        ("gql transport-ws", "gql legacy"), ("gql legacy", "gql transport-ws"), ("subscriptions-transport-ws", "gql transport-ws"),
        ("graphql-ws", "gql legacy"),
    ]
}
