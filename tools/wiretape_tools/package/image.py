"""The container image: an empty root with glibc's files, certificates and the program.

It is an OCI layout in a tar archive, with the list that 'docker load' of older versions wants beside it. No tool for
images is needed to make it, and none puts its own times into it.
"""

import hashlib
import json
import pathlib
import time

from wiretape_tools.package.members import Member, gz, tar
from wiretape_tools.package.program import Unbuildable, needed, said_by

LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


def root(tree, program):
    """{path: Member} of the whole file system."""
    members = {"usr/" + path: member for path, member in tree.items() if not path.startswith("share/man")}
    for path in glibc(program):
        members[path.lstrip("/")] = Member(pathlib.Path(path).read_bytes(), 0o755)
    if not CERTIFICATES.is_file():
        raise Unbuildable(f"{CERTIFICATES} is not there; Debian's ca-certificates brings it")
    members[str(CERTIFICATES)[1:]] = Member(CERTIFICATES.read_bytes())
    members |= {
        "etc/passwd": Member(b"root:x:0:0:root:/:/\nwiretape:x:1000:1000:wiretape:/work:/\n"),
        "etc/group": Member(b"root:x:0:\nwiretape:x:1000:\n"),
        "etc/nsswitch.conf": Member(b"hosts: files dns\n"),
        "usr/share/doc/libc6/copyright": Member(pathlib.Path("/usr/share/doc/libc6/copyright").read_bytes()),
        "tmp/": Member(mode=0o1777),
        "work/": Member(mode=0o777),
    }
    return members


def glibc(program):
    """The files of glibc that the program loads, by the names that the loader looks for."""
    found = {said_by("readelf", "--program-headers", program).split("interpreter: ")[1].split("]")[0]}
    for name in needed(program):
        if not name.startswith("ld-linux"):
            found.add(said_by("cc", f"-print-file-name={name}"))
    real = {str(pathlib.Path(path).parent.resolve() / pathlib.Path(path).name) for path in found}
    # The loader is named by its path, and /lib64 is a link to another folder here.
    return sorted({path for path in real if "ld-linux" not in path} | {path for path in found if "ld-linux" in path})


def package(tree, program, version, machine, epoch):
    """(file name, bytes)."""
    plain = tar(root(tree, program), epoch)
    layer = gz(plain)
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    config = encoded(
        {
            "architecture": machine["image"],
            "os": "linux",
            "created": when,
            "config": {
                "User": "1000:1000",
                "Env": ["PATH=/usr/bin", "HOME=/work", f"SSL_CERT_FILE={CERTIFICATES}"],
                "Entrypoint": ["/usr/bin/wiretape"],
                "WorkingDir": "/work",
                "Labels": {"org.opencontainers.image.version": version},
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest(plain)]},
            "history": [{"created": when, "created_by": "tools/package"}],
        }
    )
    manifest = encoded(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": described(CONFIG, config),
            "layers": [described(LAYER, layer)],
        }
    )
    name = f"wiretape:{version}"
    entry = described(MANIFEST, manifest) | {
        "annotations": {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": name}
    }
    files = {blob(data): Member(data) for data in (layer, config, manifest)}
    files["oci-layout"] = Member(encoded({"imageLayoutVersion": "1.0.0"}))
    files["index.json"] = Member(encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}))
    files["manifest.json"] = Member(encoded([{"Config": blob(config), "RepoTags": [name], "Layers": [blob(layer)]}]))
    return f"wiretape-{version}-image-{machine['image']}.tar", tar(files, epoch)


def encoded(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def blob(data):
    return f"blobs/sha256/{digest(data)}"


def described(kind, data):
    return {"mediaType": kind, "digest": "sha256:" + digest(data), "size": len(data)}
