"""The .NET 11 client renews its token on a living connection to ASP.NET Core 11, and the hub pushes a message because of that."""

import json
import subprocess

from wiretape_tools.interop.cases import ECHO, WELCOME
from wiretape_tools.interop.cells import compare
from wiretape_tools.interop.peers import KEEPALIVE, TRANSPORTS
from wiretape_tools.lib.processes import Failed, Wiretape, binary

CLIENT = "signalr-dotnet"
REFRESH = {"do": "refresh", "chain": "refresh"}
REFRESHED = {"do": "wait", "callback": "Refreshed"}
SPEEDS = ["1", "3", "instant"]


def script(stage, transport, steps, port, how="manual"):
    """What the client does with tokens of the server. They last for a minute."""
    tokens = f"http://127.0.0.1:{port}/token?user=ann&seconds=60"
    path = stage.script(
        [WELCOME, ECHO, *steps], CLIENT, "aspnet11", transport=transport, tokens=tokens, refresh=how)  # fmt: skip
    whole = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**whole, "callbacks": ["Welcome", "Refreshed"]}), encoding="utf-8")
    return path


def replay(stage, tape, path, *options):
    """What the client observes, the report, and the renewals and pushes in the order of the run's own tape."""
    folder = stage.path(".run")
    with Wiretape(["replay", tape, "--report", f"{folder}/", "--keepalive", f"{KEEPALIVE}s", *options], stage.path(".log")) as proxy:
        seen = stage.observe(proxy.url + "/secure", path, CLIENT)
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay {' '.join(options)} ended with {code}: {proxy.said()}")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (run,) = folder.glob("actual.tape*")
    lines = subprocess.run([binary(), "inspect", run], check=True, capture_output=True, text=True).stdout.splitlines()
    order = [word for line in lines for word in ("POST /secure/refresh", "Invocation Refreshed") if word in line]
    return seen, report, order


def stable(seen):
    """Removes values that differ between runs: the token's id and its remaining seconds."""
    return {chain: len(lines) if chain in ("Refreshed", "refresh", "token") else lines for chain, lines in seen.items()}


def case(transport):
    def play(stage):
        tape = stage.tape()
        with stage.server(server="aspnet11") as port:
            once = script(stage, transport, [{"do": "pause", "ms": 700}, REFRESH, REFRESHED], port)
            live = stage.observe(f"http://127.0.0.1:{port}/secure", once, CLIENT)
            with stage.record(port, tape) as proxy:
                same(live, stage.observe(proxy.url + "/secure", once, CLIENT), "record")
            digests = set()
            for speed in SPEEDS:
                seen, report, order = replay(stage, tape, once, "--speed", speed)
                same(live, seen, f"replay at speed {speed}")
                if order != ["POST /secure/refresh", "Invocation Refreshed"]:
                    raise Failed(f"at speed {speed} the order is {order}")
                digests.add(report["digest"])
            if len(digests) != 1:
                raise Failed(f"the digests at the speeds {SPEEDS} differ: {digests}")
            for count in (0, 3):
                check_count(stage, tape, script(stage, transport, [REFRESH] * count, port), count)
            check_timer(stage, tape, script(stage, transport, [{"do": "wait", "event": "refreshed"}], port, "automatic"))
        speeds = ", ".join(SPEEDS)
        return f"one renewal is as live at speeds {speeds}, with one digest; none and three pass, and one by the client's timer"

    return play


def same(live, seen, name):
    compare({chain: [str(lines)] for chain, lines in stable(live).items()},
            {chain: [str(lines)] for chain, lines in stable(seen).items()}, name)  # fmt: skip


def check_count(stage, tape, path, count):
    """The tape has one renewal. The client makes none, or three."""
    seen, _, _ = replay(stage, tape, path)
    lifetimes = [json.loads(line).get("value") for line in seen.get("refresh", [])]
    if len(lifetimes) != count or not all(lifetimes):
        raise Failed(f"{count} renewals gave the lifetimes {lifetimes}")


def check_timer(stage, tape, path):
    """A rule shortens the lifetime: the client's own timer fires, at half of it."""
    rule = ["--fault", "lifetime(2s) on negotiate", "--expect", "refreshes(before-expiry)"]
    seen, _, _ = replay(stage, tape, path, *rule)
    events = [json.loads(line) for line in seen.get("token", [])]
    if not events or events[0]["event"] != "refreshed" or events[0]["lifetime"] != 2:
        raise Failed(f"with a lifetime of two seconds the client observes {events}")


CASES = {f"refresh: {transport}": (["aspnet11", CLIENT], case(transport)) for transport in TRANSPORTS}
