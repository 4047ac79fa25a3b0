"""Asks two hosts for the same things: client_forward.py CLIENT PLAIN SECURE, where CLIENT is curl, socks, requests, httpx,
aiohttp, websockets, h2-first, node or chromium, and the others are origins. A proxy is used when the environment names one, and
whom to trust is found there too: no client is told anything. Prints a line for each thing that it saw."""

import asyncio
import os
import subprocess
import sys

CLIENT, PLAIN, SECURE = sys.argv[1:4]
PATHS = ["/a?x=1", "/b", "/events"]


def say(what, text):
    print(what, " | ".join(text.strip().splitlines()), flush=True)


def curl(*more):
    """One connection to a proxy for all plain requests, and one for each host that speaks TLS."""
    urls = [origin + path for path in PATHS for origin in (PLAIN, SECURE)]
    done = subprocess.run(["curl", "-sS", "-N", *more, *urls], capture_output=True, text=True, check=False, timeout=30)
    say("curl", done.stdout + done.stderr)
    sent = subprocess.run(
        ["curl", "-sS", *more, "-H", "Transfer-Encoding: chunked", "-d", "a body", PLAIN + "/post"],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    say("curl post", sent.stdout + sent.stderr)


def socks():
    """The same by SOCKS, where there is a proxy."""
    proxy = os.environ.get("ALL_PROXY")
    curl(*(["--socks5-hostname", proxy.split("//")[1]] if proxy else []))


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
    host, port = SECURE.split("//")[1].split(":")
    proxy = os.environ.get("HTTPS_PROXY")
    for path in PATHS:
        where = proxy.split("//")[1].strip("/").split(":") if proxy else (host, port)
        with socket.create_connection((where[0], int(where[1])), 20) as plain:
            if proxy:
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
    from wiretape_tools.lib.chromium import page_text

    proxy = os.environ.get("HTTPS_PROXY")
    ways = [f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>;*.com;*.net;*.org"] if proxy else []
    say("page", page_text(SECURE + "/page", os.environ.get("WIRETAPE_CA") or os.environ["SSL_CERT_FILE"], ways))


async def aiohttp():
    import aiohttp

    async with aiohttp.ClientSession(trust_env=True) as session:
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
if CLIENT in ASYNCHRONOUS:
    asyncio.run(ASYNCHRONOUS[CLIENT]())
else:
    SYNCHRONOUS = {"h2-first": h2_first, "node": node, "chromium": chromium}
    {"curl": curl, "socks": socks, "requests": requests, "httpx": httpx, **SYNCHRONOUS}[CLIENT]()
