"""Upstreams that are reached through somebody else's proxy (pproxy, HTTP and SOCKS 5, with a password): clients observe what they
did without it, over TLS (a way through the proxy), plain WebSockets, and plain requests (asked of the proxy). Without the password
nobody is reached, and the reason is told; the password stands in no log and on no tape."""

import contextlib
import importlib.util
import sys

from wiretape_tools.interop.cases import TALK
from wiretape_tools.interop.cells import compare
from wiretape_tools.interop.forward import certificate, clean
from wiretape_tools.interop.leading import TRUST, program
from wiretape_tools.lib.processes import Failed, Program, Skipped, Wiretape, free_port, wait_for_port
from wiretape_tools.lib.tapes import events

SECRET = "Zq7vT1mK9xW3"


@contextlib.contextmanager
def proxy(stage, kind):
    if importlib.util.find_spec("pproxy") is None:
        raise Skipped("there is no pproxy (PyPI)")
    port = free_port()
    command = [sys.executable, "-m", "pproxy", "-l", f"{kind}://127.0.0.1:{port}/#ann:{SECRET}", "-v"]
    log = stage.path(".log")
    with Program("pproxy", command, log, env=clean()) as one:
        wait_for_port(port, one)
        yield port, log


def case(kind):
    def play(stage):
        pem, key = certificate(stage)
        script = {t: stage.script(TALK, "aiosignalr", "aiosignalr", transport=t) for t in ("ws", "lp")}
        with stage.server(server="aiosignalr") as port, proxy(stage, kind) as (at, passed):
            secure = free_port()
            with program(stage, "leading_tls.py", secure, port, pem, key, ports=[secure]):
                # At first: pproxy remembers addresses that have logged in.
                refused(stage, kind, at, f"https://localhost:{secure}", script["ws"], pem)
                live = {t: stage.observe(f"http://127.0.0.1:{port}/hub", one, "aiosignalr") for t, one in script.items()}
                upstreams = [("http", f"http://localhost:{port}"), ("https", f"https://localhost:{secure}")]
                for name, upstream in upstreams:
                    tape = stage.tape()
                    arguments = ["record", "--upstream", upstream, "--upstream-ca", pem, "--output", tape]
                    arguments += ["--via", f"{kind}://ann:{SECRET}@127.0.0.1:{at}"]
                    with Wiretape(arguments, stage.path(".log")) as relay:
                        for transport, one in script.items():
                            seen = stage.observe(relay.url + "/hub", one, "aiosignalr")
                            compare(live[transport], seen, f"{name} through {kind} over {transport}")
                        if relay.stop() != 0:
                            raise Failed(f"record failed: {relay.said()}")
                        said = relay.said(100_000)
                    if SECRET in said or any(SECRET in str(event) for event in events(tape)[1]):
                        raise Failed("the proxy's password is told")
                if "localhost" not in passed.read_text(errors="replace"):
                    raise Failed(f"the proxy was not asked by name: {passed.read_text(errors='replace')[-500:]}")
        return "http and https, ws and lp, as without the proxy; refused without its password, which is told nowhere"

    return play


def refused(stage, kind, at, upstream, script, pem):
    arguments = ["proxy", "--upstream", upstream, "--upstream-ca", pem, "--via", f"{kind}://127.0.0.1:{at}"]
    with Wiretape(arguments, stage.path(".log")) as relay:
        try:
            stage.observe(relay.url + "/hub", script, "aiosignalr", dict.fromkeys(TRUST, str(pem)))
        except Failed:
            pass
        else:
            raise Failed("the proxy lets everybody through: its password is not asked for")
        relay.stop()
        if "cannot reach" not in relay.said(100_000) or f"the proxy {kind}://127.0.0.1:{at}" not in relay.said(100_000):
            raise Failed(f"nobody is told why: {relay.said()}")


CASES = {f"via: {kind}": ((), case(kind)) for kind in ("http", "socks5")}
