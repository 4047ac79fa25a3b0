"""TLS handshakes and messages a second, beside nginx with TLS in the same run: judged by the clock, as tools/bench does, with the
server on one core and its load on the other. What a second of its core brings is noted beside it: the load may be what limits."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

from wiretape_tools.acceptance.tls.stage import WORK, Authority
from wiretape_tools.lib.processes import ROOT, Failed, Program, Skipped, Wiretape, free_port, run, wait_for_port

BENCH = ROOT / ".build/bench-tls"
LOAD = ROOT / "tools/wiretape_tools/bench/load"
NGINX, HAPROXY = "/usr/sbin/nginx", "/usr/sbin/haproxy"
CONNECT, THROUGHPUT = 0.6, 0.8
SECONDS = 3
TICK = os.sysconf("SC_CLK_TCK")


def cpu(pids):
    """Seconds that these have worked."""
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def children(pid):
    return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def nginx(origin, port, log):
    """One worker with TLS and a P-256 certificate, as Wiretape's leaves are; the pids that work."""
    folder = BENCH / "nginx"
    folder.mkdir(parents=True, exist_ok=True)
    key, pem = folder / "key.pem", folder / "cert.pem"
    code, _, err = run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-keyout", key, "-out", pem])  # fmt: skip
    if code != 0:
        raise Failed(f"openssl ended with {code}: {err}")
    temp = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"""worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/err; user root;
events {{ worker_connections 4096; }}
http {{
    access_log off; {temp}
    map $http_upgrade $conn_up {{ default upgrade; '' ''; }}
    server {{
        listen 127.0.0.1:{port} ssl backlog=4096; ssl_certificate {pem}; ssl_certificate_key {key}; keepalive_requests 1000000;
        location / {{
            proxy_pass http://127.0.0.1:{origin}; proxy_http_version 1.1; proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $conn_up; proxy_buffering off;
        }}
    }}
}}
"""
    )
    program = Program("nginx", ["taskset", "-c", "0", NGINX, "-c", str(folder / "nginx.conf")], log)
    wait_for_port(port, program)
    return program, children(program.process.pid)


class Recorder(Wiretape):
    def command(self, arguments):
        return ["taskset", "-c", "0", *super().command(arguments)]


def wiretape(kind, origin, port, log):
    authority = Authority("speed-ca")
    words = [kind, "--upstream", f"http://127.0.0.1:{origin}", *authority.options, "--listen", f"https://127.0.0.1:{port}", "--quiet"]
    if kind == "record":
        words += ["--output", BENCH / "speed.tape.gz", "--force"]
    program = Recorder(words, log)
    return program, [program.process.pid]


def connects(port, pids):
    """Handshakes a second of the server's core, and a second of the clock: two clients without resumption."""
    words = ["taskset", "-c", "1", "openssl", "s_time", "-connect", f"127.0.0.1:{port}", "-new", "-time", str(SECONDS)]
    before, started = cpu(pids), time.monotonic()
    running = [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
    out = [one.communicate()[0].decode() for one in running]
    took, worked = time.monotonic() - started, cpu(pids) - before
    # "1234 connections in 4 real seconds, …"
    count = sum(int(text.rsplit(" connections in ", 1)[0].rsplit("\n", 1)[-1]) for text in out if "connections in" in text)
    if count == 0 or worked == 0:
        raise Failed(f"openssl s_time: {out}")
    return count / worked, count / took


def throughput(port, pids):
    """Round trips of 128 bytes over 64 WebSockets, a second of the server's core and of the clock. haproxy speaks its TLS."""
    plain = free_port()
    configuration = BENCH / "haproxy.cfg"
    configuration.write_text(
        f"global\n    nbthread 1\ndefaults\n    mode http\n    timeout connect 10s\n    timeout client 1h\n    timeout server 1h\n"
        f"    timeout tunnel 1h\nlisten ws\n    bind 127.0.0.1:{plain}\n    server s1 127.0.0.1:{port} ssl verify none\n"
    )
    with Program("haproxy", ["taskset", "-c", "1", HAPROXY, "-db", "-f", str(configuration)], BENCH / "haproxy.log") as helper:
        wait_for_port(plain, helper)
        words = ["taskset", "-c", "1", BENCH / "rtload", "ws", "--url", f"ws://127.0.0.1:{plain}/", "--conns", 64, "--size", 128,
                 "--seconds", SECONDS, "--watch-pid", ",".join(map(str, pids))]  # fmt: skip
        code, out, err = run(words)
    if code != 0:
        raise Failed(f"rtload ended with {code}: {out[-300:]} {err[-300:]}")
    told = json.loads(out)
    return 1e6 / told["watch_cpu_us_per_unit"], told["msg_per_s"]


def speed(options):
    for need in (NGINX, HAPROXY, "taskset", "gcc", "make", "openssl"):
        if shutil.which(need) is None:
            raise Skipped(f"there is no {need} (Debian: nginx-light, haproxy, util-linux, gcc, make, openssl)")
    if (os.cpu_count() or 1) < 2:
        raise Skipped("one core is not enough for a server and its load")
    BENCH.mkdir(parents=True, exist_ok=True)
    for name in ("Makefile", "rtload.c"):
        shutil.copy(LOAD / name, BENCH / name)
    code, _, err = run(["make", "-s", "-C", BENCH, "rtload"])
    if code != 0:
        raise Failed(f"rtload cannot be built: {err}")
    origin = free_port()
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    echoes = ["taskset", "-c", "1", str(BENCH / "rtload"), "echo-server", "--port", str(origin)]
    with Program("origin", echoes, WORK / "origin.log") as peer:
        wait_for_port(origin, peer)
        for _ in range(options.rounds):
            for kind in ("nginx", "proxy", "record"):
                for load, measure in (("connect", connects), ("throughput", throughput)):
                    port = free_port()
                    log = WORK / f"speed-{kind}.log"
                    program, pids = nginx(origin, port, log) if kind == "nginx" else wiretape(kind, origin, port, log)
                    with program:
                        found.setdefault((load, kind), []).append(measure(port, pids))
    told, missed = [], []
    for load, kind, bound in [("connect", "proxy", CONNECT), ("connect", "record", CONNECT), ("throughput", "proxy", None),
                              ("throughput", "record", THROUGHPUT)]:  # fmt: skip
        ours, theirs = ([statistics.median(one[i] for one in found[load, who]) for i in (0, 1)] for who in (kind, "nginx"))
        ratio, clock = ours[0] / theirs[0], ours[1] / theirs[1]
        text = f"{load}, {kind}: {clock:.2f} of nginx ({ours[1]:,.0f} to {theirs[1]:,.0f} a second), {ratio:.2f} a second of its core"
        told.append(text)
        if bound and clock < bound:
            missed.append(f"{text}, less than {bound}")
    if missed:
        raise Failed("; ".join(missed) + ". All: " + "; ".join(told))
    return "; ".join(told)
