"""Two real servers recorded through one process, and replayed: the one that was recorded second is asked first, and each
client observes what it did live."""

import json
import sys

from wiretape_tools.interop.cases import ECHO, TALK
from wiretape_tools.interop.cells import compare
from wiretape_tools.lib.processes import Failed, Program, Wiretape, free_port, run, wait_for_port

# The same route on both servers, and other words: what one says can be told from what the other says.
STEPS = {
    "first": [ECHO, {"do": "invoke", "chain": "say", "method": "SendMessage", "args": ["ada", "first"]},
              {"do": "wait", "callback": "ReceiveMessage", "count": 1}],
    "second": [{**ECHO, "args": ["second"]}, *TALK[1:4]],
}  # fmt: skip


def observe(stage, client, url, name):
    script = stage.script(STEPS[name], client, "aiosignalr")
    return stage.observe(url + "/hub", script, client)


def record(stage, client, tape):
    """What each client observes live, which is equal through one recorder of both."""
    with stage.server(server="aiosignalr") as one, stage.server(server="aiosignalr") as two:
        ports = {"first": one, "second": two}
        live = {name: observe(stage, client, f"http://127.0.0.1:{port}", name) for name, port in ports.items()}
        upstreams = [word for name, port in ports.items() for word in ("--upstream", f"{name}=http://127.0.0.1:{port}")]
        with Wiretape(["record", *upstreams, "--output", tape], stage.path(".log")) as proxy:
            if list(proxy.ready["urls"]) != ["first", "second"]:
                raise Failed(f"record is ready at {proxy.ready['urls']}")
            for name, url in proxy.ready["urls"].items():
                compare(live[name], observe(stage, client, url, name), f"record of {name}")
            if (code := proxy.stop()) != 0:
                raise Failed(f"record ended with {code}: {proxy.said()}")
    return live


def case(client):
    def play(stage):
        tape, report = stage.tape(), stage.path(".report.json")
        live = record(stage, client, tape)
        with Wiretape(["replay", tape, "--report", report], stage.path(".log")) as proxy:
            for name in ("second", "first"):
                compare(live[name], observe(stage, client, proxy.ready["urls"][name], name), f"replay of {name}")
            if (code := proxy.stop()) != 0:
                raise Failed(f"replay ended with {code}: {proxy.said()}")
        told = [(s["session"], s["upstream"], s["finished"]) for s in json.loads(report.read_text())["sessions"]]
        if told != [(1, "first", True), (2, "second", True)]:
            raise Failed(f"the report tells {told}")
        with Wiretape(["replay", tape, "--patience", "1s"], stage.path(".log")) as proxy:
            try:
                seen = observe(stage, client, proxy.ready["urls"]["second"], "first")
            except Failed:
                pass
            else:
                if seen == live["first"]:
                    raise Failed("the second server's listener says what the first server said")
            if (code := proxy.stop()) != 2:
                raise Failed(f"replay ended with {code}: {proxy.said()}")
        return "the second first, each as live; what the first said is not to be had from the second"

    return play


PLAIN = """
import sys
from aiohttp import web

name = sys.argv[2]

async def who(request):
    return web.json_response({"server": name})

async def own(request):
    return web.json_response({"only": name})

app = web.Application()
app.add_routes([web.get("/who", who), web.get("/" + name, own)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
"""
ASK = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=5).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
"""


def exchanges(stage):
    """Plain requests, asked by a command that finds both addresses in its words."""
    ports, programs = {}, []
    try:
        for name in ("api", "shop"):
            port = ports[name] = free_port()
            program = Program(name, [sys.executable, "-c", PLAIN, str(port), name], stage.path(".server.log"))
            programs.append(program)
            wait_for_port(port, program)
        tape = stage.tape()
        options = [word for name, port in ports.items() for word in ("--upstream", f"{name}=http://127.0.0.1:{port}")]
        asked = [sys.executable, "-c", ASK, "{url:api}/who", "{url:shop}/who", "{url:api}/api", "{url:shop}/shop"]
        wanted = told(["record", *options, "--output", tape, "--", *asked])
    finally:
        for program in programs:
            program.kill()
    if wanted != ['{"server": "api"}', '{"server": "shop"}', '{"only": "api"}', '{"only": "shop"}']:
        raise Failed(f"record: {wanted}")
    swapped = [*asked[:3], *[asked[i] for i in (4, 3, 6, 5)]]
    got = told(["replay", tape, "--", *swapped])
    if got != [wanted[i] for i in (1, 0, 3, 2)]:
        raise Failed(f"replay: {got}")
    # A request that the tape cannot answer is a divergence.
    missed = told(["replay", tape, "--", *asked[:3], "{url:shop}/api"], wanted=2)
    if not missed[0].startswith("404 ") or "at upstream 'shop'" not in missed[0] or "GET /api" in missed[0].partition("It has")[2]:
        raise Failed(f"what only the other server has: {missed}")
    return "each server's own answers, in the other order, and 404 for the other's"


def told(words, wanted=0):
    from wiretape_tools.lib.processes import binary

    code, out, err = run([binary(), *words], seconds=60)
    if code != wanted:
        raise Failed(f"{words[0]} ended with {code}: {out} {err[-500:]}")
    return out.splitlines()


CASES = {
    "upstreams: signalr-js": (("signalr-js",), case("signalr-js")),
    "upstreams: pysignalr": ((), case("pysignalr")),
    "upstreams: plain requests": ((), exchanges),
}
