"""Captures changed packet by packet, as networks and capturing machines change them: what is lost, doubled, moved, cut."""

import dataclasses
import random
import struct
from collections.abc import Callable

from wiretape_tools.lib import packets

SYN, FIN, RST = packets.SYN, packets.FIN, packets.RST


@dataclasses.dataclass(frozen=True)
class Packet:
    """A packet with its bytes on the wire. kept: how many of them the capture has; None: all."""

    time: int  # nanoseconds since 1970
    link: int
    frame: bytes
    kept: int | None = None

    @property
    def segment(self) -> packets.Segment | None:
        return packets.segment(self.link, self.frame)

    @property
    def payload(self) -> bytes:
        return self.segment[4] if self.segment else b""

    @property
    def way(self) -> tuple[packets.End, packets.End] | None:
        """Source and destination."""
        return self.segment[:2] if self.segment else None

    def carrying(self, sequence: int, payload: bytes, without: int = 0) -> "Packet":
        """The same segment with another payload, and without these flags."""
        found = packets.places(self.link, self.frame)
        assert found
        ip, tcp, _ = found
        data = tcp + (self.frame[tcp + 12] >> 4) * 4
        head = bytearray(self.frame[:data])
        struct.pack_into(">I", head, tcp + 4, sequence & 0xFFFFFFFF)
        head[tcp + 13] &= ~without
        if head[ip] >> 4 == 4:
            struct.pack_into(">H", head, ip + 2, data - ip + len(payload))
        else:
            struct.pack_into(">H", head, ip + 4, data - ip - 40 + len(payload))
        return dataclasses.replace(self, frame=bytes(head) + payload)


def read(data: bytes) -> list[Packet]:
    """All of a capture but a last packet that is torn."""
    out = []
    for time, link, frame in packets.packets(data):
        found = packets.places(link, frame)
        if found is None or found[2] <= len(frame):
            out.append(Packet(round(time * 1e9), link, frame))
    return out


def made(turns: list[tuple[bool, bytes]], time: int = 1_700_000_000 * 10**9, port: int = 40_000) -> list[Packet]:
    """The packets of a connection on which sides take turns (True: the client), Ethernet and IPv4; checksums are left out."""
    numbers, room = {True: 1_000, False: 9_000}, 1_400
    out: list[Packet] = []

    def send(client: bool, flags: int, payload: bytes = b"") -> None:
        acknowledged = 0 if flags == SYN else numbers[not client]
        ports = (port, 80) if client else (80, port)
        ends = (b"\x0a\0\0\1", b"\x0a\0\0\2") if client else (b"\x0a\0\0\2", b"\x0a\0\0\1")
        tcp = struct.pack(">HHIIBBHHH", *ports, numbers[client], acknowledged, 0x50, flags, 65_535, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0x4000, 64, 6, 0, *ends)
        out.append(Packet(time + 10_000 * len(out), 1, b"\2" * 12 + b"\x08\0" + ip + tcp + payload))
        numbers[client] += len(payload) + bool(flags & (SYN | FIN))

    send(True, SYN)
    send(False, SYN | 16)
    send(True, 16)
    for client, payload in turns:
        for at in range(0, len(payload), room):
            send(client, 16, payload[at : at + room])
    send(True, FIN | 16)
    send(False, FIN | 16)
    send(True, 16)
    return out


def written(found: list[Packet]) -> bytes:
    """A classic capture file with nanoseconds."""
    links = {packet.link for packet in found} or {1}
    assert len(links) == 1, "a classic capture has one kind of link"
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, links.pop())]
    for packet in found:
        kept = packet.frame if packet.kept is None else packet.frame[: packet.kept]
        parts += [struct.pack("<4I", *divmod(packet.time, 10**9), len(kept), len(packet.frame)), kept]
    return b"".join(parts)


def secrets(data: bytes) -> bytes:
    """The key logs that stand in a pcapng file."""
    out, at, order = b"", 0, "<"
    while data[:4] == b"\x0a\x0d\x0d\x0a" and at + 12 <= len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, size = struct.unpack(order + "2I", data[at : at + 8])
        if kind == 10 and data[at + 8 : at + 12] == (b"KSLT" if order == "<" else b"TLSK"):
            count = struct.unpack(order + "I", data[at + 12 : at + 16])[0]
            out += data[at + 16 : at + 16 + count].rstrip(b"\n") + b"\n"
        at += max(size, 12)
    return out


# Each takes the packets of a capture and draws what becomes of them.


def lost(found: list[Packet], draw: random.Random) -> list[Packet]:
    """3 of 100 packets are not in the capture."""
    return [packet for packet in found if draw.random() >= 0.03]


def reordered(found: list[Packet], draw: random.Random) -> list[Packet]:
    """Every eighth packet stands up to six places later, and not more than 30 ms. What comes later is later."""
    places = []
    for i, packet in enumerate(found):
        steps = draw.randint(1, 6) if draw.random() < 1 / 8 else 0
        while steps and (i + steps >= len(found) or found[i + steps].time - packet.time > 30_000_000):
            steps -= 1
        places.append(i + steps + (0.5 if steps else 0))
    order = sorted(range(len(found)), key=lambda i: (places[i], i))
    return [dataclasses.replace(found[old], time=found[new].time) for new, old in enumerate(order)]


def doubled(found: list[Packet], draw: random.Random) -> list[Packet]:
    """Every eighth packet comes twice, the second time up to ten places later."""
    out: list[tuple[float, int, Packet]] = [(i, 0, packet) for i, packet in enumerate(found)]
    for i, packet in enumerate(found):
        if draw.random() < 1 / 8:
            place = min(len(found) - 1, i + draw.randint(0, 10))
            out.append((place + 0.5, i, dataclasses.replace(packet, time=found[place].time)))
    return [one[2] for one in sorted(out, key=lambda one: one[:2])]


def overlapping(found: list[Packet], draw: random.Random, differ: bool) -> list[Packet]:
    """Every fourth segment begins within the one before it in its direction: with the bytes that stood there, or with others."""
    out: list[Packet] = []
    before: dict[object, bytes] = {}  # the last bytes of each direction, up to the next sequence number
    ends: dict[object, int] = {}
    for packet in found:
        segment = packet.segment
        if segment is None:
            out.append(packet)
            continue
        _, _, sequence, flags, payload = segment
        way = packet.way
        if flags & SYN:
            before[way], ends[way] = b"", (sequence + 1) & 0xFFFFFFFF
        known = before.get(way, b"") if ends.get(way) == sequence else b""
        if payload and known and draw.random() < 1 / 4:
            again = known[-draw.randint(1, len(known)) :]
            if differ:
                again = bytes(byte ^ draw.randint(1, 255) for byte in again)
            packet = packet.carrying(sequence - len(again), again + payload)
        out.append(packet)
        if payload:
            before[way], ends[way] = payload, (sequence + len(payload)) & 0xFFFFFFFF
    return out


def small(found: list[Packet], draw: random.Random) -> list[Packet]:
    """Segments as a link with an MTU of 576 bytes makes them."""
    out: list[Packet] = []
    for packet in found:
        segment, places = packet.segment, packets.places(packet.link, packet.frame)
        if segment is None or places is None:
            out.append(packet)
            continue
        sequence, payload = segment[2], segment[4]
        ip, tcp = places[:2]
        room = 576 - (tcp - ip) - (packet.frame[tcp + 12] >> 4) * 4
        starts = range(0, len(payload), room)
        for at in starts or [0]:
            is_last = at + room >= len(payload)
            out.append(packet.carrying(sequence + at, payload[at : at + room], 0 if is_last else FIN))
    return out


def cut(found: list[Packet], draw: random.Random) -> list[Packet]:
    """A snap length: of longer packets the end was not captured."""
    snap = draw.choice([68, 96, 128, 200, 256, 400, 600, 1000])
    return [dataclasses.replace(packet, kept=min(snap, len(packet.frame))) for packet in found]


def late(found: list[Packet], draw: random.Random) -> list[Packet]:
    """The capture was begun later."""
    return found[draw.randint(1, max(1, len(found) - 1)) :]


def early(found: list[Packet], draw: random.Random) -> list[Packet]:
    """The capture was ended earlier."""
    return found[: draw.randint(1, max(1, len(found) - 1))]


def rough(found: list[Packet], draw: random.Random) -> list[Packet]:
    """All at once."""
    return lost(doubled(reordered(overlapping(small(found, draw), draw, False), draw), draw), draw)


Mutation = Callable[[list[Packet], random.Random], list[Packet]]

# Those after which nothing is missing.
HARMLESS: dict[str, Mutation] = {
    "reordered": reordered,
    "doubled": doubled,
    "overlaps": lambda found, draw: overlapping(found, draw, False),
    "overlaps that differ": lambda found, draw: overlapping(found, draw, True),
    "576 bytes": small,
}
# Those that take something away.
HARMFUL: dict[str, Mutation] = {"lost": lost, "snap length": cut, "no beginning": late, "no end": early, "all at once": rough}
MUTATIONS = {**HARMLESS, **HARMFUL}
