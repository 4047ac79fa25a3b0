"""What the parts share: an authority, an origin, and clients whose handshakes say what they saw."""

import contextlib
import os
import pathlib
import resource
import socket
import ssl
import threading
from typing import Any

from wiretape_tools.lib import frames
from wiretape_tools.lib.exchange import read_head
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, binary, run

WORK = ROOT / ".build/acceptance/tls"
PATIENCE = 20


class Authority:
    """A folder with an authority of Wiretape's."""

    def __init__(self, name="ca"):
        self.folder = WORK / name
        code, _, err = run([binary(), "ca", "init", "--force", "--ca-dir", self.folder])
        if code != 0:
            raise Failed(f"wiretape ca init ended with {code}: {err}")
        self.pem = self.folder / "ca.pem"
        self.options = ("--tls", "--ca-dir", str(self.folder))


class Origin:
    """A server in a child process: GET is answered, an upgrade echoes. With a certificate it speaks TLS, and may ask for others."""

    def __init__(self, certificate=None, clients=None):
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = listener.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                serve(listener, certificate, clients)
            finally:
                os._exit(0)
        listener.close()
        self.url = f"{'https' if certificate else 'http'}://localhost:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def serve(listener, certificate, clients):
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, context), daemon=True).start()


def answer(connection, context):
    with contextlib.suppress(OSError, Failed, ssl.SSLError):
        who = ""
        if context:
            connection = context.wrap_socket(connection, server_side=True)
            subject = (connection.getpeercert() or {}).get("subject", ())
            who = " ".join(f"{key}={value}" for part in subject for key, value in part if key != "emailAddress")
        rest = b""
        while True:
            head, rest = read_head(connection) if not rest else (rest, b"")
            if b"pgrade: websocket" in head:
                connection.sendall(frames.response(head))
                reader, data = frames.FrameReader(), rest
                while True:
                    said = [frames.frame(first & 15, payload, masked=False) for first, payload in reader.feed(data)]
                    if said:
                        connection.sendall(b"".join(said))
                    data = connection.recv(65536)
                    if not data:
                        return
            body = (head.split(b"\r\n")[0].decode() + " " + who).strip().encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def trusting(pem, change=lambda _: None):
    context = ssl.create_default_context(cafile=str(pem))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    change(context)
    return context


class Shaken:
    """A TLS handshake, and what it came to: `error` in OpenSSL's words, or the stream."""

    def __init__(self, port, context, name="localhost"):
        self.error: str | None = None
        self.stream: Any = None
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE)
        try:
            self.stream = context.wrap_socket(plain, server_hostname=name)
        except OSError as error:
            self.error = str(error).replace("_", " ").lower()
            plain.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.stream:
            self.stream.close()

    def get(self, path="/"):
        """The body of an answer; what the stream said where there is none."""
        try:
            self.stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            got = b""
            while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < length(got):
                more = self.stream.recv(65536)
                if not more:
                    return f"ended after {got[:200]!r}"
                got += more
            return got.split(b"\r\n\r\n", 1)[1].decode()
        except OSError as error:
            return str(error).replace("_", " ").lower()


def length(got):
    for line in got.split(b"\r\n\r\n")[0].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def make_certificate(name, subject="/CN=localhost", issuer=None, extra=()):
    """A certificate and its key in one file of PEM, by openssl; self-signed or issued by another of these."""
    pem, key, request = WORK / f"{name}.pem", WORK / f"{name}.key", WORK / f"{name}.csr"
    extensions = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", *extra]
    base = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-subj", subject]
    if issuer is None:
        commands = [[*base, "-x509", "-days", "2", "-out", pem, *extensions]]
    else:
        issuer_key = pathlib.Path(issuer).with_suffix(".key")
        commands = [[*base, "-out", request],
                    ["openssl", "x509", "-req", "-in", request, "-CA", issuer, "-CAkey", issuer_key, "-days", "2",
                     "-CAcreateserial", "-out", pem]]  # fmt: skip
    for command in commands:
        code, _, err = run(command)
        if code != 0:
            raise Failed(f"{' '.join(map(str, command))}: {err}")
    both = WORK / f"{name}-both.pem"
    both.write_text(key.read_text() + pem.read_text())
    return pem, key, both


def proxy(origin, authority, *options, kind="proxy", log="wiretape.log"):
    return Wiretape([kind, "--upstream", origin.url, *authority.options, *options], WORK / log)


def raise_limit(wanted):
    """Descriptors for so many sockets, here and in what is started from here; as many as there can be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            return wanted
        wanted = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
