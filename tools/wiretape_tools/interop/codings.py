"""Content codings: servers that encode every answer (identity, gzip, deflate, br, zstd), and their clients: aiosignalr's over
long polling and server-sent events, gql's over HTTP (single answers and multipart), httpx's with server-sent events and JSON
whose requests are encoded, too. Each plays its script live, through record and from replay, with equal observations.

The programs are coded_server.py and client_coded.py; aiohttp reads zstd with backports.zstd, httpx with zstandard.
"""

import contextlib
import gzip
import json
import sys

from wiretape_tools.interop import graphql_http
from wiretape_tools.interop.cases import TALK
from wiretape_tools.interop.cells import chains, compare
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port

CODINGS = ["identity", "gzip", "deflate", "br", "zstd"]
GRAPHQL = {"server": "coded", "client": "gql-http", "stages": graphql_http.CALM}


@contextlib.contextmanager
def server(stage, kind, coding):
    port = free_port()
    command = [sys.executable, str(HERE / "coded_server.py"), kind, coding, str(port)]
    with Program(f"{kind} in {coding}", command, stage.path(".server.log")) as program:
        wait_for_port(port, program)
        yield port


def encoded(tape, coding, least=3):
    """How many answers with a body the tape has in that coding, and how many without; a case that encodes nothing shows
    nothing. Of one that encodes streams only, `least` is 1, and other answers are left out."""
    found = {True: 0, False: 0}
    with gzip.open(tape, "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    pieces = {(line["c"], line["x"]) for line in events if line.get("e") == "chunk" and line["d"] == "<"}
    for line in events:
        if line.get("e") != "response":
            continue
        whole = least > 1 and (line.get("text") or line.get("b64"))
        if whole or (line["c"], line["x"]) in pieces:
            headers = {name.lower(): value for name, value in line["headers"]}
            found[headers.get("content-encoding", "identity") == coding] += 1
    if found[True] < least or found[False]:
        raise Failed(f"{found[True]} answers of the tape are in {coding}, {found[False]} are not")
    return found[True]


def signalr(stage, coding):
    scripts = {t: stage.script(TALK, "aiosignalr", "aiosignalr", transport=t) for t in ("lp", "sse")}
    tapes, answers = {}, 0
    with server(stage, "hub", coding) as port:
        live = stage.observe(f"http://127.0.0.1:{port}/hub", scripts["lp"], "aiosignalr")
        for transport, script in scripts.items():
            tapes[transport] = stage.tape()
            with stage.record(port, tapes[transport]) as proxy:
                compare(live, stage.observe(proxy.url + "/hub", script, "aiosignalr"), f"record over {transport}")
    if sum(map(len, live.values())) < 10:
        raise Failed(f"only {live}: the script did not run")
    for recorded, tape in tapes.items():
        answers += encoded(tape, coding) if recorded == "lp" else 0
        for replayed, script in scripts.items():
            seen, report = stage.replay(tape, script, client="aiosignalr")
            compare(live, seen, f"replay {recorded} to {replayed}")
            graphql_http.whole(report, [replayed])
    return f"{sum(map(len, live.values()))} observations equal, lp and sse each to each; {answers} answers of the polls' tape encoded"


def graphql(stage, coding):
    tape = stage.tape()
    script = graphql_http.script(stage, GRAPHQL)
    with server(stage, "graphql", coding) as port:
        live = graphql_http.observe(stage, GRAPHQL, f"http://127.0.0.1:{port}/graphql", script)
        with stage.record(port, tape) as proxy:
            compare(live, graphql_http.observe(stage, GRAPHQL, proxy.url + "/graphql", script), "record")
    answers = encoded(tape, coding)
    seen, report, _ = graphql_http.replay(stage, GRAPHQL, tape, script)
    compare(live, seen, "replay")
    graphql_http.whole(report)
    taken = sorted({t for s in report["sessions"] for t in s["transports"]})
    if taken != ["http", "multipart"]:
        raise Failed(f"the client was served over {taken}")
    return f"{sum(map(len, live.values()))} observations equal over http and multipart; {answers} answers encoded"


def events(stage, coding):
    def observe(url):
        code, out, err = run([sys.executable, HERE / "client_coded.py", url, coding], seconds=30)
        if code != 0:
            raise Failed(f"httpx ended with {code}: {out[-300:]} {err[-500:]}")
        return chains(json.loads(line) for line in out.splitlines())

    tape = stage.tape()
    with server(stage, "events", coding) as port:
        live = observe(f"http://127.0.0.1:{port}")
        with stage.record(port, tape) as proxy:
            compare(live, observe(proxy.url), "record")
    if [len(live.get(chain, [])) for chain in ("events", "echo")] != [9, 3]:
        raise Failed(f"live: {str(live)[:500]}")
    answers = encoded(tape, coding)
    with Wiretape(["replay", tape], stage.path(".log")) as proxy:
        compare(live, observe(proxy.url), "replay")
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    return f"{sum(map(len, live.values()))} observations equal, requests in {coding}; {answers} answers encoded"


CASES = {
    f"codings: {name} {coding}": ((), lambda stage, play=play, coding=coding: play(stage, coding))
    for name, play in (("SignalR", signalr), ("GraphQL", graphql), ("events", events))
    for coding in CODINGS
}
