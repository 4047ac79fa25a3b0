"""A client application on Pysher: `client_pysher.py URL SCRIPT` says what the script tells and prints what it observes."""

import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse

import pysher

url = urllib.parse.urlsplit(sys.argv[1])
script = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
lock = threading.Condition()
counts: dict[str, int] = {}
print_lock = threading.Lock()


def say(chain, **what):
    with print_lock:
        print(json.dumps({"chain": chain, **what}, ensure_ascii=False), flush=True)


def seen(name):
    with lock:
        counts[name] = counts.get(name, 0) + 1
        lock.notify_all()


def decoded(data):
    try:
        return json.loads(data) if isinstance(data, str) else data
    except ValueError:
        return data


def on_channel(event, data, channel):
    say(channel, event=event, data=decoded(data))
    seen(f"{channel} {event}")


def on_error(data):
    say("errors", code=data["code"], message=re.sub(r"[0-9]+\.[0-9]+", "SOCKET", data["message"]))
    seen("error")


client = pysher.Pusher(
    "key", secure=False, custom_host=url.hostname, port=url.port, auto_sub=True, reconnect_interval=0.2,
    auth_endpoint=f"{sys.argv[1]}/auth" if script.get("endpoint") else None, secret=script.get("secret", "secret"),
    user_data={"user_id": script["user"], "user_info": {"name": script["user"].title()}},
)
client.connection.event_handler = on_channel
client.connection.bind("pusher:connection_established", lambda data: (say("connection", state="connected"), seen("connected")))
client.connection.bind("pusher:error", on_error)
client.connect()


def wait(name, count):
    end = time.monotonic() + 20
    with lock:
        while counts.get(name, 0) < count:
            if not lock.wait(end - time.monotonic()):
                say("client", hangs=name, counts=counts)
                sys.stdout.flush()
                import os

                os._exit(3)


wait("connected", 1)
for step in script["steps"]:
    if step["do"] == "subscribe":
        client.subscribe(step["channel"])
    elif step["do"] == "unsubscribe":
        client.unsubscribe(step["channel"])
    elif step["do"] == "trigger":
        client.connection.send_event(step["event"], step["data"], channel_name=step["channel"])
    elif step["do"] == "wait":
        name = step["for"].replace("pusher:subscription", "pusher_internal:subscription")
        wait(name.replace("pusher:member", "pusher_internal:member"), step.get("count", 1))
    else:
        time.sleep(step["ms"] / 1000)
client.disconnect(timeout=2)
