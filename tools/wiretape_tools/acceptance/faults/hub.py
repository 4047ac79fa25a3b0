"""A server as raw as can be: what it writes is exactly what its script says, and it keeps every byte that it hears."""

import contextlib
import errno
import json
import socket
import threading
import time

from wiretape_tools.lib import frames

GAP = 0.02  # seconds between two messages of the script
END = "end"
RECORD = b"\x1e"


def chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"


def head(status, fields, body=None):
    lines = [f"HTTP/1.1 {status}", *fields] + ([] if body is None else [f"Content-Length: {len(body)}"])
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


class Peer:
    """A session of the hub's: what is to be said to it, and how."""

    def __init__(self):
        self.queue, self.changed, self.sink = [], threading.Condition(), None
        self.is_started = self.is_polled = self.is_over = self.is_broken = False

    def push(self, what):
        with self.changed:
            self.queue.append(what)
            if self.sink:
                while self.queue:
                    self.sink(self.queue.pop(0))
            self.changed.notify_all()

    def attach(self, sink):
        with self.changed:
            self.sink = sink
        self.flush()

    def flush(self):
        with self.changed:
            while self.queue and self.sink:
                self.sink(self.queue.pop(0))

    def next(self, seconds=25):
        """For polls: one message at a time."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.queue, seconds):
                return b""
            return self.queue.pop(0)


class Hub:
    """Plays `script` (payloads, END) to each client that has shaken hands; `reply(payload)` gives what is said to a message.

    asked: requests as METHOD path; heard: payloads of the clients; raw: what came over each WebSocket; ends: FIN or RST of
    what the clients' messages came over.
    """

    def __init__(self, protocol, script, reply=lambda _: []):
        self.protocol, self.script, self.reply = protocol, script, reply
        self.asked, self.heard, self.raw, self.ends, self.peers = [], [], [], [], {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError):
            self.requests(sock, sock.makefile("rb", buffering=65536))
        sock.close()

    def requests(self, sock, file):
        while True:
            lines = []
            while (line := file.readline()) not in (b"\r\n", b""):
                lines.append(line.rstrip().decode())
            if not lines:
                return
            fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
            body = file.read(int(fields.get("content-length", 0)))
            method, target, _ = lines[0].split(" ")
            self.asked.append(f"{method} {target.partition('?')[0]}")
            if not self.protocol.serve(self, sock, file, method, target, fields, body, lines):
                return

    # What protocols do with it

    def peer(self, name):
        return self.peers.setdefault(name, Peer())

    def start(self, peer, greeting):
        """Says the greeting, then the script in its rhythm."""
        if not peer.is_started:
            peer.is_started = True
            threading.Thread(target=self.play, args=(peer, greeting), daemon=True).start()

    def play(self, peer, greeting):
        try:
            for what in [*greeting, *self.script]:
                peer.push(what)
                time.sleep(GAP)
        except OSError:
            peer.is_broken = True  # its reader may see nothing but the end

    def hear(self, peer, payload, greeting):
        self.heard.append(payload)
        if not peer.is_started:
            return self.start(peer, greeting)
        for what in self.reply(payload):
            peer.push(what)
        return None

    def socket(self, sock, file, lines, peer, opcode, hear, fields=()):
        """Grants a WebSocket and reads it to its end."""
        sock.sendall(frames.response("\r\n".join(lines).encode(), fields))

        def sink(what):
            if what == END:
                peer.is_over = True
                sock.sendall(frames.frame(frames.CLOSE, b"\x03\xe8", masked=False))
            else:
                sock.sendall(frames.frame(opcode, what, masked=False))

        raw, reader = bytearray(), frames.FrameReader()
        self.raw.append(raw)
        peer.attach(sink)
        self.protocol.opened(self, peer)
        try:
            while more := file.read1(65536):
                raw += more
                for first, payload in reader.feed(more):
                    code = first & 15
                    if code == frames.PING:
                        sock.sendall(frames.frame(frames.PONG, payload, masked=False))
                    elif code == frames.CLOSE:
                        self.ends.append("close")
                        if not peer.is_over:
                            sock.sendall(frames.frame(frames.CLOSE, payload, masked=False))
                        return
                    elif code != frames.PONG:
                        hear(payload)
            self.ends.append(self.end_of(peer))
        except OSError as error:
            self.ends.append({"ECONNRESET": "RST", "EPIPE": "RST"}.get(errno.errorcode[error.errno or 0], str(error)))

    def end_of(self, peer):
        """What the end of what it says was: the error is told once, to its reader or to its writer."""
        time.sleep(0.05)
        return "RST" if peer.is_broken else "FIN"

    def stream(self, sock, file, peer, fields, opening, wrap, ending):
        """An answer without an end of its own, read to the client's."""
        sock.sendall(head("200 OK", [*fields, "Transfer-Encoding: chunked"]) + (chunk(opening) if opening else b""))

        def sink(what):
            sock.sendall(ending if what == END else chunk(wrap(what)))

        peer.attach(sink)
        self.protocol.opened(self, peer)
        try:
            while file.read1(65536):
                pass
            self.ends.append(self.end_of(peer))
        except OSError as error:
            self.ends.append("RST" if error.errno == errno.ECONNRESET else str(error))


class SignalR:
    """The paths of a SignalR hub."""

    def __init__(self, opcode=frames.TEXT, greeting=b"{}" + RECORD):
        self.opcode, self.greeting = opcode, greeting

    def opened(self, hub, peer):
        pass

    def serve(self, hub, sock, file, method, target, fields, body, lines):
        name = target.partition("id=")[2].partition("&")[0]
        if "/negotiate" in target:
            number = len(hub.peers) + 1
            hub.peer(f"t{number}")
            every = [
                {"transport": t, "transferFormats": ["Text", "Binary"]}
                for t in ("WebSockets", "ServerSentEvents", "LongPolling")
            ]
            answer = {
                "negotiateVersion": 1, "connectionId": f"c{number}", "connectionToken": f"t{number}",
                "availableTransports": every,
            }
            sock.sendall(head("200 OK", ["Content-Type: application/json"], json.dumps(answer).encode()))
            return True
        peer = hub.peer(name)
        if "upgrade" in fields:
            offered = fields.get("sec-websocket-protocol")
            named = [f"Sec-WebSocket-Protocol: {offered}"] if offered else []
            hub.socket(sock, file, lines, peer, self.opcode, lambda p: hub.hear(peer, p, [self.greeting]), named)
            return False
        if method == "POST":
            hub.hear(peer, body, [self.greeting])
            sock.sendall(head("200 OK", ["Content-Type: text/plain"], b""))
        elif method == "DELETE":
            sock.sendall(head("202 Accepted", ["Content-Type: text/plain"], b""))
        elif fields.get("accept") == "text/event-stream":
            kinds = ["Content-Type: text/event-stream", "Cache-Control: no-cache,no-store"]
            hub.stream(sock, file, peer, kinds, b":\r\n", lambda p: b"data: " + p + b"\r\n\r\n", LAST_CHUNK)
            return False
        else:
            self.poll(sock, peer)
        return True

    def poll(self, sock, peer):
        kind = ["Content-Type: application/octet-stream"]
        # The first one is answered at once.
        is_first, peer.is_polled = not peer.is_polled, True
        what = b"" if is_first else peer.next()
        sock.sendall(head("204 No Content", []) if what == END else head("200 OK", kind, what))


class GraphQL:
    """Operations over HTTP: every POST is a subscription that gets the script, as parts or as events by its Accept."""

    OPENINGS = {"parts": b"\r\n--graphql", "events": b":\n\n"}

    def opened(self, hub, peer):
        hub.start(peer, [])

    def serve(self, hub, sock, file, method, target, fields, body, lines):
        hub.heard.append(body)
        peer = hub.peer(f"o{len(hub.heard)}")
        if "multipart/mixed" in fields.get("accept", ""):
            kind = ['Content-Type: multipart/mixed;boundary="graphql";subscriptionSpec=1.0']
            wrap = lambda p: b"\r\ncontent-type: application/json\r\n\r\n" + p + b"\r\n--graphql"
            hub.stream(sock, file, peer, kind, self.OPENINGS["parts"], wrap, chunk(b"--\r\n") + LAST_CHUNK)
        else:
            kind = ["Content-Type: text/event-stream; charset=utf-8", "Cache-Control: no-cache"]
            wrap = lambda p: b"event: next\ndata: " + p + b"\n\n"
            done = chunk(b"event: complete\ndata:\n\n") + LAST_CHUNK
            hub.stream(sock, file, peer, kind, self.OPENINGS["events"], wrap, done)
        return False
