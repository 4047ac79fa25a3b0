"""Servers that send their clients to other servers. Each client observes the same directly, through `record`, and of the tape when
all servers are gone: an imitation of the Azure SignalR Service (two hosts with TLS, a token of the second one's), redirects to
another host and back, cookies of a domain over TLS only, checks of the page's origin, and servers that lead in circles."""

import contextlib
import sys

from wiretape_tools.interop.cases import TALK, WELCOME
from wiretape_tools.interop.cells import compare
from wiretape_tools.interop.forward import certificate, clean
from wiretape_tools.interop.peers import HERE
from wiretape_tools.interop.secure import authority
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port
from wiretape_tools.lib.tapes import events

TRUST = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@contextlib.contextmanager
def program(stage, name, *words, ports):
    with Program(name, [sys.executable, str(HERE / name), *map(str, words)], stage.path(".log"), env=clean()) as one:
        for port in ports:
            wait_for_port(port, one)
        yield


@contextlib.contextmanager
def azure(stage, pem, key):
    """The front and the service: (the front's port, the service's)."""
    front, service = free_port(), free_port()
    with stage.server("--redirect", f"https://127.0.0.1:{service}/hub", "--token", "t0p") as port:
        with program(stage, "leading_tls.py", front, port, pem, key, ports=[front]):
            with program(stage, "leading_tls.py", service, port, pem, key, ports=[service]):
                yield front, service


def recorded_hosts(tape, wanted):
    found = {event["upstream"] for event in events(tape)[1] if event["e"] == "open"}
    if found != set(wanted):
        raise Failed(f"the tape has the hosts {found} and not {set(wanted)}")


def service(client, transports):
    def play(stage):
        pem, key = certificate(stage)
        folder, trust = authority(stage)
        secure = ("--tls", "--ca-dir", folder)
        for transport in transports:
            script = stage.script([WELCOME, *TALK], client, "aspnetcore", transport=transport)
            plain, over = stage.tape(), stage.tape()
            with azure(stage, pem, key) as (front, other):
                live = stage.observe(f"https://127.0.0.1:{front}/front", script, client, dict.fromkeys(TRUST, str(pem)))
                for tape, options, more in ((plain, (), None), (over, secure, trust)):
                    arguments = ["record", "--upstream", f"https://127.0.0.1:{front}", "--upstream-ca", pem, "--output", tape]
                    with Wiretape([*arguments, *options], stage.path(".log")) as proxy:
                        seen = stage.observe(proxy.url + "/front", script, client, more)
                        compare(live, seen, f"record over {transport} {options}")
                        if proxy.stop() != 0:
                            raise Failed(f"record failed: {proxy.said()}")
                    recorded_hosts(tape, ["main", f"https://127.0.0.1:{other}"])
            # Both hosts are gone.
            for tape, options, more in ((plain, (), None), (plain, secure, trust), (over, secure, trust)):
                seen, _ = stage.replay(tape, script, *options, client=client, path="/front", trust=more)
                compare(live, seen, f"replay over {transport} {options}")
        return f"{', '.join(transports)}: recorded with its second host, replayed without both, plain and over TLS"

    return play


def leading_pair(stage, pem, key):
    app, login = free_port(), free_port()
    return app, program(stage, "leading_server.py", app, login, pem, key, ports=[app, login]), login


def told(proxy, text):
    if text not in proxy.said(100_000):
        raise Failed(f"nobody is told '{text}': {proxy.said()}")


def circles(stage):
    """@microsoft/signalr gives up after 100 negotiations, wherever they led."""
    pem, key = certificate(stage)
    tape = stage.tape()
    script = stage.script([WELCOME])
    app, hosts, _ = leading_pair(stage, pem, key)

    def error(url, **trust):
        command, environment = stage.peers.command("signalr-js", url + "/loop", script)
        code, out, err = run(command, env={**(environment or clean()), **trust})
        lines = [line for line in (out + err).splitlines() if "redirection limit" in line]
        if code == 0 or not lines:
            raise Failed(f"the client ended with {code}: {(out + err)[-500:]}")
        return lines[0]

    with hosts:
        live = error(f"https://127.0.0.1:{app}", **dict.fromkeys(TRUST, str(pem)))
        arguments = ["record", "--upstream", f"https://127.0.0.1:{app}", "--upstream-ca", pem, "--output", tape]
        with Wiretape(arguments, stage.path(".log")) as proxy:
            if (seen := error(proxy.url)) != live:
                raise Failed(f"recorded it said {seen} and not {live}")
            if proxy.stop() != 0:
                raise Failed(f"record failed: {proxy.said()}")
            told(proxy, "the servers lead their clients in circles")
    count = sum(event["e"] == "request" for event in events(tape)[1])
    with Wiretape(["replay", tape], stage.path(".log")) as proxy:
        if (seen := error(proxy.url)) != live:
            raise Failed(f"replayed it said {seen} and not {live}")
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    if count != 100:
        raise Failed(f"{count} negotiations are on the tape")
    return "the client gives up after 100 negotiations, recorded and replayed, and the recorder tells of the circle"


def redirects(stage):
    pem, key = certificate(stage)
    tape = stage.tape()
    app, hosts, login = leading_pair(stage, pem, key)
    place = ("--lead-back", "GET /config:/hub")

    def observed(title, url, **trust):
        code, out, err = run([sys.executable, HERE / "client_leading.py", url], env={**clean(), **trust})
        if code != 0:
            raise Failed(f"{title}: the client ended with {code}: {(out + err)[-800:]}")
        return out

    with hosts:
        live = observed("directly", f"https://127.0.0.1:{app}", **dict.fromkeys(TRUST, str(pem)))
        if "welcome" not in live or "loop" not in live:
            raise Failed(f"directly it saw\n{live}")
        arguments = ["record", "--upstream", f"https://127.0.0.1:{app}", "--upstream-ca", pem, "--output", tape, *place]
        with Wiretape(arguments, stage.path(".log")) as proxy:
            # Another name than the servers', so that a cookie of their domain would not come back.
            seen = observed("recorded", proxy.url.replace("127.0.0.1", "localhost"))
            if seen != live:
                raise Failed(f"recorded it saw\n{seen}      and not\n{live}")
            if proxy.stop() != 0:
                raise Failed(f"record failed: {proxy.said()}")
            told(proxy, "the servers lead their clients in circles")
    recorded_hosts(tape, ["main", f"https://127.0.0.1:{login}"])
    fields = [field for event in events(tape)[1] if event["e"] == "response" for field in event["headers"]]
    for name, part in (("Location", f"https://127.0.0.1:{login}/"), ("Set-Cookie", "Domain=127.0.0.1"), ("Alt-Svc", "h3")):
        if not any(field[0] == name and part in field[1] for field in fields):
            raise Failed(f"no {name} with {part} is on the tape: it was recorded as the client got it")
    with Wiretape(["replay", tape, *place], stage.path(".log")) as proxy:
        seen = observed("replayed", proxy.url.replace("127.0.0.1", "localhost"))
        if seen != live:
            raise Failed(f"replayed it saw\n{seen}      and not\n{live}")
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay ended with {code}: {proxy.said()}")
    return f"{len(live.splitlines())} lines the same directly, recorded, and replayed without the hosts"


CASES = {
    "azure: signalr-js": (("aspnetcore", "signalr-js"), service("signalr-js", ("ws", "sse", "lp"))),
    "azure: pysignalr": (("aspnetcore",), service("pysignalr", ("ws",))),
    "leading: circles": (("signalr-js",), circles),
    "leading: requests": ((), redirects),
}
