"""The real servers and clients of tools/interop: what each can do, how it is started, and the script that it plays."""

import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
from typing import Any

from wiretape_tools.lib.processes import ROOT, Failed, Program, free_port, run, wait_for_port

HERE = pathlib.Path(__file__).resolve().parent
TRANSPORTS = ["ws", "sse", "lp"]
KEEPALIVE = "1"  # seconds; signalrcore's stop() waits for the next thing that the server sends

# Read in each one's source. ASP.NET Core 10's peer is built without MessagePack.
SERVERS: dict[str, dict[str, Any]] = {
    "aspnetcore": {"title": "ASP.NET Core 10", "json": ["ws", "sse", "lp"]},
    "aspnet11": {"title": "ASP.NET Core 11", "json": ["ws", "sse", "lp"], "messagepack": ["ws", "lp"]},
    "aiosignalr": {"title": "aiosignalr 0.1.1", "json": ["ws", "sse", "lp"], "messagepack": ["ws", "lp"]},
}
CLIENTS: dict[str, dict[str, Any]] = {
    "signalr-js": {
        "title": "@microsoft/signalr 10, signalr-protocol-msgpack 10",
        "json": ["ws", "sse", "lp"],
        "messagepack": ["ws", "lp"],
        "can": {"send", "cancel", "stream errors", "upload", "result"},
    },
    "signalr-dotnet": {
        "title": "Microsoft.AspNetCore.SignalR.Client 11",
        "json": ["ws", "sse", "lp"],
        "messagepack": ["ws", "lp"],
        "can": {"send", "cancel", "stream errors", "upload", "result"},
    },
    "aiosignalr": {
        "title": "aiosignalr 0.1.1's own client",
        "json": ["ws", "sse", "lp"],
        "messagepack": ["ws", "lp"],
        "can": {"send", "cancel", "stream errors", "upload", "result"},
        # A message that shares the frame of the handshake's answer is lost (hub_connection.py, _on_frame).
        "deaf": {"Welcome"},
    },
    "pysignalr": {
        "title": "pysignalr 1.3.3",
        "json": ["ws"],
        "messagepack": ["ws"],
        "can": {"send", "stream errors", "upload", "result"},
    },
    "signalrcore": {
        "title": "signalrcore 1.0.2",
        "json": ["ws", "sse"],
        "messagepack": ["ws"],
        "calls": ["ws", "sse", "lp"],
        "can": {"stream errors", "upload"},
        "cannot": {"messagepack": {"upload"}},
    },
}
# Combinations that the server refuses, with the reason: (server, client, protocol, script, transport). None matches every value.
REFUSED = {
    ("aspnet11", "aiosignalr", None, None, "lp"): "aiosignalr over lp with aspnet11: its handshake POST may arrive before its first"
    " poll, and the server then answers 400",
    ("aspnet11", "aiosignalr", "messagepack", "own", None): "aiosignalr's own script in messagepack with aspnet11: the server"
    " refuses its CancelInvocation and StreamItem ('Reading map length for headers failed')",
}
CANNOT = [
    "sse with messagepack: Server-Sent Events are text",
    "aspnetcore (10) with messagepack: the peer is built without it",
    "pysignalr over sse and lp: WebSockets are its only transport (transport/websocket.py)",
    "signalrcore over lp: it reads one message of a poll's body and keeps the rest until the next poll ends"
    " (long_polling_client.py, _append), so it plays there the script of single answers, 'calls',"
    " and not with aspnetcore, whose Welcome may share a poll with the handshake's answer",
    "signalrcore's uploads in messagepack: it ends them with a Completion of three items (messagepack_protocol.py)",
    "stream errors in common: aiosignalr's client cancels a stream that has failed, the others do not",
    "cancel, send and client results: signalrcore has none of them; pysignalr cannot cancel a stream",
    *REFUSED.values(),
    "signalrcore over lp with messagepack: its client for it cannot be made (long_polling_client.py, super())",
]


def supports(server, name, script, protocol):
    """Returns the transports over which the client can play the script with the server in the hub protocol."""
    key = protocol if script != "calls" else "calls" if protocol == "json" else ""
    able = CLIENTS[name].get(key, [])
    return [transport for transport in able if not is_refused((server, name, protocol, script, transport))]


def is_refused(cell):
    return any(all(rule in (None, part) for rule, part in zip(row, cell, strict=True)) for row in REFUSED)


def script_for(server, client, transport, protocol, script, path, **connection):
    """Writes what this client does: the file at path."""
    whole = json.loads((HERE / "script.json").read_text(encoding="utf-8"))
    able = CLIENTS[client]["can"] if script == "own" else set()
    able = able - CLIENTS[client].get("cannot", {}).get(protocol, set())
    steps = []
    for step in whole["steps"]:
        if server not in step.get("servers", SERVERS) or protocol not in step.get("protocols", [protocol]):
            continue
        if ("needs" in step and step["needs"] not in able) or (script == "calls" and not step.get("calls")):
            continue
        deaf = CLIENTS[client].get("deaf", set())
        if step.get("callback") in deaf:
            continue
        if "repeat" in step:
            step["args"] = [argument * step["repeat"] for argument in step["args"]]
        steps.append(step)
    whole["callbacks"] = [name for name in whole["callbacks"] if name not in CLIENTS[client].get("deaf", set())]
    how = {"transport": transport, "protocol": protocol, **connection}
    path.write_text(json.dumps({**whole, "connection": how, "steps": steps}), encoding="utf-8")
    return path


class Peers:
    """What is there to run: PyPI packages always, the peers' folder and node when present."""

    def __init__(self, work):
        self.work = work
        self.unpacking = threading.Lock()
        self.unpacked: set[str] = set()
        folder = os.environ.get("WIRETAPE_PEERS") or ROOT.parent / "shared/peers"
        self.folder = pathlib.Path(folder) if pathlib.Path(folder).is_dir() else None
        if os.environ.get("WIRETAPE_PEERS") and not self.folder:
            raise Failed(f"WIRETAPE_PEERS={folder} is not a folder")
        self.node_path = ""
        if self.folder:
            unpacked = subprocess.run([self.folder / "npm/unpack"], check=True, capture_output=True, text=True)
            self.node_path = unpacked.stdout.strip()

    def missing(self, name):
        """Why this server or client cannot run here, or None."""
        if name in ("aspnetcore", "aspnet11", "signalr-js", "signalr-dotnet", "npm") and not self.folder:
            return "no peers' folder (WIRETAPE_PEERS)"
        return None

    def start(self, server, port, log, *options):
        """The server, once it takes connections."""
        # ASP.NET Core 10's peer unpacks itself on its first start. A second one would run an incomplete file meanwhile.
        if server == "aspnetcore" and server not in self.unpacked:
            with self.unpacking:
                program = self.started(server, port, log, *options)
                self.unpacked.add(server)
                return program
        return self.started(server, port, log, *options)

    def signalr11(self, name):
        """A program of the peers for SignalR 11, once they are unpacked."""
        assert self.folder
        with self.unpacking:
            if "signalr11" not in self.unpacked:
                subprocess.run([self.folder / "signalr11/unpack"], check=True, capture_output=True)
                self.unpacked.add("signalr11")
        return self.folder / "signalr11" / name

    def started(self, server, port, log, *options):
        if server == "aspnetcore" and self.folder:
            command = [self.folder / "aspnetcore/run", str(port), "--keepalive", KEEPALIVE, *options]
        elif server == "aspnet11":
            command = [self.signalr11("run-server"), str(port), "--keepalive", KEEPALIVE, *options]
        else:
            command = [sys.executable, HERE / "aiosignalr_hub.py", str(port), KEEPALIVE, *options]
        program = Program(server, command, log)
        try:
            wait_for_port(port, program)
        except BaseException:
            program.kill()
            raise
        return program

    def client(self, client, url, script, seconds=60, more=None):
        """The observations of one run of the client's program, which finds the variables of more in its environment."""
        command, environment = self.command(client, url, script)
        environment |= more or {}
        try:
            code, out, err = run(command, seconds=seconds, env=environment)
        except subprocess.TimeoutExpired as expired:
            raise Failed(f"{client} hangs; its last line: {last_line((expired.stdout or b'').decode())}") from None
        if code != 0:
            raise Failed(f"{client} ended with {code}: {complaint(out)} {err[-500:]}")
        return [json.loads(line) for line in out.splitlines()]

    def command(self, client, url, script):
        """The client's program as a command line and its environment."""
        environment = dict(os.environ)
        if client == "signalr-js":
            check_node()
            environment["NODE_PATH"] = self.node_path
            return ["node", HERE / "client.js", url, script], environment
        if client == "signalr-dotnet":
            return [self.signalr11("run-client"), url, script], environment
        return [sys.executable, HERE / f"client_{client}.py", url, script], environment


class Pool:
    """Servers of one kind, each used by one cell at a time: a hub sends some messages to everybody connected."""

    def __init__(self, peers, server):
        self.peers, self.server = peers, server
        self.idle: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.programs = []

    def take(self):
        try:
            return self.idle.get_nowait()
        except queue.Empty:
            port = free_port()
            log = self.peers.work / f"{self.server}-{port}.log"
            self.programs.append(self.peers.start(self.server, port, log))
            return port

    def give(self, port):
        self.idle.put(port)

    def close(self):
        for program in self.programs:
            program.kill()


def complaint(out):
    """The last lines of what a client said went wrong, without its stack."""
    last = last_line(out)
    try:
        lines = json.loads(last)["message"].strip().splitlines()
    except (ValueError, KeyError):
        return last[-300:]
    return next((line for line in [lines[0], *reversed(lines)] if not line.startswith("Traceback")), last)[:300]


def last_line(text):
    return text.rstrip().rpartition("\n")[2]


def check_node():
    node = shutil.which("node")
    version = run([node, "--version"])[1].strip() if node else ""
    if not version or int(version[1:].split(".")[0]) < 20:
        raise Failed(f"node 20 or newer is needed for @microsoft/signalr, found {version or 'none'}")
