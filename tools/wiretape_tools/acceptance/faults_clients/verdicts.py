"""What --expect says of real clients: each case runs one client once, and names policies that it meets and that it does not.

With `client(NAME)` the real client with its defaults meets its preset, and one that was bent does not.
"""

from dataclasses import dataclass, field

from wiretape_tools.acceptance.faults_clients.rows import ROWS

BY_NAME = {row.name: row for row in ROWS}


@dataclass
class Case:
    name: str
    client: str  # a row's name
    rules: list
    met: list
    unmet: dict  # policy: words of the reason
    settings: dict = field(default_factory=dict)  # instead of the row's
    environment: dict = field(default_factory=dict)
    mode: str = "live"
    linger: float = 0  # seconds between the client's end and that of the run: time in which a retry could have come

    @property
    def row(self):
        return BY_NAME[self.client]


AWAY = ["outage(60s) after ReceiveMessage[2]"]
WS = {"transport": "ws", "limit": 70, "idle": 60}
REFUSED = ["reset after ReceiveMessage[2]", "respond(503) on upgrade[2..4]"]
UNREADY = ["close(1012) after next[2]", "close(1012) on handshake[2..7]"]
LONG = {"idle": 60, "limit": 90}
CASES = [
    Case("signalr-js, its whole schedule", "signalr-js ws", AWAY,
         ["client(signalr-js)", "delays(0s, 2s, 10s, 30s)", "gives-up(after=4)", "rate(max=2/s)", "transports(ws)"],
         {"client(pysignalr)": "retry 2", "constant(2s)": "retry 1 (attempt 2)", "gives-up(after=3)": "made 4 retries in a row",
          "rate(max=1/s)": "began 2 attempts within 1s", "delays(0s, 2s, 10s)": "should not have come",
          "transports(sse)": "tried ws"}, WS, linger=77),
    Case("signalr-js, too eager", "signalr-js ws", AWAY, ["delays(0s, 1s, 1s)", "gives-up(after=3)"],
         {"client(signalr-js)": "retry 2 (attempt 3) of session 1 came after", "gives-up(after=4)": "only 3 retries"},
         {**WS, "delays": [0, 1000, 1000]}, linger=4),
    Case("signalr-js, without retries", "signalr-js ws", ["reset after ReceiveMessage[2]"], [],
         {"client(signalr-js)": "retry 1 of session 1 never came", "delays(0s)": "never came"},
         {**WS, "stays": True}, linger=1),
    Case("pysignalr, refused upgrades", "pysignalr", REFUSED,
         ["client(pysignalr)", "delays(0s, 1.1s, 1.21s, 1.33s)"],
         {"client(signalr-js)": "retry 2", "exponential(1s, factor=2)": "retry 1", "delays(0s, 1.1s)": "should not have come"},
         {"idle": 30}),
    Case("pysignalr, lost negotiations", "pysignalr", ["disconnect on negotiate[1..3]"],
         ["client(pysignalr)", "exponential(1.1s, factor=1.1)"], {"exponential(1s, factor=2, late=100ms)": "retry 1"}, {"idle": 30}),
    Case("pysignalr, too slow", "pysignalr", REFUSED, [],
         {"client(pysignalr)": "retry 2 (attempt 3) of session 1 came after"}, {"idle": 30, "options": {"retry_sleep": 2}}),
    Case("pysignalr, too eager", "pysignalr", REFUSED, [],
         {"client(pysignalr)": "retry 2 (attempt 3) of session 1 came after"}, {"idle": 30, "options": {"retry_sleep": 0.2}}),
    Case("pysignalr, without retries", "pysignalr", REFUSED[:1] + ["respond(503) on upgrade[2]"], [],
         {"client(pysignalr)": "retry 2 of session 1 never came"}, {"idle": 3, "options": {"retry_count": 1}}, linger=2),
    Case("graphql-ws, its whole schedule", "graphql-ws", UNREADY, ["client(graphql-ws)", "gives-up(after=5)"],
         {"exponential(1s, late=0s)": "retry 1", "gives-up(after=4)": "made 5 retries",
          "exponential(1s, factor=2, jitter=300ms..3s)": "retry 6 of session 1 never came",
          "client(signalr-js)": "retry 1"}, LONG, linger=50),
    Case("graphql-ws, watched as long as it retries", "graphql-ws", UNREADY,
         ["client(graphql-ws)", "exponential(1s, factor=2, jitter=300ms..3s)"], {}, LONG, linger=30),
    Case("graphql-ws, too eager", "graphql-ws", ["close(1012) after next[2]"], ["constant(200ms)", "resubscribes"],
         {"client(graphql-ws)": "retry 1 (attempt 2) of session 1 came after"}, {"delays": [200]}),
    Case("graphql-ws, without retries", "graphql-ws", ["close(1012) after next[2]"], [],
         {"client(graphql-ws)": "retry 1 of session 1 never came"}, {"options": {"retryAttempts": 0}}, linger=5),
    Case("graphql-ws, a fatal code", "graphql-ws", ["close(4400) after next[2]"], ["client(graphql-ws)"],
         {"constant(1s)": "never came"}, {}, linger=2),
    Case("pusher-js", "pusher-js", ["reset after tick[2]"], ["client(eventflit-js)", "constant(1s)", "resubscribes"],
         {"client(eventflit-swift)": "retry 1", "constant(4s)": "retry 1"}, {"idle": 6}),
    Case("Pysher through an outage", "Pysher", ["outage(2s) after tick[2]"], ["constant(500ms)", "resubscribes", "rate(max=3/s)"],
         {"constant(2s)": "retry 1 (attempt 2)", "client(eventflit-js)": "retry 1", "exponential(500ms, late=100ms)": "retry 2"},
         {"idle": 6, "options": {"reconnect_interval": 0.5}}),
    Case("Pysher, Retry-After", "Pysher", ["reset after tick[2]", "respond(503, Retry-After=1) on connect[retry=1]"],
         ["honours(retry-after)"], {}, {"idle": 6, "options": {"reconnect_interval": 1.5}}),
    Case("Pysher without its channel", "Pysher", ["reset after tick[2]"], ["constant(500ms)"],
         {"resubscribes": "without asking again for 1 subscription"},
         {"idle": 2, "once": True, "options": {"reconnect_interval": 0.5}}),
    Case("signalr-js, Retry-After", "signalr-js ws",
         ["reset after ReceiveMessage[2]", "respond(503, Retry-After=1) on connect[retry=1]"],
         ["delays(0s, 300ms)"], {"honours(retry-after)": "after an answer that asked for 1s"},
         {"transport": "ws", "delays": [0, 300]}),
    Case("signalr-js, keepalives", "signalr-js ws", ["drop on ReceiveMessage[4]"], ["pings(every=2s)"],
         {"pings(every=100ms, late=100ms)": "attempt 1 of session 1 was silent for"},
         {"transport": "ws", "idle": 4, "options": {"keepAliveIntervalInMilliseconds": 400}}),
    Case("signalr-js, without keepalives", "signalr-js ws", ["drop on ReceiveMessage[4]"], [],
         {"pings(every=2s)": "attempt 1 of session 1 was silent for"}, {"transport": "ws", "idle": 4}),
    Case("signalr-js, silence", "signalr-js ws", ["stall(both) after ReceiveMessage[2]"],
         ["detects(within=2s)", "client(signalr-js)"], {"detects(within=500ms, late=100ms)": "gave the silent connection up after"},
         {"transport": "ws", "idle": 8, "options": {"serverTimeoutInMilliseconds": 2000}}),
    Case("signalr-js falls back", "signalr-js ws", ["respond(404) on upgrade"], ["transports(ws, sse)", "transports(ws, sse, lp)"],
         {"transports(ws, lp)": "tried ws, sse", "transports(sse)": "tried ws, sse"}, {}),
]  # fmt: skip
