"""Two builds of one commit, in folders of different names, are the same bytes."""

import hashlib
import shutil
import subprocess
import time

from clients import done
from processes import ROOT, Failed


def twice(work):
    """Clones the commit into two folders, packs in each, and compares every file with each other and with what is in out."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if changed := done(["git", "-C", ROOT, "status", "--porcelain"]):
        raise Failed(f"there are changes that are in no commit, which a clone does not have: {changed.splitlines()[:3]}")
    commit = done(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    begun = time.monotonic()
    sums = {"here": digests(ROOT)}
    for name in ["one", "another-place/that-is-deeper"]:
        clone = work / name
        done(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], seconds=300)
        done(["git", "-C", clone, "checkout", "--quiet", commit])
        with open(work / "log", "ab") as log:
            built = subprocess.run([clone / "tools/package"], stdout=log, stderr=log, check=False)
        if built.returncode != 0:
            raise Failed(f"tools/package in {clone} ended with {built.returncode}; {work}/log tells why")
        sums[name] = digests(clone)
        shutil.rmtree(clone / ".build/package/swift")
    first, *others = sums.values()
    for other in others:
        if differing := sorted(name for name in first | other if first.get(name) != other.get(name)):
            raise Failed(f"of {commit[:12]} these differ between {', '.join(sums)}: {', '.join(differing)}")
    minutes = (time.monotonic() - begun) / 60
    return f"{len(first)} files of {commit[:12]} are equal, byte by byte, in {len(sums)} folders ({minutes:.0f} min)"


def digests(clone):
    """{name: digest} of everything that was packed."""
    out = clone / ".build/package/out"
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())}
    if len(found) < 6:
        raise Failed(f"{out} has {sorted(found)} only")
    return found
