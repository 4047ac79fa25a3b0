"""Compressed WebSockets: what a server and a client of a library agree on, and which messages come compressed, from the
server, through record and from replay, seen by a forwarder next to the client; and the messages themselves."""

import asyncio
import contextlib
import json
import os
from typing import Any

from wiretape_tools.interop import graphql_pairs
from wiretape_tools.interop.cells import compare
from wiretape_tools.lib import frames
from wiretape_tools.lib.forwarder import Forwarder
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port

SAID = ["short", "long and alike " * 40, "long and alike " * 40, "größe 😀 " * 300, "x" * 70000, "", "end"]


class Watch(Forwarder):
    """Keeps what the server of each connection says."""

    def __init__(self, target):
        self.heard = {}
        super().__init__(target)

    def pump(self, source, sink, pair):
        if source is not pair[1]:
            return super().pump(source, sink, pair)
        heard = self.heard.setdefault(pair, bytearray())
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                heard.extend(data)
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(1)
        return None

    def told(self):
        """For each WebSocket in order: the answered extensions, and which messages were compressed."""
        found = []
        for heard in self.heard.values():
            head, _, rest = bytes(heard).partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 101"):
                continue
            fields = [line.split(b":", 1) for line in head.split(b"\r\n")[1:]]
            agreed = sorted(value.strip().decode() for name, value in fields if name.lower() == b"sec-websocket-extensions")
            flags = [bool(first & 0x40) for first, _ in frames.FrameReader().feed(rest) if first & 15 in (1, 2)]
            found.append(json.dumps([agreed, flags]))
        return found


def everywhere(stage, port, play, least):
    """Plays live, through record and from replay; `play(url)` returns what the client got, `least` messages of it."""
    tape = stage.tape()

    def seen(port):
        with Watch(port) as watch:
            return {"got": play(watch.url), "wire": watch.told()}

    live = seen(port)
    with stage.record(port, tape) as proxy:
        compare(live, seen(proxy.port), "record")
    if sum(len(json.loads(line)[1]) for line in live["wire"]) < least:
        raise Failed(f"only {live['wire']}: the script did not run")
    return tape, seen, live


def replayed(stage, tape, seen, live, *options):
    with Wiretape(["replay", tape, "--speed", "instant", *options], stage.path(".log")) as proxy:
        got = seen(proxy.port)
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    compare(live, got, "replay " + " ".join(options))


def plain(live):
    """The same without compression."""
    wire = [json.dumps([[], [False] * len(json.loads(line)[1])]) for line in live["wire"]]
    return {**live, "wire": wire}


@contextlib.contextmanager
def echo_server(**agreed):
    """websockets' server on a thread's loop; it sends back what it gets."""
    import threading

    from websockets.asyncio.server import serve
    from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

    port, ready, loop = free_port(), threading.Event(), asyncio.new_event_loop()

    async def echo(socket):
        async for message in socket:
            await socket.send(message)

    async def main(done):
        extensions = [ServerPerMessageDeflateFactory(**agreed)]
        async with serve(echo, "127.0.0.1", port, compression=None, extensions=extensions, ping_interval=None):
            ready.set()
            await done.wait()

    done = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(main(done)), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(10)


def websockets_client(url, **offered):
    from websockets.asyncio.client import connect
    from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

    async def talk():
        got = []
        extensions = [ClientPerMessageDeflateFactory(**offered)]
        target = url.replace("http", "ws", 1) + "/echo"
        async with connect(target, compression=None, extensions=extensions, ping_interval=None) as socket:
            for text in SAID:
                await socket.send(text)
                got.append(await socket.recv())
        return got

    return asyncio.run(talk())


def by_websockets(stage):
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"server_max_window_bits": 12, "client_max_window_bits": 12}, {"client_max_window_bits": True}),
        ({"server_no_context_takeover": True, "client_no_context_takeover": True}, {"client_max_window_bits": True}),
        ({"server_max_window_bits": 9}, {"server_max_window_bits": 10, "client_max_window_bits": 9}),
    ]
    for agreed, offered in rows:
        with echo_server(**agreed) as port:
            tape, seen, live = everywhere(stage, port, lambda url, offered=offered: websockets_client(url, **offered), len(SAID))
        if live["got"] != SAID or "permessage-deflate" not in live["wire"][0] or "true" not in live["wire"][0]:
            raise Failed(f"{agreed}: nothing was compressed: {live['wire']}")
        replayed(stage, tape, seen, live)
        replayed(stage, tape, seen, plain(live), "--deflate", "off")
    return f"{len(rows)} agreements, as recorded and with --deflate off"


def other_offers(stage):
    """A client that does not offer what the recorded one did is served without compression, or with a smaller window."""
    with echo_server(client_max_window_bits=10) as port:
        tape, _, live = everywhere(stage, port, lambda url: websockets_client(url, client_max_window_bits=True), len(SAID))
    rows = [({"client_max_window_bits": None}, []), ({"client_max_window_bits": 9}, ["permessage-deflate; client_max_window_bits=9"])]
    answer = "permessage-deflate; server_no_context_takeover; client_max_window_bits=10"
    rows += [({"client_max_window_bits": True, "server_no_context_takeover": True}, [answer])]
    for offered, agreed in rows:
        def seen(port, offered=offered):
            with Watch(port) as watch:
                got = websockets_client(watch.url, **offered)
                return {"got": got, "wire": [json.dumps([json.loads(line)[0], []]) for line in watch.told()]}

        replayed(stage, tape, seen, {"got": live["got"], "wire": [json.dumps([agreed, []])]})
    return f"{len(rows)} other offers: declined, narrowed, without context"


WS_SERVER = """
const { WebSocketServer } = require('ws');
const perMessageDeflate = { threshold: 100, serverNoContextTakeover: true };
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[1]), perMessageDeflate });
server.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })));
"""
WS_CLIENT = """
const WebSocket = require('ws');
const said = JSON.parse(process.argv[2]);
const socket = new WebSocket(process.argv[1].replace(/^http/, 'ws') + '/echo');
let at = 0;
socket.on('open', () => socket.send(said[0]));
socket.on('message', (data) => {
    console.log(JSON.stringify(data.toString()));
    at += 1;
    if (at < said.length) socket.send(said[at]); else socket.close(1000);
});
"""


def by_ws(stage):
    environment = {**os.environ, "NODE_PATH": stage.peers.node_path}
    port = free_port()

    def client(url):
        code, out, err = run(["node", "-e", WS_CLIENT, url, json.dumps(SAID)], seconds=30, env=environment)
        if code != 0:
            raise Failed(f"the client ended with {code}: {err[-300:]}")
        return [json.loads(line) for line in out.splitlines()]

    with Program("ws", ["node", "-e", WS_SERVER, str(port)], stage.path(".server.log"), env=environment) as server:
        wait_for_port(port, server)
        tape, seen, live = everywhere(stage, port, client, len(SAID))
    flags = json.loads(live["wire"][0])[1]
    if live["got"] != SAID or flags[:3] != [False, True, True]:
        raise Failed(f"the threshold does not show: {live['wire']}")
    replayed(stage, tape, seen, live)
    return f"messages of 100 bytes and more, {sum(flags)} of {len(flags)}: the same ones in replay"


def by_gql(stage):
    pair = graphql_pairs.PAIRS["gql transport-ws"]
    script = graphql_pairs.script(stage, pair, [graphql_pairs.STAGES[1]])

    def client(url):
        seen = graphql_pairs.observe(stage, pair, url + "/graphql", script)
        return [line for chain in sorted(seen) for line in seen[chain]]

    port = free_port()
    with graphql_pairs.start(stage, pair, port):
        tape, seen, live = everywhere(stage, port, client, 5)
    if "permessage-deflate" not in live["wire"][0] or "true" not in live["wire"][0]:
        raise Failed(f"nothing was compressed: {live['wire']}")
    replayed(stage, tape, seen, live)
    return f"{live['wire'][0][:90]} …"


CASES = {
    "deflate: websockets": ((), by_websockets),
    "deflate: other offers": ((), other_offers),
    "deflate: ws": (("npm",), by_ws),
    "deflate: gql with strawberry": (graphql_pairs.NEEDS, by_gql),
}
