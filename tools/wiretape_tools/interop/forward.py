"""Real HTTP clients that know nothing but a proxy: they find it, and whom to trust, in the variables that a command behind
`record --mode forward` gets. Each asks a plain host and one with TLS, and sees the same directly, through the proxy, and of the
tape when both hosts are gone: by the proxy of those variables, and by SOCKS 5."""

import os
import re
import shutil
import sys

from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib.processes import Failed, Program, Skipped, binary, free_port, run, wait_for_port
from wiretape_tools.lib.tapes import events

CLIENTS = ("curl", "requests", "httpx", "aiohttp", "websockets", "h2-first", "node", "chromium")
# Those that ask the host with TLS only.
ONE_HOST = ("h2-first", "chromium")
NEEDS = {"curl": ["curl"], "node": ["node"], "chromium": ["chromium", "certutil"]}
PROXIES = re.compile("(?i)(.*_proxy|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS)$")


def certificate(stage):
    """A certificate for localhost that nobody but who is told trusts, and its key."""
    pem, key = stage.path(".crt"), stage.path(".key")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", pem, "-days", "2"]
    code, _, err = run([*command, "-subj", "/CN=localhost", "-addext", names])
    if code != 0:
        raise Failed(f"openssl ended with {code}: {err}")
    return pem, key


def clean():
    return {name: value for name, value in os.environ.items() if not PROXIES.match(name)}


def case(client, way):
    def play(stage):
        for need in NEEDS.get(client, []):
            if shutil.which(need) is None:
                raise Skipped(f"there is no {need}" + (" (Debian: chromium, libnss3-tools)" if client == "chromium" else ""))
        pem, key = certificate(stage)
        plain, secure = free_port(), free_port()
        command = [sys.executable, HERE / "client_forward.py", client + way, f"http://127.0.0.1:{plain}", f"https://localhost:{secure}"]
        server = [sys.executable, HERE / "forward_server.py", plain, secure, pem, key]
        tape, authority = stage.tape(), stage.path(".ca")
        forward = ["--mode", "forward", "--ca-dir", authority]
        trust = {name: str(pem) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")}

        def observed(title, *words, **more):
            code, out, err = run([*words, *command], env={**clean(), **more})
            if code != 0 or "rror" in out:
                raise Failed(f"{title}: {client} ended with {code}: {(out + err)[-600:]}")
            return out

        with Program("hosts", [str(word) for word in server], stage.path(".log"), env=clean()) as program:
            wait_for_port(plain, program)
            wait_for_port(secure, program)
            live = observed("directly", **trust)
            record = [binary(), "record", *forward, "--output", tape, "--force", "--upstream-ca", pem, "--"]
            if (seen := observed("recorded", *record)) != live:
                raise Failed(f"recorded it saw\n{seen}      and not\n{live}")
            # Who does not trust the authority, connects to nobody.
            strange = ["env", "-u", "WIRETAPE_CA", *(f"{name}={value}" for name, value in trust.items())]
            code, out, _ = run([binary(), "proxy", *forward, "--upstream-ca", pem, "--", *strange, *command], env=clean())
            if code == 0 and "rror" not in out and client != "curl":
                raise Failed("it connects although it does not trust the certificate")
        hosts = {event["upstream"] for event in events(tape)[1] if event["e"] == "open"}
        both = {f"127.0.0.1:{plain}", f"localhost:{secure}"}
        if hosts != (both if client not in ONE_HOST else {f"localhost:{secure}"}):
            raise Failed(f"the tape has the hosts {hosts}")
        if (seen := observed("replayed", binary(), "replay", *forward, tape, "--")) != live:
            raise Failed(f"replayed it saw\n{seen}      and not\n{live}")
        return f"{len(live.splitlines())} lines the same directly, recorded, and replayed without the hosts"

    return play


CASES = {f"forward: {client}{way}": ((), case(client, way)) for client in CLIENTS for way in ("", "-socks")}
