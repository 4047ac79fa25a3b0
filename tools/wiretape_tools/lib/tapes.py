"""A tape read with nothing of ours: gzip members by zlib, lines by json. Torn ends give what is whole."""

import base64
import json
import pathlib
import zlib
from collections.abc import Iterator
from typing import IO, Any

from wiretape_tools.lib.processes import Failed, binary, run

Event = dict[str, Any]  # a line of a tape


def lines(path: pathlib.Path | str) -> Iterator[tuple[bytes, bool]]:
    """(line without its newline, True if it ended with one) of a tape, plain or gzip, as far as it can be read."""
    with open(path, "rb") as file:
        magic = file.read(2)
        file.seek(0)
        pieces = inflated(file) if magic == b"\x1f\x8b" else iter(lambda: file.read(1 << 20), b"")
        rest = b""
        for piece in pieces:
            rest += piece
            *whole, rest = rest.split(b"\n")
            for line in whole:
                yield line, True
        if rest:
            yield rest, False


def inflated(file: IO[bytes]) -> Iterator[bytes]:
    """What the members hold; ends at the first byte that is no gzip or that is missing."""
    member = zlib.decompressobj(31)
    data = b""
    while True:
        data = data or file.read(1 << 20)
        if not data:
            return
        try:
            piece = member.decompress(data, 1 << 20)
        except zlib.error:
            return
        if piece:
            yield piece
        if member.eof:
            data = member.unused_data
            member = zlib.decompressobj(31)
        else:
            data = member.unconsumed_tail


def events(path: pathlib.Path | str) -> tuple[Event, list[Event]]:
    """(header, events) of a tape; a torn last line is left out, any other line has to be JSON."""
    whole = [line for line, complete in lines(path) if complete]
    if not whole:
        raise Failed(f"{path} has no whole line")
    header = json.loads(whole[0])
    return header, [json.loads(line) for line in whole[1:] if not line.startswith(b"#")]


def import_of(capture: pathlib.Path, tape: pathlib.Path, keys: pathlib.Path | None = None) -> list[object]:
    """The command that makes a tape of a packet capture as it is, with the key log in its folder where there is one."""
    keys = keys or capture.parent / "keys.log"
    log = ["--keylog", keys] if keys.is_file() else []
    return [binary(), "import", capture, "--output", tape, "--force", "--redact", "off", *log]


def payload(event: Event) -> bytes:
    """The bytes that an event carries."""
    if "b64" in event:
        return base64.b64decode(event["b64"])
    if "json" in event:
        return json.dumps(event["json"], separators=(",", ":"), ensure_ascii=False).encode()
    return event.get("text", "").encode()


def messages(found: list[Event]) -> Iterator[tuple[int, str, str, bytes]]:
    """(connection, direction, opcode, payload) of every whole WebSocket message, parts joined."""
    open_parts: dict[Any, Any] = {}
    for event in found:
        if event["e"] == "message":
            yield event["c"], event["d"], event["op"], payload(event)
        elif event["e"] == "part":
            key = event["c"], event["d"]
            open_parts.setdefault(key, []).append(payload(event))
            if event.get("last"):
                yield event["c"], event["d"], event["op"], b"".join(open_parts.pop(key))


def checked(path: pathlib.Path | str, stopped: bool = True) -> list[Event]:
    """The events of a tape that has to be whole: our own reading, and `wiretape inspect` agrees that it is one."""
    _, found = events(path)
    if stopped and (not found or found[-1]["e"] != "stop"):
        raise Failed(f"{path} does not end with a stop event but with {found[-1:]}")
    code, _, err = run([binary(), "inspect", path, "--format", "json"])
    if code != 0:
        raise Failed(f"inspect of {path} ended with {code}: {err[-500:]}")
    return found
