"""httpx as a client of server-sent events and of JSON: client_coded.py URL CODING. Reads the stream at /events, posts what is
encoded to /echo, and prints what the application observes, one JSON object a line."""

import gzip
import json
import sys
import zlib

import brotli
import httpx
import zstandard
from httpx_sse import connect_sse

ENCODE = {"identity": bytes, "gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstandard.compress}


def observe(chain, event, **detail):
    print(json.dumps({"chain": chain, "event": event, **detail}, ensure_ascii=False), flush=True)


url, coding = sys.argv[1:]
with httpx.Client(timeout=20) as client:
    with connect_sse(client, "GET", url + "/events") as source:
        for one in source.iter_sse():
            observe("events", one.event, id=one.id, data=one.data, retry=one.retry)
    observe("events", "end")
    for n in range(3):
        body = ENCODE[coding](json.dumps({"n": n, "text": "héllo" * 20}).encode())
        headers = {"content-type": "application/json"} | ({} if coding == "identity" else {"content-encoding": coding})
        answer = client.post(url + "/echo", content=body, headers=headers)
        observe("echo", "answer", status=answer.status_code, body=answer.json())
