"""TLS from outside: what is spoken and refused, the certificates, faults of the handshake, clients' certificates, many idle
connections, and speed beside nginx.

    tools/acceptance/tls [--parts …] [--names N] [--idle N] [--slow N] [--rounds N]

Exit 1 if something does not hold; a part that needs what is not here says so and is left out.
"""

import argparse
import sys

from wiretape_tools.acceptance.tls.crowd import crowd
from wiretape_tools.acceptance.tls.handshakes import clients, faults, leaves, names, protocols, versions
from wiretape_tools.acceptance.tls.reverse import reverse
from wiretape_tools.acceptance.tls.speed import speed
from wiretape_tools.acceptance.tls.stage import WORK
from wiretape_tools.lib.processes import Failed, Skipped, fail

PARTS = {part.__name__: part for part in (versions, leaves, names, protocols, faults, clients, reverse, crowd, speed)}


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/tls", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="of " + ",".join(PARTS))
    parser.add_argument("--names", type=int, default=10_000, help="names that clients ask for")
    parser.add_argument("--idle", type=int, default=10_000, help="connections that ask nothing")
    parser.add_argument("--slow", type=int, default=500, help="connections that never end a request")
    parser.add_argument("--rounds", type=int, default=3, help="of speed")
    options = parser.parse_args()
    chosen = options.parts.split(",")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no parts {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    WORK.mkdir(parents=True, exist_ok=True)
    failures = 0
    for part in chosen:
        try:
            print(f"{part}: {PARTS[part](options)}", flush=True)
        except Skipped as skipped:
            print(f"{part}: skipped: {skipped}", flush=True)
        except Failed as failure:
            failures += 1
            fail(f"{part}: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
