"""A client of streams of no protocol: stream-client.py URL prices|say [FLAW]. `prices`: server-sent events; it comes back
with Last-Event-ID until the server answers 204, and has to see the events 1 to 12, each once. `say`: text in pieces; it asks
again until it has the whole. FLAW: `forgets` the id, `appends` to what it had what it is told anew."""
import http.client, sys, time

host, what, flaw = sys.argv[1].split("/")[2], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
WHOLE = 'Once upon a time\nthere was {"a": 1}\nÄpfel and the end'.encode()


def tries():
    """A connection for each request."""
    for _ in range(12):
        connection = http.client.HTTPConnection(host, timeout=10)
        yield connection
        connection.close()
        time.sleep(0.02)


def prices():
    seen = []
    for connection in tries():
        try:
            last = {"Last-Event-ID": seen[-1]} if seen and flaw != "forgets" else {}
            connection.request("GET", "/prices", headers={"Accept": "text/event-stream", **last})
            answer = connection.getresponse()
            if answer.status == 204:
                break
            block = {}
            while answer.status == 200 and (line := answer.readline()):
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                if name:
                    block[name] = value.strip()
                elif "data" in block:
                    seen.append(block["id"])
                    block = {}
        except (OSError, http.client.HTTPException):
            pass
    return seen == [str(n) for n in range(1, 13)], seen


def say():
    text = b""
    for connection in tries():
        if flaw != "appends":
            text = b""
        try:
            connection.request("GET", "/say")
            answer = connection.getresponse()
            while answer.status == 200 and (piece := answer.read1()):
                text += piece
        except (OSError, http.client.HTTPException):
            pass
        if text == WHOLE:
            break
    return text == WHOLE, text


good, seen = prices() if what == "prices" else say()
if not good:
    print("not what the server said:", seen)
sys.exit(0 if good else 70)
