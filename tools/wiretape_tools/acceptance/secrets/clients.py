"""What the client of a cell says with its secrets: programs of tools/interop around real clients, and plain requests."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.parse
from typing import Any

from wiretape_tools.acceptance.secrets import kinds
from wiretape_tools.interop.cells import chains
from wiretape_tools.interop.peers import HERE, Peers, complaint
from wiretape_tools.lib.processes import Failed, run

LIMIT = 30  # seconds of one client
TAKE = "query Take($input: JSON!) { take(input: $input) }"
GIVE = "subscription Give { give }"
Observed = dict[str, list[str]]


class Client:
    """One client with the secrets of one run. place → its secrets; `aside` says something else than the tape has."""

    def __init__(self, peers: Peers, folder: pathlib.Path, cell: str, turn: str, app_secret: str, aside: bool = False) -> None:
        self.peers, self.folder, self.cell, self.turn, self.aside = peers, folder, cell, turn, aside
        self.app_secret = app_secret
        self.places: dict[str, list[kinds.Secret]] = {}

    def secrets(self, place: str) -> list[kinds.Secret]:
        return self.places.setdefault(place, kinds.planted(f"{self.cell}, {place}, {self.turn}"))

    def headers(self, place: str, *, token: bool = True, cookies: bool = True) -> dict[str, str]:
        """A field and a cookie for each; without the token where the client's own factory gives it, without cookies where it sets
        none."""
        pairs = dict(secret.header() for secret in self.secrets(place))
        if not token:
            pairs.pop("Authorization")
        if cookies:
            pairs["Cookie"] = "; ".join("=".join(secret.cookie()) for secret in self.secrets(place + " cookies"))
        return pairs

    def token(self, place: str) -> str:
        return self.secrets(place)[0].value

    def query(self, place: str) -> str:
        return urllib.parse.urlencode([secret.item() for secret in self.secrets(place)], quote_via=urllib.parse.quote)

    def items(self, place: str) -> dict[str, Any]:
        found = kinds.items(self.secrets(place))
        return {**found, "greeting": "another"} if self.aside else found

    def script(self, what: dict[str, Any]) -> pathlib.Path:
        path = self.folder / f"{self.turn}.script.json"
        path.write_text(json.dumps(what), encoding="utf-8")
        return path

    def run(self, *words: object) -> Observed:
        environment = {**os.environ, "NODE_PATH": self.peers.node_path}
        try:
            code, out, err = run(words, seconds=LIMIT, env=environment)
        except subprocess.TimeoutExpired as expired:
            raise Failed(f"the client hangs: {(expired.stdout or b'').decode()[-200:]}") from None
        if code != 0:
            raise Failed(f"the client ended with {code}: {complaint(out) if out else ''} {err[-400:]}")
        found = [json.loads(line) for line in out.splitlines()]
        return chains({"chain": one.get("chain", one.get("what")), **one} for one in found)

    # The protocols

    def signalr(self, url: str, client: str, protocol: str, transport: str) -> Observed:
        how = {"transport": transport, "protocol": protocol, "token": self.token("headers"),
               "headers": self.headers("headers", token=False)}  # fmt: skip
        steps = [
            {"do": "invoke", "chain": "echo", "method": "Echo", "args": [self.items("message")]},
            {"do": "invoke", "chain": "give", "method": "Give", "args": []},
            {"do": "send", "method": "Tell", "args": []},
            {"do": "wait", "callback": "ReceiveMessage", "count": 1},
            {"do": "invoke", "chain": "echo", "method": "Echo", "args": [self.items("message")]},
        ]
        script = self.script({"connection": how, "callbacks": ["ReceiveMessage"], "results": {}, "steps": steps})
        words = ["node", HERE / "client.js"] if client == "signalr-js" else [sys.executable, HERE / f"client_{client}.py"]
        return self.run(*words, f"{url}/hub?{self.query('query')}", script)

    def graphql(self, url: str, client: str, protocol: str) -> Observed:
        stages: list[list[dict[str, Any]]] = [
            [{"chain": "take", "query": TAKE, "operationName": "Take", "variables": {"input": self.items("message")}}],
            [{"chain": "give", "query": GIVE, "operationName": "Give"}],
        ]
        if client == "gql":
            stages = [[*stages[0], *stages[1]]]  # it makes a connection a stage
        how: dict[str, Any] = {"protocol": protocol, "stages": stages, "headers": self.headers("headers")}
        if protocol:
            # Everything in it is a secret, whatever it is called.
            opening = enumerate(self.secrets("connection_init"))
            how["params"] = {f"field {n}": value for n, secret in opening for value in secret.member().values()}
        programs = {"node": ["node", HERE / "client_graphql.js"], "gql": [sys.executable, HERE / "client_gql.py"],
                    "gql-http": [sys.executable, HERE / "client_gql_http.py"],
                    "sse": ["node", HERE / "client_graphql_sse.js"]}  # fmt: skip
        return self.run(*programs[client], f"{url}/graphql?{self.query('query')}", self.script(how))

    def eventflit(self, url: str, client: str, transport: str) -> Observed:
        def say(event: str, **data: Any) -> dict[str, Any]:
            return {"do": "trigger", "channel": "private-room", "event": event, "data": data}

        steps: list[dict[str, Any]] = []
        for channel in ("private-room", "presence-lobby"):
            steps += [{"do": "subscribe", "channel": channel}, {"do": "wait", "for": f"{channel} pusher:subscription_succeeded"}]
        steps += [
            say("client-take", **self.items("message")), {"do": "wait", "for": "private-room taken"},
            say("client-give"), {"do": "wait", "for": "private-room given"},
        ]  # fmt: skip
        how: dict[str, Any] = {"user": "ada", "endpoint": client != "pysher", "secret": self.app_secret, "steps": steps}
        if client == "pusher-js":
            # Its own fields of the authorisation's request, and its form.
            how["headers"] = self.headers("headers", cookies=False)
            how["params"] = dict(secret.item() for secret in self.secrets("form"))
        script = self.script(how)
        if client == "pusher-js":
            return self.run("node", HERE / "pusher.js", url, script, transport)
        return self.run(sys.executable, HERE / f"client_{client}.py", url, script)

    def atmosphere(self, url: str, transport: str) -> Observed:
        steps = [["push", json.dumps(self.items("message"), ensure_ascii=False)], ["wait", 1], ["push", "!give"], ["wait", 2],
                 ["pause", 0.1], ["close"]]  # fmt: skip
        script = self.script({"transport": transport, "long": True, "steps": steps})
        return self.run(sys.executable, HERE / "client_atmosphere.py", f"{url}/chat?{self.query('query')}", script)

    # Plain requests

    def plain(self, url: str) -> Observed:
        """By `requests`, as an application asks beside its protocol."""
        import requests  # type: ignore[import-untyped]

        told: Observed = {}
        with requests.Session() as session:
            session.trust_env = False

            def ask(name: str, method: str, path: str, **more: Any) -> None:
                answer = session.request(method, url + path, timeout=20, **more)
                fields = {n: v for n, v in answer.headers.items() if n.lower() in OWN}
                text = answer.text
                if name == "events":
                    text = json.dumps([json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")])
                told[name] = [json.dumps([answer.status_code, text, sorted(fields.items())], ensure_ascii=False)]
                session.cookies.clear()

            ask("headers", "GET", "/headers", headers=self.headers("plain headers"))
            ask("cookies", "GET", "/cookies")
            ask("query", "GET", "/query?" + urllib.parse.urlencode([s.item() for s in self.secrets("plain query")]))
            ask("form", "POST", "/form", data=[secret.item() for secret in self.secrets("plain form")])
            parts = [(name, (None, value)) for name, value in (secret.item() for secret in self.secrets("plain multipart"))]
            ask("multipart", "POST", "/multipart", files=parts)
            ask("json", "POST", "/json", json=self.items("plain json"))
            ask("events", "GET", "/events")
        return told


OWN = {name.lower() for secret in kinds.planted("names") for name, _ in secret.headers()} | {"set-cookie"}
