"""Transparent mode between network namespaces: a client, the machine that its packets go through, and a server.

The client asks a plain host, the same over TLS, and talks on a WebSocket over TLS; so do node and a page in headless Chromium, where
they are here (with the first kind of rules, both families): straight through the router, then recorded by
`wiretape record --mode transparent` on the router, whose firewall redirects it there, then of the tape with the server gone. It
sees the same each time, over IPv4 and IPv6, with nftables and with iptables. Then the router's own client, whose rule leaves out
Wiretape's user; the same without that exception, which must not go round; and a client that nobody has redirected. With
--clients also (IPv4, nftables) the real clients of `tls --parts reverse`, which know nothing but the server's name.

Root, iproute2, nftables and iptables; says what is missing, and where namespaces are not permitted, and looks at nothing then
(exit 77).
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

from wiretape_tools.acceptance.tls import reverse
from wiretape_tools.interop.forward import CLIENTS, clean
from wiretape_tools.interop.peers import HERE
from wiretape_tools.lib import chromium, frames
from wiretape_tools.lib.exchange import read_head
from wiretape_tools.lib.processes import ROOT, Failed, Program, Skipped, Wiretape, binary, fail, free_port, run
from wiretape_tools.lib.tapes import events

WORK = ROOT / ".build/acceptance/transparent"
NAME = "service.test"
# Towards the client, and towards the server: router, other end.
NETS = {4: (("10.77.0.1", "10.77.0.2", 24), ("10.78.0.1", "10.78.0.2", 24)),
        6: (("fd77::1", "fd77::2", 64), ("fd78::1", "fd78::2", 64))}  # fmt: skip
PORTS = {4: 8080, 6: 8081}
USER = "nobody"


# What browsers open: a page that asks, listens and talks, and writes down what it saw.
PAGE = b"""<!DOCTYPE html><title>page</title><link rel=icon href=data:,><pre></pre><script>
const say = text => document.querySelector("pre").append(text + "\\n");
const listen = path => new Promise(done => {
    const stream = new EventSource(path); let n = 0;
    stream.onmessage = event => { say(event.data); if (++n == 3) { stream.close(); done(); } };
});
const talk = path => new Promise(done => {
    const socket = new WebSocket("wss://" + location.host + path); let n = 0;
    socket.onopen = () => socket.send("one");
    socket.onmessage = event => { say(event.data); if (++n < 3) { socket.send("more " + n); } else { socket.close(1000); } };
    socket.onclose = event => { say("closed " + event.code); done(); };
});
(async () => { say(await (await fetch("/asked")).text()); await listen("/events"); await talk("/page-talk"); say("done"); })();
</script>"""
OWN = {b"/page": (b"text/html", PAGE), b"/events": (b"text/event-stream", b"".join(b"data: event %d\n\n" % n for n in range(3)))}
# node asks for a text over TLS and talks on a WebSocket, which node 20 has not: argv ADDRESS, NAME, the frame that it says.
NODE = """
const https = require("https");
const [address, servername, frame] = process.argv.slice(1);
const common = { host: address, port: 443, servername, headers: { Host: servername } };
https.get({ ...common, path: "/node", agent: false }, answer => {
    let text = "";
    answer.on("data", piece => (text += piece)).on("end", () => { console.log("node", answer.statusCode, text); talk(); });
}).on("error", failed);
function failed(error) { console.log("node failed:", error.code); }
function talk() {
    const headers = { ...common.headers, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": 13,
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" };
    https.request({ ...common, headers, path: "/node-talk", agent: false }).on("upgrade", (answer, socket) => {
        socket.on("data", data => { console.log("node socket", data.subarray(2).toString()); socket.destroy(); });
        socket.write(Buffer.from(frame, "hex"));
    }).on("error", failed).end();
}
"""


# ---------------------------------------------------------------- the server


def answer(connection):
    """One client: GET is answered with what was asked, an upgrade echoes."""
    with contextlib.suppress(OSError, Failed, ssl.SSLError):
        head, rest = read_head(connection)
        if b"pgrade: websocket" not in head:
            line = head.split(b"\r\n")[0]
            kind, body = OWN.get(line.split(b" ")[1], (b"text/plain", line))
            fields = b"Content-Type: %s\r\nContent-Length: %d\r\nConnection: close" % (kind, len(body))
            connection.sendall(b"HTTP/1.1 200 OK\r\n%s\r\n\r\n%s" % (fields, body))
            return connection.close()
        connection.sendall(frames.response(head))
        reader, data = frames.FrameReader(), rest
        while True:
            for first, payload in reader.feed(data):
                connection.sendall(frames.frame(first & 15, payload, masked=False))
                if first & 15 == frames.CLOSE:
                    return connection.close()
            data = connection.recv(65536)
            if not data:
                return connection.close()


def serve(certificate):
    """Plain on 80 and TLS on 443, both families."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def accept(listener, secure):
        while True:
            connection, _ = listener.accept()

            def begin(connection=connection):
                try:
                    answer(context.wrap_socket(connection, server_side=True) if secure else connection)
                except (OSError, ssl.SSLError):
                    connection.close()

            threading.Thread(target=begin, daemon=True).start()

    for port in (80, 443):
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
        threading.Thread(target=accept, args=(listener, port == 443), daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


# ---------------------------------------------------------------- the client


def ask(address, authority):
    """What a client sees; a line each."""
    context = ssl.create_default_context(cafile=authority)

    def get(path, secure):
        with socket.create_connection((address, 443 if secure else 80), 10) as plain:
            stream = context.wrap_socket(plain, server_hostname=NAME) if secure else plain
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n".encode())
            got = b""
            while more := stream.recv(65536):
                got += more
            return f"{got[9:12].decode()} {got.split(bytes.fromhex('0d0a0d0a'), 1)[-1].decode()}"

    def talk():
        with socket.create_connection((address, 443), 10) as plain, context.wrap_socket(plain, server_hostname=NAME) as stream:
            stream.sendall(frames.request("/talk", NAME, key="dGhlIHNhbXBsZSBub25jZQ=="))
            head, data = read_head(stream)
            if b" 101 " not in head.split(b"\r\n")[0]:
                raise Failed(f"no upgrade: {head[9:12].decode()}")
            reader, said = frames.FrameReader(), list[str]()
            for number in range(3):
                stream.sendall(frames.frame(frames.TEXT, b'{"say":%d}' % number, masked=True))
                while len(said) <= number:
                    said += [payload.decode() for _, payload in reader.feed(data)]
                    if len(said) <= number and not (data := stream.recv(65536)):
                        raise Failed("the socket ended")
                data = b""
            stream.sendall(frames.frame(frames.CLOSE, b"\x03\xe8", masked=True))
            with contextlib.suppress(OSError):
                while stream.recv(65536):
                    pass
            return " ".join(said)

    for title, deed in [("plain", lambda: get("/plain", False)), ("secure", lambda: get("/secure", True)), ("socket", talk)]:
        try:
            print(title, deed())
        except (OSError, Failed, ssl.SSLError) as error:
            print(title, "failed:", getattr(error, "reason", None) or error)


def browse(address, authority):
    """The same for node and a browser, where they are here."""
    if shutil.which("node"):
        hello = frames.frame(frames.TEXT, b"hello", masked=True).hex()
        _, out, err = run(["node", "-e", NODE, address, NAME, hello], env={**os.environ, "NODE_EXTRA_CA_CERTS": authority})
        print(out or f"node failed: {err}", end="")
    with contextlib.suppress(Skipped):
        chromium.check()
        target = f"[{address}]" if ":" in address else address
        text = chromium.page_text(f"https://{NAME}/page", authority, hosts=f"MAP {NAME} {target}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        print("page", "failed: " * text.startswith("error") + " | ".join(text.strip().splitlines()))


def forget():
    """The kernel's table of connections in this namespace is emptied: a message IPCTNL_MSG_CT_DELETE of NFNL_SUBSYS_CTNETLINK that
    names none (linux/netfilter/nfnetlink_conntrack.h), as `conntrack --flush` sends it."""
    netfilter, acknowledged = 12, 0x1 | 0x4
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, netfilter) as kernel:
        kernel.send(struct.pack("=IHHIIBBH", 20, 1 << 8 | 2, acknowledged, 1, 0, socket.AF_UNSPEC, 0, 0))
        error = struct.unpack_from("=i", kernel.recv(4096), 16)[0]
    return fail(f"the table of connections cannot be emptied: {os.strerror(-error)}") if error else 0


# ---------------------------------------------------------------- the stage


class Stage:
    """Three namespaces, joined by two links: client, router, server."""

    def __init__(self):
        self.names = {name: f"wt-{os.getpid()}-{name}" for name in ("client", "router", "server")}

    def __enter__(self):
        try:
            for name in self.names.values():
                self.command("ip", "netns", "add", name)
            # What the client's names mean: 'ip netns exec' puts this file over the real one.
            hosts = pathlib.Path("/etc/netns") / self.names["client"] / "hosts"
            hosts.parent.mkdir(parents=True)
            hosts.write_text(f"127.0.0.1 localhost\n{NETS[4][1][1]} {NAME}\n", encoding="ascii")
        except Failed as failure:
            self.__exit__()
            raise Skipped(f"network namespaces are not permitted here: {failure}") from None
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names.values():
            run(["ip", "netns", "del", name])
            shutil.rmtree(pathlib.Path("/etc/netns") / name, ignore_errors=True)

    def command(self, *words, feed=None):
        done = subprocess.run([str(w) for w in words], input=feed, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.returncode}")
        return done.stdout

    def within(self, name):
        return ["ip", "netns", "exec", self.names[name]]

    def build(self):
        for name in self.names:
            # Addresses are good at once: else they change a second later, and a browser drops what it is loading then.
            self.command(*self.within(name), "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0")
        for side, (end, link) in enumerate([("client", "wtc"), ("server", "wts")]):
            self.command("ip", "link", "add", f"{link}0", "netns", self.names["router"], "type", "veth",
                         "peer", "name", f"{link}1", "netns", self.names[end])  # fmt: skip
            for name, device, place in [("router", f"{link}0", 0), (end, f"{link}1", 1)]:
                for net in NETS.values():
                    address = f"{net[side][place]}/{net[side][2]}"
                    nodad = ["nodad"] if ":" in address else []
                    self.command("ip", "-n", self.names[name], "addr", "add", address, "dev", device, *nodad)
                self.command("ip", "-n", self.names[name], "link", "set", device, "up")
            for net in NETS.values():
                self.command("ip", "-n", self.names[end], "route", "add", "default", "via", net[side][0])
        for space in self.names.values():
            self.command("ip", "-n", space, "link", "set", "lo", "up")
        self.command(*self.within("router"), "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        self.settle()

    def settle(self):
        """Waits until both links are up at both ends, which the kernel tells up to a second later."""
        for _ in range(100):
            links = "".join(self.command("ip", "-n", space, "-o", "link", "show", "type", "veth") for space in self.names.values())
            addresses = "".join(self.command("ip", "-n", space, "-o", "-6", "addr", "show") for space in self.names.values())
            if links.count("state UP") == 4 and "tentative" not in addresses:
                return
            time.sleep(0.05)
        raise Failed(f"the links do not come up: {links}{addresses}")

    # The firewall

    def redirect(self, tool, family, hook, but=None):
        """What goes to the server's ports goes to Wiretape."""
        server, port = NETS[family][1][1], PORTS[family]
        if tool == "nft":
            chain = f"type nat hook {hook} priority {'dstnat' if hook == 'prerouting' else '-100'};"
            mine = f"meta skuid != {but} " if but else ""
            ip = "ip" if family == 4 else "ip6"
            rule = f"{mine}{ip} daddr {server} tcp dport {{ 80, 443 }} redirect to :{port}"
            rules = f"table inet wiretape {{\n chain {hook} {{\n  {chain}\n  {rule}\n }}\n}}\n"
            self.command(*self.within("router"), "nft", "-f", "-", feed=rules)
        else:
            owner = ["-m", "owner", "!", "--uid-owner", but] if but else []
            for asked in (80, 443):
                self.command(*self.within("router"), "iptables" if family == 4 else "ip6tables", "-t", "nat", "-A",
                             hook.upper(), *owner, "-d", server, "-p", "tcp", "--dport", asked,
                             "-j", "REDIRECT", "--to-ports", port)  # fmt: skip

    def clear(self):
        """No rules any more, and no memory of what they did: while nothing is tracked, the kernel does not see connections end. One
        that it still holds for open leads the next connection from the same port to where the old rule led, and that is to us."""
        self.command(*self.within("router"), "nft", "flush", "ruleset")
        self.command(*self.within("router"), sys.executable, "-m", __spec__.name, "--forget")

    # Programs

    def until_open(self, address, port):
        """Waits until a server is there."""
        probe = f"import socket; socket.create_connection(({address!r}, {port}), 1)"
        for _ in range(100):
            if run([*self.within("client"), sys.executable, "-c", probe])[0] == 0:
                return
            time.sleep(0.1)
        raise Failed(f"nobody listens on {address}, port {port}")

    def server(self, certificate):
        command = [*self.within("server"), sys.executable, "-m", __spec__.name, "--serve", certificate]
        program = Program("server", [str(c) for c in command], WORK / "server.log", read_stdout=True)
        if program.stdout.readline().strip() != b"ready":
            program.kill()
            raise Failed(f"the server does not begin: {program.said()}")
        return program

    def ask(self, name, family, authority, how="--ask"):
        command = [*self.within(name), sys.executable, "-m", __spec__.name, how, NETS[family][1][1], authority]
        code, out, err = run(command, seconds=120)
        if code != 0:
            raise Failed(f"the client ended with {code}: {err[-600:]}")
        return out

    def wiretape(self, *words, user=None):
        prefix = self.within("router")
        if user:
            prefix += ["setpriv", "--reuid", user, "--regid", "nogroup", "--clear-groups"]
        return Redirected(prefix, words)


class Redirected(Wiretape):
    """A run behind a command that says where and as whom."""

    def __init__(self, prefix, words):
        self.prefix = prefix
        listens = ["--listen", f"0.0.0.0:{PORTS[4]}", "--listen", f"[::]:{PORTS[6]}"]
        super().__init__([*words, "--mode", "transparent", *listens], WORK / "wiretape.log")

    def command(self, arguments):
        return [*self.prefix, *super().command(arguments)]


def certificates():
    """An authority of the service's own and its server's certificate; our own authority, beside it."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    pem = WORK / "server.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=service"]
    made = WORK / "made.pem"
    code, _, err = run([*command, "-keyout", WORK / "key.pem", "-out", made, "-addext", f"subjectAltName=DNS:{NAME}"])
    if code != 0:
        raise Failed(f"openssl ended with {code}: {err}")
    pem.write_text((WORK / "key.pem").read_text() + made.read_text())
    folder = WORK / "ca"
    code, _, err = run([binary(), "ca", "init", "--ca-dir", folder])
    if code != 0:
        raise Failed(f"wiretape ca init ended with {code}: {err}")
    # The run that is nobody's reads it, too.
    for path in [WORK, folder, *folder.iterdir()]:
        shutil.chown(path, USER)
    return pem, made, folder


def same(live, seen, title):
    if seen != live:
        raise Failed(f"{title} the client saw\n{seen}instead of\n{live}")


def cell(stage, tool, family, files, browses):
    """Through the router: directly, recorded, replayed."""
    pem, made, folder = files
    tape = WORK / f"{tool}-{family}.tape"
    ours = folder / "ca.pem"

    def seen(authority):
        return stage.ask("client", family, authority) + (stage.ask("client", family, authority, "--browse") if browses else "")

    with stage.server(pem):
        live = seen(made)
        if "failed" in live:
            raise Failed(f"directly the client saw\n{live}")
        words = ["record", "--ca-dir", folder, "--upstream-ca", made, "--output", tape, "--force"]
        with stage.wiretape(*words) as recorder:
            stage.redirect(tool, family, "prerouting")
            same(live, seen(ours), "recorded")
            stranger = seen(made)
            # All of them but the one that speaks plain.
            kinds = {line.split(" ")[0] for line in live.splitlines()} - {"plain"}
            failed = {line.split(" ")[0] for line in stranger.splitlines() if "failed" in line}
            if failed != kinds:
                raise Failed(f"who does not trust the authority saw\n{stranger}")
            if (code := recorder.stop()) != 0:
                raise Failed(f"record ended with {code}: {recorder.said()}")
    hosts = {event.get("upstream") for event in events(tape)[1] if event["e"] == "open"}
    wanted = {NAME, f"{NAME}:80", f"{NETS[family][1][1]}:443" if family == 4 else f"[{NETS[family][1][1]}]:443"}
    if hosts != wanted:
        raise Failed(f"the tape has the hosts {hosts}, expected {wanted}")
    with stage.wiretape("replay", tape, "--ca-dir", folder) as player:
        same(live, seen(ours), "replayed without the server")
        if (code := player.stop()) != 0:
            raise Failed(f"replay ended with {code}: {player.said()}")
    stage.clear()
    who = ", ".join(dict.fromkeys(line.split(" ")[0] for line in live.splitlines()))
    return f"IPv{family}, {tool}: {who}: the same directly, recorded, and replayed without the server; refused without the authority"


def own(stage, files):
    """The router's own client; and the same rule without the exception that it needs."""
    pem, made, folder = files
    told = []
    with stage.server(pem):
        live = stage.ask("router", 4, made)
        words = ["proxy", "--ca-dir", folder, "--upstream-ca", made]
        with stage.wiretape(*words, user=USER) as proxy:
            stage.redirect("nft", 4, "output", but=USER)
            same(live, stage.ask("router", 4, folder / "ca.pem"), "on the machine itself")
            stage.clear()
            told.append("the router's own client sees the same")
            stage.redirect("nft", 4, "output")
            seen = stage.ask("router", 4, folder / "ca.pem")
            if "plain 502" not in seen or "secure 502" not in seen:
                raise Failed(f"without the exception its client saw\n{seen}")
            if "Wiretape's own, on its way to a server" not in proxy.said(20000):
                raise Failed(f"nobody was told of the loop: {proxy.said()}")
            if proxy.rss() > 256 << 10:
                raise Failed(f"the loop cost {proxy.rss() >> 10} MiB")
            stage.clear()
            told.append("a loop is refused with 502 and a sentence")
            code, out, err = run([*stage.within("client"), "curl", "-sS", "-i", f"http://{NETS[4][0][0]}:{PORTS[4]}/"])
            if code != 0 or " 421 " not in out or "nothing was redirected" not in out:
                raise Failed(f"who connects to the listener itself: curl ended with {code} and saw\n{out}{err}\nproxy: {proxy.said()}")
            told.append("who was not redirected gets 421 and a sentence")
            proxy.stop()
    return "; ".join(told)


def real(stage, files):
    """Each of the real clients, by the server's name."""
    _, made, folder = files
    key, tape, ours = WORK / "key.pem", WORK / "real.tape", folder / "ca.pem"
    told, absent = [], []
    server, port = NETS[4][1][1], free_port()
    hosts = {"hosts": [reverse.python(), HERE / "forward_server.py", f"{server}:80", f"{server}:443", made, key]}
    hub = {"hub": [reverse.python(), HERE / "aiosignalr_hub.py", port],
           "front": [sys.executable, HERE / "leading_tls.py", f"{server}:443", port, made, key]}  # fmt: skip
    for client in (*CLIENTS, "URLSession"):
        try:
            reverse.check(client)
            program = reverse.compiled(WORK) if client == "URLSession" else None
        except Skipped as skipped:
            absent.append(f"{client} ({skipped})")
            continue

        def seen(authority, client=client, program=program):
            words, environment = reverse.asking(client, f"https://{NAME}", authority)
            if program:
                words, environment = [*reverse.OWN_STORE, authority, program, f"https://{NAME}/hub"], clean()
            _, out, err = run([*stage.within("client"), *words], seconds=80, env=environment)
            return out or err

        with contextlib.ExitStack() as servers:
            for name, words in (hub if program else hosts).items():
                command = [*stage.within("server"), *map(str, words)]
                servers.enter_context(Program(name, command, WORK / f"{name}.log", env=clean()))
            stage.until_open(server, 443)
            live = seen(made)
            if "rror" in live or len(live) < 60:
                raise Failed(f"{client}: directly it saw\n{live}")
            words = ["record", "--ca-dir", folder, "--upstream-ca", made, "--output", tape, "--force"]
            with stage.wiretape(*words) as recorder:
                stage.redirect("nft", 4, "prerouting")
                same(live, seen(ours), f"recorded, by {client},")
                if common := set(seen(made).splitlines()) & set(live.splitlines()):
                    raise Failed(f"{client} connects although it does not trust the certificate: {sorted(common)[:3]}")
                if (code := recorder.stop()) != 0:
                    raise Failed(f"{client}: record ended with {code}: {recorder.said()}")
        with stage.wiretape("replay", tape, "--ca-dir", folder) as player:
            same(live, seen(ours), f"replayed without the server, by {client},")
            if (code := player.stop()) != 0:
                raise Failed(f"{client}: replay ended with {code}: {player.said()}")
        stage.clear()
        told.append(f"{client} {len(live.replace(' | ', chr(10)).splitlines())}")
    left = f"; NOT LOOKED AT: {', '.join(absent)}" if absent else ""
    ways = "lines the same directly, recorded, and replayed without the server; refused without the authority"
    return f"{ways}: {', '.join(told)}{left}"


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/transparent", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rules", default="nft,iptables", help="of nft,iptables")
    parser.add_argument("--families", default="4,6", help="of 4,6")
    parser.add_argument("--clients", action="store_true", help="the real clients of tools/interop, too")
    parser.add_argument("--serve", metavar="PEM", help=argparse.SUPPRESS)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--browse", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--forget", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if options.ask:
        return ask(*options.ask)
    if options.browse:
        return browse(*options.browse)
    if options.forget:
        return forget()
    try:
        if os.geteuid() != 0:
            raise Skipped("it needs root for its network namespaces")
        for need in ["ip", "setpriv", "curl", "openssl", "nft", *options.rules.split(",")]:
            if shutil.which(need) is None:
                raise Skipped(f"there is no {need} (Debian: iproute2, util-linux, curl, openssl, nftables, iptables)")
        files = certificates()
        with Stage() as stage:
            for tool in options.rules.split(","):
                for family in options.families.split(","):
                    browses = tool == options.rules.split(",")[0]
                    print("transparent:", cell(stage, tool, int(family), files, browses), flush=True)
            print("transparent:", own(stage, files), flush=True)
            if options.clients:
                print("transparent:", real(stage, files), flush=True)
    except Skipped as skipped:
        print(f"transparent: skipped: {skipped}", file=sys.stderr)
        return 77
    except Failed as failure:
        return fail(f"transparent: {failure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
