"""The Python wheel: clients/python with the program as its script, so that one 'pip install' brings both."""

import tomllib

from wiretape_tools.package.members import Member, record_hash, zipped
from wiretape_tools.package.program import ROOT

SOURCE = ROOT / "clients/python"


def package(tree, version, machine, glibc, epoch):
    """(file name, bytes)."""
    with open(SOURCE / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    name = project["name"]
    tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{machine['wheel']}"
    info = f"{name}-{version}.dist-info"
    members = {
        f"{name}/{path.relative_to(SOURCE / 'src' / name)}": Member(path.read_bytes())
        for path in sorted((SOURCE / "src" / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    members[f"{name}-{version}.data/scripts/wiretape"] = tree["bin/wiretape"]
    members[f"{info}/METADATA"] = Member(metadata(project, version).encode())
    members[f"{info}/WHEEL"] = Member(
        f"Wheel-Version: 1.0\nGenerator: tools/package\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    members[f"{info}/entry_points.txt"] = Member(entry_points(project).encode())
    members[f"{info}/licenses/copyright"] = tree["share/doc/wiretape/copyright"]
    record = "".join(f"{path},{record_hash(member.data)},{len(member.data)}\n" for path, member in members.items())
    members[f"{info}/RECORD"] = Member(f"{record}{info}/RECORD,,\n".encode())
    return f"{name}-{version}-{tag}.whl", zipped(members, epoch)


def metadata(project, version):
    """The core metadata of clients/python, with the program's version."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {need}" for need in project["dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (SOURCE / project["readme"]).read_text(encoding="utf-8")


def entry_points(project):
    groups = project.get("entry-points", {})
    return "\n".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items()) for group, entries in groups.items()
    )
