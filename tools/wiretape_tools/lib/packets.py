"""TCP streams out of packet captures: pcap and pcapng, Ethernet, loopback, Linux cooked and raw IP, IPv4 and IPv6."""

import struct
from collections.abc import Iterator
from typing import Any

SYN, FIN, RST = 2, 1, 4
Packet = tuple[float, int, bytes]  # seconds, link type, bytes
End = tuple[bytes, int]  # address, port
Segment = tuple[End, End, int, int, bytes]  # source, destination, sequence, flags, payload


def packets(data: bytes) -> Iterator[Packet]:
    """(seconds, link type, bytes) of each packet."""
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        yield from _pcapng(data)
    else:
        yield from _pcap(data)


def _pcap(data: bytes) -> Iterator[Packet]:
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1e-9 if magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1e-6
    link = struct.unpack(order + "I", data[20:24])[0] & 0xFFFF
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack(order + "4I", data[at : at + 16])
        yield seconds + fraction * unit, link, data[at + 16 : at + 16 + kept]
        at += 16 + kept


def _pcapng(data: bytes) -> Iterator[Packet]:
    at, order = 0, "<"
    interfaces: list[Any] = []
    while at + 12 <= len(data):
        kind = struct.unpack(order + "I", data[at : at + 4])[0]
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        size = struct.unpack(order + "I", data[at + 4 : at + 8])[0]
        body = data[at + 8 : at + size - 4]
        if kind == 1:
            interfaces.append((struct.unpack(order + "H", body[:2])[0], _resolution(body[8:], order)))
        elif kind == 6:
            interface, high, low, kept = struct.unpack(order + "4I", body[:16])
            link, unit = interfaces[interface]
            yield ((high << 32) | low) * unit, link, body[20 : 20 + kept]
        at += max(size, 12)


def _resolution(options: bytes, order: str) -> float:
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack(order + "2H", options[at : at + 4])
        if code == 9:
            value = options[at + 4]
            return 2.0 ** -(value & 127) if value & 128 else 10.0**-value
        if code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return 1e-6


def places(link: int, frame: bytes) -> tuple[int, int, int] | None:
    """Where the IP header, the TCP header and the end of the segment are in a packet of TCP, or None."""
    ip = {0: 4, 1: 14, 113: 16, 276: 20, 101: 0, 228: 0, 229: 0}.get(link)
    if ip is None or len(frame) < ip + 20:
        return None
    if frame[ip] >> 4 == 4 and frame[ip + 9] == 6:
        tcp, end = ip + (frame[ip] & 15) * 4, ip + struct.unpack(">H", frame[ip + 2 : ip + 4])[0]
    elif frame[ip] >> 4 == 6 and frame[ip + 6] == 6:
        tcp, end = ip + 40, ip + 40 + struct.unpack(">H", frame[ip + 4 : ip + 6])[0]
    else:
        return None
    return (ip, tcp, end) if len(frame[tcp:end]) >= 20 else None


def segment(link: int, frame: bytes) -> Segment | None:
    """(source, destination, sequence, flags, payload) of a TCP segment, or None."""
    found = places(link, frame)
    if found is None:
        return None
    ip, at, end = found
    source, target = (frame[ip + 12 : ip + 16], frame[ip + 16 : ip + 20])
    if frame[ip] >> 4 == 6:
        source, target = (frame[ip + 8 : ip + 24], frame[ip + 24 : ip + 40])
    tcp = frame[at:end]
    port, other, sequence = struct.unpack(">HHI", tcp[:8])
    return (source, port), (target, other), sequence, tcp[13], tcp[(tcp[12] >> 4) * 4 :]


class Connection:
    """One TCP connection: what each side said, in order, with the time at which it was complete up to there."""

    def __init__(self, client: End, server: End, time: float) -> None:
        self.client, self.server, self.opened = client, server, time
        self.next: dict[bool, int] = {}
        self.waiting: dict[bool, dict[int, Any]] = {True: {}, False: {}}
        self.said: list[tuple[float, bool, Any]] = []  # (time, from the client, bytes); bytes None: FIN; False: RST

    def take(self, time: float, one: Segment) -> None:
        source, _, sequence, flags, payload = one
        mine = source == self.client
        if flags & SYN:
            self.next[mine] = (sequence + 1) & 0xFFFFFFFF
            return
        if flags & RST:
            self.said.append((time, mine, False))
            return
        if mine not in self.next:
            self.next[mine] = sequence
        if payload or flags & FIN:
            self.waiting[mine][sequence] = (payload, bool(flags & FIN))
        self._deliver(mine, time)

    def _deliver(self, mine: bool, time: float) -> None:
        waiting = self.waiting[mine]
        moved = True
        while moved:
            moved = False
            for sequence in sorted(waiting):
                behind = (self.next[mine] - sequence) & 0xFFFFFFFF
                if behind >= 1 << 31:
                    continue
                payload, fin = waiting.pop(sequence)
                fresh = payload[behind:]
                if fresh:
                    self.said.append((time, mine, fresh))
                    self.next[mine] = (self.next[mine] + len(fresh)) & 0xFFFFFFFF
                if fin and behind <= len(payload):
                    self.said.append((time, mine, None))
                    self.next[mine] = (self.next[mine] + 1) & 0xFFFFFFFF
                moved = True
                break


def connections(data: bytes) -> list[Connection]:
    """The connections of a capture in the order of their first packets. The side that sends SYN is the client."""
    found: dict[frozenset[End], Connection] = {}
    order = []
    for time, link, frame in packets(data):
        found_segment = segment(link, frame)
        if found_segment is None:
            continue
        source, target, _, flags, _ = found_segment
        key = frozenset((source, target))
        if flags & SYN and not flags & 16 or key not in found:
            found[key] = Connection(source, target, time)
            order.append(found[key])
        found[key].take(time, found_segment)
    return order
