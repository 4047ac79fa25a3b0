"""Real clients over TLS: recorded and replayed through listeners with certificates of an authority of the case's own, which
they trust by the variables that their runtimes share; each observes what it did live over plain HTTP. A tape that was recorded
over TLS serves both."""

from wiretape_tools.interop.cases import TALK
from wiretape_tools.interop.cells import compare
from wiretape_tools.lib.processes import Failed, Wiretape, binary, run

TRUST = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")


def authority(stage):
    """A folder with an authority, and the variables of those who trust it."""
    folder = stage.path(".ca")
    code, _, err = run([binary(), "ca", "init", "--force", "--ca-dir", folder])
    if code != 0:
        raise Failed(f"wiretape ca init ended with {code}: {err}")
    return folder, {name: str(folder / "ca.pem") for name in TRUST}


def refused(stage, url, script, client):
    """Without the authority nobody connects."""
    try:
        stage.observe(url, script, client)
    except Failed:
        return
    raise Failed(f"{client} connects although it does not trust the certificate")


def case(client, server, transports):
    def play(stage):
        folder, trust = authority(stage)
        secure = ("--tls", "--ca-dir", folder)
        for transport in transports:
            script = stage.script(TALK, client, server, transport=transport)
            tape = stage.tape()
            with stage.server(server=server) as port:
                live = stage.observe(f"http://127.0.0.1:{port}/hub", script, client)
                with stage.record(port, tape, *secure) as proxy:
                    if not proxy.url.startswith("https://"):
                        raise Failed(f"--tls listens on {proxy.url}")
                    compare(live, stage.observe(proxy.url + "/hub", script, client, trust), f"record over {transport}")
            # The server is gone.
            seen, _ = stage.replay(tape, script, *secure, client=client, trust=trust)
            compare(live, seen, f"replay over TLS and {transport}")
            seen, _ = stage.replay(tape, script, client=client)
            compare(live, seen, f"plain replay over {transport}")
        with Wiretape(["replay", tape, *secure], stage.path(".log")) as proxy:
            refused(stage, proxy.url + "/hub", script, client)
        return f"{', '.join(transports)}: recorded over TLS, replayed over TLS and plain, as live; refused without the authority"

    return play


CASES = {
    "tls: signalr-js": (("aspnetcore", "signalr-js"), case("signalr-js", "aspnetcore", ("ws", "sse", "lp"))),
    "tls: pysignalr": ((), case("pysignalr", "aiosignalr", ("ws",))),
    "tls: aiosignalr": ((), case("aiosignalr", "aiosignalr", ("ws", "sse", "lp"))),
}
