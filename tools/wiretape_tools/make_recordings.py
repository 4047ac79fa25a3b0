"""Makes the tapes in recordings/ anew: real servers and real clients, with `wiretape record` between them.

    tools/make-recordings [NAME…]      all, or those of recordings/README.md

Needs WIRETAPE_PEERS (../shared/peers), node 20 and the packages that tools/interop installs. What each tape holds is
told by recordings/README.md. An existing tape is replaced only when the new one was recorded well.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from typing import Any

from wiretape_tools.interop import atmosphere, cases, eventflit, graphql_http, graphql_pairs
from wiretape_tools.interop.peers import HERE, Peers, script_for
from wiretape_tools.lib.processes import ROOT, Failed, Program, Wiretape, binary, fail, free_port, run

WORK = ROOT / ".build/recordings"
LIMIT = 50_000  # bytes; they live in git
ADA = ["hello bob", "fine, thanks", "bye"]
BOB = ["hi ada", "how are you?", "see you tomorrow", "bye"]


class Stage:
    """A server, a proxy in front of it, and the people of one recording."""

    def __init__(self, peers, name, server="aspnetcore"):
        self.peers, self.name, self.server = peers, name, server
        self.tape = WORK / f"{name}.tape.gz"
        self.port = free_port()
        self.programs = []

    def __enter__(self):
        self.start_server()
        upstream = f"http://127.0.0.1:{self.port}"
        arguments = ["record", "--upstream", upstream, "--output", self.tape, "--force"]
        try:
            self.proxy = Wiretape(arguments, WORK / f"{self.name}.log")
        except BaseException:
            self.running.kill()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None and (code := self.proxy.stop()) != 0:
                raise Failed(f"record ended with {code}: {self.proxy.said()}")
        finally:
            self.proxy.kill()
            for program in self.programs:
                program.kill()
            self.running.kill()

    def start_server(self):
        self.running = self.peers.start(self.server, self.port, WORK / f"{self.name}.server.log")

    def person(self, name, lines, *flags, recorded=False):
        url = self.proxy.url if recorded else f"http://127.0.0.1:{self.port}"
        command = ["node", HERE / "chat.js", f"{url}/hub", name, json.dumps(lines), *flags]
        environment = {**os.environ, "NODE_PATH": self.peers.node_path}
        program = Program(name, command, WORK / f"{self.name}.{name}.log", env=environment)
        self.programs.append(program)
        end = time.monotonic() + 10
        while f"{name}: here" not in program.said():
            if time.monotonic() > end or program.process.poll() is not None:
                raise Failed(f"{name} does not arrive: {program.said()}")
            time.sleep(0.02)
        return program

    def wait_for(self, program, seconds=30):
        try:
            code = program.process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = "nothing"
        if code != 0:
            raise Failed(f"{program.name} ended with {code}: {program.said()}")


def chat(peers, name, *flags):
    """ada through the proxy, bob beside it: seven messages of both, each answering the one before."""
    with Stage(peers, name) as stage:
        ada = stage.person("ada", ADA, *flags, recorded=True)
        stage.person("bob", BOB, "--first")
        stage.wait_for(ada)


def reconnect(peers, name):
    """The server dies in the middle of the chat and is back a second later: ada's client tries at 0 and 2 s."""
    with Stage(peers, name) as stage:
        ada = stage.person("ada", ADA, "--reconnect", "--speak-when-back", recorded=True)
        stage.person("bob", BOB[1:], "--first", "--reconnect")
        while "ada says hello bob" not in ada.said():
            time.sleep(0.01)
        stage.running.kill()
        while "lost" not in ada.said():
            time.sleep(0.01)
        time.sleep(0.8)
        stage.start_server()
        stage.wait_for(ada)


def scripted(peers, name, server, client, transport="ws", protocol="json"):
    """The script of tools/interop: calls, failures, streams, an upload, a question of the server, calls at a time."""
    script = script_for(server, client, transport, protocol, "own", WORK / f"{name}.script.json")
    with Stage(peers, name, server) as stage:
        peers.client(client, f"{stage.proxy.url}/hub", script)


def staged(peers, name, record):
    """One of the cases of tools/interop, as far as its recording."""
    tape = WORK / f"{name}.tape.gz"
    tape.unlink(missing_ok=True)
    record(cases.Stage(peers, name), tape)


def pusher(peers, name, client, steps, *options, **more):
    """A script of tools/interop's Pusher cases."""
    staged(peers, name, lambda stage, tape: eventflit.record(stage, tape, client, steps, *options, **more))


def paired(peers, name, pair):
    """The script of tools/interop for GraphQL: operations at once and one after another, stopped, failing and refused."""
    staged(peers, name, lambda stage, tape: graphql_pairs.record(stage, graphql_pairs.PAIRS[pair], tape))


def graphql(stage, tape, pair):
    """The script of tools/interop over HTTP, without the long text."""
    stages = [[o for o in one if o["chain"] != "long"] for one in graphql_http.PAIRS[pair]["stages"]]
    graphql_http.record(stage, graphql_http.PAIRS[pair], tape, stages)


def tracked(name, transport, steps):
    """Our own Atmosphere client and server: they follow the reference, as no real ones are at hand."""
    stage = atmosphere.Stage(name)
    port, program = stage.server()
    with program:
        tape, _ = stage.record(port, lambda url: stage.observe(url, transport, steps))
    shutil.copy(tape, WORK / f"{name}.tape.gz")


RECORDINGS: dict[str, Any] = {
    "chat": lambda peers: chat(peers, "chat"),
    "skip-negotiation": lambda peers: chat(peers, "skip-negotiation", "--skip-negotiation"),
    "reconnect": lambda peers: reconnect(peers, "reconnect"),
    "chat-sse": lambda peers: chat(peers, "chat-sse", "--sse"),
    "chat-lp": lambda peers: chat(peers, "chat-lp", "--lp"),
    "everything": lambda peers: scripted(peers, "everything", "aspnetcore", "signalr-js"),
    "everything-sse": lambda peers: scripted(peers, "everything-sse", "aspnetcore", "signalr-js", "sse"),
    "everything-lp": lambda peers: scripted(peers, "everything-lp", "aspnetcore", "signalr-js", "lp"),
    "messagepack": lambda peers: scripted(peers, "messagepack", "aiosignalr", "signalr-js", "ws", "messagepack"),
    "messagepack-lp": lambda peers: scripted(peers, "messagepack-lp", "aiosignalr", "signalr-js", "lp", "messagepack"),
    "stateful": lambda peers: staged(
        peers, "stateful", lambda s, tape: cases.record_stateful(s, tape, "aspnetcore", "signalr-js", "json")
    ),
    "stateful-messagepack": lambda peers: staged(
        peers, "stateful-messagepack",
        lambda s, tape: cases.record_stateful(s, tape, "aiosignalr", "signalr-js", "messagepack"),
    ),
    "redirect": lambda peers: staged(peers, "redirect", cases.record_redirect),
    "pusher": lambda peers: pusher(peers, "pusher", "pusher-js", eventflit.TALK + eventflit.FORGED),
    "pusher-stream": lambda peers: pusher(peers, "pusher-stream", "pusher-js xhr_streaming", eventflit.TALK),
    "pusher-lp": lambda peers: pusher(peers, "pusher-lp", "pusher-js xhr_polling", eventflit.TALK),
    "pysher": lambda peers: pusher(peers, "pysher", "pysher", eventflit.TALK, endpoint=False),
    "eventflit": lambda peers: pusher(
        peers, "eventflit", "eventflit", eventflit.TALK + eventflit.FORGED, "--prefix", "eventflit"
    ),
    "eventflit-reconnect": lambda peers: pusher(
        peers, "eventflit-reconnect", "eventflit", eventflit.END, "--prefix", "eventflit", reconnect=1
    ),
    "eventflit-presence": lambda peers: staged(peers, "eventflit-presence", eventflit.record_room),
    "graphql-multipart": lambda peers: staged(peers, "graphql-multipart", lambda s, tape: graphql(s, tape, "multipart")),
    "graphql-sse": lambda peers: staged(peers, "graphql-sse", lambda s, tape: graphql(s, tape, "sse")),
    "graphql-sse-single": lambda peers: staged(
        peers, "graphql-sse-single", lambda s, tape: graphql(s, tape, "sse single")
    ),
    "pysignalr": lambda peers: scripted(peers, "pysignalr", "aiosignalr", "pysignalr"),
    **{
        f"atmosphere-{transport}": lambda peers, t=transport: tracked(f"atmosphere-{t}", t, atmosphere.SAMPLE)
        for transport in [*atmosphere.TRANSPORTS, "jsonp"]
    },
    "atmosphere-reconnect": lambda peers: tracked("atmosphere-reconnect", "sse", atmosphere.CUT),
    "signalrcore": lambda peers: scripted(peers, "signalrcore", "aspnetcore", "signalrcore"),
    "graphql-transport-ws": lambda peers: paired(peers, "graphql-transport-ws", "graphql-ws"),
    "graphql-ws-legacy": lambda peers: paired(peers, "graphql-ws-legacy", "subscriptions-transport-ws"),
    "graphql-gql": lambda peers: paired(peers, "graphql-gql", "gql transport-ws"),
}


def keep(name):
    """Checks the new tape and puts it into recordings/."""
    tape = WORK / f"{name}.tape.gz"
    code, out, err = run([binary(), "inspect", tape, "--format", "json"])
    if code != 0:
        raise Failed(f"{name}: inspect ended with {code}: {err}")
    size = tape.stat().st_size
    if size > LIMIT:
        raise Failed(f"{name}: {size} bytes are too many")
    shutil.copy(tape, ROOT / f"recordings/{name}.tape.gz")
    print(f"recordings/{name}.tape.gz: {len(out.splitlines())} messages, {size} bytes")


def main():
    parser = argparse.ArgumentParser(prog="tools/make-recordings", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="of " + ", ".join(RECORDINGS))
    names = parser.parse_args().names or list(RECORDINGS)
    if unknown := set(names) - set(RECORDINGS):
        parser.error(f"no recording {', '.join(unknown)}; there are {', '.join(RECORDINGS)}")
    WORK.mkdir(parents=True, exist_ok=True)
    peers = Peers(WORK)
    if not peers.folder:
        raise Failed("no peers' folder (WIRETAPE_PEERS)")
    for name in names:
        RECORDINGS[name](peers)
        keep(name)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"make-recordings: {failure}"))
