"""Thirty-three secrets of eleven kinds in every place of SignalR, GraphQL, Eventflit (Pusher) and Atmosphere, said by real clients.

    tools/acceptance/secrets [--cells TEXT] [--jobs N]

Each cell is a client with its server: headers, cookies, queries and messages of both directions, secrets of their own in each place;
beside it plain requests in all places of HTTP. It is recorded without redaction (the control: the search and `scan` find all of
them), with it, watched by the control API, and with a rule; the tapes are replayed with the same secrets, renewed ones, rules, and
by a client that says something else. Then every byte that Wiretape has written or answered is searched, in every spelling.

Exit 1 if something does not hold; a cell whose client is not here says so and is left out. Needs what tools/interop installs.
"""

import argparse
import concurrent.futures
import sys
from collections.abc import Callable

from wiretape_tools.acceptance.secrets.cells import WORK, Cell, Kind
from wiretape_tools.acceptance.secrets.clients import Client, Observed
from wiretape_tools.interop.peers import Peers
from wiretape_tools.lib.processes import ROOT, Failed, binary, fail, run

NPM = ("npm",)


def plays(method: str, *how: str) -> Callable[[Client, str], Observed]:
    return lambda client, url: getattr(client, method)(url, *how)


SIGNALR = (("json", "ws"), ("json", "sse"), ("json", "lp"), ("messagepack", "ws"), ("messagepack", "lp"))
CELLS = [
    *(Kind(f"signalr, signalr-js, {protocol} over {transport}", "signalr",
           plays("signalr", "signalr-js", protocol, transport), NPM, transport == "ws") for protocol, transport in SIGNALR),
    *(Kind(f"signalr, pysignalr, {protocol} over ws", "signalr", plays("signalr", "pysignalr", protocol, "ws"), (), True)
      for protocol in ("json", "messagepack")),
    Kind("graphql, graphql-ws", "graphql", plays("graphql", "node", "graphql-transport-ws"), NPM, True),
    Kind("graphql, subscriptions-transport-ws", "graphql", plays("graphql", "node", "graphql-ws"), NPM, True),
    Kind("graphql, gql over ws", "graphql", plays("graphql", "gql", "graphql-transport-ws"), (), True),
    Kind("graphql, gql by multipart", "graphql", plays("graphql", "gql-http", "")),
    Kind("graphql, graphql-sse", "graphql", plays("graphql", "sse", ""), NPM),
    *(Kind(f"eventflit, pusher-js by {transport}", "eventflit", plays("eventflit", "pusher-js", transport), NPM)
      for transport in ("ws", "xhr_streaming", "xhr_polling")),
    Kind("eventflit, Pysher", "eventflit", plays("eventflit", "pysher", "")),
    Kind("eventflit, eventflit client", "eventflit", plays("eventflit", "eventflit", ""), (), True),
    *(Kind(f"atmosphere, {transport}", "atmosphere", plays("atmosphere", transport)) for transport in ("ws", "sse", "stream", "lp")),
]  # fmt: skip

# One of each protocol, each over another carrier.
FEW = ("signalr, pysignalr, messagepack over ws", "graphql, gql by multipart", "eventflit, pusher-js by xhr_polling", "atmosphere, lp")


def recordings() -> str:
    """The tapes of this repository have none."""
    tapes = sorted(path for path in (ROOT / "recordings").iterdir() if ".tape" in path.name and path.suffix in (".tape", ".gz"))
    code, out, err = run([binary(), "scan", *tapes], seconds=300)
    if code != 0 or len(tapes) < 30:
        raise Failed(f"scan of {len(tapes)} recordings ended with {code}: {out[-800:]} {err[-300:]}")
    return f"no secret on {len(tapes)} tapes"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/acceptance/secrets", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cells", default="", metavar="TEXT", help="those whose names have it")
    parser.add_argument("--ci", action="store_true", help="one of each protocol, in about a minute")
    parser.add_argument("--jobs", type=int, default=2, help="cells at a time")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    peers = Peers(WORK)
    (WORK / "cases").mkdir(exist_ok=True)
    chosen = [kind for kind in CELLS if options.cells in kind.name and (not options.ci or kind.name in FEW)]
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
