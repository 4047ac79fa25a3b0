"""Fails where a switch over an enum of ours has a `default:` or a `case _:`. Without one, the compiler finds each switch that lacks a
new case.

A switch is over an enum of ours when all its other cases are written `.name`, or are pairs of such. The check reads switches by their
indentation, as the formatter leaves them.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

from wiretape_tools.lib.swift_source import code_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Default:
    path: pathlib.Path
    line: int
    text: str


def pieces(text: str) -> list[str]:
    """The parts between the commas that no bracket holds."""
    found = [""]
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [one.strip() for one in found]


def label(lines: list[str], at: int) -> str:
    """What stands between `case` on that line and its colon."""
    text = ""
    depth = 0
    for line in [re.sub(r"^\s*case\b", "", lines[at]), *lines[at + 1 :]]:
        for character in line:
            depth += (character in "([{") - (character in ")]}")
            if character == ":" and depth == 0:
                return text
            text += character
        text += " "
    return text


def is_of_enum(pattern: str) -> bool:
    """Whether the pattern can only be one of an enum's cases, `.name`, or pairs of such."""
    pattern = re.sub(r"^(let|var)\s+", "", pattern.strip())
    if pattern.startswith("(") and pattern.endswith(")"):
        parts = pieces(pattern[1:-1])
        return any(map(is_of_enum, parts)) and all(part == "_" or part == "nil" or is_of_enum(part) for part in parts)
    return re.match(r"\.[A-Za-z_]", pattern) is not None


def defaults(path: pathlib.Path) -> list[Default]:
    lines = code_lines(path.read_text(encoding="utf-8"))
    found = []
    for i, line in enumerate(lines):
        other = re.match(r"(\s*)(default|case\s+_)\s*:", line)
        if not other:
            continue
        cases: list[int] = []
        for j in range(i - 1, -1, -1):
            depth = len(lines[j]) - len(lines[j].lstrip())
            if not lines[j].strip() or depth > len(other[1]):
                continue
            if depth == len(other[1]) and re.match(r"\s*case\b", lines[j]):
                cases.append(j)
            elif re.search(r"\bswitch\b", lines[j]):
                break
        patterns = [one for j in cases for one in pieces(re.split(r"\bwhere\b", label(lines, j))[0])]
        known = [one for one in patterns if one not in ("nil", "_")]
        if known and all(map(is_of_enum, known)):
            found.append(Default(path, i + 1, line.strip()))
    return found


def main() -> int:
    argparse.ArgumentParser(prog="tools/check-types", description=__doc__).parse_args()
    files = sorted((ROOT / "Sources").rglob("*.swift"))
    if not files:
        print("check-types: there is no source file to look at", file=sys.stderr)
        return 1
    # The literals of the web page contain scripts, which are not Swift.
    found = [one for path in files if path.name != "PageResources.swift" for one in defaults(path)]
    for switch in found:
        print(
            f"check-types: {switch.path.relative_to(ROOT)}:{switch.line}: '{switch.text}' of a switch over an enum of ours; "
            "list the cases, so that the compiler leads here when there is a new one",
            file=sys.stderr,
        )
    if not found:
        print(f"check-types: {len(files)} files, no `default:` over an enum of ours")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
