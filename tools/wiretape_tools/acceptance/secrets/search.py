"""Where secrets turn up, in whatever spelling: every byte of files and answers, and what is packed within them."""

import base64
import contextlib
import gzip
import html
import json
import pathlib
import re
import urllib.parse
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from wiretape_tools.lib.tapes import inflated

WINDOW = 12  # bytes of a secret that are too many
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}\Z")


def alignments(atom: bytes) -> Iterator[bytes]:
    """What base64 of anything that has it in its middle has for certain."""
    for before in range(3):
        packed = base64.b64encode(bytes(before) + atom)
        first, last = (0, 2, 3)[before], len(packed) - (4 if (before + len(atom)) % 3 else 0)
        yield packed[first:last]
        yield base64.urlsafe_b64encode(bytes(before) + atom)[first:last]


def spellings(atom: str) -> set[bytes]:
    """An atom raw, and in JSON, in queries, in pages, in hexadecimal digits and in base64."""
    quoted = urllib.parse.quote(atom, safe="")
    small = re.sub("%..", lambda code: code[0].lower(), quoted)
    plain = {atom, quoted, small, urllib.parse.quote(atom), urllib.parse.quote_plus(atom), html.escape(atom)}
    plain |= {html.escape(atom, quote=False), html.escape(json.dumps(atom)[1:-1])}
    for exact in (True, False):
        once = json.dumps(atom, ensure_ascii=exact)[1:-1]
        plain |= {once, json.dumps(once, ensure_ascii=exact)[1:-1], once.replace("/", "\\/")}
    raw = atom.encode()
    return {text.encode() for text in plain} | {raw.hex().encode(), raw.hex().upper().encode()} | set(alignments(raw))


class Net:
    """Finds parts of secrets. A secret has a label."""

    def __init__(self) -> None:
        self.windows: dict[bytes, str] = {}
        self.short: dict[bytes, str] = {}

    def add(self, label: str, atoms: Iterable[str]) -> None:
        for atom in atoms:
            for spelled in spellings(atom):
                if len(spelled) < WINDOW:
                    if len(spelled) >= 8:
                        self.short[spelled] = label
                    continue
                for at in range(len(spelled) - WINDOW + 1):
                    self.windows[spelled[at : at + WINDOW]] = label

    def find(self, data: bytes) -> set[str]:
        """The labels of what any piece of it shows a part of."""
        found: set[str] = set()
        for piece in pieces(data):
            windows = self.windows
            for at in range(len(piece) - WINDOW + 1):
                if (window := piece[at : at + WINDOW]) in windows:
                    found.add(windows[window])
            found |= {label for short, label in self.short.items() if short in piece}
        return found


def pieces(data: bytes) -> Iterator[bytes]:
    """The bytes, and what can be unpacked of them: gzip, JSON's texts, base64, MessagePack, codings, entities. None twice."""
    if data[:2] == b"\x1f\x8b":
        import io

        yield from pieces(b"".join(inflated(io.BytesIO(data))))
        return
    seen: set[bytes] = set()
    for piece in (data, *deeper(data)):
        if piece not in seen:
            seen.add(piece)
            yield piece


def deeper(data: bytes) -> Iterator[bytes]:
    text = data.decode(errors="replace")
    if "&" in text:
        yield html.unescape(text).encode()
    if "%" in text:
        yield urllib.parse.unquote_plus(text).encode()
    try:
        values = [json.loads(text)]
    except ValueError:
        values = []
        for line in text.splitlines():
            line = line.removeprefix("data:").strip()
            if line[:1] in ("{", "["):
                with contextlib.suppress(ValueError):
                    values.append(json.loads(line))
    texts: list[str] = []
    for value in values:
        yield from walk(value, texts, 0)
    yield "\n".join(texts).encode(errors="replace")


def walk(value: Any, texts: list[str], depth: int) -> Iterator[bytes]:
    """Gathers the texts and numbers of a tree; gives what is packed within texts."""
    if isinstance(value, dict):
        texts.extend(value)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from walk(one, texts, depth)
    elif isinstance(value, str):
        texts.append(value)
        if depth < 5 and value[:1] in ("{", "[", '"'):
            for part in value.split("\x1e"):
                with contextlib.suppress(ValueError):
                    yield from walk(json.loads(part), texts, depth + 1)
        elif depth < 5 and len(value) % 4 != 1 and BASE64.match(value):
            yield from unpacked(value, texts, depth)
    elif value is not None and not isinstance(value, bool):
        texts.append(str(value))


def unpacked(value: str, texts: list[str], depth: int) -> Iterator[bytes]:
    try:
        data = base64.b64decode(value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4))
    except ValueError:
        return
    yield data
    for open_it in (gzip.decompress, zlib.decompress, lambda raw: zlib.decompressobj(-15).decompress(raw)):
        with contextlib.suppress(Exception):
            plain = open_it(data)
            if plain:
                yield plain
                texts.append(plain.decode(errors="replace"))
    for tree in packed(data):
        yield from walk(tree, texts, depth + 1)


def packed(data: bytes) -> Iterator[Any]:
    """The values of MessagePack behind their lengths, as SignalR sends them."""
    import msgpack

    at = 0
    with contextlib.suppress(Exception):
        while at < len(data):
            length = shift = 0
            while True:
                byte = data[at]
                at += 1
                length |= (byte & 0x7F) << shift
                shift += 7
                if not byte & 0x80:
                    break
            yield json.loads(json.dumps(msgpack.unpackb(data[at : at + length], strict_map_key=False), default=lambda raw: raw.hex()))
            at += length


def lines(path: pathlib.Path) -> list[bytes]:
    """Those of a tape, without compression."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        import io

        data = b"".join(inflated(io.BytesIO(data)))
    return data.split(b"\n")
