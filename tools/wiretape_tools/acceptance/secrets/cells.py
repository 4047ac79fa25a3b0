"""A cell: one client with one server, live, recorded four times, and replayed six times; what Wiretape has said of it is searched."""

import contextlib
import dataclasses
import http.client
import json
import pathlib
import random
import re
import shutil
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from wiretape_tools.acceptance.secrets import kinds
from wiretape_tools.acceptance.secrets.clients import Client, Observed
from wiretape_tools.acceptance.secrets.search import Net, lines
from wiretape_tools.interop.peers import Peers
from wiretape_tools.lib.processes import ROOT, Failed, Program, Wiretape, binary, free_port, run, wait_for_port

WORK = ROOT / ".build/acceptance/secrets"
SAID_BY_SERVER = ("give", "push", "auth", "answer headers", "answer cookies", "answer json", "answer events")
PSEUDONYM = re.compile(
    r"eyJ[\w-]+\.[\w-]+\.dGRf[\w-]*|\b74645f00-0000-4000-8000-\d{12}\b|\b74645f[0-9]{10,}\b|\btd_\d+\b|\b7464\d{5}\b", re.I
)
# A private key is a secret as a whole where its name tells, and its inner lines where they do.
ARMOURED = re.compile(r"-----BEGIN [A-Z ]+-----\n(«[^»]*»)\n-----END [A-Z ]+-----")
REDACT = [word for rule in kinds.RULES for word in ("--redact", rule)]
SLOW_TO_SERVER = "delay(3ms) on message[every 2]"
SLOW_TO_CLIENT = "delay(3ms) on message[every 2, direction=toClient]"


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a cell runs. deflated: its WebSocket messages come compressed."""

    name: str
    server: str
    play: Callable[[Client, str], Observed]
    peers: tuple[str, ...] = ()
    deflated: bool = False


class Watched(Wiretape):
    """A run whose every word is kept in a folder: standard output and error, events, what the control API answers."""

    def __init__(self, folder: pathlib.Path, arguments: list[object], watched: bool = True) -> None:
        folder.mkdir(parents=True)
        self.folder, self.answers = folder, 0
        self.token = "ct_" + "".join(random.Random(str(folder)).choices(kinds.ALNUM, k=30))
        if watched:
            arguments += ["--events", folder / "events.jsonl", "--control", "127.0.0.1:0", "--control-token", self.token]
        super().__init__(arguments, folder / "stderr.txt")
        self.rest = threading.Thread(target=self.keep, daemon=True)
        self.rest.start()
        self.stream = threading.Thread(target=self.follow, daemon=True)
        if watched:
            self.stream.start()

    def keep(self) -> None:
        with open(self.folder / "stdout.txt", "wb") as file, contextlib.suppress(OSError, ValueError):
            file.write(json.dumps(self.ready).encode() + b"\n")
            while data := self.stdout.read(1):
                file.write(data)

    def follow(self) -> None:
        with open(self.folder / "api-events.txt", "wb") as file, contextlib.suppress(OSError, http.client.HTTPException):
            with self.request("/v1/events?after=0") as answer:
                while data := answer.read1(65536):
                    file.write(data)

    def request(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self.ready["control"] + path, data, {"Authorization": "Bearer " + self.token})
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=20)

    def ask_all(self) -> None:
        """Every route that can be looked at, and what waiting in vain is told."""
        every = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
        paths = [path for path, methods in every.items() if "get" in methods]
        asked: list[tuple[str, Any]] = []
        for path in paths:
            if path not in ("/v1/events", "/page/{file}"):
                numbers = (1, 2, 3) if "{id}" in path else (1,)
                asked += [(path.replace("{id}", str(n)).replace("{name}", "none"), None) for n in numbers]
        asked += [(f"/v1/report?format={kind}", None) for kind in ("json", "text", "junit", "html")]
        asked += [("/v1/messages?where=message%5B1..9%5D", None), ("/v1/wait", {"for": "nothing-of-that-name", "timeout": "1ms"})]
        with open(self.folder / "api.txt", "wb") as file:
            for path, body in asked:
                try:
                    with self.request(path, body) as answer:
                        status, fields, data = answer.status, answer.headers, answer.read()
                except urllib.error.HTTPError as error:
                    status, fields, data = error.code, error.headers, error.read()
                if status >= 500:
                    raise Failed(f"{path} of the control API answers {status}: {data[:200]!r}")
                self.answers += status == 200
                file.write(f"\n{path} {status}\n{fields}\n".encode() + data)
        if self.answers < 12:
            raise Failed(f"only {self.answers} routes of the control API were answered")

    def end(self, code: int | None = 0) -> int:
        """Stops it once everything was asked."""
        if self.ready.get("control"):
            self.ask_all()
        self.rest_of_it()
        got = self.stopped
        if code is not None and got != code:
            raise Failed(f"{self.name} in {self.folder.name} ended with {got}: {self.said()}")
        return got

    def rest_of_it(self) -> None:
        self.process.send_signal(2)
        try:
            self.stopped = self.process.wait(20)
        finally:
            self.rest.join(5)
            if self.stream.is_alive():
                self.stream.join(5)


class Cell:
    """Its folder has `out` for everything that Wiretape says, and `raw` for what was recorded without redaction."""

    def __init__(self, peers: Peers, kind: Kind) -> None:
        self.peers, self.kind = peers, kind
        self.folder = WORK / re.sub("[^a-z0-9]+", "-", kind.name.lower()).strip("-")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.out, self.raw = self.folder / "out", self.folder / "raw"
        for path in (self.out, self.raw):
            path.mkdir(parents=True)
        self.server = {place: kinds.planted(f"{kind.name}, {place}, server") for place in SAID_BY_SERVER}
        self.app_secret = "as" + "".join(random.Random(kind.name).choices(kinds.ALNUM, k=28))
        self.used: list[Client] = []
        self.tokens: list[str] = []

    def client(self, turn: str, aside: bool = False) -> Client:
        found = Client(self.peers, self.folder, self.kind.name, turn, self.app_secret, aside)
        self.used.append(found)
        return found

    # The servers

    @contextlib.contextmanager
    def servers(self) -> Iterator[dict[str, str]]:
        plan: dict[str, Any] = {place: kinds.items(secrets) for place, secrets in self.server.items()}
        plan["answer headers"] = [secret.header() for secret in self.server["answer headers"]]
        plan["answer cookies"] = [secret.cookie() for secret in self.server["answer cookies"]]
        plan |= {"app secret": self.app_secret, "signatures": str(self.folder / "signatures"),
                 "prefix": "eventflit" if "eventflit client" in self.kind.name else "pusher"}  # fmt: skip
        path = self.folder / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        (self.folder / "signatures").touch()
        urls = {}
        with contextlib.ExitStack() as stack:
            for name, kind in (("chat", self.kind.server), ("places", "places")):
                port = free_port()
                words = [sys.executable, "-m", "wiretape_tools.acceptance.secrets.servers", kind, str(port), str(path)]
                program = stack.enter_context(Program(kind, words, self.folder / f"{kind}.log"))
                wait_for_port(port, program)
                urls[name] = f"http://127.0.0.1:{port}"
            yield urls

    def play(self, client: Client, urls: dict[str, str]) -> Observed:
        told = {f"plain {name}": seen for name, seen in client.plain(urls["places"]).items()}
        return {**self.kind.play(client, urls["chat"]), **told}

    # What was seen, with each secret called by its place

    def blind(self, seen: Observed, client: Client) -> Observed:
        """A secret of the client becomes its place and number, one of the server, or its pseudonym, a mark."""
        spelled: dict[str, str] = {}
        for places, mark in ((client.places, "{place} {name}"), (self.server, "of the server")):
            for place, secrets in places.items():
                for secret in secrets:
                    for proper in secret.proper:
                        in_json = [json.dumps(proper, ensure_ascii=exact)[1:-1] for exact in (True, False)]
                        for text in {proper, kinds.escaped(proper), f"sha256={proper}", *in_json}:
                            spelled[text] = "«" + mark.format(place=place, name=secret.name) + "»"
        longest = sorted(spelled, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest)))

        def text_of(text: str) -> str:
            with contextlib.suppress(ValueError):
                if text[:1] in ("{", "[") and isinstance(tree := json.loads(text), (dict, list)):
                    return json.dumps(tree_of(tree), sort_keys=True, ensure_ascii=False)
            marked = PSEUDONYM.sub("«of the server»", pattern.sub(lambda found: spelled[found[0]], text))
            return ARMOURED.sub(r"\1", marked)

        def tree_of(value: Any) -> Any:
            if isinstance(value, str):
                return text_of(value)
            if isinstance(value, list):
                return [tree_of(one) for one in value]
            if isinstance(value, dict):
                return {name: tree_of(one) for name, one in value.items()}
            return text_of(str(value)) if type(value) is int and value > 99_999_999 else value

        def line_of(line: str) -> str:
            return json.dumps(tree_of(json.loads(line)), sort_keys=True, ensure_ascii=False)

        return {chain: [line_of(line) for line in told] for chain, told in seen.items()}

    # The runs

    def recorded(self, urls: dict[str, str], name: str, live: Observed, *options: object, watched: bool) -> pathlib.Path:
        folder = (self.raw if name == "raw" else self.out) / name
        tape = folder / "chat.tape.gz"
        words: list[object] = ["record", "--output", tape, *options]
        for upstream, url in urls.items():
            words += ["--upstream", f"{upstream}={url}"]
        client = self.client("live")
        with Watched(folder, words, watched) as wiretape:
            self.tokens.append(wiretape.token)
            seen = self.play(client, wiretape.ready["urls"])
            wiretape.end()
        same(live, self.blind(seen, client), f"recorded ({name})")
        return tape

    def replayed(self, tape: pathlib.Path, name: str, turn: str, live: Observed | None, *options: object) -> None:
        """Without `live` the client says something else, and what comes of it is told with exit code 2."""
        folder = self.out / name
        client = self.client(turn, aside=live is None)
        words: list[object] = ["replay", tape, *REDACT, "--report", folder / "report", *options]
        with Watched(folder, words) as wiretape:
            self.tokens.append(wiretape.token)
            seen: Observed = {}
            try:
                seen = self.play(client, wiretape.ready["urls"])
            except (Failed, OSError) as failure:
                if live is not None:
                    raise Failed(f"replay ({name}): {failure}\n{wiretape.said()}") from None
            wiretape.end(0 if live is not None else 2)
        if live is not None:
            same(live, self.blind(seen, client), f"replayed ({name})")
        report = json.loads((folder / "report/report.json").read_text(encoding="utf-8"))
        if report["verdict"] != ("diverged" if live is None else "pass"):
            raise Failed(f"the report of {name} tells {report['verdict']}")

    def command(self, name: str, *words: object, code: int = 0, folder: pathlib.Path | None = None) -> str:
        """A command to its end, its words kept. What it printed."""
        got, out, err = run([binary(), *words])
        ((folder or self.out) / f"{name}.txt").write_text(out + err, encoding="utf-8")
        if got != code:
            raise Failed(f"{name} ended with {got} and not with {code}: {out[-700:]} {err[-300:]}")
        return out

    # The verdict

    def planted(self) -> Iterator[tuple[str, kinds.Secret]]:
        """Those of the recorded run, each with its place."""
        places = next(client.places for client in self.used if client.turn == "live")
        for found in (places, {place: self.server[place] for place in self.said()}):
            for place, secrets in found.items():
                for secret in secrets:
                    yield place, secret

    def said(self) -> list[str]:
        """The places of the server that this kind of cell has."""
        own = {"signalr": ("give", "push"), "graphql": ("give", "push"), "eventflit": ("give", "auth"), "atmosphere": ("give",)}
        # Pysher signs by itself and asks no endpoint.
        left = {"auth"} if "Pysher" in self.kind.name else set()
        return [place for place in SAID_BY_SERVER if place.startswith("answer") or place in {*own[self.kind.server]} - left]

    def control(self, tape: pathlib.Path) -> str:
        """Without redaction everything is found, by the search and by `scan`; else the search proves nothing."""
        net = Net()
        for place, secret in self.planted():
            net.add(f"{place}: {secret.name}", secret.atoms)
        wanted = {f"{place}: {secret.name}" for place, secret in self.planted()}
        if missing := wanted - net.find(tape.read_bytes()):
            raise Failed(f"{len(missing)} were not planted, or the search is blind to them: {sorted(missing)[:6]}")
        found = [json.loads(line) for line in self.command(
            "scan", "scan", "--json", *REDACT, tape, code=3, folder=self.raw).splitlines() if line.startswith("{")]  # fmt: skip
        told: dict[int, set[str]] = {}
        for finding in found:
            told.setdefault(finding["line"], set()).add(finding["shown"])
        unseen = set(wanted)
        for number, line in enumerate(lines(tape), 1):
            if number in told:
                for label in net.find(line) & unseen:
                    place, _, name = label.partition(": ")
                    secret = next(one for where, one in self.planted() if (where, one.name) == (place, name))
                    if masks(secret) & told[number]:
                        unseen.remove(label)
        if unseen:
            raise Failed(f"scan does not tell {len(unseen)} of {len(wanted)}: {sorted(unseen)[:6]}")
        return f"{len(wanted)} of {len(wanted)} planted and found by scan"

    def searched(self) -> str:
        """What Wiretape has said anywhere, without a part of any secret."""
        net = Net()
        for client in self.used:
            for place, secrets in client.places.items():
                for secret in secrets:
                    net.add(f"{place}: {secret.name} ({client.turn})", secret.atoms)
        for place, secrets in self.server.items():
            for secret in secrets:
                net.add(f"{place}: {secret.name} (server)", secret.atoms)
        net.add("the application's secret", [self.app_secret])
        net.add("a token of the control API", self.tokens)
        net.add("a signature", (self.folder / "signatures").read_text().split())
        files = [path for path in sorted(self.out.rglob("*")) if path.is_file()]
        leaks, size = [], 0
        for path in files:
            data = path.read_bytes()
            size += len(data)
            if found := sorted(net.find(data)):
                leaks.append(f"{path.relative_to(self.out)} has {len(found)}: {'; '.join(found[:8])}")
        if leaks:
            raise Failed("leaks:\n      " + "\n      ".join(leaks))
        return f"none of their bytes in {len(files)} files and {size >> 10} KiB"

    def run(self) -> str:
        began = time.monotonic()
        with self.servers() as urls:
            client = self.client("live")
            live = self.blind(self.play(client, urls), client)
            if sum(map(len, live.values())) < 9:
                raise Failed(f"only {live}: the client did not run")
            raw = self.recorded(urls, "raw", live, "--redact", "off", watched=False)
            plain = self.recorded(urls, "plain", live, *REDACT, watched=False)
            watched = self.recorded(urls, "watched", live, *REDACT, "--report", self.out / "watched.html", watched=True)
            slow = ["--report", self.out / "ruled.xml", "--fault", SLOW_TO_SERVER]
            ruled = self.recorded(urls, "ruled", live, *REDACT, *slow, watched=True)
        told: list[str] = []
        problems: list[str] = []

        def step(action: Callable[..., Any], *arguments: Any) -> None:
            try:
                told.append(str(action(*arguments) or ""))
            except Failed as failure:
                text = str(failure)
                problems.append(text if text.startswith("leaks") or not problems else text.splitlines()[0])

        step(self.control, raw)
        if self.kind.deflated and b"permessage-deflate" not in b"".join(lines(raw)):
            problems.append("its messages do not come compressed")
        rewritten = self.out / "rewritten.tape.gz"
        self.command("redact", "redact", raw, *REDACT, "-o", rewritten)
        for tape, name in ((plain, "plain"), (watched, "watched"), (ruled, "ruled"), (rewritten, "rewritten")):
            step(self.command, f"scan-{name}", "scan", *REDACT, tape)
        step(self.replayed, plain, "replay", "live", live)
        step(self.replayed, plain, "replay-renewed", "renewed", live)
        step(self.replayed, watched, "replay-ruled", "renewed", live, "--fault", SLOW_TO_CLIENT)
        step(self.replayed, ruled, "replay-instant", "renewed", live, "--speed", "instant")
        step(self.replayed, rewritten, "replay-rewritten", "live", live)
        step(self.replayed, plain, "replay-aside", "aside", None, "--patience", "1s")
        for name in ("table", "json", "sequence"):
            step(self.command, f"inspect-{name}", "inspect", watched, "--format", name)
        step(self.searched)
        if problems:
            raise Failed("; ".join(problems))
        return f"{told[0]}; {told[-1]}; {time.monotonic() - began:.0f} s"


def same(live: Observed, seen: Observed, name: str) -> None:
    """Each chain as it was live; the order between chains is free."""
    for chain in sorted(live.keys() | seen.keys()):
        mine, other = "\n".join(live.get(chain, [])), "\n".join(seen.get(chain, []))
        if mine != other:
            at = next((n for n, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]), min(len(mine), len(other)))
            around = slice(max(0, at - 80), at + 120)
            raise Failed(f"{name}: '{chain}' shows\n      {other[around]!r}\n      and live\n      {mine[around]!r}")


def masks(secret: kinds.Secret) -> set[str]:
    """How `scan` shows it, in any of its spellings."""
    texts = {text for proper in secret.proper for text in (proper, kinds.escaped(proper), f"sha256={proper}")}
    # Where all that stands in a place is a secret.
    texts |= {str(value) for value in secret.member().values()}
    return {f"{text[:4] if len(text.encode()) >= 20 else ''}… ({len(text.encode())} bytes)" for text in texts}
