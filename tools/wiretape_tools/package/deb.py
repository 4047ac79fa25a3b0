"""Debian's package, written without Debian's tools."""

import hashlib

from wiretape_tools.package.members import Member, ar, tar, xz

SUMMARY = "record realtime traffic and play the server's part back, with faults"
ABOUT = """\
 Wiretape records WebSockets, server-sent events and streamed HTTP between a
 client and its server, plays the server's part back to the client under test
 with faults at exact places, and judges how the client comes back."""


def package(tree, version, machine, glibc, epoch):
    """(file name, bytes)."""
    files = {"./usr/" + moved(path): member for path, member in tree.items()}
    size = sum(-(-len(member.data) // 1024) for member in files.values())
    control = f"""\
Package: wiretape
Version: {version}
Architecture: {machine["deb"]}
Maintainer: The Wiretape authors <wiretape@localhost>
Installed-Size: {size}
Depends: libc6 (>= {glibc[0]}.{glibc[1]})
Recommends: ca-certificates
Section: net
Priority: optional
Description: {SUMMARY}
{ABOUT}
"""
    sums = "".join(f"{hashlib.md5(member.data).hexdigest()}  {path[2:]}\n" for path, member in sorted(files.items()))
    about = {"./control": Member(control.encode()), "./md5sums": Member(sums.encode())}
    parts = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xz(tar({"./": Member(mode=0o755)} | about, epoch))),
        ("data.tar.xz", xz(tar({"./": Member(mode=0o755)} | files, epoch))),
    ]
    return f"wiretape_{version}_{machine['deb']}.deb", ar(parts, epoch)


def moved(path):
    """Debian's place for a file: packages leave site-functions to the administrator."""
    return path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/")
