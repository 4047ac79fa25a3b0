"""`no-descriptors.py URL PID`: the server there is left without a free descriptor for a second, while clients come.

Prints {"url": "…"}: what became of a client that was there before, how much processor time the server took for the second,
and what became of those that came meanwhile, once there are descriptors again.
"""

import json
import os
import resource
import socket
import sys
import time
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
pid = int(sys.argv[2])


def connect():
    return socket.create_connection((url.hostname, url.port), 5)


def ask(client):
    try:
        client.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        return client.recv(4096)[9:12].decode()
    except OSError as error:
        return type(error).__name__


def spent():
    fields = open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


before = connect()
ask(before)
soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
resource.prlimit(pid, resource.RLIMIT_NOFILE, (4, hard))
clients = [connect() for _ in range(5)]
began = spent()
time.sleep(1)
took = "busy" if spent() - began > 0.3 else "calm"
answer = ask(before)
resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
later = sorted({ask(client) for client in clients})
print(json.dumps({"url": f"{answer} {took} {' '.join(later)}"}), flush=True)
