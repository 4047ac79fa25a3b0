"""How WebSockets are closed: what each real client sees of it (code, reason, whether both sides took part) from the real
server, through record, and from replay, where the client's own words vary, too. closes/ looks into the clients' libraries."""

import asyncio
import contextlib
import json
import os
import sys

from wiretape_tools.interop import atmosphere, eventflit, graphql_pairs
from wiretape_tools.interop.cases import ECHO, WELCOME
from wiretape_tools.interop.cells import compare
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Wiretape, free_port, run

HOOKS = HERE / "closes"
ONE = [graphql_pairs.STAGES[1][:2]]


@contextlib.contextmanager
def watched():
    """The environment of clients that tell how their sockets end. Cases share it: the hooks are asked for by name."""
    path = os.pathsep.join(part for part in (str(HOOKS), os.environ.get("PYTHONPATH")) if part)
    yield {"PYTHONPATH": path, "NODE_OPTIONS": f"--require {HOOKS / 'closes.js'}"}


class Client:
    """One client: `words(url)` is its command line, `serve()` a context with its server's port, `path` where it connects."""

    def __init__(self, words, serve, path="", least=1):
        self.words, self.serve, self.path, self.least = words, serve, path, least

    def observe(self, stage, url):
        """The close events, in order."""
        with watched() as hooks:
            words, environment = self.words(stage, url + self.path)
            code, out, err = run(words, seconds=40, env={**os.environ, **environment, **hooks})
        if code != 0:
            raise Failed(f"the client ended with {code}: {out[-300:]} {err[-500:]}")
        return [line for line in out.splitlines() if '"chain": "socket"' in line or '"chain":"socket"' in line]


def equal(client, races=False):
    """races: which of two ends the server makes is chance, so that replay can only be held to the recorded one."""

    def case(stage):
        tape = stage.tape()
        with client.serve(stage) as port:
            live = client.observe(stage, f"http://127.0.0.1:{port}")
            with stage.record(port, tape) as proxy:
                recorded = client.observe(stage, proxy.url)
        if len(live) < client.least:
            raise Failed(f"only {live}: the client tells nothing")
        if races:
            live = recorded
        compare({"socket": live}, {"socket": recorded}, "record")
        for speed in ("1", "instant"):
            with Wiretape(["replay", tape, "--speed", speed], stage.path(".log")) as proxy:
                seen = client.observe(stage, proxy.url)
                if (code := proxy.stop()) != 0:
                    raise Failed(f"replay ended with {code}: {proxy.said()}")
            compare({"socket": live}, {"socket": seen}, f"replay at speed {speed}")
        return " ".join(sorted(set(live))) or "it closes without a handshake, everywhere"

    return case


def graphql(name):
    pair = graphql_pairs.PAIRS[name]

    def words(stage, url):
        script = graphql_pairs.script(stage, pair, ONE)
        if pair["client"] == "node":
            return ["node", HERE / "client_graphql.js", url, script], {"NODE_PATH": stage.peers.node_path}
        return [sys.executable, HERE / "client_gql.py", url, script], {}

    @contextlib.contextmanager
    def serve(stage):
        port = free_port()
        with graphql_pairs.start(stage, pair, port):
            yield port

    return Client(words, serve, "/graphql")


def signalr(server, client, least=1):
    def words(stage, url):
        steps = [WELCOME, ECHO] if server == "aspnetcore" and client != "aiosignalr" else [ECHO]
        return stage.peers.command(client, url, stage.script(steps, client, server))

    return Client(words, lambda stage: stage.server(server=server), "/hub", least)


def pusher(kind, *options, **more):
    def words(stage, url):
        return eventflit.command(stage, kind, url, eventflit.script(stage, eventflit.join("room"), **more))

    @contextlib.contextmanager
    def serve(stage):
        with eventflit.served(stage, *options) as server:
            yield server.port

    return Client(words, serve)


def atmosphere_ws():
    def words(stage, url):
        script = stage.path(".script.json")
        steps = [["push", "hello"], ["wait", 1], *atmosphere.END]
        script.write_text(json.dumps({"transport": "ws", "steps": steps, "closes": True}), encoding="utf-8")
        return [sys.executable, HERE / "client_atmosphere.py", url, script], {}

    @contextlib.contextmanager
    def serve(stage):
        port, program = atmosphere.Stage(stage.name).server()
        with program:
            yield port

    return Client(words, serve, "/chat")


async def said(url, code, reason):
    """A client of `websockets` that opens a GraphQL socket, closes it with that code and reason, and what it is answered."""
    from websockets.asyncio.client import connect

    async with connect(url.replace("http", "ws", 1), subprotocols=["graphql-transport-ws"]) as socket:
        await socket.send('{"type":"connection_init"}')
        await socket.recv()
        await socket.close(code, reason)
        return socket.protocol.close_rcvd.code, socket.protocol.close_rcvd.reason


def other_words(stage):
    """The client's code and reason are not those of the tape: the server's library repeats them, and so does replay."""
    pair = graphql_pairs.PAIRS["graphql-ws"]
    words = [(1000, "other words"), (1000, ""), (4321, "own"), (3000, "")]
    tape, port = stage.tape(), free_port()
    with graphql_pairs.start(stage, pair, port):
        live = [asyncio.run(said(f"http://127.0.0.1:{port}/graphql", *one)) for one in words]
        with stage.record(port, tape) as proxy:
            asyncio.run(said(proxy.url + "/graphql", 1000, "Normal Closure"))
    for one, wanted in zip(words, live, strict=True):
        with Wiretape(["replay", tape], stage.path(".log")) as proxy:
            seen = asyncio.run(said(proxy.url + "/graphql", *one))
            if (code := proxy.stop()) != 0:
                raise Failed(f"replay ended with {code}: {proxy.said()}")
        if seen != wanted:
            raise Failed(f"{one} is answered with {seen}, live with {wanted}")
    return f"{len(words)} other codes and reasons: as the live server answers them"


CASES = {
    **{f"closing: {name}": (graphql_pairs.needs(pair), equal(graphql(name))) for name, pair in graphql_pairs.PAIRS.items()},
    "closing: signalr-js": (("aspnetcore", "signalr-js"), equal(signalr("aspnetcore", "signalr-js"))),
    # It sends its Close and an empty close frame at once, and this server answers whichever it takes up first.
    "closing: signalr-js with aiosignalr": (("signalr-js",), equal(signalr("aiosignalr", "signalr-js"), races=True)),
    "closing: pysignalr": (("aspnetcore",), equal(signalr("aspnetcore", "pysignalr"))),
    "closing: pysignalr with aiosignalr": ((), equal(signalr("aiosignalr", "pysignalr"))),
    "closing: aiosignalr": ((), equal(signalr("aiosignalr", "aiosignalr"))),
    # It resets the connection.
    "closing: signalrcore": ((), equal(signalr("aiosignalr", "signalrcore", least=0))),
    "closing: pusher-js": (("npm",), equal(pusher("pusher-js"))),
    "closing: Pysher": ((), equal(pusher("pysher", endpoint=False))),
    "closing: eventflit": ((), equal(pusher("eventflit", "--prefix", "eventflit"))),
    "closing: atmosphere": ((), equal(atmosphere_ws())),
    "closing: other words": (("npm",), other_words),
}
