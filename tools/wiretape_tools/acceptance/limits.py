"""How long replay waits for a SignalR client, and how it ends: with raw clients over WebSockets, event streams and long
polling, at 50 times the clock. Each row is what an ASP.NET Core server with its defaults does; `--direct URL` asks a
running one (`http://127.0.0.1:5000/hub`, at its own clock; a minute) and holds it to the same rows.

Exit 1 when a row does not hold. Times have a lower bound only, so that a slow machine changes nothing.
"""

import argparse
import asyncio
import json
import sys
import time

import aiohttp

from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, fail

WORK = ROOT / ".build/acceptance"
SCALE = 50
RS = "\x1e"
HANDSHAKE = json.dumps({"protocol": "json", "version": 1}) + RS
PING = '{"type":6}' + RS
CANCELED = {"error": "Handshake was canceled."}


def say(length):
    """An invocation of that many bytes, the record separator among them."""
    empty = json.dumps({"type": 1, "target": "Nothing", "arguments": [""]}, separators=(",", ":")) + RS
    return empty.replace('""', '"' + "x" * (length - len(empty)) + '"')


# What the client says (seconds of its time, text); the second from which on it is closed, nothing where it is kept; the
# server's last word.
ROWS = {
    "never pings": ([(0, HANDSHAKE)], None, None),
    "stops pinging": ([(0, HANDSHAKE), (1, PING)], 31, 7),
    "says something else after its ping": ([(0, HANDSHAKE), (1, PING), (20, say(100))], 50, 7),
    "does not shake hands": ([], 15, CANCELED),
    "shakes half a hand": ([(0, '{"protocol"')], 15, CANCELED),
    "says 32,768 bytes": ([(0, HANDSHAKE), (1, say(32768))], None, None),
    "says 32,769 bytes": ([(0, HANDSHAKE), (1, say(32769))], 1, 7),
    "shakes a hand that is too large": ([(0, '{"protocol":"json","version":1,"x":"' + "y" * 40000 + '"}' + RS)], 0, CANCELED),
}


class Client:
    def __init__(self, session, url, scale):
        self.session, self.url, self.scale = session, url, scale
        self.records = []

    def take(self, text):
        for record in filter(None, text.split(RS)):
            value = json.loads(record)
            if value.get("type") != 6:
                self.records.append(value)

    async def speak(self, lines, send, began):
        for at, text in lines:
            await asyncio.sleep(max(0, at / self.scale - (time.monotonic() - began)))
            await send(text)

    async def negotiate(self):
        async with self.session.post(self.url + "/negotiate?negotiateVersion=1") as answer:
            return self.url + "?id=" + (await answer.json())["connectionToken"]

    async def post(self, url, text):
        async with self.session.post(url, data=text.encode()) as answer:
            await answer.read()

    async def ws(self, lines):
        url = (await self.negotiate()).replace("http", "ws", 1)
        began = time.monotonic()  # the server counts from a moment behind this one
        async with self.session.ws_connect(url, max_msg_size=0) as socket:
            speaking = asyncio.create_task(self.speak(lines, socket.send_str, began))
            async for message in socket:
                self.take(message.data)
            speaking.cancel()
            if socket.close_code != 1000:
                raise Failed(f"closed with {socket.close_code}")
            return time.monotonic() - began

    async def sse(self, lines):
        url = await self.negotiate()
        began = time.monotonic()
        async with self.session.get(url, headers={"Accept": "text/event-stream"}) as stream:
            speaking = asyncio.create_task(self.speak(lines, lambda text: self.post(url, text), began))
            async for line in stream.content:
                if line.startswith(b"data: "):
                    self.take(line[6:].decode().strip("\r\n"))
            speaking.cancel()
            return time.monotonic() - began

    async def lp(self, lines):
        url = await self.negotiate()
        began = time.monotonic()
        async with self.session.get(url) as first:
            await first.read()
        speaking = asyncio.create_task(self.speak(lines, lambda text: self.post(url, text), began))
        while True:
            async with self.session.get(url) as poll:
                self.take((await poll.read()).decode())
                if poll.status != 200:
                    break
        speaking.cancel()
        if poll.status != 204:
            raise Failed(f"the poll was answered {poll.status}")
        return time.monotonic() - began


async def row(url, scale, transport, name):
    lines, end, last = ROWS[name]
    async with aiohttp.ClientSession() as session:
        client = Client(session, url, scale)
        try:
            took = await asyncio.wait_for(getattr(client, transport)(lines), 60 / scale)
        except TimeoutError:
            took = None
        except Failed as failure:
            return f"{failure}"
    if end is None:
        return None if took is None else f"closed after {took * scale:.1f} s: {client.records[-1:]}"
    if took is None:
        return "kept"
    if took * scale < end - 0.01:
        return f"closed after {took * scale:.1f} s"
    word = client.records[-1] if client.records else {}
    if last == 7:
        right = word.get("type") == 7 and word.get("allowReconnect") is True
        right = right and word.get("error", "").startswith("Connection closed with an error.")
    else:
        right = word == last
    return None if right else f"the last word was {word}"


async def table(url, scale):
    cells = [(t, n) for t in ("ws", "sse", "lp") for n in ROWS]
    found = await asyncio.gather(*[row(url, scale, *cell) for cell in cells])
    wrong = [f"{t}, a client that {n}: {problem}" for (t, n), problem in zip(cells, found, strict=False) if problem]
    print(f"limits: {len(cells) - len(wrong)} of {len(cells)} rows hold", flush=True)
    return wrong


def tape(path):
    lines = ['{"tape":1,"protocol":"signalr","route":"/hub"}']
    lines.append('{"t":10000000,"c":1,"e":"message","d":"<","json":{"type":1,"target":"Tick","arguments":[1]}}')
    lines.append('{"t":900000000000,"c":1,"e":"message","d":"<","json":{"type":1,"target":"Tick","arguments":[2]}}')
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/limits", description=__doc__)
    parser.add_argument("--direct", metavar="URL", help="a running ASP.NET Core server's hub")
    arguments = parser.parse_args()
    if arguments.direct:
        wrong = asyncio.run(table(arguments.direct, 1))
    else:
        WORK.mkdir(parents=True, exist_ok=True)
        path = WORK / "limits.tape"
        tape(path)
        options = ["--time-scale", SCALE, "--clients", "100", "--on-divergence", "ignore"]
        with Wiretape(["replay", path, *options], WORK / "limits.log") as replay:
            wrong = asyncio.run(table(replay.url.rstrip("/") + "/hub", SCALE))
    return fail("\n".join(wrong)) if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
