"""The Debian package, the man page and the completions."""

import gzip
import shutil

from wiretape_tools.acceptance.package.clients import done, needs, says_version
from wiretape_tools.lib.processes import Failed, run

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES"]
BASH = """
source {script}
COMP_WORDS=(wiretape replay --spe) COMP_CWORD=2; _wiretape; echo "${{COMPREPLY[*]}}"
COMP_WORDS=(wiretape replay --speed '') COMP_CWORD=3; _wiretape; echo "${{COMPREPLY[*]}}"
COMP_WORDS=(wiretape ins) COMP_CWORD=1; _wiretape; echo "${{COMPREPLY[*]}}"
"""


def deb(made):
    """dpkg installs and removes it in a root of its own; the sums of its files are right."""
    root, package = made.folder("deb"), made.of(".deb")
    fields = done([needs("dpkg-deb"), "--field", package, "Package", "Version", "Architecture", "Depends"])
    if f"Version: {made.version}\n" not in fields or "Depends: libc6 (>= " not in fields:
        raise Failed(f"the fields are {fields}")
    for name in ["info", "updates", "triggers"]:
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    # Only libc6 is missing in that root, and the program is run outside of it.
    dpkg = [needs("dpkg"), f"--root={root}", "--force-not-root", "--force-script-chrootless"]
    done([*dpkg, "--force-depends", "--install", package])
    done(["md5sum", "--quiet", "--check", root / "var/lib/dpkg/info/wiretape.md5sums"], cwd=root)
    says_version(root / "usr/bin/wiretape", made)
    installed = [path for path in (root / "usr").rglob("*") if path.is_file()]
    done([*dpkg, "--purge", "wiretape"])
    if left := [path for path in root.rglob("*wiretape*") if path.is_file()]:
        raise Failed(f"dpkg leaves {left} when the package is removed")
    return f"{package.name}: {len(installed)} files with right sums, runs, and is removed whole"


def man(made):
    """The page has its sections, and neither man nor mandoc finds a mistake."""
    page = made.folder("man") / "wiretape.1"
    page.write_bytes(gzip.decompress((made.prefix / "share/man/man1/wiretape.1.gz").read_bytes()))
    lines = page.read_text(encoding="utf-8").splitlines()
    if missing := [name for name in SECTIONS if f".SH {name}" not in lines]:
        raise Failed(f"the page lacks {', '.join(missing)}")
    code, out, err = run([needs("man"), "--warnings", "--encoding=utf8", "--local-file", page], env={"PATH": "/usr/bin:/bin"})
    if code != 0 or err or "ENVIRONMENT" not in out:
        raise Failed(f"man ended with {code}: {err or out[:300]}")
    told = "man finds nothing wrong"
    if shutil.which("mandoc"):
        code, out, err = run(["mandoc", "-T", "lint", "-W", "warning", page])
        if code != 0:
            raise Failed(f"mandoc -T lint: {out}{err}")
        told += ", nor does mandoc"
    else:
        told += "; mandoc is not here and was not asked"
    return f"{len(lines)} lines with {', '.join(SECTIONS)}; {told}"


def completions(made):
    """Bash completes; zsh and fish do where they are installed, and are named where they are not."""
    share = made.prefix / "share"
    script = share / "bash-completion/completions/wiretape"
    offered = done(["bash", "-c", BASH.format(script=script)]).splitlines()
    if offered[0] != "--speed" or "instant" not in offered[1] or offered[2] != "inspect":
        raise Failed(f"bash offers {offered}")
    told = ["bash completes commands, options and values"]
    if shutil.which("fish"):
        script = share / "fish/vendor_completions.d/wiretape.fish"
        lines = ["wiretape ins", "wiretape replay --spe", "wiretape completions "]
        asked = f"source {script}; " + "; ".join(f"complete -C '{line}'" for line in lines)
        words = {line.split("\t")[0] for line in done(["fish", "--no-config", "-c", asked]).splitlines()}
        if not {"inspect", "--speed", "bash", "zsh", "fish"} <= words:
            raise Failed(f"fish offers {sorted(words)}")
        told.append("fish does")
    else:
        told.append("fish is not here and was not asked")
    if shutil.which("zsh"):
        folder = share / "zsh/site-functions"
        start = f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {made.folder('zsh')}/dump"
        asked = f"{start}; whence -w _wiretape; print $_comps[wiretape]"
        said = done(["zsh", "-f", "-c", asked])
        done(["zsh", "-n", folder / "_wiretape"])
        if said.split() != ["_wiretape:", "function", "_wiretape"]:
            raise Failed(f"zsh does not take the completion: {said}")
        told.append("zsh loads its one")
    else:
        told.append("zsh is not here and was not asked")
    return "; ".join(told)
