"""What a client should see: units of a script, each with the bytes that carry it over each transport, and the end behind them.

Tokens: the name of a unit, or any of the classes below. Ends: END (as the server ends it in order), FIN, RST, SILENCE
(nothing more comes and the connection stays), OVER (all that is expected came, whatever the connection does then: of the
server's end in order, what had come by the moment of the last read may be there).
"""

from wiretape_tools.acceptance.faults.hub import LAST_CHUNK, chunk
from wiretape_tools.lib import frames
from wiretape_tools.lib.processes import Failed

ENDS = ("END", "FIN", "RST", "SILENCE", "OVER")


def carried(t, payload, opcode=frames.TEXT):
    """The bytes of a message over a transport."""
    if t == "ws":
        return frames.frame(opcode, payload, masked=False)
    if t == "sse":
        return chunk(b"data: " + payload + b"\r\n\r\n")
    if t == "parts":
        return chunk(b"\r\ncontent-type: application/json\r\n\r\n" + payload + b"\r\n--graphql")
    if t == "events":
        return chunk(b"event: next\ndata: " + payload + b"\n\n")
    return payload


def ordered_end(t):
    """How a server ends it."""
    return {
        "ws": frames.frame(frames.CLOSE, b"\x03\xe8", masked=False),
        "sse": LAST_CHUNK,
        "parts": chunk(b"--\r\n") + LAST_CHUNK,
        "events": chunk(b"event: complete\ndata:\n\n") + LAST_CHUNK,
    }.get(t, b"")


class Raw:
    """These very bytes; a dict gives them for each transport."""

    def __init__(self, data):
        self.data = data

    def size(self, t, units):
        return len(self.data[t] if isinstance(self.data, dict) else self.data)

    def take(self, t, units, got):
        data = self.data[t] if isinstance(self.data, dict) else self.data
        if not got.startswith(data):
            raise Failed(f"{bytes(got[: len(data) + 20])!r}, expected {data!r}")
        return len(data)


class Payload(Raw):
    """A message that is not in the script."""

    def __init__(self, payload, opcode=frames.TEXT):
        super().__init__({t: carried(t, payload, opcode) for t in ("ws", "sse", "lp", "parts", "events")})


class Close(Raw):
    """A close frame, or the end that another transport has."""

    def __init__(self, code=None, reason=b""):
        body = b"" if code is None else code.to_bytes(2, "big") + reason
        super().__init__({"ws": frames.frame(frames.CLOSE, body, masked=False), "sse": LAST_CHUNK, "lp": b""})


class Repeats:
    """A unit, at least so often."""

    def __init__(self, name, least=0):
        self.name, self.least = name, least

    def size(self, t, units):
        return self.least * len(bytes_of(t, units, self.name))

    def take(self, t, units, got):
        unit, count = bytes_of(t, units, self.name), 0
        while got.startswith(unit, count * len(unit)):
            count += 1
        if count < self.least:
            raise Failed(f"{self.name} came {count} times, expected {self.least}: {bytes(got[:100])!r}")
        return count * len(unit)


class Masked:
    """A unit in a server's frame with a mask."""

    def __init__(self, name):
        self.name = name

    def size(self, t, units):
        return len(bytes_of(t, units, self.name)) + 4

    def take(self, t, units, got):
        payload = units[self.name]
        key, piece = got[2:6], got[6 : 6 + len(payload)]
        if got[:2] != bytes([0x80 | units.opcode, 0x80 | len(payload)]) or not any(key):
            raise Failed(f"{bytes(got[:80])!r} is no masked frame of {payload!r}")
        if bytes(b ^ key[i & 3] for i, b in enumerate(piece)) != payload:
            raise Failed(f"{bytes(piece)!r} is not {payload!r} under its mask")
        return 6 + len(payload)


class Rest:
    """Whatever comes."""

    def size(self, t, units):
        return 0

    def take(self, t, units, got):
        return len(got)


class Damaged:
    """A unit of which `differs(got, sent)` is to hold; its length stays."""

    def __init__(self, name, differs):
        self.name, self.differs = name, differs

    def size(self, t, units):
        return len(carried(t, units[self.name], units.opcode))

    def take(self, t, units, got):
        sent = units[self.name]
        before, after = carried(t, b"@" * len(sent), units.opcode).split(b"@" * len(sent))
        piece = got[len(before) : len(before) + len(sent)]
        if not got.startswith(before) or got[len(before) + len(sent) :][: len(after)] != after:
            raise Failed(f"the framing of {bytes(got)!r} is not that of {sent!r}")
        if len(piece) != len(sent) or not self.differs(piece, sent):
            raise Failed(f"{bytes(piece)!r} for {sent!r}")
        return len(before) + len(sent) + len(after)


class Beginning:
    """So many bytes of what carries a unit; over long polling of its payload."""

    def __init__(self, name, count):
        self.name, self.count = name, count

    def size(self, t, units):
        return self.count

    def take(self, t, units, got):
        data = carried(t, units[self.name], units.opcode)[: self.count]
        if not got.startswith(data):
            raise Failed(f"{bytes(got[:200])!r}, expected {data!r}")
        return len(data)


class Units(dict):
    """The payloads of a script by name."""

    def __init__(self, payloads, opcode=frames.TEXT):
        super().__init__(payloads)
        self.opcode = opcode


def split(tokens):
    """(tokens, end)"""
    return (tokens[:-1], tokens[-1]) if tokens[-1] in ENDS else (tokens, "SILENCE")


def bytes_of(t, units, token):
    return carried(t, units[token], units.opcode)


def matches(t, units, tokens, got):
    """The offset at which each token begins, and the end of the last; Failed where the bytes are others."""
    tokens, end = split(tokens)
    at, places = 0, []
    for i, token in enumerate(tokens):
        places.append(at)
        rest = got[at:]
        try:
            if isinstance(token, (int, str)):
                wanted = bytes_of(t, units, token)
                if not rest.startswith(wanted):
                    raise Failed(f"{bytes(rest[: len(wanted) + 20])!r}, expected {wanted!r}")
                at += len(wanted)
            else:
                at += token.take(t, units, rest)
        except Failed as problem:
            raise Failed(f"place {i + 1} ({describe(token)}): {problem}") from None
    places.append(at)
    if end == "END":
        wanted = ordered_end(t)
        if got[at:] != wanted:
            raise Failed(f"at the end {bytes(got[at:])!r}, expected {wanted!r}")
    elif not (ordered_end(t) if end == "OVER" else b"").startswith(got[at:]):
        raise Failed(f"and then {bytes(got[at:][:200])!r}")
    return places


def describe(token):
    return token if isinstance(token, (int, str)) else type(token).__name__
