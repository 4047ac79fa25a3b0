"""Fails on a new cycle of calls between the files of one type.

A type may have extensions in several files. Where the calls between these files go in a circle, no file can be understood, tested or
replaced without the others. File A calls file B when code of the type in A uses a function, an initializer or a computed property that
the type declares in B and nowhere else. A cycle is a group of files in which every file leads to every other one. How the calls are
read, and what that misses, is described in wiretape_tools/lib/swift_members.py.

tools/known-cycles.txt lists the cycles that exist today. The list may only shrink: a cycle that is not listed fails the check, and so
does a listed file that is in no cycle any more.

The tests of this check: tools/wiretape_tools/start test_cycles
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys

from wiretape_tools.lib import swift_members
from wiretape_tools.lib.swift_members import FileMembers, Member

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECLARATION = re.compile(r"^[ \t]*(?:[\w@()]+[ \t]+)*(?:struct|class|actor|enum|extension|protocol)[ \t]+([\w.]+)", re.M)
LIST_HEADER = """\
# The cycles of calls between the files of one type that exist today. This list may only shrink; tools/check-cycles compares it.
# When you have broken a cycle, run tools/check-cycles --write and commit the shorter list.
"""


@dataclasses.dataclass(frozen=True, order=True)
class TypeID:
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module} {self.name}"


@dataclasses.dataclass(frozen=True)
class Call:
    """One use that leads from a file to another. File names are unique in a module."""

    caller: str
    line: int
    name: str
    callee: str
    declared: int


# The calls of a type, by caller and callee: one example each.
Calls = dict[str, dict[str, Call]]
Cycles = dict[TypeID, list[frozenset[str]]]


class Unusable(Exception):
    """Why the check cannot give an answer, in a sentence."""


def spread_files(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    """The files of a module that share a type with another one. The others need not be read in full."""
    by_name: dict[str, set[pathlib.Path]] = collections.defaultdict(set)
    for path in paths:
        for found in DECLARATION.finditer(path.read_text(encoding="utf-8")):
            by_name[found[1].rpartition(".")[2]].add(path)
    return sorted(set().union(*(files for files in by_name.values() if len(files) > 1)))


def calls_of_module(paths: list[pathlib.Path]) -> dict[str, Calls]:
    """The calls between files, for each type that is in more than one of them."""
    read = {path.name: swift_members.read(path) for path in spread_files(paths)}
    kinds = {name: kind for file in read.values() for name, kind in file.kinds.items()}
    found: dict[str, Calls] = {}
    for name in sorted({name for file in read.values() for name in file.types}):
        files = {file: members for file, members in read.items() if name in members.types}
        if len(files) > 1:
            found[name] = calls_of_type(name, kinds.get(name), files)
    return found


def calls_of_type(type_name: str, kind: str | None, files: dict[str, FileMembers]) -> Calls:
    declared: dict[str, list[tuple[str, Member]]] = collections.defaultdict(list)
    for file, read in files.items():
        for member in read.members:
            if member.type == type_name:
                declared[member.name].append((file, member))
    calls: Calls = {file: {} for file in sorted(files)}
    for file in calls:
        for (used_type, name), line in files[file].uses.items():
            if used_type != type_name or name not in declared:
                continue
            # Another file cannot use a private member, so that name means something else there.
            choices = [(owner, member) for owner, member in declared[name] if owner == file or not member.is_private]
            callee = only_file(name, kind, choices)
            if callee and callee[0] != file:
                calls[file].setdefault(callee[0], Call(file, line, name, callee[0], callee[1].line))
    return calls


def only_file(name: str, kind: str | None, declared: list[tuple[str, Member]]) -> tuple[str, Member] | None:
    """The one file whose code a use of the name runs, or None where the name leaves a choice."""
    if len({file for file, _ in declared}) != 1 or any(member.kind != "code" for _, member in declared):
        return None
    # A type of another module, and a struct without an initializer in its body, have initializers that are not declared here.
    if name == "init" and kind not in ("class", "actor", "enum") and (kind is None or all(m.in_extension for _, m in declared)):
        return None
    return declared[0]


def reach(calls: Calls, begin: str) -> dict[str, list[Call]]:
    """The files that a file leads to, with a shortest path to each. The file itself is one of them if it is in a cycle."""
    paths: dict[str, list[Call]] = {}
    waiting: collections.deque[tuple[str, list[Call]]] = collections.deque([(begin, [])])
    while waiting:
        file, path = waiting.popleft()
        for callee, call in calls[file].items():
            if callee not in paths:
                paths[callee] = [*path, call]
                waiting.append((callee, paths[callee]))
    return paths


def cycles_of(calls: Calls) -> list[frozenset[str]]:
    """The groups of files that lead to each other, the largest first."""
    reached = {file: set(reach(calls, file)) for file in calls}
    groups = {frozenset(other for other in reached[file] if file in reached[other]) for file in calls}
    return sorted((group for group in groups if group), key=lambda group: (-len(group), sorted(group)))


def read_list(path: pathlib.Path) -> Cycles:
    """The list: a line `MODULE TYPE` for each cycle, and below it one indented file name a line."""
    listed: dict[TypeID, list[set[str]]] = collections.defaultdict(list)
    files: set[str] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else [], 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not line[0].isspace() and len(words) == 2:
            files = set()
            listed[TypeID(*words)].append(files)
        elif line[0].isspace() and len(words) == 1 and files is not None:
            files.add(words[0])
        else:
            raise Unusable(f"{path}:{number}: expected `MODULE TYPE`, or an indented file name below such a line, not '{line}'")
    return {one: [frozenset(files) for files in groups] for one, groups in listed.items()}


def write_list(path: pathlib.Path, cycles: Cycles) -> None:
    text = LIST_HEADER
    for one in sorted(cycles):
        for group in cycles[one]:
            text += f"\n{one}\n" + "".join(f"    {file}\n" for file in sorted(group))
    path.write_text(text, encoding="utf-8")


class Check:
    """The cycles of a folder of modules, compared with a list."""

    def __init__(self, sources: pathlib.Path, known: pathlib.Path) -> None:
        self.calls: dict[TypeID, Calls] = {}
        self.paths: dict[tuple[str, str], pathlib.Path] = {}
        for module in sorted(path for path in sources.iterdir() if path.is_dir()):
            paths = sorted(module.rglob("*.swift"))
            self.paths.update({(module.name, path.name): path for path in paths})
            for name, calls in calls_of_module(paths).items():
                self.calls[TypeID(module.name, name)] = calls
        if not self.paths:
            raise Unusable(f"there is no Swift file in {sources}")
        self.found: Cycles = {one: groups for one, calls in self.calls.items() if (groups := cycles_of(calls))}
        self.list = known
        self.known = read_list(known)

    def grown(self) -> list[str]:
        """What exists and is not listed: a path of calls for each cycle that has a new file."""
        lines = []
        for one, groups in self.found.items():
            for group in groups:
                listed = max(self.known.get(one, []), key=lambda files: len(files & group), default=frozenset[str]())
                new = sorted(group - listed)
                if not new:
                    continue
                if listed & group:
                    lines.append(f"{one}: {', '.join(new)}: not in the listed cycle of this type, and now part of it:")
                else:
                    lines.append(f"{one}: a new cycle of {len(group)} files:")
                # An example for the first new file: a shortest circle, by way of a listed file if there is one.
                lines += [f"    {self.describe(one, call)}" for call in self.circle(one, new[0], listed & group)]
        return lines

    def circle(self, one: TypeID, begin: str, through: frozenset[str]) -> list[Call]:
        """The shortest path from a file back to itself, by way of one of the other files if there are any."""
        calls = self.calls[one]
        out = reach(calls, begin)
        circles = [out[file] + reach(calls, file)[begin] for file in sorted(through) if file in out]
        return min(circles, key=len) if circles else out[begin]

    def describe(self, one: TypeID, call: Call) -> str:
        path = self.paths[one.module, call.caller]
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        return f"{shown}:{call.line}: uses '{call.name}', declared in {call.callee}:{call.declared}"

    def shrunk(self) -> list[str]:
        """What is listed and does not exist."""
        lines = []
        for one, groups in sorted(self.known.items()):
            for listed in groups:
                found = [group for group in self.found.get(one, []) if group & listed]
                gone = sorted(listed - frozenset[str]().union(*found))
                if gone:
                    lines.append(f"{one}: remove {', '.join(gone)}: no longer in a cycle")
                elif len(found) > 1:
                    lines.append(f"{one}: the listed cycle of {len(listed)} files is now {len(found)} cycles: list each of them")
        return lines

    def summary(self) -> list[str]:
        lines = []
        for one in sorted(set(self.found) | set(self.known)):
            found, known = ([len(group) for group in cycles.get(one, [])] for cycles in (self.found, self.known))
            of = f" of {len(self.calls[one])}" if one in self.calls else ""
            lines.append(f"{one}: {sum(found)}{of} files in cycles, known {sum(known)}")
        return lines

    def judge(self, write: bool = False, grow: bool = False) -> tuple[bool, list[str]]:
        """Whether the check passes, and what to print."""
        lines = self.summary()
        grown, shrunk = self.grown(), self.shrunk()
        if write:
            if grown and not grow:
                return False, [*lines, *grown, "not written: the list would grow; --grow permits that"]
            write_list(self.list, self.found)
            return True, [*lines, f"{self.list.name} is written"]
        if grown:
            lines += [*grown, "Remove a call from each cycle above. If you only renamed a file, run tools/check-cycles --write --grow"]
        if shrunk:
            lines += [*shrunk, "To update the list, run tools/check-cycles --write"]
        return not grown and not shrunk, lines


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/check-cycles", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write today's cycles to the list, if it does not grow")
    parser.add_argument("--grow", action="store_true", help="with --write: the list may grow")
    parser.add_argument("--calls", metavar="TYPE", help="show the files in the cycles of a type, and one example of each call")
    options = parser.parse_args()
    if options.grow and not options.write:
        parser.error("--grow needs --write")
    check = Check(ROOT / "Sources", ROOT / "tools/known-cycles.txt")
    if options.calls:
        chosen = [one for one in check.calls if options.calls in (one.name, str(one))]
        if not chosen:
            raise Unusable(f"no type {options.calls} has code in more than one file")
        for one in chosen:
            groups = check.found.get(one, [])
            print(f"{one}: {len(groups)} cycles")
            for group in groups:
                print(f"  a cycle of {len(group)} files:")
                for file in sorted(group):
                    for callee, call in check.calls[one][file].items():
                        if callee in group:
                            print(f"    {check.describe(one, call)}")
        return 0
    passed, lines = check.judge(options.write, options.grow)
    print("\n".join(f"check-cycles: {line}" for line in lines), file=sys.stdout if passed else sys.stderr)
    return 0 if passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, swift_members.Unreadable) as reason:
        sys.exit(f"check-cycles: {reason}")
