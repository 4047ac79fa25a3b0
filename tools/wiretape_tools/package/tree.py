"""What a system gets: the program, its pages, its completions, and the licences of all that is in it."""

import pathlib
import shutil
import time

from wiretape_tools.package.members import Member, gz
from wiretape_tools.package.program import ROOT, Unbuildable, said_by

# Shells, and where each looks for completions below a prefix.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/wiretape",
    "zsh": "share/zsh/site-functions/_wiretape",
    "fish": "share/fish/vendor_completions.d/wiretape.fish",
}


def installed(program, notices, epoch):
    """{path below a prefix: Member} of a whole installation."""
    tree = {
        "bin/wiretape": Member(program.read_bytes(), 0o755),
        "share/man/man1/wiretape.1.gz": Member(gz(man_page(program, epoch))),
        "share/doc/wiretape/copyright": Member(notices),
        "share/doc/wiretape/changelog.gz": Member(gz((ROOT / "CHANGELOG.md").read_bytes())),
    }
    for shell, place in COMPLETIONS.items():
        tree[place] = Member(said_by(program, "completions", shell).encode() + b"\n")
    for page in ["guide", "faults", "verdict", "cli"]:
        tree[f"share/doc/wiretape/{page}.md"] = Member((ROOT / f"docs/{page}.md").read_bytes())
    return tree


def man_page(program, epoch):
    """The program's own page with the day of the commit, which the program does not know."""
    page = said_by(program, "man")
    head = '.TH WIRETAPE 1 ""'
    if not page.startswith(head):
        raise Unbuildable(f"'wiretape man' begins with {page[:60]!r}, where a day belongs into {head}")
    day = time.strftime("%Y-%m-%d", time.gmtime(epoch))
    return f'{head[:-1]}{day}"{page.removeprefix(head)}\n'.encode()


def version(program):
    """What the program says that it is: 0.1.0."""
    words = said_by(program, "version").split()
    if len(words) != 2 or words[0] != "wiretape":
        raise Unbuildable(f"'wiretape version' says {' '.join(words)!r}, which is no version")
    return words[1]


def notices(archives):
    """Our licence, then that of everything that is linked into the program: the packages' own copyright files."""
    parts = [("Wiretape", (ROOT / "LICENSE").read_text(encoding="utf-8"))]
    compiler = shutil.which("swiftc")
    if compiler is None:
        raise Unbuildable("swiftc is not on PATH")
    swift = pathlib.Path(compiler).resolve().parents[1] / "share/swift/LICENSE.txt"
    if not swift.is_file():
        raise Unbuildable(f"Swift's licence is not at {swift}, and has to come with its library")
    parts.append(("Swift's standard library and runtime", swift.read_text(encoding="utf-8")))
    for name in sorted(archives):
        parts.append((f"lib{name}", copyright_of(archives[name])))
    rule = "=" * 78
    text = "".join(f"{rule}\n{title}\n{rule}\n\n{words.strip()}\n\n" for title, words in parts)
    return text.encode()


def copyright_of(path):
    """The copyright file of Debian's package that a file is of."""
    owner = said_by("dpkg", "-S", path).split(":")[0]
    file = pathlib.Path("/usr/share/doc") / owner / "copyright"
    if not file.is_file():
        raise Unbuildable(f"{path} is of {owner}, which has no {file}")
    return file.read_text(encoding="utf-8")
