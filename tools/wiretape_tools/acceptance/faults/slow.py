"""`reset after X` with much queued to a slow reader: the client gets X whole, and then RST."""

import concurrent.futures
import time

from wiretape_tools.acceptance.faults import wire
from wiretape_tools.acceptance.faults.clients import UPGRADE
from wiretape_tools.acceptance.faults.hub import Hub
from wiretape_tools.acceptance.faults.stage import WORK
from wiretape_tools.acceptance.faults.wire import Wire, ask
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Wiretape

RULE = "reset after message[100, direction=toClient]"
MESSAGES = [b"%04d" % n + b"x" * 1996 for n in range(1, 201)]


class Burst:
    """A server that says everything at once to each client that says anything."""

    def opened(self, hub, peer):
        pass

    def serve(self, hub, sock, file, method, target, fields, body, lines):
        peer = hub.peer(target)
        everything = b"".join(frames.frame(frames.TEXT, m, masked=False) for m in MESSAGES)
        hub.socket(sock, file, lines, peer, frames.TEXT, lambda _: sock.sendall(everything))
        return False


def one(port, n):
    """Reads slowly with a small window: (the bytes of the stream, the end)."""
    wire.made.wires = []
    client = Wire(port, window=4096)
    answer = ask(client, "upgrade", "GET", f"/ws?wt={n}", UPGRADE)
    client.send(frames.frame(frames.TEXT, b"go", masked=True))
    by = time.monotonic() + 30
    while not client.end and time.monotonic() < by:
        client.read(by - time.monotonic(), most=2048)
        time.sleep(0.002)
    client.close()
    return answer.body, client.end


def resets(times):
    """What does not hold."""
    expected = b"".join(frames.frame(frames.TEXT, m, masked=False) for m in MESSAGES[:100])
    hub = Hub(Burst(), [])
    with Wiretape(["proxy", "--upstream", f"http://127.0.0.1:{hub.port}", "--fault", RULE], WORK / "slow.log") as proxy:
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            results = list(pool.map(lambda n: one(proxy.port, n), range(times)))
        proxy.stop()
    hub.close()
    good = sum(result == (expected, "RST") for result in results)
    print(f"\nslow readers: {good} of {times} got message 100 whole, then RST")
    for body, end in results:
        if (body, end) != (expected, "RST"):
            print(f"  {len(body)} of {len(expected)} bytes, then {end}")
    return [f"{times - good} slow readers"] if good < times else []
