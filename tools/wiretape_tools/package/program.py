"""Builds the program that needs glibc alone: Swift's library, the C libraries and libstdc++ are linked into it."""

import contextlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORK = ROOT / ".build/package"
# What Package.swift asks pkg-config for, and the archives that stand for it.
ARCHIVES = {
    "libuv": ["uv"],
    "openssl": ["ssl", "crypto"],
    "zlib": ["z"],
    "libdeflate": ["deflate"],
    "libbrotlidec": ["brotlidec", "brotlicommon"],
    "libzstd": ["zstd"],
    "yaml-0.1": ["yaml"],
}
# Parts of glibc, which is the only thing that a program may ask the system for.
GLIBC = ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"]


class Unbuildable(Exception):
    """Why nothing can be packaged here, in a sentence."""


def said_by(*command, **options):
    """What a command prints; Unbuildable when it is missing or fails."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    except OSError as error:
        raise Unbuildable(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        raise Unbuildable(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()


def archive(name):
    """The static archive of a library; Debian calls that of libuv libuv_a.a."""
    for file in (f"lib{name}.a", f"lib{name}_a.a"):
        path = pathlib.Path(said_by("cc", f"-print-file-name={file}"))
        if path.is_absolute():
            return path.resolve()
    raise Unbuildable(f"there is no lib{name}.a; Debian's package of the library's headers has it")


def link_folder():
    """A folder of archives alone, and one of .pc files that lead there; both are made anew.

    The linker takes a shared library before an archive of the same folder, so it must not see Debian's folder first.
    Returns the archives by name.
    """
    libraries, recipes = WORK / "link/lib", WORK / "link/pkgconfig"
    shutil.rmtree(WORK / "link", ignore_errors=True)
    libraries.mkdir(parents=True)
    recipes.mkdir()
    found = {}
    for module, names in ARCHIVES.items():
        version = said_by("pkg-config", "--modversion", module)
        headers = said_by("pkg-config", "--cflags", module)
        for name in names:
            found[name] = archive(name)
            (libraries / f"lib{name}.a").symlink_to(found[name])
        links = " ".join(f"-l{name}" for name in names)
        (recipes / f"{module}.pc").write_text(
            f"Name: {module}\nDescription: the archive of it\nVersion: {version}\n"
            f"Cflags: {headers}\nLibs: -L{libraries} {links}\n",
            encoding="utf-8",
        )
    found["stdc++"] = archive("stdc++")
    (libraries / "libstdc++.a").symlink_to(found["stdc++"])
    return found


def at_fixed_addresses():
    """Words before a command whose memory, and that of what it starts, lies at the same addresses in each run.

    The compiler has tables whose order follows addresses: a function came out in one of two forms, by chance."""
    words = ["setarch", "--addr-no-randomize"]
    with contextlib.suppress(OSError):
        if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return words
    print("package: addresses cannot be fixed here (setarch --addr-no-randomize): two builds may differ", file=sys.stderr)
    return []


def build(epoch):
    """Builds and strips the program. Returns its path and the archives that are in it."""
    archives = link_folder()
    flags = ["-c", "release", "--product", "wiretape", "--scratch-path", str(WORK / "swift"), "--static-swift-stdlib"]
    # The same as in tools/build; nothing that tells where it was built, and no search for libraries beside the program.
    flags += ["-Xswiftc", "-enforce-exclusivity=unchecked", "-debug-info-format", "none", "--disable-local-rpath"]
    flags += ["-Xswiftc", "-file-prefix-map", "-Xswiftc", f"{ROOT}=."]
    flags += ["-Xswiftc", "-Xclang-linker", "-Xswiftc", "-static-libgcc"]
    # Else every object has a hash of the options that it was compiled with, and so of the folder.
    flags += ["-Xswiftc", "-Xfrontend", "-Xswiftc", "-disable-incremental-llvm-codegen"]
    # Swift's own list of flags exports every symbol of a program, which nothing here looks up.
    for word in [f"-L{WORK / 'link/lib'}", "--build-id=sha1", "--as-needed", "--no-export-dynamic", "-z", "relro", "-z", "now"]:
        flags += ["-Xlinker", word]
    # The build system and the driver are programs in Swift, whose sets have another order in each run unless they are told not to.
    order = {"SWIFT_DETERMINISTIC_HASHING": "1"}
    environment = dict(os.environ, PKG_CONFIG_PATH=str(WORK / "link/pkgconfig"), SOURCE_DATE_EPOCH=str(epoch), **order)
    built = subprocess.run([*at_fixed_addresses(), "swift", "build", *flags], cwd=ROOT, env=environment, check=False)
    if built.returncode != 0:
        raise Unbuildable(f"swift build ended with {built.returncode}")
    folder = said_by("swift", "build", *flags, "--show-bin-path", cwd=ROOT, env=environment)
    program = WORK / "wiretape"
    said_by("strip", "--strip-all", "--remove-section=.comment", "-o", program, pathlib.Path(folder) / "wiretape")
    needs_glibc_alone(program)
    return program, archives


def needed(program):
    """The shared libraries that the program names."""
    words = said_by("readelf", "--dynamic", "--wide", program).splitlines()
    return [line.split("[")[1].rstrip("]") for line in words if "(NEEDED)" in line]


def needs_glibc_alone(program):
    """Unbuildable when the program asks for more than glibc."""
    names = needed(program)
    others = [name for name in names if name not in GLIBC]
    if "libc.so.6" not in names or others:
        raise Unbuildable(f"the program needs {', '.join(others or names)}, and may need glibc alone")


def glibc_version(program):
    """The newest version of glibc whose symbols the program uses, as (2, 36)."""
    versions = set()
    for line in said_by("readelf", "--version-info", "--wide", program).splitlines():
        if "Name: GLIBC_" in line:
            digits = line.split("Name: GLIBC_")[1].split()[0]
            if digits[0].isdigit():
                versions.add(tuple(map(int, digits.split(".")))[:2])
    if not versions:
        raise Unbuildable(f"{program} names no version of glibc")
    return max(versions)


def machine():
    """What this processor is called by each kind of package."""
    known = {
        "x86_64": {"deb": "amd64", "npm": "x64", "image": "amd64", "wheel": "x86_64"},
        "aarch64": {"deb": "arm64", "npm": "arm64", "image": "arm64", "wheel": "aarch64"},
    }
    name = platform.machine()
    if platform.system() != "Linux" or name not in known:
        raise Unbuildable(f"packages are made on Linux, on x86_64 or aarch64; this is {platform.system()} on {name}")
    return dict(known[name], tarball=name)
