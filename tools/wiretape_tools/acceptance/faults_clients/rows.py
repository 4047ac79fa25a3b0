"""The real clients of tools/acceptance/faults-clients, and the faults that each goes through."""

from dataclasses import dataclass, field
from typing import Any

# By name: the rules, with X for the message that the client is getting.
FAULTS = {
    "reset": ["reset after X[2]"],
    "disconnect": ["disconnect after X[2]"],
    "close": ["close(1011) after X[2]"],
    "truncate": ["truncate(2) + reset on X[2]"],
    "503": ["reset after X[2]", "respond(503, Retry-After=1) on connect[retry=1]"],
    "503 twice": ["reset after X[2]", "respond(503, Retry-After=1) on connect[retry=1..2]"],
    "refuse": ["reset after X[2]", "refuse on connect[retry=1]"],
    "outage": ["outage(700ms) after X[2]"],
    "away": ["outage(700ms, cut=1001, answer=503) after X[2]"],
    "expire": ["expire + reset after X[2]"],
    "stall": ["stall(both) after X[2]"],
    "mute": ["mute(all) + stall(out) after X[2]"],
    "drop": ["drop on X[2]"],
    "delay": ["delay(300ms) on X[2]"],
    "start": ["respond(503) on connect[1]"],
    "upgrade": ["respond(503) on upgrade[1]"],
    "no negotiation": ["disconnect on negotiate[1]"],
}
STAYS = {"drop", "delay"}  # the connection is left alone
ENDS = ["reset", "disconnect", "truncate", "503", "refuse", "outage"]
ALL = [*ENDS, "close", "away", "drop", "delay"]


@dataclass
class Row:
    name: str
    program: str  # of returning.py or returning.js
    server: str
    label: str
    faults: list
    settings: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    path: str = ""
    script: str = "returning.py"
    needs_peers: bool = False

    def rules(self, fault):
        return [rule.replace("X[", self.label + "[") for rule in FAULTS[fault]]


QUICK: dict[str, Any] = {"WEBSOCKETS_BACKOFF_INITIAL_DELAY": "0.5", "WEBSOCKETS_BACKOFF_MIN_DELAY": "0.7"}
HUB: dict[str, Any] = {"server": "hub", "label": "ReceiveMessage", "path": "/hub"}
SOCKET: dict[str, Any] = {"server": "graphql", "label": "next", "path": "/graphql", "needs_peers": True}
DELAYS = [0, 0.4, 0.8, 1.6]
ROWS = [
    Row("pysignalr", "pysignalr", faults=[*ALL, "no negotiation", "upgrade"], environment=QUICK, **HUB),
    Row("gql", "gql", faults=[*ALL, "start", "stall"],
        settings={"idle": 4, "options": {"ping_interval": 0.4, "pong_timeout": 0.6}}, **SOCKET),
    Row("gql legacy", "gql", faults=[*ALL, "start", "stall"],
        settings={"protocol": "graphql-ws", "idle": 4, "options": {"keep_alive_timeout": 2}},
        **{**SOCKET, "label": "data"}),
    Row("Pysher", "pysher", "pusher", "tick", [*ALL, "start"],
        {"idle": 5, "options": {"reconnect_interval": 0.5}}),
    Row("aiosignalr sse", "aiosignalr", faults=[*ALL, "expire", "stall"],
        settings={"transport": "ServerSentEvents", "delays": DELAYS, "idle": 5, "options": {"server_timeout": 2}}, **HUB),
    Row("aiosignalr lp", "aiosignalr", faults=[*ENDS, "expire", "drop", "delay"],
        settings={"transport": "LongPolling", "delays": DELAYS}, **HUB),
    Row("aiohttp-sse-client", "sse", faults=["reset", "disconnect", "truncate", "refuse", "outage", "drop", "delay"],
        **{**SOCKET, "needs_peers": True}),
    Row("signalr-js lp", "signalr", faults=[*ENDS, "away", "expire", "drop", "delay"],
        settings={"transport": "lp", "delays": [1000 * d for d in DELAYS]}, script="returning.js", needs_peers=True, **HUB),
    Row("signalr-js sse", "signalr", faults=[*ALL, "expire", "stall"],
        settings={"transport": "sse", "delays": [1000 * d for d in DELAYS], "idle": 5,
                  "options": {"serverTimeoutInMilliseconds": 2000}}, script="returning.js", needs_peers=True, **HUB),
    Row("signalr-js ws", "signalr", faults=[*ALL, "expire", "stall"],
        settings={"transport": "ws", "delays": [1000 * d for d in DELAYS], "idle": 5,
                  "options": {"serverTimeoutInMilliseconds": 2000}}, script="returning.js", needs_peers=True, **HUB),
    Row("graphql-ws", "graphql", faults=["reset", "disconnect", "truncate", "away", "drop", "delay"],
        settings={"idle": 6}, script="returning.js", **SOCKET),
    Row("subscriptions-transport-ws", "legacy", faults=ALL,
        settings={"protocol": "graphql-ws", "idle": 6}, script="returning.js", **{**SOCKET, "label": "data"}),
    Row("pusher-js", "pusher", "pusher", "tick", [*ALL, "start", "stall"],
        {"idle": 5, "options": {"activityTimeout": 800, "pongTimeout": 800}}, script="returning.js", needs_peers=True),
]  # fmt: skip
