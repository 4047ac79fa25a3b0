"""Thirty secrets of ten kinds in every place of SignalR, GraphQL, Eventflit (Pusher) and Atmosphere, said by real clients.

    tools/acceptance/secrets [--cells TEXT] [--jobs N]

Each cell is a client with its server: headers, cookies, queries and messages of both directions, thirty of their own in each place;
beside it plain requests in all places of HTTP. It is recorded without redaction (the control: the search and `scan` find all of
them), with it, watched by the control API, and with a rule; the tapes are replayed with the same secrets, renewed ones, rules, and
by a client that says something else. Then every byte that Wiretape has written or answered is searched, in every spelling.

Exit 1 if something does not hold; a cell whose client is not here says so and is left out. Needs what tools/interop installs.
"""

import argparse
import concurrent.futures
import sys

from wiretape_tools.acceptance.secrets.cells import WORK, Cell, Kind
from wiretape_tools.interop.peers import Peers
from wiretape_tools.lib.processes import ROOT, Failed, binary, fail, run

NPM = ("npm",)
CELLS = [
    *(Kind(f"signalr, signalr-js, {protocol} over {transport}", "signalr",
           lambda client, url, p=protocol, t=transport: client.signalr(url, "signalr-js", p, t), NPM, transport == "ws")
      for protocol, transport in (("json", "ws"), ("json", "sse"), ("json", "lp"), ("messagepack", "ws"), ("messagepack", "lp"))),
    *(Kind(f"signalr, pysignalr, {protocol} over ws", "signalr",
           lambda client, url, p=protocol: client.signalr(url, "pysignalr", p, "ws"), (), True)
      for protocol in ("json", "messagepack")),
    Kind("graphql, graphql-ws", "graphql", lambda client, url: client.graphql(url, "node", "graphql-transport-ws"), NPM, True),
    Kind("graphql, subscriptions-transport-ws", "graphql", lambda client, url: client.graphql(url, "node", "graphql-ws"), NPM, True),
    Kind("graphql, gql over ws", "graphql", lambda client, url: client.graphql(url, "gql", "graphql-transport-ws"), (), True),
    Kind("graphql, gql by multipart", "graphql", lambda client, url: client.graphql(url, "gql-http", "")),
    Kind("graphql, graphql-sse", "graphql", lambda client, url: client.graphql(url, "sse", ""), NPM),
    *(Kind(f"eventflit, pusher-js by {transport}", "eventflit",
           lambda client, url, t=transport: client.eventflit(url, "pusher-js", t), NPM, transport == "ws")
      for transport in ("ws", "xhr_streaming", "xhr_polling")),
    Kind("eventflit, Pysher", "eventflit", lambda client, url: client.eventflit(url, "pysher", "")),
    Kind("eventflit, eventflit client", "eventflit", lambda client, url: client.eventflit(url, "eventflit", ""), (), True),
    *(Kind(f"atmosphere, {transport}", "atmosphere", lambda client, url, t=transport: client.atmosphere(url, t))
      for transport in ("ws", "sse", "stream", "lp")),
]  # fmt: skip


def recordings() -> str:
    """The tapes of this repository have none."""
    tapes = sorted(path for path in (ROOT / "recordings").iterdir() if ".tape" in path.name and path.suffix in (".tape", ".gz"))
    code, out, err = run([binary(), "scan", *tapes], seconds=300)
    if code != 0 or len(tapes) < 30:
        raise Failed(f"scan of {len(tapes)} recordings ended with {code}: {out[-800:]} {err[-300:]}")
    return f"no secret on {len(tapes)} tapes"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/acceptance/secrets", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cells", default="", metavar="TEXT", help="those whose names have it; recordings for what lies in recordings/")
    parser.add_argument("--jobs", type=int, default=2, help="cells at a time")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    peers = Peers(WORK)
    (WORK / "cases").mkdir(exist_ok=True)
    chosen = [kind for kind in CELLS if options.cells in kind.name]
    failures = ran = 0

    def attempt(kind: Kind) -> tuple[str, str, bool | None]:
        missing = [f"{peer}: {why}" for peer in kind.peers if (why := peers.missing(peer))]
        if missing:
            return kind.name, f"skipped: {missing[0]}", None
        try:
            return kind.name, Cell(peers, kind).run(), True
        except Failed as failure:
            return kind.name, str(failure), False

    if options.cells in "recordings":
        try:
            print(f"recordings: {recordings()}", flush=True)
        except Failed as failure:
            failures += 1
            fail(f"recordings: {failure}")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        for name, text, passed in executor.map(attempt, chosen):
            ran += passed is not None
            if passed is False:
                failures += 1
                fail(f"{name}: {text}")
            else:
                print(f"{name}: {text}", flush=True)
    if not chosen and options.cells not in "recordings":
        parser.error(f"no cell has {options.cells!r} in its name")
    print(f"secrets: {ran - failures} of {ran} cells hold, {len(chosen) - ran} left out", flush=True)
    return 1 if failures or (chosen and not ran) else 0


if __name__ == "__main__":
    sys.exit(main())
