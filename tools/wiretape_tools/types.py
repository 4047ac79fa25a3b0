"""How much state each type has, and who may write it: no type of Sources has more than 20 stored properties, and no function is
longer than 70 lines. No switch over an enum of ours has a `default:` or a `case _:` that a new case would fall into: a switch all of
whose other cases are written `.name` (or pairs of such) lists them.

It reads declarations by their braces, as the formatter leaves them, and is no compiler: strings, comments and what follows `=` on a
line are left out. `tools/check-types --largest N` shows the largest types, with how many of their properties other files may write.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_PROPERTIES = 20
MOST_LINES = 70

MODIFIERS = r"(?:(?:@\w+(?:\([^)]*\))?|package|public|private|fileprivate|internal|final|lazy|weak|unowned|nonisolated|static|class"
MODIFIERS += r"|mutating|nonmutating|override|required|convenience|indirect|borrowing|consuming|unsafe)(?:\([^)]*\))?\s+)*"
TYPE = re.compile(rf"^\s*(?P<mods>{MODIFIERS})(?P<kind>struct|class|actor|enum|extension|protocol)\s+(?P<name>[\w.]+)")
PROPERTY = re.compile(rf"^\s*(?P<mods>{MODIFIERS})(?P<kind>var|let)\s+(?P<names>\(?[\w`]+(?:\s*,\s*[\w`]+)*\)?)\s*[:=]")
FUNCTION = re.compile(rf"^\s*{MODIFIERS}(?:func\s+(?P<name>[^\s(<]+)|init\b|subscript\b|deinit\b)")


@dataclasses.dataclass
class Property:
    name: str
    # Whether other files of its module may write it.
    is_open: bool


@dataclasses.dataclass
class Type:
    name: str
    path: pathlib.Path
    line: int
    properties: list[Property] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Long:
    path: pathlib.Path
    line: int
    lines: int
    text: str


@dataclasses.dataclass
class Default:
    path: pathlib.Path
    line: int
    text: str


def code_lines(text: str) -> list[str]:
    """The lines without comments and without what stands in strings, so that braces can be counted."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    text = re.sub(r'#*"""(.*?)"""#*', lambda m: '"' + re.sub(r"[^\n]", "", m.group(1)) + '"', text, flags=re.S)
    lines = []
    for line in text.split("\n"):
        line = re.sub(r'#"(?:[^"]|"(?!#))*"#', '""', line)
        line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
        lines.append(re.sub(r"//.*", "", line))
    return lines


def is_stored(lines: list[str], at: int) -> bool:
    """Whether the declaration on that line has no getter: no brace, one behind `=`, or one that begins observers."""
    rest = lines[at]
    if "{" not in rest or "=" in rest.split("{", 1)[0]:
        return True
    behind = rest.split("{", 1)[1] + " " + " ".join(lines[at + 1 : at + 2])
    return re.match(r"\s*(didSet|willSet)\b", behind) is not None


def read(path: pathlib.Path) -> tuple[list[Type], list[Long]]:
    lines = code_lines(path.read_text(encoding="utf-8"))
    found: list[Type] = []
    longs: list[Long] = []
    # What is open: the depth of its body, and the type, or None for anything else.
    open_types: list[tuple[int, Type | None]] = []
    open_functions: list[tuple[int, int]] = []
    depth = 0
    pending: Type | None = None
    for i, line in enumerate(lines):
        declared = TYPE.match(line)
        if declared and declared["kind"] != "protocol":
            outer = ".".join(t.name for _, t in open_types if t)
            name = declared["name"]
            pending = Type(f"{outer}.{name}" if outer else name, path, i + 1)
            if declared["kind"] != "extension":
                found.append(pending)
        within = open_types[-1] if open_types else None
        if within and within[1] and depth == within[0]:
            property_ = PROPERTY.match(line)
            if property_ and "static" not in property_["mods"] and is_stored(lines, i):
                modifiers = property_["mods"]
                is_open = property_["kind"] == "var" and not re.search(r"\b(private|fileprivate)\b", modifiers)
                for name in property_["names"].strip("()").split(","):
                    within[1].properties.append(Property(name.strip(), is_open))
        if FUNCTION.match(line) and (not within or depth == within[0]):
            open_functions.append((depth, i))
        for character in line:
            if character == "{":
                depth += 1
                if pending:
                    open_types.append((depth, pending))
                    pending = None
            elif character == "}":
                depth -= 1
                while open_types and open_types[-1][0] > depth:
                    open_types.pop()
                while open_functions and open_functions[-1][0] >= depth:
                    _, start = open_functions.pop()
                    if i - start + 1 > MOST_LINES:
                        longs.append(Long(path, start + 1, i - start + 1, lines[start].strip()))
        # A requirement without a body.
        while open_functions and "{" not in line and open_functions[-1][1] == i and not line.rstrip().endswith(("(", ",")):
            if depth == open_functions[-1][0] and (i + 1 == len(lines) or not lines[i + 1].strip()):
                open_functions.pop()
            break
    return found, longs


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
    parser = argparse.ArgumentParser(prog="tools/check-types", description=__doc__)
    parser.add_argument("--largest", type=int, metavar="N", help="shows the N largest types instead of judging")
    given = parser.parse_args()
    types: list[Type] = []
    longs: list[Long] = []
    open_switches: list[Default] = []
    files = sorted((ROOT / "Sources").rglob("*.swift"))
    if not files:
        print("check-types: there is no source file to look at", file=sys.stderr)
        return 1
    for path in files:
        more, long = read(path)
        types += more
        longs += long
        # Scripts of the web page, as literals, are no Swift.
        if path.name != "PageResources.swift":
            open_switches += defaults(path)
    types.sort(key=lambda t: -len(t.properties))
    if given.largest:
        for one in types[: given.largest]:
            writable = sum(p.is_open for p in one.properties)
            place = f"{one.path.relative_to(ROOT)}:{one.line}"
            print(f"{len(one.properties):3} properties, {writable:2} written by others  {one.name}  {place}")
        return 0
    bad = 0
    for one in types:
        if len(one.properties) > MOST_PROPERTIES:
            bad += 1
            print(
                f"check-types: {one.path.relative_to(ROOT)}:{one.line}: {one.name} has {len(one.properties)} stored properties; "
                f"{MOST_PROPERTIES} at most: give part of them a type of its own",
                file=sys.stderr,
            )
    for function in longs:
        bad += 1
        print(
            f"check-types: {function.path.relative_to(ROOT)}:{function.line}: {function.lines} lines; {MOST_LINES} at most",
            file=sys.stderr,
        )
    for switch in open_switches:
        bad += 1
        print(
            f"check-types: {switch.path.relative_to(ROOT)}:{switch.line}: '{switch.text}' of a switch over an enum of ours; "
            "list the cases, so that the compiler leads here when there is a new one",
            file=sys.stderr,
        )
    if not bad:
        print(
            f"check-types: {len(types)} types, none with more than {MOST_PROPERTIES} stored properties; no function longer than "
            f"{MOST_LINES} lines, no `default:` over an enum of ours"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
