"""Clients that hold their connections: `slow-clients.py URL heads|sockets COUNT`.

heads: each begins a request and does not end it. sockets: each asks for a WebSocket, one after the other, and keeps it.
When all have been answered or half a second has passed, prints {"url": "STATUS:COUNT …"} and waits to be ended.
"""

import collections
import json
import select
import socket
import sys
import time
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
kind, count = sys.argv[2], int(sys.argv[3])
head = b"GET /chat HTTP/1.1\r\nHost: x\r\n"
if kind == "sockets":
    head += b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    head += b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
clients, statuses = [], collections.Counter()


def listen(clients, seconds):
    end = time.monotonic() + seconds
    while clients and time.monotonic() < end:
        for client in select.select(clients, [], [], max(0, end - time.monotonic()))[0]:
            clients.remove(client)
            try:
                answer = client.recv(100)
            except OSError:
                answer = b""
            statuses[answer[9:12].decode() or "end"] += 1


for _ in range(count):
    client = socket.create_connection((url.hostname, url.port))
    clients.append(client)
    try:
        client.sendall(head)
    except OSError:
        pass
    if kind == "sockets":
        listen([client], 10)
if kind == "heads":
    listen(list(clients), 0.5)
print(json.dumps({"url": " ".join(f"{status}:{n}" for status, n in sorted(statuses.items()))}), flush=True)
time.sleep(600)
