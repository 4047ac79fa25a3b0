"""Builds the program that needs glibc alone, and packs it: tarball, .deb, Python wheel, npm tarball, container image.

    tools/package               builds and packs into .build/package/out
    tools/package --check       and then judges what it has made (tools/acceptance/package)
    tools/package --check --twice   also builds the commit in two other folders and compares every byte

All times in the packages are that of the commit (or SOURCE_DATE_EPOCH), so two builds of one commit on one system are equal.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from typing import Any

from wiretape_tools.package import deb, image, npm, wheel
from wiretape_tools.package.members import gz, tar
from wiretape_tools.package.program import ROOT, WORK, Unbuildable, build, glibc_version, machine, said_by
from wiretape_tools.package.tree import installed, notices, version

OUT = WORK / "out"


def commit_time():
    """The time of what is packed, in seconds of 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    if said_by("git", "-C", ROOT, "status", "--porcelain"):
        print("package: there are changes that are in no commit; they are packed with its time", file=sys.stderr)
    return int(said_by("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def tarball(tree, number, about, epoch):
    """(file name, bytes) of what is unpacked below a prefix such as /usr/local."""
    name = f"wiretape-{number}-linux-{about['tarball']}"
    return f"{name}.tar.gz", gz(tar(tree, epoch, name + "/"))


def pack(epoch):
    """Every package, written to OUT with the list of their digests."""
    about = machine()
    program, archives = build(epoch)
    number = version(program)
    glibc = glibc_version(program)
    tree = installed(program, notices(archives), epoch)
    made = [
        tarball(tree, number, about, epoch),
        deb.package(tree, number, about, glibc, epoch),
        wheel.package(tree, number, about, glibc, epoch),
        npm.package(tree, number, about, epoch),
        image.package(tree, program, number, about, epoch),
    ]
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    sums = ""
    for name, data in sorted(made):
        (OUT / name).write_bytes(data)
        sums += f"{hashlib.sha256(data).hexdigest()}  {name}\n"
    (OUT / "SHA256SUMS").write_text(sums, encoding="ascii")
    size = program.stat().st_size
    print(f"package: wiretape {number}: {size / 1e6:.1f} MB, glibc {glibc[0]}.{glibc[1]}; in {OUT}:")
    for name, data in sorted(made):
        print(f"  {len(data):>10}  {name}")


def main():
    parser = argparse.ArgumentParser(
        prog="tools/package", description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="judge what was made (tools/acceptance/package)")
    parser.add_argument("--twice", action="store_true", help="with --check: build in two other folders and compare")
    options = parser.parse_args()
    if options.twice and not options.check:
        parser.error("--twice needs --check")
    subprocess.run([ROOT / "tools/setup"], check=True)
    pack(commit_time())
    if not options.check:
        return 0
    checking: list[Any] = [ROOT / "tools/acceptance/package", *(["--twice"] if options.twice else [])]
    return subprocess.run(checking, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unbuildable as reason:
        sys.exit(f"package: {reason}")
