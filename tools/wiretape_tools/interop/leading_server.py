"""Two hosts with TLS that send their clients to each other: leading_server.py APP-PORT LOGIN-PORT CERTIFICATE KEY."""

import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

APP, LOGIN = (f"https://127.0.0.1:{port}" for port in sys.argv[1:3])
SHARED = "; Domain=127.0.0.1; Path=/; Secure; SameSite=None"


class Host(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    origin = ""

    def log_message(self, format, *args):  # noqa: A002  # as the base class has it
        pass

    def answer(self, status, body="", **fields):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Strict-Transport-Security", "max-age=600")
        self.send_header("Alt-Svc", 'h3=":443"')
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def found(self, location, **fields):
        self.answer(302, Location=location, **fields)

    @property
    def cookies(self):
        return {one.strip() for one in self.headers.get("Cookie", "").split(";")}


class App(Host):
    origin = APP

    def do_GET(self):
        if self.path == "/in":
            self.found(LOGIN + "/login?back=1", Set_Cookie="step=1" + SHARED)
        elif self.path == "/home":
            both = {"step=1", "sid=ok"} <= self.cookies
            self.answer(200 if both else 401, "welcome" if both else f"without {self.cookies}")
        elif self.path == "/orders/7":
            self.answer(200, "order 7", Refresh=f"5; url={LOGIN}/bye")
        elif self.path == "/config":
            self.answer(200, json.dumps({"hub": LOGIN + "/hub"}), Content_Type="application/json")
        elif self.path == "/loop":
            self.found(LOGIN + "/loop")
        else:
            self.answer(404)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.split("?")[0] == "/loop/negotiate":
            return self.answer(200, json.dumps({"url": LOGIN + "/loop", "accessToken": "t"}), Content_Type="application/json")
        origin, referer = self.headers.get("Origin"), self.headers.get("Referer", "")
        if origin != APP or not referer.startswith(APP + "/"):
            return self.answer(403, f"not from {origin} {referer}")
        return self.answer(201, "made", Location=APP + "/orders/7", Access_Control_Allow_Origin=origin)


class Login(Host):
    origin = LOGIN

    def do_GET(self):
        if self.path == "/login?back=1":
            self.found(APP + "/home", Set_Cookie="sid=ok" + SHARED)
        elif self.path == "/hub":
            self.answer(200, "the hub")
        elif self.path == "/bye":
            self.answer(200, "bye")
        elif self.path == "/loop":
            self.found(APP + "/loop")
        else:
            self.answer(404)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(200, json.dumps({"url": APP + "/loop", "accessToken": "t"}), Content_Type="application/json")


def serve(port, host):
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), host)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever).start()


serve(sys.argv[1], App)
serve(sys.argv[2], Login)
