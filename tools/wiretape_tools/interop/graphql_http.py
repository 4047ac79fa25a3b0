"""GraphQL over HTTP: each pair of a real client and a real server plays one script live, through record and from replay, with
equal observations; then the tape is played in another spelling, with another variable, with a connection lost in the middle,
and over every other carrier (WebSocket, multipart, server-sent events), and WebSocket tapes over these.

A pair is a line of PAIRS; programs are client_gql_http.py, client_graphql_sse.js and those of graphql_pairs.py.
"""

import json
import os
import subprocess
import sys
from typing import Any

from wiretape_tools.interop import graphql_pairs
from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.graphql_pairs import SPELLED, STAGES, needs, numbers
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, free_port, run, wait_for_port

LIMIT = 30  # seconds of one client
# graphql-sse's server ends its process when a subscription fails; a refused document is refused with a status there, which
# its client retries.
CALM = STAGES[:2]
PAIRS: dict[str, dict[str, Any]] = {
    "multipart": {"server": "strawberry", "client": "gql-http", "stages": STAGES},
    "sse": {"server": "node", "client": "sse", "stages": CALM},
    "sse single": {"server": "node", "client": "sse", "stages": CALM, "single": True},
    "sse with strawberry": {"server": "strawberry", "client": "sse", "stages": STAGES},
    "ws": {"server": "node", "client": "node", "stages": CALM},
    "ws of gql": {"server": "strawberry", "client": "gql", "stages": CALM},
}
PROGRAMS = {
    "gql-http": [sys.executable, HERE / "client_gql_http.py"],
    "gql": [sys.executable, HERE / "client_gql.py"],
    "sse": ["node", HERE / "client_graphql_sse.js"],
    "node": ["node", HERE / "client_graphql.js"],
}


def script(stage, pair, stages=None, **how):
    path = stage.path(".script.json")
    given = {"protocol": "graphql-transport-ws", "single": pair.get("single", False), "stages": stages or pair["stages"]}
    path.write_text(json.dumps({**given, **how}), encoding="utf-8")
    return path


def start(stage, pair, port):
    if pair["server"] == "node":
        command = ["node", HERE / "graphql_server.js", port]
    else:
        command = [sys.executable, HERE / "strawberry_server.py", port]
    environment = {**os.environ, "NODE_PATH": stage.peers.node_path}
    program = Program(pair["server"], [str(part) for part in command], stage.path(".server.log"), env=environment)
    try:
        wait_for_port(port, program)
    except BaseException:
        program.kill()
        raise
    return program


def observe(stage, pair, url, script):
    environment = {**os.environ, "NODE_PATH": stage.peers.node_path}
    try:
        code, out, err = run([*PROGRAMS[pair["client"]], url, script], seconds=LIMIT, env=environment)
    except subprocess.TimeoutExpired as expired:
        raise Failed(f"{pair['client']} hangs: {(expired.stdout or b'').decode()[-300:]}") from None
    if code != 0:
        raise Failed(f"{pair['client']} ended with {code}: {out[-300:]} {err[-500:]}")
    return chains(json.loads(line) for line in out.splitlines())


def replay(stage, pair, tape, script, *options, code=0):
    return graphql_pairs.replay(stage, pair, tape, script, *options, code=code, by=observe)


def record(stage, pair, tape, stages=None):
    """The observations live, and equal ones through record."""
    usual = script(stage, pair, stages)
    port = free_port()
    with start(stage, pair, port):
        live = observe(stage, pair, f"http://127.0.0.1:{port}/graphql", usual)
        with stage.record(port, tape) as proxy:
            compare(live, observe(stage, pair, proxy.url + "/graphql", usual), "record")
    return live


def left_first(session):
    """The client hangs up once it has the last message or an error: the end of the response may come too late for it."""
    return session["attempts"][-1].get("ended", {}).get("by") == "client" and not session["missing"]


def whole(report, transports=None):
    unfinished = [s["session"] for s in report["sessions"] if not s["finished"] and not left_first(s)]
    if report["verdict"] != "pass" or unfinished or report["unclaimed"]:
        raise Failed(f"the report tells {report['verdict']}, not finished {unfinished}, unclaimed {report['unclaimed']}")
    taken = sorted({t for s in report["sessions"] for t in s["transports"]})
    if transports is not None and taken != transports:
        raise Failed(f"the client was served over {taken}")


def spelled(stages):
    return [[{**o, "query": SPELLED.get(o["query"], o["query"])} for o in reversed(one)] for one in stages]


def equal(stage, pair):
    tape = stage.tape()
    live = record(stage, pair, tape)
    seen, report, _ = replay(stage, pair, tape, script(stage, pair))
    compare(live, seen, "replay")
    whole(report)
    seen, report, _ = replay(stage, pair, tape, script(stage, pair, spelled(pair["stages"])))
    compare(live, seen, "replay to another spelling")
    whole(report)
    other = [[{**o, "variables": {**o["variables"], "to": 5}} for o in STAGES[0] if o["chain"] == "count 4"]]
    _, _, said = replay(stage, pair, tape, script(stage, pair, other), "--on-divergence", "warn", "--patience", "1s", code=2)
    if "/payload/variables/to" not in said:
        raise Failed(f"another variable: the report does not say which: {said}")
    count = sum(map(len, live.values()))
    return f"{count} observations equal live, recorded, replayed and in another spelling; another variable is named"


def lost(stage, pair):
    """A reset between two results: the client asks again, under resume and live."""
    tape = stage.tape()
    counts = [[STAGES[0][0]]]
    live = record(stage, pair, tape, counts)
    again = script(stage, pair, counts, reconnect=True)
    fault = ["--fault", "reset after next[3]"]
    seen, report, _ = replay(stage, pair, tape, again, *fault)
    seen.pop("connection", None)
    compare(live, seen, "resume")
    whole(report)
    if (count := sum(len(s["attempts"]) for s in report["sessions"])) != 2:
        raise Failed(f"the client made {count} attempts")
    seen, report, _ = replay(stage, pair, tape, again, *fault, "--on-reconnect", "live")
    whole(report)
    got, all_ = numbers(seen["count 6"]), numbers(live["count 6"])
    if got != sorted(set(got)) or not set(got) <= set(all_) or seen["count 6"][-1] != live["count 6"][-1]:
        raise Failed(f"live: {seen}")
    return f"reset after the third result: resume loses nothing, live {len(all_) - len(got)} of {len(all_)} results"


def across(stage, tape_of, to):
    """The tape of one pair played to the client of another: the data is the same whatever carries it."""
    tape = stage.tape()
    stages = CALM[:1] + [[o] for o in CALM[1]]
    if (tape_of, PAIRS[to]["client"]) == ("sse single", "node"):
        # graphql-sse gives its connection up when nothing is left to do, graphql-ws keeps its own: all at once, then.
        stages = [CALM[0] + CALM[1]]
    live = record(stage, PAIRS[tape_of], tape, stages)
    pair = PAIRS[to]
    seen, report, _ = replay(stage, pair, tape, script(stage, pair, stages))
    compare(live, seen, f"{tape_of} tape over {to}")
    whole(report)
    taken = sorted({t for s in report["sessions"] for t in s["transports"]})
    return f"{sum(map(len, live.values()))} observations equal, served over {', '.join(taken)}"


HTTP = ["multipart", "sse", "sse single", "sse with strawberry"]
CASES: dict[str, Any] = {
    f"graphql over HTTP: {name}": (needs(PAIRS[name]), lambda s, name=name: equal(s, PAIRS[name])) for name in HTTP
}
CASES |= {
    f"graphql over HTTP: {name} lost": (needs(PAIRS[name]), lambda s, name=name: lost(s, PAIRS[name]))
    for name in ("multipart", "sse", "sse single")
}
CASES |= {
    f"graphql over HTTP: {a} to {b}": (needs(PAIRS[a], PAIRS[b]), lambda s, a=a, b=b: across(s, a, b))
    for a, b in [
        ("ws of gql", "multipart"), ("ws", "sse"), ("ws", "sse single"), ("multipart", "ws of gql"), ("sse", "ws"),
        ("sse single", "ws"), ("sse", "sse single"), ("sse single", "sse"),
    ]
}
