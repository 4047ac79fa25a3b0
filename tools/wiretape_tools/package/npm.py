"""The npm tarball: clients/node with the program as its 'bin'."""

import json

from wiretape_tools.package.members import Member, gz, tar
from wiretape_tools.package.program import ROOT

SOURCE = ROOT / "clients/node"


def package(tree, version, machine, epoch):
    """(file name, bytes)."""
    about = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    listed = about["files"]
    about = {key: value for key, value in about.items() if key not in ("private", "scripts")}
    about |= {
        "version": version,
        "bin": {"wiretape": "bin/wiretape"},
        "files": [*listed, "bin", "copyright"],
        "os": ["linux"],
        "cpu": [machine["npm"]],
        "libc": ["glibc"],
    }
    members = {
        "package.json": Member(json.dumps(about, indent=2).encode() + b"\n"),
        "bin/wiretape": tree["bin/wiretape"],
        "copyright": tree["share/doc/wiretape/copyright"],
    }
    for name in listed:
        path = SOURCE / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                members[str(file.relative_to(SOURCE))] = Member(file.read_bytes())
    return f"{about['name']}-{version}-linux-{machine['npm']}.tgz", gz(tar(members, epoch, "package/", folders=False))
