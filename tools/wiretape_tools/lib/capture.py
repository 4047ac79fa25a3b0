"""A packet capture of one loopback port with the kernel's time stamps: what came when, as neither side tells it. Needs root."""

import ctypes
import pathlib
import socket
import struct
import threading
from typing import Self

from wiretape_tools.lib.packets import Connection, connections
from wiretape_tools.lib.processes import Failed

IPV4, SNAP = 0x0800, 65_535
SO_TIMESTAMPNS, SO_ATTACH_FILTER, SO_RCVBUFFORCE = 35, 26, 33  # <asm-generic/socket.h>
SOL_PACKET, PACKET_STATISTICS = 263, 6  # <linux/if_packet.h>


def allowed() -> bool:
    """Whether this process may capture."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(IPV4)).close()
    except PermissionError:
        return False
    return True


def port_filter(port: int) -> bytes:
    """Classic BPF over Ethernet frames, as (code, jump if true, jump if false, constant): IPv4, TCP, from or to the port."""
    half, byte, half_from_x, head_length, equal, give = 0x28, 0x30, 0x48, 0xB1, 0x15, 0x06
    code = [
        (half, 0, 0, 12),
        (equal, 0, 8, IPV4),
        (byte, 0, 0, 23),
        (equal, 0, 6, socket.IPPROTO_TCP),
        (head_length, 0, 0, 14),
        (half_from_x, 0, 0, 14),
        (equal, 2, 0, port),
        (half_from_x, 0, 0, 16),
        (equal, 0, 1, port),
        (give, 0, 0, SNAP),
        (give, 0, 0, 0),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in code)


class Capture:
    """Everything from and to a port of 127.0.0.1 while the context lasts. path: where the pcap is left."""

    def __init__(self, port: int, path: pathlib.Path | None = None) -> None:
        self.path, self.over = path, False
        self.frames: list[tuple[tuple[int, int], bytes]] = []
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        code = port_filter(port)
        held = ctypes.create_string_buffer(code, len(code))
        self.socket.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(code) // 8, ctypes.addressof(held))
        )
        # For IPv4 rather than for everything: so a packet on lo is seen once, where it arrives.
        self.socket.bind(("lo", IPV4))
        self.socket.settimeout(0.1)
        self.thread = threading.Thread(target=self.read, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        self.thread.join()
        _, lost = struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        self.socket.close()
        if self.path:
            self.path.write_bytes(self.pcap())
        if lost:
            raise Failed(f"the capture lost {lost} packets")

    def read(self) -> None:
        while True:
            try:
                frame, notes, _, _ = self.socket.recvmsg(SNAP, 64)
            except TimeoutError:
                # Only a silence ends it: what the kernel still has is read first.
                if self.over:
                    return
                continue
            time = next(data for level, kind, data in notes if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS))
            self.frames.append((struct.unpack("qq", time), frame))

    def pcap(self) -> bytes:
        """The capture as a file for any tool: nanoseconds, Ethernet."""
        parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP, 1)]
        for (seconds, nanoseconds), frame in self.frames:
            parts += [struct.pack("<4I", seconds, nanoseconds, len(frame), len(frame)), frame]
        return b"".join(parts)

    def connections(self) -> list[Connection]:
        return connections(self.pcap())
