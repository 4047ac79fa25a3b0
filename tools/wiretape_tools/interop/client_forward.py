"""Asks two hosts for the same things: client_forward.py CLIENT PLAIN SECURE, where CLIENT is curl, socks, requests, httpx, aiohttp or
websockets, and the others are origins. A proxy is used when the environment names one, and whom to trust is found there too:
no client is told anything. Prints a line for each thing that it saw."""

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
    {"curl": curl, "socks": socks, "requests": requests, "httpx": httpx}[CLIENT]()
