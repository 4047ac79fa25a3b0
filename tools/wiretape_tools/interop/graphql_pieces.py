"""GraphQL answers in several parts: incremental delivery (`deferSpec=20220824`) and multipart subscriptions
(`subscriptionSpec=1.0`). aiohttp asks, reads the raw body and, once more, its parts with its own reader; what it gets from the
server, through record and from the tape is the same, byte for byte.
"""

import asyncio
import json
import sys

import aiohttp

from wiretape_tools.interop.cells import compare
from wiretape_tools.interop.graphql_http import start
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, wait_for_port

PIECES = "multipart/mixed;deferSpec=20220824, application/json"
SUBSCRIPTION = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"
DEFER = {"query": "query Slow { slow { id ... @defer(label: \"rest\") { later } } }", "operationName": "Slow"}
STREAM = {"query": "query Numbers { numbers(to: 3) @stream(initialCount: 1) }"}
PLAIN = {"query": "{ hello }"}
COUNT = {"query": "subscription Count { counter(to: 3, delayMs: 50) }"}


async def ask(url, accept, body):
    """What a client gets: status, type, the raw body, its parts."""
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json=body, headers={"Accept": accept}) as answer:
            raw = await answer.read()
            found = {"status": answer.status, "type": answer.headers["Content-Type"], "body": raw.decode()}
        async with session.post(url, json=body, headers={"Accept": accept}) as answer:
            if not answer.headers["Content-Type"].startswith("multipart/"):
                return {**found, "parts": [await answer.json()]}
            reader, parts = aiohttp.MultipartReader.from_response(answer), []
            try:
                while part := await reader.next():
                    parts.append(await part.json())
            except aiohttp.http_exceptions.BadHttpMessage as error:
                # strawberry-graphql writes the last delimiter of a subscription twice, which is no multipart body.
                parts.append(str(error))
    return {**found, "parts": parts}


def asked(url, questions):
    """{name: [what the client got]}"""
    found = {name: asyncio.run(ask(url + "/graphql", accept, body)) for name, (accept, body) in questions.items()}
    return {name: [json.dumps(one, sort_keys=True, ensure_ascii=False)] for name, one in found.items()}


def pieces_server(stage, *options):
    port = free_port()
    program = Program("pieces", [sys.executable, HERE / "pieces_server.py", str(port), *options], stage.path(".server.log"))
    try:
        wait_for_port(port, program)
    except BaseException:
        program.kill()
        raise
    program.port = port
    return program


def strawberry(stage):
    port = free_port()
    program = start(stage, {"server": "strawberry"}, port)
    program.port = port
    return program


def equal(server, questions, parts):
    """parts: how many each answer has at least."""

    def case(stage):
        tape = stage.tape()
        with server(stage) as program:
            live = asked(f"http://127.0.0.1:{program.port}", questions)
            counts = {name: len(json.loads(one)["parts"]) for name, (one,) in live.items()}
            for name, least in parts.items():
                if counts[name] < least:
                    raise Failed(f"{name} has {counts[name]} parts: the server does not deliver in pieces")
            with stage.record(program.port, tape) as proxy:
                compare(live, asked(proxy.url, questions), "record")
        report = stage.path(".report.json")
        with Wiretape(["replay", tape, "--report", report], stage.path(".log")) as proxy:
            compare(live, asked(proxy.url, questions), "replay")
            if (code := proxy.stop()) != 0:
                raise Failed(f"replay ended with {code}: {proxy.said()}")
        told = json.loads(report.read_text(encoding="utf-8"))
        if told["verdict"] != "pass" or not all(session["finished"] for session in told["sessions"]) or told["unclaimed"]:
            raise Failed(f"the report tells {told['verdict']}, {told['sessions']}, {told['unclaimed']}")
        return f"{sum(counts.values())} parts of {len(questions)} answers equal byte for byte, live, recorded and replayed"

    return case


QUESTIONS = {"defer": (PIECES, DEFER), "stream": (PIECES, STREAM), "plain": (PIECES, PLAIN)}
COUNTS = {"defer": 2, "stream": 3, "plain": 1}
CASES = {
    "graphql over HTTP: pieces of strawberry": ((), equal(pieces_server, QUESTIONS, COUNTS)),
    "graphql over HTTP: pieces as Apollo Server writes them": (
        (), equal(lambda stage: pieces_server(stage, "--apollo"), QUESTIONS, COUNTS)),
    "graphql over HTTP: bytes of a multipart subscription": (
        (), equal(strawberry, {"count": (SUBSCRIPTION, COUNT)}, {"count": 3})),
}
