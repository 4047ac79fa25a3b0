"""Asks two hosts for the same things: client_forward.py CLIENT PLAIN SECURE, where CLIENT is curl, requests, httpx, aiohttp,
websockets, h2-first, node or chromium, and the others are origins. A proxy is used when the environment names one, and
whom to trust is found there too: no client is told anything. With -socks behind its name the environment is first made to name
that proxy as one of SOCKS 5, which is given names and not addresses. Prints a line for each thing that it saw."""

import asyncio
import os
import subprocess
import sys

CLIENT, PLAIN, SECURE = sys.argv[1:4]
if CLIENT.endswith("-socks") and (known := os.environ.get("ALL_PROXY")):
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        for spelling in (variable, variable.lower()):
            os.environ[spelling] = "socks5h://" + known.split("//")[1].strip("/")
PATHS = ["/a?x=1", "/b", "/events"]


def say(what, text):
    print(what, " | ".join(text.strip().splitlines()), flush=True)


def curl():
    """One connection to a proxy for all plain requests, and one for each host that speaks TLS."""
    urls = [origin + path for path in PATHS for origin in (PLAIN, SECURE)]
    done = subprocess.run(["curl", "-sS", "-N", *urls], capture_output=True, text=True, check=False, timeout=30)
    say("curl", done.stdout + done.stderr)
    sent = subprocess.run(
        ["curl", "-sS", "-H", "Transfer-Encoding: chunked", "-d", "a body", PLAIN + "/post"],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    say("curl post", sent.stdout + sent.stderr)


def requests():
    import requests  # type: ignore[import-untyped]

    with requests.Session() as session:
        for path in PATHS:
            for origin in (PLAIN, SECURE):
                say("get", session.get(origin + path, timeout=20).text)
        say("post", session.post(PLAIN + "/post", data="a body", timeout=20).text)


def httpx():
    import httpx

    with httpx.Client(timeout=20) as session:
        for path in PATHS:
            for origin in (PLAIN, SECURE):
                say("get", session.get(origin + path).text)
        say("post", session.post(SECURE + "/post", content="a body").text)


def h2_first():
    """As .NET, Go and browsers do it: HTTP/2 is offered before HTTP/1.1, which is what a proxy has to choose."""
    import socket
    import ssl

    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    host, _, port = SECURE.split("//")[1].partition(":")
    port = port or "443"
    proxy = os.environ.get("HTTPS_PROXY")
    for path in PATHS:
        where = proxy.split("//")[1].strip("/").split(":") if proxy else (host, port)
        with socket.create_connection((where[0], int(where[1])), 20) as plain:
            if proxy and proxy.startswith("socks"):
                plain.sendall(b"\x05\x01\x00")
                plain.recv(2)
                plain.sendall(b"\x05\x01\x00\x03" + bytes([len(host)]) + host.encode() + int(port).to_bytes(2, "big"))
                plain.recv(64)
            elif proxy:
                plain.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
                plain.recv(4096)
            with context.wrap_socket(plain, server_hostname=host) as stream:
                if proxy and stream.selected_alpn_protocol() != "http/1.1":
                    say("error", f"the proxy has chosen {stream.selected_alpn_protocol()}")
                stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
                got = b""
                while more := stream.recv(65536):
                    got += more
                say("get", got.split(b"\r\n\r\n", 1)[1].decode())


def node():
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        ["node", os.path.join(here, "client_forward.js"), PLAIN, SECURE], capture_output=True, text=True, check=False, timeout=40
    )
    print(done.stdout + done.stderr, end="", flush=True)


def chromium():
    """A page on the host with TLS asks, listens and talks, and writes down what it saw. Trust is that of a user's own store."""
    from wiretape_tools.lib.chromium import NOWHERE, page_text

    proxy = os.environ.get("HTTPS_PROXY")
    # Chromium gives names to every proxy of SOCKS 5, and knows no word of its own for that.
    ways = []
    if proxy:
        ways = [f"--proxy-server={proxy.replace('socks5h', 'socks5')}", "--proxy-bypass-list=<-loopback>;*.com;*.net;*.org"]
    trusted = os.environ.get("WIRETAPE_CA") or os.environ["SSL_CERT_FILE"]
    host = SECURE.split("//")[1].partition(":")[0]
    say("page", page_text(SECURE + "/page", trusted, ways, hosts=f"{NOWHERE}, EXCLUDE {host}"))


async def aiohttp():
    import aiohttp

    proxy = os.environ.get("HTTPS_PROXY", "")
    connector = None
    if proxy.startswith("socks"):
        from aiohttp_socks import ProxyConnector

        connector = ProxyConnector.from_url(proxy.replace("socks5h", "socks5"), rdns=True)
    async with aiohttp.ClientSession(connector=connector, trust_env=connector is None) as session:
        for path in PATHS:
            for origin in (PLAIN, SECURE):
                async with session.get(origin + path) as answer:
                    say("get", await answer.text())
        for origin in (PLAIN, SECURE):
            async with session.ws_connect(origin.replace("http", "ws", 1) + "/ws") as socket:
                for text in ("one", "two"):
                    await socket.send_str(text)
                    say("socket", (await socket.receive()).data)


async def websockets():
    from websockets.asyncio.client import connect

    for origin in (PLAIN, SECURE):
        async with connect(origin.replace("http", "ws", 1) + "/ws") as socket:
            for text in ("one", "two", "three" * 100):
                await socket.send(text)
                say("socket", str(await socket.recv()))


ASYNCHRONOUS = {"aiohttp": aiohttp, "websockets": websockets}
SYNCHRONOUS = {"curl": curl, "requests": requests, "httpx": httpx, "h2-first": h2_first, "node": node, "chromium": chromium}
NAME = CLIENT.removesuffix("-socks")
if NAME in ASYNCHRONOUS:
    asyncio.run(ASYNCHRONOUS[NAME]())
else:
    SYNCHRONOUS[NAME]()
