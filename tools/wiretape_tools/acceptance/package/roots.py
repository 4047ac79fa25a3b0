"""The program by itself: what it needs, how soon it is ready, and that it runs in roots with glibc's files only."""

import hashlib
import json
import os
import pathlib
import shutil
import statistics
import tarfile
import time
import urllib.error
import urllib.request

from wiretape_tools.lib.processes import ROOT, Failed, Wiretape, run

TAPE = ROOT / "recordings/chat.tape.gz"
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}
MOST_BYTES = 25_000_000


class Packaged(Wiretape):
    """The packaged program; its first words may be those of chroot."""

    def __init__(self, words, arguments, log, **options):
        self.words = words
        super().__init__(arguments, log, **options)

    def command(self, arguments):
        return [*map(str, self.words), *arguments, "--listen", "127.0.0.1:0", "--json"]


def loaded(program):
    """{name: path} of what ldd says that the program loads."""
    code, out, err = run(["ldd", program])
    if code != 0:
        raise Failed(f"ldd ended with {code}: {out}{err}")
    found = {}
    for line in out.splitlines():
        words = line.split()
        if words[0].startswith("linux-vdso"):
            continue
        found[pathlib.Path(words[0]).name] = words[2] if "=>" in words else words[0]
    return found


def program(made):
    """ldd shows glibc's libraries and the loader; the file is stripped and small enough."""
    names = set(loaded(made.program))
    loader = {name for name in names if name.startswith("ld-linux")}
    if len(loader) != 1 or "libc.so.6" not in names or names - loader - GLIBC:
        raise Failed(f"ldd shows {', '.join(sorted(names))}")
    size = made.program.stat().st_size
    if size > MOST_BYTES:
        raise Failed(f"the program has {size} bytes, and may have {MOST_BYTES}")
    code, symbols, err = run(["readelf", "--sections", "--wide", made.program])
    if code != 0 or ".dynsym" not in symbols:
        raise Failed(f"readelf --sections ended with {code}: {err}")
    if ".symtab" in symbols or ".debug" in symbols:
        raise Failed("the program is not stripped")
    code, out, err = run(["grep", "-c", "-a", "-F", str(ROOT), made.program])
    if (code, out.strip()) != (1, "0"):
        raise Failed(f"the program names the folder that it was built in ({ROOT}): {out}{err}")
    return f"{size} bytes of {MOST_BYTES}, stripped; ldd shows {', '.join(sorted(names))}"


def ready(made):
    """From the start of a replay to its ready line."""
    log = made.folder("ready") / "log"
    took = []
    for _ in range(20):
        begun = time.perf_counter()
        with Packaged([made.program], ["replay", TAPE], log):
            took.append((time.perf_counter() - begun) * 1000)
    median = statistics.median(took)
    verdict = "kept" if median <= 40 else "NOT kept"
    return (
        f"start to ready {median:.1f} ms (median of {len(took)}, {min(took):.1f} to {max(took):.1f}); 40 ms wanted: {verdict}"
    )


def bare(made):
    """A root with the loader, glibc's files and the program: nothing else."""
    root = made.folder("root")
    for path in loaded(made.program).values():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(path), place)
    shutil.copy(made.program, root / "wiretape")
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    runs_in(made, root, "/wiretape")
    trusts_in(made, root, "/wiretape")
    return f"runs, replays to a client, and trusts the root's certificates, in a root of {', '.join(files)}"


def trusts_in(made, root, program):
    """An upstream is verified against the certificates of this root's system, which is not the builder's: Fedora's place."""
    authority = made.folder("authority")
    upstream = ["replay", TAPE, "--tls", "--ca-dir", authority]
    place = root / "etc/pki/tls/certs/ca-bundle.crt"
    place.parent.mkdir(parents=True)
    with Packaged([made.program], upstream, authority / "upstream.log") as server:
        proxy = ["proxy", "--upstream", server.url]
        for trusted in (False, True):
            if trusted:
                shutil.copy(authority / "ca.pem", place)
            words = ["env", "-i", shutil.which("chroot"), root, program]
            with Packaged(words, proxy, authority / "proxy.log") as relay:
                code = status(relay.url)
                if code != (200 if trusted else 502):
                    raise Failed(f"an upstream whose authority is {'' if trusted else 'not '}trusted: {code}; {relay.said()}")


def status(url):
    """The status of the answer to a negotiation."""
    asked = urllib.request.Request(url.rstrip("/") + "/hub/negotiate?negotiateVersion=1", data=b"", method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        raise Failed(f"{url} does not answer: {error}") from None


def runs_in(made, root, program):
    """`wiretape version`, and a replay that answers somebody, in this root."""
    words = ["env", "-i", shutil.which("chroot"), root, program]
    code, out, err = run([*words, "version"])
    if code != 0 or out != f"wiretape {made.version}\n":
        raise Failed(f"'wiretape version' in {root} ended with {code}: {out}{err}")
    shutil.copy(TAPE, root / "chat.tape.gz")
    with Packaged(words, ["replay", "/chat.tape.gz"], root.parent / f"{root.name}.log") as replay:
        asked = urllib.request.Request(replay.url.rstrip("/") + "/hub/negotiate?negotiateVersion=1", data=b"", method="POST")
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                offered = json.load(answer)
        except (OSError, urllib.error.HTTPError, ValueError) as error:
            raise Failed(f"the replay in {root} does not answer: {error}; {replay.said()}") from None
    if "availableTransports" not in offered:
        raise Failed(f"the replay in {root} answers a negotiation with {offered}")


def image(made):
    """The image's layers, each with its digest, are a root that runs; other tools for images read it, where there are any."""
    with tarfile.open(made.of(".tar")) as file:
        blobs = {member.name: data.read() for member in file if (data := file.extractfile(member))}
    described = json.loads(blobs["index.json"])["manifests"][0]
    manifest = json.loads(blob(blobs, described))
    config = json.loads(blob(blobs, manifest["config"]))
    root = made.folder("image")
    for layer in manifest["layers"]:
        archive = root.parent / "layer.tar.gz"
        archive.write_bytes(blob(blobs, layer))
        with tarfile.open(archive) as file:
            file.extractall(root, filter="tar")
    files = [path for path in root.rglob("*") if path.is_file()]
    runs_in(made, root, config["config"]["Entrypoint"][0])
    if config["config"]["Labels"]["org.opencontainers.image.version"] != made.version:
        raise Failed(f"the image says {config['config']['Labels']}")
    return f"its root of {len(files)} files runs and replays to a client; {read_by_others(made)}"


def blob(blobs, described):
    """The bytes that a descriptor is about; they have its digest and size."""
    data = blobs["blobs/" + described["digest"].replace(":", "/")]
    if len(data) != described["size"] or "sha256:" + hashlib.sha256(data).hexdigest() != described["digest"]:
        raise Failed(f"a blob of the image is not {described}")
    return data


def read_by_others(made):
    """What skopeo and buildah make of it."""
    path = made.of(".tar")
    told = []
    if shutil.which("skopeo"):
        for kind in ("oci-archive", "docker-archive"):
            code, out, err = run(["skopeo", "inspect", "--config", f"{kind}:{path}"])
            if code != 0 or json.loads(out)["config"]["Entrypoint"] != ["/usr/bin/wiretape"]:
                raise Failed(f"skopeo does not read {kind}:{path}: {out}{err}")
        told.append("skopeo reads it as an OCI and as a Docker archive")
    else:
        told.append("skopeo is not here and was not asked")
    return "; ".join(told)
