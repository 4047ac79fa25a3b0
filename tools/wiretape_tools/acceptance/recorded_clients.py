"""Every tape is replayed to a client that says what the recorded one said, when it said it: each run ends in exit 0.

The tapes of recordings/, and tapes made of the packet captures in WIRETAPE_CAPTURES (../shared/captures where it is there).
"""

import argparse
import asyncio
import concurrent.futures
import json
import os
import pathlib
import sys
import time

from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, fail, run
from wiretape_tools.lib.recorded_client import RecordedClient
from wiretape_tools.lib.tapes import events, import_of

WORK = ROOT / ".build/acceptance/recorded-clients"
# The packet captures that there are: those that are not at hand are counted as skipped.
CAPTURES = {
    "aspnet10-dotnet-longpolling",
    "aspnet10-dotnet-ws-json",
    "aspnet10-js-abort-skip-negotiation",
    "aspnet10-js-longpolling",
    "aspnet10-js-redirect-token",
    "aspnet10-js-ws-json",
    "aspnet10-js-ws-messagepack",
    "aspnet10-js-ws-stateful-reconnect",
    "aspnet11-dotnet-longpolling-refresh",
    "aspnet11-dotnet-sse-expiry-reconnect",
    "aspnet11-dotnet-ws-refresh",
    "aspnetcore-js-sse",
    "aspnetcore-js-sse-tls13-aes128",
    "aspnetcore-js-sse-tls13-dsb",
    "aspnetcore-js-ws-json",
    "aspnetcore-swift-longpolling",
    "atmosphere-longpolling",
    "atmosphere-seed-objc",
    "cut-at-random-byte-pcap",
    "eventflit-js-ipe",
    "graphql-badnet",
    "graphql-legacy-ws-stw",
    "graphql-multipart-strawberry",
    "graphql-transport-ws-js",
    "graphql-transport-ws-js-ipv6",
    "graphql-wss-tls12-gql",
    "pusher-js-any-sll2",
    "pusher-pysher-ipe",
    "signalr-js-longpolling-json",
    "signalr-js-ws-json",
    "signalr-js-ws-json-dltnull",
    "signalr-js-ws-reconnect",
    "signalr-pysignalr-ws-messagepack-deflate",
    "signalr-signalrcore-sse",
    "signalr-swift-ws-json",
}


def captures():
    named = os.environ.get("WIRETAPE_CAPTURES")
    folder = pathlib.Path(named or ROOT.parent / "shared/captures")
    if named and not folder.is_dir():
        raise SystemExit(f"WIRETAPE_CAPTURES={named} is not a folder")
    return sorted(path for path in folder.glob("*/capture.pcap*")) if folder.is_dir() else []


def made_of(capture):
    """A tape of the capture, or why there is none."""
    tape = WORK / f"{capture.parent.name}.tape"
    code, _, err = run(import_of(capture, tape))
    if code != 0:
        return None, err.strip().splitlines()[-1]
    return tape, None


def play(name, tape, speed):
    """What the run shows in a line; raises Failed when it does not end as it should."""
    _, found = events(tape)
    file = name.replace(" ", "-")
    report = WORK / f"{file}.report.json"
    report.unlink(missing_ok=True)
    # The recorded client may have been a page of another host.
    arguments = ["replay", tape, "--report", report, "--speed", str(speed), "--allow-host", "*", "--allow-origin", "*"]
    with Wiretape(arguments, WORK / f"{file}.log") as proxy:

        async def client():
            one = RecordedClient(found, proxy.port, speed)
            await one.play()
            return one

        one = asyncio.run(client())
        time.sleep(0.4)  # what is under way when the last connection ends
        code = proxy.stop()
        told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        notes = "".join(f"\n      {note}" for note in one.notes)
        if code != 0 or told.get("verdict") != "pass":
            raise Failed(f"exit {code}, verdict {told.get('verdict')}:{notes}\n      " + proxy.said().replace("\n", "\n      "))
        if told["unclaimed"]:
            raise Failed(f"sessions {told['unclaimed']} were asked for by nobody:{notes}")
        if cut := [session["session"] for session in told["sessions"] if not session["finished"]]:
            raise Failed(f"sessions {cut} did not come to their ends:{notes}")
    matched = sum(session["matched"] for session in told["sessions"])
    if not matched and not told["exchanges"]["played"]:
        raise Failed(f"nothing of the tape was played:{notes}")
    return f"{len(told['sessions'])} sessions, {matched} messages matched, {told['exchanges']['played']} exchanges{notes}"


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/recorded-clients", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", default="", help="only those whose name contains this")
    parser.add_argument("--speed", type=float, default=1, help="of the recorded times, for both sides (1)")
    parser.add_argument("--jobs", type=int, default=8, help="so many at a time (8)")
    parser.add_argument("--recordings", action="store_true", help="without the captures")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    tapes = {path.name.removesuffix(".tape.gz"): path for path in sorted((ROOT / "recordings").glob("*.tape.gz"))}
    left_out = {}
    found = [] if options.recordings else captures()
    absent = set() if options.recordings else {name for name in CAPTURES if options.cases in "capture " + name}
    absent -= {capture.parent.name for capture in found}
    for capture in found:
        name = "capture " + capture.parent.name
        if options.cases in name:
            tapes[name], why = made_of(capture)
            if why:
                left_out[name] = why
                del tapes[name]
    chosen = {name: tape for name, tape in tapes.items() if options.cases in name}
    begun, failed = time.monotonic(), 0

    def attempt(name):
        try:
            return True, play(name, chosen[name], options.speed)
        except Failed as failure:
            return False, str(failure)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        for name, (well, text) in zip(chosen, executor.map(attempt, chosen), strict=False):
            failed += not well
            print(f"{'passed' if well else 'FAILED'}  {name}: {text}", flush=True)
    for name, why in left_out.items():
        print(f"FAILED  {name}: it becomes no tape: {why}")
    if absent:
        print(f"skipped {len(absent)} packet captures, of which nothing is known: they are not here (WIRETAPE_CAPTURES)")
    count, failed = len(chosen) + len(left_out), failed + len(left_out)
    print(f"recorded-clients: {count - failed} of {count} tapes end in exit 0, {time.monotonic() - begun:.0f} s")
    if not chosen:
        return fail("no tape was played")
    return fail(f"{failed} of {count}") if failed else 0


if __name__ == "__main__":
    sys.exit(main())
