"""What tools/package has made installs and runs with glibc alone; with --twice, two builds of the commit are equal.

The packages are those of .build/package/out, after their digests. A part whose tools are missing here fails, and says which.
The time from start to ready is printed beside the bound of 40 ms and judged by nobody: it is the machine's as well.
Exit 1 if something does not hold. Root is needed, for chroot.
"""

import argparse
import hashlib
import os
import shutil
import sys
import tarfile

from wiretape_tools.acceptance.package import action, clients, roots, system, twice
from wiretape_tools.lib.processes import ROOT, Failed, fail

OUT = ROOT / ".build/package/out"
WORK = ROOT / ".build/acceptance/package"
PARTS = {
    "program": roots.program,
    "ready": roots.ready,
    "root": roots.bare,
    "image": roots.image,
    "wheel": clients.wheel,
    "npm": clients.npm,
    "deb": system.deb,
    "man": system.man,
    "completions": system.completions,
    "action": action.action,
}


class Made:
    """The packages by their endings, and a folder for each part."""

    def __init__(self):
        sums = OUT / "SHA256SUMS"
        if not sums.is_file():
            raise Failed(f"{sums} is not there: run tools/package")
        self.files = {}
        for line in sums.read_text(encoding="ascii").splitlines():
            digest, name = line.split("  ")
            if hashlib.sha256((OUT / name).read_bytes()).hexdigest() != digest:
                raise Failed(f"{name} has another digest than SHA256SUMS says")
            self.files[name] = digest
        listed = {path.name for path in OUT.iterdir()} - {"SHA256SUMS"}
        if listed != set(self.files):
            raise Failed(f"SHA256SUMS lists {sorted(self.files)}, and {OUT} has {sorted(listed)}")
        self.prefix = self.folder("prefix")
        with tarfile.open(self.of(".tar.gz")) as file:
            file.extractall(self.prefix, filter="data")
        (self.prefix,) = self.prefix.iterdir()
        self.program = self.prefix / "bin/wiretape"
        self.version = self.prefix.name.split("-")[1]

    def of(self, ending):
        """The one package with this ending."""
        found = [name for name in self.files if name.endswith(ending)]
        if len(found) != 1:
            raise Failed(f"{OUT} has {len(found)} files that end in {ending}; one is right")
        return OUT / found[0]

    def folder(self, name):
        """A new, empty folder."""
        path = WORK / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path


def main():
    parser = argparse.ArgumentParser(prog="tools/acceptance/package", description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="which of " + ", ".join(PARTS))
    parser.add_argument("--twice", action="store_true", help="build the commit in two other folders and compare")
    options = parser.parse_args()
    if os.getuid() != 0:
        raise Failed("root is needed, for chroot")
    chosen = [part for part in options.parts.split(",") if part]
    if unknown := [part for part in chosen if part not in PARTS]:
        raise Failed(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    made = Made()
    bad = 0
    for part in chosen:
        try:
            print(f"{part}: {PARTS[part](made)}", flush=True)
        except Failed as failure:
            bad += 1
            fail(f"{part}: {failure}")
    if options.twice:
        print(f"twice: {twice.twice(WORK / 'twice')}", flush=True)
    if bad:
        raise Failed(f"{bad} of {len(chosen)} parts do not hold")
    print(f"package: wiretape {made.version}: {len(chosen)} parts hold" + (", two builds are equal" if options.twice else ""))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(f"package: {failure}"))
