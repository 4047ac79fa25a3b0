"""A real client with a token, which it also says to the hub and hears again: the tape, the log and the reports have none of it,
and the tape plays to the client with another token, which it hears where it would have heard its own."""

import gzip
import json

from wiretape_tools.interop.cases import ECHO, WELCOME
from wiretape_tools.interop.cells import compare
from wiretape_tools.lib.processes import Failed

RECORDED = "recorded-t0ken-8f7e6d5c4b"
RENEWED = "renewed-t0ken-1a2b3c4d5e"


def steps(token):
    return [
        WELCOME,
        ECHO,
        {"do": "invoke", "chain": "say", "method": "SendMessage", "args": ["ada", f"my token is {token}"]},
        {"do": "wait", "callback": "ReceiveMessage", "count": 1},
        {**ECHO, "args": [token]},
    ]


def renewed(seen):
    return json.loads(json.dumps(seen).replace(RECORDED, RENEWED))


def none_of_it(path, token):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if token.encode() in data:
        raise Failed(f"{path.name} has the token")


def redaction(stage):
    live, tapes = None, {}
    with stage.server("--token", RECORDED) as port:
        for transport in ("ws", "sse", "lp"):
            script = stage.script(steps(RECORDED), transport=transport, token=RECORDED)
            tape = stage.tape()
            with stage.record(port, tape) as proxy:
                seen = stage.observe(proxy.url + "/hub", script)
                said = proxy.said()
            live = live or seen
            compare(live, seen, f"record over {transport}")
            if RECORDED in said:
                raise Failed("the recorder's log has the token")
            none_of_it(tape, RECORDED)
            tapes[transport] = tape
    for recorded, tape in tapes.items():
        for replayed in tapes:
            script = stage.script(steps(RENEWED), transport=replayed, token=RENEWED)
            seen, report = stage.replay(tape, script)
            compare(renewed(live), seen, f"replay {recorded} to {replayed}")
            if RENEWED in json.dumps(report):
                raise Failed("the report has the token")
    return "ws, sse, lp: no tape has the token, and each plays over each to a client with another one"


CASES = {"redaction": (("aspnetcore", "signalr-js"), redaction)}
