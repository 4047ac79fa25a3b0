"""Checks that the modules import what Package.swift declares, and that docs/architecture.md says the same.

Three things have to agree for every target: the dependencies in Package.swift, the `import` lines of its sources, and its row in
the table of docs/architecture.md. The check fails on a dependency that no file imports, on an import that Package.swift does not
declare, and on a row that names other modules than the sources do. LAYERS lists the imports that no change may add.

`tools/check-graph --write` rewrites the second column of the table from the imports.
`python3 -m unittest wiretape_tools.test_graph` (in tools/) runs this check's own tests.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = "docs/architecture.md"
IMPORT = re.compile(
    r"^ *(?:(?:@[A-Za-z_()]+|package|internal|public|private|fileprivate) +)*"
    r"import +(?:(?:struct|class|enum|protocol|func|var|let|typealias) +)?([A-Za-z_0-9]+)"
)
ROW = re.compile(r"^\| `([\w-]+)` \| (.*?) \|(.*)\|$")

# Modules below the network: they get time, randomness and files as arguments, so they must not import what provides them.
PURE = [
    "WiretapeWire",
    "WiretapeMessages",
    "WiretapeRedaction",
    "WiretapeProtocol",
    "WiretapeCodecs",
    "WiretapeAttempts",
    "WiretapeFaults",
    "WiretapePlayback",
    "WiretapeReport",
    "WiretapeReplay",
    "WiretapeIntercept",
    "WiretapePackets",
]
# Who must never import whom, whatever the table says: (importers, imported).
LAYERS = [
    (PURE, ["WiretapeSystem", "WiretapeNet", "WiretapeTLS", "Glibc", "Musl", "Darwin", "Foundation", "Dispatch"]),
    (["WiretapeReplay"], ["WiretapeIntercept", "WiretapeCodecs", "WiretapeProxy"]),
    (["WiretapeIntercept"], ["WiretapeReplay", "WiretapeCodecs", "WiretapeProxy"]),
    (["WiretapeProxy", "WiretapeReplayServer", "WiretapeControl"], ["WiretapeCodecs", "WiretapeNet", "Foundation"]),
    (["WiretapeTape", "WiretapeRecorder", "WiretapeTapeTools", "WiretapeCapture"], ["WiretapeCodecs", "WiretapeNet", "Foundation"]),
    (["WiretapeTesting"], ["WiretapeCommandLine", "WiretapeServing", "WiretapeTapeCommands"]),
]


@dataclasses.dataclass
class Target:
    """A target of Package.swift with what it declares and what its files import."""

    name: str
    kind: str  # executable, regular or test
    folder: pathlib.Path
    declared: set[str]
    # The first place where each module is imported, as "path:line".
    imported: dict[str, str] = dataclasses.field(default_factory=dict)


def manifest(root: pathlib.Path) -> dict:
    """What Package.swift says, as SwiftPM prints it. A scratch folder of its own, so that a running build does not block it."""
    done = subprocess.run(
        ["swift", "package", "--scratch-path", ".build/graph", "dump-package"],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
        # With it the manifest has the target of the fuzzers, too.
        env={**os.environ, "WIRETAPE_FUZZ": "1"},
    )
    if done.returncode != 0:
        sys.exit(f"check-graph: swift package dump-package failed:\n{done.stderr}")
    return json.loads(done.stdout)


def read_imports(root: pathlib.Path, target: Target) -> list[str]:
    """Fills target.imported. Returns problems of the import lines themselves."""
    problems = []
    for path in sorted((root / target.folder).rglob("*.swift")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not re.match(r" *((@[A-Za-z_()]+|package|internal|public|private|fileprivate) +)*import +", line):
                continue
            where = f"{path.relative_to(root)}:{number}"
            found = IMPORT.match(line)
            if not found:
                # Python in a string of a test ("import socket") is no import of Swift, and matches.
                problems.append(f"{where}: this check cannot read the import")
                continue
            target.imported.setdefault(found[1], where)
            if target.kind != "test" and target.folder.parts[0] == "Sources":
                if not re.match(r" *(@\w+ +)*(package|internal|public|private|fileprivate) +import ", line):
                    problems.append(f"{where}: write 'internal import {found[1]}' or 'package import {found[1]}'")
    return problems


def targets_of(root: pathlib.Path, package: dict) -> tuple[list[Target], list[str]]:
    """All targets with Swift sources, and problems of their imports."""
    found, problems = [], []
    for entry in package["targets"]:
        if entry["type"] in ("system", "plugin"):
            continue
        folder = entry.get("path") or ("Tests/" if entry["type"] == "test" else "Sources/") + entry["name"]
        declared = {next(iter(one.values()))[0] for one in entry["dependencies"]}
        target = Target(entry["name"], entry["type"], pathlib.Path(folder), declared)
        problems += read_imports(root, target)
        found.append(target)
    return found, problems


def compare_dependencies(targets: list[Target], own: set[str]) -> list[str]:
    """Dependencies that nobody imports, and imports that nobody declared. `own` are the names of all targets of the package."""
    problems = []
    for target in targets:
        for name in sorted(target.declared - set(target.imported)):
            problems.append(f"Package.swift: {target.name} declares {name}, which no file of {target.folder} imports: remove it there")
        for name in sorted((set(target.imported) & own) - target.declared):
            problems.append(f"{target.imported[name]}: imports {name}; add it to the dependencies of {target.name} in Package.swift")
    return problems


def check_layers(targets: list[Target]) -> list[str]:
    """Imports that LAYERS forbids."""
    by_name = {target.name: target for target in targets}
    return [
        f"{by_name[importer].imported[name]}: {importer} must never import {name} (LAYERS in tools/wiretape_tools/graph.py)"
        for importers, forbidden in LAYERS
        for importer in importers
        if importer in by_name
        for name in forbidden
        if name in by_name[importer].imported
    ]


def cell(target: Target) -> str:
    """The table's second column for a target."""
    names = sorted(target.imported, key=lambda name: (not name.startswith("Wiretape"), name.lower()))
    return ", ".join(name.removeprefix("Wiretape") for name in names) or "–"


def compare_table(targets: list[Target], text: str) -> list[str]:
    """Rows that say something else than the sources, rows of targets that are gone, and targets without a row."""
    rows = {found[1]: found[2] for line in text.split("\n") if (found := ROW.match(line))}
    listed = {target.name: target for target in targets if target.kind != "test" and target.folder.parts[0] == "Sources"}
    problems = [f"{TABLE}: no row for the target {name}" for name in sorted(set(listed) - set(rows))]
    problems += [f"{TABLE}: the row `{name}` names no target of Package.swift" for name in sorted(set(rows) - set(listed))]
    for name in sorted(set(rows) & set(listed)):
        wanted = cell(listed[name])
        if rows[name] != wanted:
            said, true = (set(text.split(", ")) - {"–"} for text in (rows[name], wanted))
            parts = [f"imports {one}, and the row does not say so" for one in sorted(true - said)]
            parts += [f"does not import {one}" for one in sorted(said - true)]
            problems.append(
                f"{TABLE}: {name} "
                + "; ".join(parts or ["lists its modules in another order"])
                + ". tools/check-graph --write mends the row"
            )
    return problems


def rewrite(targets: list[Target], text: str) -> str:
    """The page with the second column of each known row written from the imports."""
    by_name = {target.name: target for target in targets}
    lines = []
    for line in text.split("\n"):
        found = ROW.match(line)
        lines.append(f"| `{found[1]}` | {cell(by_name[found[1]])} |{found[3]}|" if found and found[1] in by_name else line)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/check-graph", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help=f"rewrite the table in {TABLE} from the imports")
    options = parser.parse_args()
    package = manifest(ROOT)
    own = {entry["name"] for entry in package["targets"]}
    targets, problems = targets_of(ROOT, package)
    page = ROOT / TABLE
    if options.write:
        page.write_text(rewrite(targets, page.read_text(encoding="utf-8")), encoding="utf-8")
    problems += compare_dependencies(targets, own)
    problems += check_layers(targets)
    problems += compare_table(targets, page.read_text(encoding="utf-8"))
    for problem in problems:
        print(f"check-graph: {problem}", file=sys.stderr)
    if not problems:
        count = sum(len(target.declared) for target in targets)
        print(f"check-graph: {len(targets)} targets, {count} dependencies, each imported; {TABLE} says the same")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
