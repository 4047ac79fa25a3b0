"""Versions, certificates, protocols, faults and clients' certificates: what one handshake comes to."""

import json
import re
import socket
import ssl
import time

from wiretape_tools.acceptance.tls.stage import WORK, Authority, Origin, Shaken, make_certificate, proxy, trusting
from wiretape_tools.lib.exchange import Exchange
from wiretape_tools.lib.processes import Failed, Wiretape, binary, run
from wiretape_tools.lib.tapes import events


def older(version):
    def change(context):
        context.minimum_version = context.maximum_version = version
        context.set_ciphers("ALL:@SECLEVEL=0")

    return change


def versions(_):
    """1.2 and 1.3 are spoken, older ones refused with the alert that says it."""
    authority = Authority()
    with Origin() as origin, proxy(origin, authority) as run:
        told = []
        for version, wanted in [("TLSv1", None), ("TLSv1_1", None), ("TLSv1_2", "TLSv1.2"), ("TLSv1_3", "TLSv1.3")]:
            with Shaken(run.port, trusting(authority.pem, older(ssl.TLSVersion[version]))) as client:
                got = client.stream.version() if client.stream else client.error
                if wanted and got != wanted or not wanted and "alert protocol version" not in got:
                    raise Failed(f"{version}: {got}")
                told.append(f"{version} {'spoken' if wanted else 'refused'}")
        if run.said(20000).count("unsupported protocol") != 2:
            raise Failed(f"standard error has not both refusals: {run.said()}")
    return ", ".join(told)


def chain(port, name):
    """The certificates that openssl sees, as PEM."""
    words = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-showcerts", "-servername", name]
    _, out, err = run(words)
    found = re.findall("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n", out, re.S)
    if not found:
        raise Failed(f"openssl s_client saw no certificate: {err[-400:]}")
    return found


def leaves(_):
    """For the name that is asked for, valid as OpenSSL's strictest check has it, and for a server's signatures only."""
    authority = Authority()
    with Origin() as origin, proxy(origin, authority) as server:
        for name in ("chat.example.com", "xn--bcher-kva.example", "a.b.c.example.org", "localhost"):
            leaf = WORK / "leaf.pem"
            leaf.write_text(chain(server.port, name)[0])
            words = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", name]
            code, out, err = run([*words, "-CAfile", authority.pem, leaf])
            if code != 0:
                raise Failed(f"{name}: openssl verify says {out} {err}")
            _, text, _ = run(["openssl", "x509", "-in", leaf, "-noout", "-ext",
                              "keyUsage,extendedKeyUsage,basicConstraints,subjectAltName,authorityKeyIdentifier"])  # fmt: skip
            for wanted in ("Key Usage: critical\n    Digital Signature\n", "TLS Web Server Authentication", f"DNS:{name}",
                           "Basic Constraints: critical\n    CA:FALSE", "Authority Key Identifier"):  # fmt: skip
                if wanted not in text:
                    raise Failed(f"{name}: {wanted!r} is not in\n{text}")
        code, text, _ = run(["openssl", "x509", "-in", authority.pem, "-noout", "-ext", "keyUsage,basicConstraints"])
        for wanted in ("Key Usage: critical\n    Certificate Sign, CRL Sign", "Basic Constraints: critical\n    CA:TRUE"):
            if wanted not in text:
                raise Failed(f"the authority: {wanted!r} is not in\n{text}")
        with Shaken(server.port, trusting(authority.pem), "127.0.0.1") as client:
            if client.error:
                raise Failed(f"by its address: {client.error}")
    return "four names and an address, valid by openssl verify -x509_strict, key usage as a server's"


def names(options):
    """So many names, and a bounded memory: the first names are made anew when they come again."""
    authority = Authority()
    context = trusting(authority.pem)
    context.check_hostname = False
    with Origin() as origin, proxy(origin, authority) as server:

        def shake(number):
            with Shaken(server.port, context, f"host-{number}.example.com") as client:
                if client.error:
                    raise Failed(f"name {number}: {client.error}")
                return client.stream.getpeercert(True)

        first = shake(0)
        if shake(0) != first:
            raise Failed("the same name gets another certificate within the cache")
        sizes = []
        started = time.monotonic()
        for number in range(1, options.names + 1):
            shake(number)
            if number in (options.names // 4, options.names):
                sizes.append(server.rss())
        took = time.monotonic() - started
    text = (
        f"{options.names} names in {took:.0f} s: RSS {sizes[0] / 1024:.1f} MiB after a quarter, {sizes[1] / 1024:.1f} at the end"
    )
    if sizes[1] - sizes[0] > 12 << 10:
        raise Failed(text + ": more than 12 MiB apart")
    return text


def protocols(_):
    """Who insists on HTTP/2, and who speaks plain where TLS is spoken and the other way round, is told; so are people and the tape."""
    authority = Authority()
    tape = WORK / "protocols.tape"
    told = {}
    with Origin() as origin:
        with proxy(origin, authority, "--output", tape, "--force", kind="record") as server:
            with Shaken(server.port, trusting(authority.pem, lambda c: c.set_alpn_protocols(["h2"]))) as client:
                told["h2"] = client.error or "taken"
            # .NET, Go and browsers offer both.
            with Shaken(server.port, trusting(authority.pem, lambda c: c.set_alpn_protocols(["h2", "http/1.1"]))) as client:
                told["h2 first"] = f"{client.stream.selected_alpn_protocol()} {client.get()}" if client.stream else client.error
            told["plain"] = Exchange(server.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").read().got.decode()
            server.stop()
            said = server.said(20000)
        lines = json.dumps(events(tape)[1])
        plain = Wiretape(["record", "--upstream", origin.url, "--output", tape, "--force"], WORK / "plain.log")
        with plain as server:
            preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
            told["h2c"] = Exchange(server.port, preface).read().got.decode(errors="replace")
            with Shaken(server.port, trusting(authority.pem)) as client:
                told["tls"] = client.error or "taken"
            with socket.create_connection(("127.0.0.1", server.port)) as good:
                good.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                told["good"] = good.recv(4096).decode()
            server.stop()
            said += server.said(20000)
        lines += json.dumps(events(tape)[1])
    for key, wanted in [("h2", "no application protocol"), ("h2 first", "http/1.1 GET / HTTP/1.1"), ("plain", "use https:// or wss://"),
                        ("h2c", "HTTP/2.0 is not spoken here"), ("tls", "wrong version number"), ("good", "200 OK")]:  # fmt: skip
        if wanted not in told[key]:
            raise Failed(f"{key}: {wanted!r} is not in {told[key]!r}")
    for wanted in ("insists on a protocol other than http/1.1, such as h2", "the client speaks plain HTTP; it has to use https://",
                   "HTTP/2.0 is not spoken here", "a client speaks TLS to a port that speaks plain HTTP"):  # fmt: skip
        if wanted not in said:
            raise Failed(f"{wanted!r} is not on standard error: {said}")
    for wanted in ("insists on a protocol other than http/1.1", "the client speaks plain HTTP", "HTTP/2.0 is not spoken here",
                   "TLS where plain HTTP is spoken"):  # fmt: skip
        if wanted not in lines:
            raise Failed(f"{wanted!r} is not on the tape")
    told_to = "told to the client, on standard error and on the tape"
    return f"h2-only, h2c, plain on TLS and TLS on plain: {told_to}; h2 before http/1.1 is served"


# What the second client sees: Python's words, curl's, and those of openssl s_client.
FAULTS = [
    ("certificate(expired)", "certificate has expired", "certificate has expired", "certificate has expired"),
    ("certificate(not-yet-valid)", "certificate is not yet valid", "certificate is not yet valid", "certificate is not yet valid"),
    ("certificate(wrong-name)", "hostname mismatch", "no alternative certificate subject name", "hostname mismatch"),
    ("certificate(unknown-ca)", "unable to get local issuer certificate", "unable to get local issuer", "unable to get local issuer"),
    ("certificate(self-signed)", "self-signed certificate", "self-signed certificate", "self-signed certificate"),
    ("alert", "alert handshake failure", "alert handshake failure", "alert handshake failure"),
    ("alert(protocol-version)", "alert protocol version", "alert protocol version", "alert protocol version"),
    ("alert(internal-error)", "alert internal error", "alert internal error", "alert internal error"),
    ("reset", "connection reset by peer", "Connection reset by peer", "errno=104"),
    ("disconnect", "eof occurred in violation of protocol", "SSL_ERROR_SYSCALL", "unexpected eof while reading"),
]


def seen_by(kind, port, authority, forward):
    """What one client comes to."""
    if kind == "python":
        context = trusting(authority.pem)
        if not forward:
            with Shaken(port, context) as client:
                return client.error or "200 " + client.get()
        with socket.create_connection(("127.0.0.1", port), 10) as plain:
            plain.sendall(b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n")
            plain.recv(4096)
            try:
                with context.wrap_socket(plain, server_hostname="localhost") as stream:
                    return f"200 {stream.version()}"
            except OSError as error:
                return str(error).replace("_", " ").lower()
    if kind == "curl":
        way = ["-x", f"socks5h://127.0.0.1:{port}", "https://localhost:1/"] if forward else [f"https://localhost:{port}/"]
        _, out, err = run(["curl", "-sS", "-m", "20", "--cacert", authority.pem, "-w", "%{http_code}", *way])
        return f"{out} {err}"
    way = ["-proxy", f"127.0.0.1:{port}", "-connect", "localhost:1"] if forward else ["-connect", f"127.0.0.1:{port}"]
    _, out, err = run(["openssl", "s_client", *way, "-servername", "localhost", "-verify_hostname", "localhost", "-CAfile",
                       authority.pem, "-verify_return_error", "-brief"])  # fmt: skip
    return f"200 {err}" if "CONNECTION ESTABLISHED" in err else f"{out} {err}"


def ruled(words, log):
    """One run with a rule about the second handshake, and what three clients of a kind saw of it."""
    authority = Authority()
    forward = "forward" in words
    for fault, *wanted in FAULTS:
        for kind, text in zip(("python", "curl", "openssl"), wanted, strict=True):
            report = WORK / "report.json"
            options = ["--ca-dir", authority.folder, "--fault", f"{fault} on tls[2]", "--report", report]
            with Wiretape([*words, *options], WORK / log) as server:
                saw = [seen_by(kind, server.port, authority, forward) for _ in range(3)]
                server.stop()
            told = json.loads(report.read_text())
            isWell = [text in saw[1], all("200" in one or forward and "502" in one for one in (saw[0], saw[2]))]
            if not all(isWell):
                raise Failed(f"{fault}, {kind}, {words[0]}: the clients saw {saw}")
            if [one["rule"] for one in told["faults"]] != [f"{fault} on tls[2]"] or told["unfired"]:
                raise Failed(f"{fault}, {kind}, {words[0]}: the report has {told['faults']} and {told['unfired']}")
            if "by rule" not in server.said(20000):
                raise Failed(f"{fault}, {kind}: standard error does not name the rule: {server.said()}")
    return len(FAULTS) * 3


def faults(_):
    """Each fault of a handshake, as Python, curl and openssl see it: record, replay, and within CONNECT and SOCKS 5."""
    tape = WORK / "faults.tape"
    count = 0
    with Origin() as origin:
        other = WORK / "faults-live.tape"
        count += ruled(["record", "--tls", "--upstream", origin.url, "--output", other, "--force"], "faults.log")
        authority = Authority()
        with proxy(origin, authority, "--output", tape, "--force", kind="record") as server:
            with Shaken(server.port, trusting(authority.pem)) as client:
                client.get()
            server.stop()
    count += ruled(["replay", "--tls", tape, "--allow-unplayed", "--when-exhausted", "repeat"], "faults.log")
    count += ruled(["proxy", "--mode", "forward"], "faults.log")
    # Slow, and in time.
    with Wiretape(["proxy", "--upstream", "http://127.0.0.1:1", *authority.options, "--fault", "delay(1500ms) on tls[1]"],
                  WORK / "faults.log") as server:  # fmt: skip
        times = []
        for _ in range(2):
            started = time.monotonic()
            with Shaken(server.port, trusting(authority.pem)) as client:
                times.append(time.monotonic() - started)
                if client.error:
                    raise Failed(f"a slow handshake failed: {client.error}")
        if times[0] < 1.5 or times[1] > 1:
            raise Failed(f"the handshakes took {times[0]:.2f} and {times[1]:.2f} s, and the first one is to take 1.5")
    # Nothing to carry out, and a rule that never comes.
    code, _, err = run([binary(), "proxy", "--upstream", "http://127.0.0.1:1", "--fault", "alert on tls"])
    if code != 64 or "no listener speaks TLS" not in err:
        raise Failed(f"without TLS a rule about it ends with {code}: {err}")
    with Wiretape(["proxy", "--upstream", "http://127.0.0.1:1", *authority.options, "--fault", "alert on tls[9]"],
                  WORK / "faults.log") as server:  # fmt: skip
        if (code := server.stop()) != 5:
            raise Failed(f"a rule that never fires ends with {code}")
    return f"{count} clients saw the alert or the certificate's error, and no other; slow, refused and unfired rules as documented"


def clients(_):
    """Certificates of clients, on both legs."""
    authority = Authority()
    issuer, _, _ = make_certificate("issuer", "/CN=issuer", extra=["-addext", "basicConstraints=critical,CA:TRUE"])
    _, _, device = make_certificate("device", "/O=Example/CN=device-17/emailAddress=ada@example.com", issuer=issuer)
    _, _, other = make_certificate("other", "/CN=other")
    server_pem, _, server_both = make_certificate("server")
    tape = WORK / "clients.tape"

    def get(port, files=None):
        context = trusting(authority.pem)
        if files:
            context.load_cert_chain(files)
        with Shaken(port, context) as client:
            return client.error or client.get()

    with Origin(server_both, clients=issuer) as origin:
        for how, bare in [("required", "certificate required"), ("optional", "GET / HTTP/1.1")]:
            with proxy(origin, authority, "--client-ca", issuer, "--client-auth", how, "--upstream-ca", server_pem, "--upstream-cert",
                       device, "--output", tape, "--force", kind="record") as server:  # fmt: skip
                for files, wanted in [(device, "GET / HTTP/1.1 organizationName=Example commonName=device-17"), (None, bare),
                                      (other, "unknown ca")]:  # fmt: skip
                    if wanted not in (saw := get(server.port, files)):
                        raise Failed(f"{how}, {files and files.name}: {wanted!r} is not in {saw!r}")
                _, out, err = run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", authority.pem, "-brief"])
                if "CN = issuer" not in out + err and "CN=issuer" not in out + err and how == "required":
                    _, out, err = run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", authority.pem])
                    if "Acceptable client certificate CA names" not in out:
                        raise Failed(f"openssl is not told whose certificates are wanted: {out[-500:]} {err[-300:]}")
                server.stop()
                said = server.said(20000)
            if how == "required" and "shows no certificate" not in said or "certificate is refused" not in said:
                raise Failed(f"{how}: standard error does not tell who was refused: {said}")
            text = tape.read_text()
            if '"client":"O=Example,CN=device-17"' not in text or "ada@" in text or "BEGIN" in text:
                raise Failed(f"{how}: the tape's open events are {[e for e in events(tape)[1] if e['e'] == 'open']}")
        with proxy(origin, authority, "--upstream-ca", server_pem) as server:
            saw = get(server.port)
            if "GET" in saw or "wants a certificate" not in server.said():
                raise Failed(f"an upstream that wants a certificate and gets none: {saw!r}, {server.said()}")
    with Wiretape(["replay", tape, *authority.options, "--client-ca", issuer], WORK / "clients.log") as server:
        saw = [get(server.port, device), get(server.port)]
        if "device-17" not in saw[0] or "certificate required" not in saw[1]:
            raise Failed(f"replay: {saw}")
    return "required and optional, refused with the alert that says it, subject on the tape; shown to upstreams that ask; replay alike"

