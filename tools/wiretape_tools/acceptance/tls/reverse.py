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

# What a client saw of the server at a URL, trusting that authority.
Seen = Callable[[str, pathlib.Path], str]


def python() -> str:
    """One that has the clients' packages."""
    own = ROOT / ".build/interop-venv/bin/python"
    if not own.exists():
        raise Skipped("the packages of tools/interop are not there; tools/interop --help sets them up")
    return str(own)


def forwarding(client: str) -> Seen:
    """A client of tools/interop's forward cases, with no proxy to be found."""

    def seen(url: str, authority: pathlib.Path) -> str:
        words = [python(), HERE / "client_forward.py", client, url, url]
        paths = os.pathsep.join([str(ROOT / "tools"), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**clean(), "PYTHONPATH": paths, **dict.fromkeys(TRUST, str(authority))}
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


def urlsession(server_pem: pathlib.Path, key: pathlib.Path, authority: Authority) -> str:
    """The program is compiled here; its server is aiosignalr's hub behind TLS. In reverse mode, and by CONNECT."""
    for need in ("swiftc", "unshare", "mount"):
        if shutil.which(need) is None:
            raise Skipped(f"there is no {need}")
    if run(["unshare", "-m", "true"])[0] != 0 or not STORE.is_file():
        raise Skipped(f"a process cannot have a store of its own in place of {STORE} here")
    program = WORK / "client_urlsession"
    code, out, err = run(["swiftc", "-O", HERE / "client_urlsession.swift", "-o", program], seconds=300)
    if code != 0:
        raise Failed(f"swiftc ended with {code}: {(out + err)[-800:]}")

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
            tape = WORK / "urlsession-forward.tape"
            record = [binary(), "record", *forward, "--upstream-ca", server_pem, "--output", tape, "--force", "--"]
            code, out, err = run([*record, *words(url, authority.pem)], seconds=60, env=clean())
            if code != 0 or out != live:
                raise Failed(f"URLSession by CONNECT, recorded: {code}\n{out}and not\n{live}{err[-400:]}")
            told = everywhere("URLSession", seen, url, server_pem, authority, program_of_front.kill)
        code, out, err = run([binary(), "replay", *forward, tape, "--", *words(url, authority.pem)], seconds=60, env=clean())
        if code != 0 or out != live:
            raise Failed(f"URLSession by CONNECT, replayed: {code}\n{out}and not\n{live}{err[-400:]}")
    return told + " (and by CONNECT)"


def reverse(_: object) -> str:
    pem, key, _both = make_certificate("reverse")
    authority = Authority()
    told, absent = [], []
    for client in CLIENTS:
        if client == "socks":
            continue
        try:
            if client == "chromium":
                chromium.check()
            if client in ("curl", "node") and shutil.which(client) is None:
                raise Skipped(f"there is no {client}")
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
