"""permessage-deflate both ways through `wiretape record`, with the `websockets` package on both sides.

Context takeover on and off and window bits 9 to 15, each for each side: the payloads on the tape have to equal those
sent, in order, and both ends have to get them. Runs under the packages of tools/interop. Exit 1 on any difference.
"""

import asyncio
import itertools
import logging
import random
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    ServerPerMessageDeflateFactory,
)

from wiretape_tools.lib import tapes
from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, fail


def messages(draw):
    """What one side sends: empty, small, alike (context takeover matters), long, incompressible, text and binary."""
    word = "".join(draw.choices("abcdef", k=30))
    return [
        "",
        "x",
        word,
        word,
        (word * 40).encode(),
        "".join(draw.choices("añ東😀", k=3000)),
        draw.randbytes(5000),
        "far " + word + "".join(draw.choices("0123456789", k=40000)) + word,
        word,
        draw.randbytes(draw.choice([125, 126, 65535, 65536, 100000])),
        word,
    ]


def fragmented(draw, message):
    """The message cut in up to three fragments, or whole."""
    if len(message) < 10 or draw.random() < 0.6:
        return message
    at, to = sorted(draw.sample(range(len(message)), 2))
    return [message[:at], message[at:to], message[to:]]


class Case:
    """One connection: the parameters of both sides and what each sent and got."""

    def __init__(self, number, server_free, client_free, server_bits, client_bits, seed):
        self.number = number
        self.parameters = (server_free, client_free, server_bits, client_bits)
        draw = random.Random(seed * 1000 + number)
        self.up, self.down, self.draw = messages(draw), messages(draw), draw
        self.name = (
            f"case {number}: server {'no ' if server_free else ''}takeover {server_bits} bits, "
            f"client {'no ' if client_free else ''}takeover {client_bits} bits"
        )

    def server_factory(self):
        server_free, client_free, server_bits, client_bits = self.parameters
        return ServerPerMessageDeflateFactory(
            server_no_context_takeover=server_free,
            client_no_context_takeover=client_free,
            server_max_window_bits=server_bits,
            client_max_window_bits=client_bits,
        )

    def client_factory(self):
        server_free, client_free, server_bits, client_bits = self.parameters
        return ClientPerMessageDeflateFactory(
            server_no_context_takeover=server_free,
            client_no_context_takeover=client_free,
            server_max_window_bits=server_bits,
            client_max_window_bits=client_bits,
        )

    async def serve(self, connection):
        got = []
        for message in self.down:
            await connection.send(fragmented(self.draw, message))
            got.append(await connection.recv())
        if got != self.up:
            await connection.close(4000, "the server got something else")
        await connection.wait_closed()

    async def play(self, port):
        """Connects through the proxy and sends; the server sends its own at the same time."""
        async with connect(
            f"ws://127.0.0.1:{port}/case/{self.number}",
            compression=None,
            extensions=[self.client_factory()],
            max_size=None,
        ) as connection:
            self.check_agreed(connection.protocol.extensions)
            got = []
            for message in self.up:
                await connection.send(fragmented(self.draw, message))
                got.append(await connection.recv())
            if got != self.down:
                raise Failed(f"{self.name}: the client got something else")
        if connection.close_code != 1000:
            raise Failed(f"{self.name}: closed with {connection.close_code} {connection.close_reason}")

    def check_agreed(self, extensions):
        """Both sides use what the case is about; else it would test nothing."""
        if len(extensions) != 1:
            raise Failed(f"{self.name}: no permessage-deflate was agreed")
        agreed = extensions[0]
        seen = (
            agreed.remote_no_context_takeover,
            agreed.local_no_context_takeover,
            agreed.remote_max_window_bits,
            agreed.local_max_window_bits,
        )
        if seen != self.parameters:
            raise Failed(f"{self.name}: agreed was {seen}")

    def check_tape(self, found):
        for direction, sent in ((">", self.up), ("<", self.down)):
            on_tape = [(op, data) for d, op, data in found if d == direction]
            wanted = [("binary", m) if isinstance(m, bytes) else ("text", m.encode()) for m in sent]
            for number, message in enumerate(wanted):
                if on_tape[number : number + 1] != [message]:
                    raise Failed(f"{self.name}: {direction} message {number + 1} is not on the tape as it was sent")
            if len(on_tape) != len(wanted):
                raise Failed(f"{self.name}: the tape has {len(on_tape)} messages {direction}, {len(wanted)} were sent")


async def record(case, tape, log):
    """Plays the case through a proxy of its own; gives how many messages the tape marks as deflated."""
    async with serve(
        case.serve, "127.0.0.1", 0, compression=None, extensions=[case.server_factory()], max_size=None
    ) as server:
        port = server.sockets[0].getsockname()[1]
        arguments = ["record", "--upstream", f"http://127.0.0.1:{port}", "--output", tape, "--force"]
        with Wiretape(arguments, log) as proxy:
            await asyncio.wait_for(case.play(proxy.port), 30)
            if (code := proxy.stop()) != 0:
                raise Failed(f"{case.name}: record ended with {code}: {proxy.said()}")
    _, events = tapes.events(tape)
    case.check_tape([(d, op, data) for _, d, op, data in tapes.messages(events)])
    return sum(bool(event.get("deflated")) for event in events)


async def main():
    logging.disable(logging.CRITICAL)
    work = ROOT / ".build/acceptance"
    work.mkdir(parents=True, exist_ok=True)
    combinations = itertools.product([False, True], [False, True], range(9, 16), range(9, 16))
    cases = [Case(number, *combination, seed=7) for number, combination in enumerate(combinations)]
    sent = sum(len(case.up) + len(case.down) for case in cases)
    deflated = 0
    for case in cases:
        deflated += await record(case, work / "deflate.tape.gz", work / "deflate.log")
    if deflated < sent * 0.8:
        raise Failed(f"only {deflated} of {sent} messages are marked as deflated")
    print(f"deflate: {len(cases)} combinations, {sent} messages: all on the tape as sent, all received as sent")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except Failed as failure:
        sys.exit(fail(f"deflate: {failure}"))
