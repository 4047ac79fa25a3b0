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
    import tempfile

    with tempfile.TemporaryDirectory() as home:
        store = os.path.join(home, ".pki/nssdb")
        os.makedirs(store)
        certificate = os.environ.get("WIRETAPE_CA") or os.environ["SSL_CERT_FILE"]
        for words in (["-N", "--empty-password"], ["-A", "-t", "CP,,", "-n", "trusted", "-i", certificate]):
            subprocess.run(["certutil", "-d", f"sql:{store}", *words], check=True, capture_output=True)
        profile = os.path.join(home, "profile")
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
                 # What a browser asks its maker for by itself goes nowhere.
                 "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"]  # fmt: skip
        if proxy := os.environ.get("HTTPS_PROXY"):
            words += [f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>;*.com;*.net;*.org"]
        env = {**os.environ, "HOME": home}
        browser = subprocess.Popen([*words, SECURE + "/page"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        try:
            say("page", looked_at(os.path.join(profile, "DevToolsActivePort")))
        finally:
            browser.terminate()
            browser.wait(20)


def looked_at(told, seconds=40):
    """What stands on the page once it is done; its title where nothing does."""
    import json
    import time
    import urllib.request

    from websockets.sync.client import connect

    end = time.monotonic() + seconds
    while not os.path.exists(told):
        if time.monotonic() > end:
            return "error: the browser does not begin"
        time.sleep(0.1)
    with open(told, encoding="ascii") as file:
        port = int(file.readline())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    pages: list[dict[str, str]] = []
    while not pages and time.monotonic() < end:
        with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
    text = ""
    with connect(pages[0]["webSocketDebuggerUrl"], proxy=None, max_size=None) as tools:
        ask = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": "document.body.innerText"}}
        while time.monotonic() < end and not text.rstrip().endswith("done") and "ERR_" not in text:
            tools.send(json.dumps(ask))
            while "result" not in (heard := json.loads(tools.recv(20))):
                pass
            text = str(heard["result"].get("result", {}).get("value", ""))
            time.sleep(0.1)
    return text if text.rstrip().endswith("done") else f"error: {text[-300:]}"


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
