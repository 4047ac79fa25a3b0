"""Real clients that know nothing but the address of a listener with TLS: curl, Python's, node, a browser, Swift's URLSession.
Each sees the same of the server itself, recorded, and of the tape when the server is gone, over TLS and plain; without the
authority nothing."""

import os
import pathlib
import shutil
import sys
from collections.abc import Callable

from wiretape_tools.acceptance.tls.stage import WORK, Authority, make_certificate
from wiretape_tools.interop.forward import CLIENTS, clean
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib import chromium
from wiretape_tools.lib.processes import ROOT, Failed, Program, Skipped, Wiretape, binary, free_port, run, wait_for_port

TRUST = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "WIRETAPE_CA")
# The store of the system, which is the only one that URLSession on Linux looks at (its libcurl has no other): put over the real one
# for a single process.
STORE = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
OWN_STORE = ["unshare", "-m", "--propagation", "private", "sh", "-c", f'mount --bind "$0" {STORE} && exec "$@"']

# How a program that finds its proxy in the environment is made to use it.
WAYS: dict[str, list[str]] = {
    "CONNECT": [],
    "SOCKS": ["sh", "-c", 'export all_proxy="socks5h://${all_proxy#*//}"; unset https_proxy HTTPS_PROXY ALL_PROXY; exec "$@"', "sh"],
}

# What a client saw of the server at a URL, trusting that authority.
Seen = Callable[[str, pathlib.Path], str]


def python() -> str:
    """One that has the clients' packages."""
    own = ROOT / ".build/interop-venv/bin/python"
    if not own.exists():
        raise Skipped("the packages of tools/interop are not there; tools/interop --help sets them up")
    return str(own)


def asking(client: str, url: str, authority: pathlib.Path) -> tuple[list[object], dict[str, str]]:
    """The command of a client of tools/interop's forward cases, and its environment, in which no proxy is to be found."""
    paths = os.pathsep.join([str(ROOT / "tools"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**clean(), "PYTHONPATH": paths, **dict.fromkeys(TRUST, str(authority))}
    return [python(), HERE / "client_forward.py", client, url, url], environment


def forwarding(client: str) -> Seen:
    """What that client sees."""

    def seen(url: str, authority: pathlib.Path) -> str:
        words, environment = asking(client, url, authority)
        _, out, err = run(words, seconds=80, env=environment)
        return out or err

    return seen


def everywhere(name: str, seen: Seen, upstream: str, server_pem: pathlib.Path, authority: Authority, stop: Callable[[], object],
               isPlain: bool = True) -> str:  # fmt: skip
    """Live, recorded and refused; `stop` ends the server; then replayed."""
    tape = WORK / f"reverse-{name}.tape"

    def at(run: Wiretape) -> str:
        return f"{'https' if run.url.startswith('https') else 'http'}://localhost:{run.port}"

    live = seen(upstream, server_pem)
    if "rror" in live or len(live) < 60:
        raise Failed(f"{name}: directly it saw\n{live}")

    def same(got: str, what: str, run: Wiretape) -> None:
        if got != live:
            raise Failed(f"{name}, {what}: it saw\n{got}and not\n{live}{run.said(600)}")

    words = ["record", *authority.options, "--upstream", upstream, "--upstream-ca", server_pem, "--output", tape, "--force"]
    with Wiretape(words, WORK / "reverse.log") as recorder:
        same(seen(at(recorder), authority.pem), "recorded", recorder)
        if (code := recorder.stop()) != 0:
            raise Failed(f"{name}: record ended with {code}: {recorder.said()}")
    with Wiretape([*words[:-3], "--output", WORK / "stranger.tape", "--force"], WORK / "reverse.log") as recorder:
        if common := set(seen(at(recorder), server_pem).splitlines()) & set(live.splitlines()):
            raise Failed(f"{name} connects although it does not trust the certificate: {sorted(common)[:3]}")
    stop()
    ways = [("over TLS", list(authority.options), authority.pem)] + ([("plain", [], authority.pem)] if isPlain else [])
    for what, options, pem in ways:
        with Wiretape(["replay", tape, *options], WORK / "reverse.log") as player:
            same(seen(at(player), pem), f"replayed {what}", player)
            if (code := player.stop()) != 0:
                raise Failed(f"{name}: replay {what} ended with {code}: {player.said()}")
    return f"{name} {len(live.replace(' | ', chr(10)).splitlines())}"


def check(client: str) -> None:
    """Skipped where that client is not here."""
    if client == "chromium":
        chromium.check()
    if client in ("curl", "node") and shutil.which(client) is None:
        raise Skipped(f"there is no {client}")


def compiled(folder: pathlib.Path) -> pathlib.Path:
    """The client on Swift's URLSession."""
    for need in ("swiftc", "unshare", "mount"):
        if shutil.which(need) is None:
            raise Skipped(f"there is no {need}")
    if run(["unshare", "-m", "true"])[0] != 0 or not STORE.is_file():
        raise Skipped(f"a process cannot have a store of its own in place of {STORE} here")
    program = folder / "client_urlsession"
    code, out, err = run(["swiftc", "-O", HERE / "client_urlsession.swift", "-o", program], seconds=300)
    if code != 0:
        raise Failed(f"swiftc ended with {code}: {(out + err)[-800:]}")
    return program


def urlsession(server_pem: pathlib.Path, key: pathlib.Path, authority: Authority) -> str:
    """The program is compiled here; its server is aiosignalr's hub behind TLS. In reverse mode, by CONNECT, and by SOCKS 5."""
    program = compiled(WORK)

    def words(url: str, pem: pathlib.Path) -> list[object]:
        return [*OWN_STORE, pem, program, url + "/hub"]

    def seen(url: str, pem: pathlib.Path) -> str:
        _, out, err = run(words(url, pem), seconds=60, env=clean())
        return out + err

    plain, secure = free_port(), free_port()
    with Program("hub", [python(), HERE / "aiosignalr_hub.py", str(plain)], WORK / "hub.log") as hub:
        wait_for_port(plain, hub)
        front = [sys.executable, HERE / "leading_tls.py", str(secure), str(plain), server_pem, key]
        with Program("front", [str(word) for word in front], WORK / "front.log") as program_of_front:
            wait_for_port(secure, program_of_front)
            url = f"https://localhost:{secure}"
            live = seen(url, server_pem)
            if not live.endswith("done\n"):
                raise Failed(f"URLSession: directly it saw\n{live}")
            forward = ["--mode", "forward", "--ca-dir", authority.folder]
            for way, prefix in WAYS.items():
                record = [binary(), "record", *forward, "--upstream-ca", server_pem, "--output", WORK / f"{way}.tape", "--force"]
                code, out, err = run([*record, "--", *prefix, *words(url, authority.pem)], seconds=60, env=clean())
                if code != 0 or out != live:
                    raise Failed(f"URLSession by {way}, recorded: {code}\n{out}and not\n{live}{err[-400:]}")
            told = everywhere("URLSession", seen, url, server_pem, authority, program_of_front.kill)
        for way, prefix in WAYS.items():
            replay = [binary(), "replay", *forward, WORK / f"{way}.tape"]
            code, out, err = run([*replay, "--", *prefix, *words(url, authority.pem)], seconds=60, env=clean())
            if code != 0 or out != live:
                raise Failed(f"URLSession by {way}, replayed: {code}\n{out}and not\n{live}{err[-400:]}")
    return told + f" (and by {' and '.join(WAYS)})"


def reverse(_: object) -> str:
    pem, key, _both = make_certificate("reverse")
    authority = Authority()
    told, absent = [], []
    for client in CLIENTS:
        try:
            check(client)
            plain, secure = free_port(), free_port()
            server = [python(), HERE / "forward_server.py", plain, secure, pem, key]
            with Program("hosts", [str(word) for word in server], WORK / "hosts.log", env=clean()) as program:
                wait_for_port(secure, program)
                told.append(everywhere(client, forwarding(client), f"https://localhost:{secure}", pem, authority, program.kill,
                                       isPlain=client != "h2-first"))  # fmt: skip
        except Skipped as skipped:
            absent.append(f"{client} ({skipped})")
    try:
        told.append(urlsession(pem, key, authority))
    except Skipped as skipped:
        absent.append(f"URLSession ({skipped})")
    if not told:
        raise Skipped("; ".join(absent))
    left = f"; NOT LOOKED AT: {', '.join(absent)}" if absent else ""
    return f"lines the same directly, recorded, replayed over TLS and plain, refused without the authority: {', '.join(told)}{left}"
