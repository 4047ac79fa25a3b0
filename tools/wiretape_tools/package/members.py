"""Archives that are the same bytes whenever they are made of the same files: sorted, owned by root, with one time."""

import base64
import gzip
import hashlib
import io
import lzma
import tarfile
import time
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """A file of an archive: its bytes, or where a link leads."""

    data: bytes = b""
    mode: int = 0o644
    link: str | None = None


def tar(members, epoch, prefix="", folders=True):
    """A tar archive of {path: Member}. `prefix` stands before each path; `folders` lists the folders, too."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as file:
        names = {prefix + path: member for path, member in members.items()}
        for name in sorted(names | dict.fromkeys(parents(names) if folders else [])):
            member = names.get(name)
            info = tarfile.TarInfo(name)
            info.mtime, info.uname, info.gname = epoch, "root", "root"
            if member is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            elif name.endswith("/"):
                info.type, info.mode = tarfile.DIRTYPE, member.mode
            elif member.link is not None:
                info.type, info.mode, info.linkname = tarfile.SYMTYPE, 0o777, member.link
            else:
                info.mode, info.size = member.mode, len(member.data)
            file.addfile(info, io.BytesIO(member.data) if member is not None and info.isreg() else None)
    return out.getvalue()


def parents(names):
    """Every folder that these paths are in, but those that are listed themselves."""
    found: set[str] = set()
    for name in names:
        parts = name.rstrip("/").split("/")[:-1]
        found.update("/".join(parts[: n + 1]) for n in range(len(parts)))
    return {name for name in found if name not in ("", ".") and name + "/" not in names}


def gz(data):
    """gzip without a name and a time."""
    return gzip.compress(data, 9, mtime=0)


def xz(data):
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=6)


def ar(members, epoch):
    """The archive that a .deb is: pairs of a name and bytes, in this order."""
    out = b"!<arch>\n"
    for name, data in members:
        out += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode("ascii")
        out += data + b"\n" * (len(data) % 2)
    return out


def zipped(members, epoch):
    """A zip archive of {path: Member}, in the order that they have."""
    out = io.BytesIO()
    when = time.gmtime(max(epoch, 315532800))[:6]  # Nothing is older than 1980 there.
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for path, member in members.items():
            info = zipfile.ZipInfo(path, when)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = (0o100000 | member.mode) << 16
            file.writestr(info, member.data)
    return out.getvalue()


def record_hash(data):
    """A digest as a wheel's RECORD writes it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")
