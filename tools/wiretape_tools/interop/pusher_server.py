"""A server of Pusher Channels, protocol 5 to 7, and of its Eventflit dialect, on uvicorn and websockets.

    python pusher_server.py PORT [--prefix pusher|eventflit] [--timeout SECONDS]

Application KEY `key`, secret `secret`. Public, private and presence channels, client events, errors, the HTTP fallbacks
(xhr_streaming, xhr) and `POST /auth`, which signs for the user in the form's `user` (without one: for a stranger). On every
private-room a robot of the application listens: it counts when it is asked to, comes to presence channels when it is
invited, and ends connections with the code that it is told.
"""

import argparse
import asyncio
import hashlib
import hmac
import itertools
import json
import re
import urllib.parse
from typing import Any

import uvicorn

KEY, SECRET = "key", "secret"
ALLOWED = re.compile(r"[A-Za-z0-9_\-=@,.;]{1,164}\Z")


def sign(text):
    return KEY + ":" + hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()


class Connection:
    """One client: send takes a text, close a code and a reason; both put it into a queue."""

    def __init__(self, server):
        self.server = server
        self.socket_id = f"{next(server.numbers)}.{server.base}"
        self.channels = {}  # name: presence data or None
        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    def send(self, event, data, channel=None, **more):
        message = {"event": event, **({"channel": channel} if channel else {}), "data": data, **more}
        self.queue.put_nowait(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    def say(self, name, data, channel=None, internal=False, **more):
        """An event of the protocol; data is encoded twice but for errors."""
        prefix = self.server.prefix + ("_internal" if internal else "")
        self.send(f"{prefix}:{name}", data if name == "error" else json.dumps(data), channel, **more)

    def error(self, code, message):
        self.say("error", {"code": code, "message": message})

    def close(self, code, reason):
        self.queue.put_nowait((code, reason))

    def opened(self, key, query):
        protocol = query.get("protocol", [""])[0]
        if key != KEY:
            self.refuse(4001, f"App key {key} not in this cluster")
        elif not protocol:
            self.refuse(4008, "No protocol version supplied")
        elif protocol not in ("5", "6", "7"):
            self.refuse(4007, "Unsupported protocol version")
        else:
            data = {"socket_id": self.socket_id, "activity_timeout": self.server.timeout}
            self.say("connection_established", data)

    def refuse(self, code, message):
        self.error(code, message)
        self.close(code, message)

    def heard(self, text):
        try:
            message = json.loads(text)
            event = message["event"]
        except (ValueError, KeyError, TypeError):
            return self.error(None, "The data is no event")
        data = message.get("data")
        own = self.server.prefix + ":"
        if event == own + "ping":
            self.say("pong", {})
        elif event == own + "subscribe":
            self.subscribe(data["channel"], data.get("auth"), data.get("channel_data"))
        elif event == own + "unsubscribe":
            self.leave(data["channel"])
        elif event.startswith("client-"):
            self.trigger(event, message.get("channel"), data)
        return None

    def subscribe(self, channel, auth, channel_data):
        if not ALLOWED.match(channel):
            return self.error(None, f"Invalid channel name {channel}")
        if channel in self.channels:
            return self.error(None, f"Existing subscription to channel {channel}")
        if channel.startswith(("private-", "presence-")):
            signed = f"{self.socket_id}:{channel}" + (f":{channel_data}" if channel_data else "")
            if auth != sign(signed):
                got = (auth or "").partition(":")[2]
                return self.error(
                    None, f"Invalid signature: Expected HMAC SHA256 hex digest of {signed}, but got {got}"
                )
        member = None
        if channel.startswith("presence-"):
            member = json.loads(channel_data)
        self.server.join(self, channel, member)
        return None

    def leave(self, channel):
        if channel in self.channels:
            self.server.part(self, channel)

    def trigger(self, event, channel, data):
        if channel not in self.channels or not channel.startswith(("private-", "presence-")):
            return self.error(4301, "Client events are for members of private and presence channels")
        member = self.channels[channel]
        more = {"user_id": member["user_id"]} if member else {}
        self.server.publish(channel, event, json.dumps(data, ensure_ascii=False), but=self, **more)
        self.server.robot(self, channel, event, data)
        return None

    def gone(self):
        for channel in list(self.channels):
            self.server.part(self, channel)


class Server:
    def __init__(self, prefix, timeout):
        self.prefix, self.timeout = prefix, timeout
        self.numbers = itertools.count(4711)
        self.base = 20181224
        self.channels = {}  # name: connections
        self.sessions = {}  # of the HTTP fallbacks
        self.tasks = set()

    def members(self, channel):
        found: dict[str, Any] = {}
        for connection in self.channels.get(channel, []):
            member = connection.channels[channel]
            found.setdefault(str(member["user_id"]), member.get("user_info"))
        return found

    def join(self, connection, channel, member):
        data = {}
        if member is not None:
            before = self.members(channel)
            connection.channels[channel] = member
            self.channels.setdefault(channel, []).append(connection)
            members = self.members(channel)
            data = {"presence": {"count": len(members), "ids": list(members), "hash": members}}
            if str(member["user_id"]) not in before:
                for other in self.channels[channel]:
                    if other is not connection:
                        other.say("member_added", member, channel, internal=True)
        else:
            connection.channels[channel] = None
            self.channels.setdefault(channel, []).append(connection)
        connection.say("subscription_succeeded", data, channel, internal=True)

    def part(self, connection, channel):
        member = connection.channels.pop(channel)
        self.channels[channel].remove(connection)
        if member is not None and str(member["user_id"]) not in self.members(channel):
            for other in self.channels[channel]:
                other.say("member_removed", {"user_id": member["user_id"]}, channel, internal=True)

    def publish(self, channel, event, data, but=None, **more):
        for connection in self.channels.get(channel, []):
            if connection is not but:
                connection.send(event, data, channel, **more)

    def robot(self, connection, channel, event, data):
        """What the application does when a client speaks on private-room."""
        if channel != "private-room":
            return
        task = asyncio.ensure_future(self.act(connection, event, data))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def act(self, connection, event, data):
        if event == "client-count":
            for n in range(data["to"]):
                await asyncio.sleep(0.02)
                self.publish(data["on"], "tick", json.dumps({"n": n}))
        elif event == "client-say":
            self.publish("private-room", "said", json.dumps(data, ensure_ascii=False))
            self.publish("private-room", "plain", data["text"])
        elif event == "client-invite":
            guest = Connection(self)
            self.join(guest, data["to"], {"user_id": "robot", "user_info": {"name": "Röbot"}})
            await asyncio.sleep(0.02)
            guest.trigger("client-wave", data["to"], {"hands": 2})
            await asyncio.sleep(0.02)
            guest.gone()
        elif event == "client-end":
            connection.error(data["code"], "as you wish")
            connection.close(data["code"], "as you wish")

    # MARK: HTTP

    def authorise(self, fields):
        channel, socket_id, user = fields.get("channel_name", ""), fields.get("socket_id", ""), fields.get("user")
        if channel == "private-forbidden":
            return 403, {"error": "no"}
        if channel == "private-forged":
            return 200, {"auth": KEY + ":" + "0" * 64}
        if channel.startswith("presence-"):
            member = {"user_id": user or "stranger", "user_info": {"name": (user or "?").title()}}
            data = json.dumps(member, ensure_ascii=False)
            return 200, {"auth": sign(f"{socket_id}:{channel}:{data}"), "channel_data": data}
        return 200, {"auth": sign(f"{socket_id}:{channel}")}

    async def __call__(self, scope, receive, send):
        if scope["type"] == "websocket":
            await self.socket(scope, receive, send)
        elif scope["type"] == "http":
            await self.request(scope, receive, send)
        else:
            while True:
                message = await receive()
                await send({"type": message["type"] + ".complete"})
                if message["type"] == "lifespan.shutdown":
                    return

    async def socket(self, scope, receive, send):
        path = scope["path"].strip("/").split("/")
        await receive()
        if len(path) != 2 or path[0] != "app":
            return await send({"type": "websocket.close", "code": 4005})
        await send({"type": "websocket.accept"})
        connection = Connection(self)
        connection.opened(path[1], urllib.parse.parse_qs(scope["query_string"].decode()))

        async def write():
            while True:
                item = await connection.queue.get()
                if isinstance(item, tuple):
                    await send({"type": "websocket.close", "code": item[0], "reason": item[1]})
                    return
                await send({"type": "websocket.send", "text": item})

        writer = asyncio.ensure_future(write())
        try:
            while True:
                message = await receive()
                if message["type"] == "websocket.disconnect":
                    return None
                if message.get("text") is not None:
                    connection.heard(message["text"])
        finally:
            writer.cancel()
            connection.gone()

    async def request(self, scope, receive, send):
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        path = scope["path"]
        found = re.fullmatch(r"/[a-z]+/app/([^/]+)/(\d+/[^/]+)/(xhr|xhr_streaming|xhr_send)", path)
        if path == "/auth":
            kind = dict(scope["headers"]).get(b"content-type", b"").decode()
            text = body.decode()
            fields = json.loads(text) if kind.startswith("application/json") else dict(urllib.parse.parse_qsl(text))
            status, answer = self.authorise(fields)
            await respond(send, status, json.dumps(answer, ensure_ascii=False), "application/json")
        elif found and scope["method"] == "POST":
            await self.fallback(found[3], found[1], found[2], scope, body, receive, send)
        elif scope["method"] == "OPTIONS":
            await respond(send, 204, "")
        else:
            await respond(send, 404, "not here")

    async def fallback(self, call, key, name, scope, body, receive, send):
        connection: Any = self.sessions.get(name)
        if call == "xhr_send":
            if connection is None:
                return await respond(send, 404, "")
            for text in json.loads(body):
                connection.heard(text)
            return await respond(send, 204, "", "text/plain")
        kind = "application/javascript; charset=UTF-8"
        is_new = connection is None
        if is_new:
            connection = self.sessions[name] = Connection(self)
            connection.opened(key, urllib.parse.parse_qs(scope["query_string"].decode()))
        if call == "xhr":
            if is_new:
                return await respond(send, 200, "o\n", kind)
            item = await self.next(connection, receive)
            if item is None:
                return None
            texts = [item]
            while not connection.queue.empty() and not isinstance(item, tuple):
                item = connection.queue.get_nowait()
                texts.append(item)
            return await respond(send, 200, "".join(self.frame(text, name) for text in texts), kind)
        headers = [(b"content-type", kind.encode()), (b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"o\n" if is_new else b"", "more_body": True})
        while True:
            item = await self.next(connection, receive)
            if item is None:
                self.sessions.pop(name, None)
                connection.gone()
                return None
            await send({"type": "http.response.body", "body": self.frame(item, name).encode(), "more_body": True})
            if isinstance(item, tuple):
                return await send({"type": "http.response.body", "body": b""})

    def frame(self, item, name):
        if isinstance(item, tuple):
            connection = self.sessions.pop(name, None)
            if connection:
                connection.gone()
            return "c" + json.dumps(list(item), separators=(",", ":")) + "\n"
        return "a" + json.dumps([item], ensure_ascii=False, separators=(",", ":")) + "\n"

    async def next(self, connection, receive):
        """The next thing for the client; None when it has gone."""
        get, left = asyncio.ensure_future(connection.queue.get()), asyncio.ensure_future(receive())
        done, _ = await asyncio.wait({get, left}, return_when=asyncio.FIRST_COMPLETED)
        if get in done:
            left.cancel()
            return get.result()
        get.cancel()
        return None


async def respond(send, status, text, kind="text/plain"):
    headers = [(b"content-type", kind.encode()), (b"access-control-allow-origin", b"*")]
    if status != 204:
        headers.append((b"content-length", str(len(text.encode())).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("port", type=int)
    parser.add_argument("--prefix", default="pusher", choices=["pusher", "eventflit"])
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    app = Server(options.prefix, options.timeout)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", ws="websockets-sansio")
