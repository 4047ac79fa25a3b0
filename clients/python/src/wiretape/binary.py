"""Where the program `wiretape` is, and what it can do."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from .errors import WiretapeError


def find_binary(binary: str | os.PathLike[str] | None = None) -> Path:
    """The path of the program: `binary`, else `WIRETAPE_BIN`, else the one that was installed with this package, else
    `wiretape` on `PATH`, else the newest build of the Wiretape checkout that this file or the current folder is in.

    Raises WiretapeError with the places that were looked at when there is none.
    """
    if binary is not None:
        return _named(Path(binary), "binary=")
    variable = os.environ.get("WIRETAPE_BIN")
    if variable:
        return _named(Path(variable), "WIRETAPE_BIN")
    carried = _carried()
    if carried is not None:
        return carried
    on_path = shutil.which("wiretape")
    if on_path is not None:
        return Path(on_path)
    builds = list(_builds())
    for build in builds:
        if os.access(build, os.X_OK):
            return build
    places = ["WIRETAPE_BIN (not set)", "this package (carries none)", "'wiretape' on PATH", *map(str, builds)]
    raise WiretapeError(
        f"the program 'wiretape' was not found; looked for: {', '.join(places)}. Build it with 'tools/build release' in "
        "Wiretape's checkout, and put it on PATH or name it in WIRETAPE_BIN."
    )


def _named(path: Path, by: str) -> Path:
    if not path.is_file() or not os.access(path, os.X_OK):
        raise WiretapeError(
            f"the program 'wiretape' was not found: {by} names {path}, which is no program. Build it with 'tools/build "
            "release' in Wiretape's checkout, and name the path that it prints."
        )
    return path.absolute()


def _carried() -> Path | None:
    """The program that came with this package: a wheel made by tools/package carries it as its script, which need not
    be on PATH. A package that was installed from a checkout carries none.
    """
    try:
        files = metadata.files("wiretape") or []
    except metadata.PackageNotFoundError:
        return None
    scripts = (Path(str(file.locate())).resolve() for file in files if file.name == "wiretape")
    return next((script for script in scripts if script.is_file() and os.access(script, os.X_OK)), None)


def _builds() -> Iterator[Path]:
    """What the checkouts of Wiretape around this file and the current folder have built, or would build."""
    here, current = Path(__file__).resolve(), Path.cwd()
    for folder in dict.fromkeys([*here.parents, current, *current.parents]):
        if (folder / "Package.swift").is_file() and (folder / "Sources" / "wiretape").is_dir():
            yield folder / ".build" / "release" / "wiretape"
            yield folder / ".build" / "debug" / "wiretape"


def supports(binary: Path, command: str, option: str) -> bool:
    """Whether the help of `wiretape COMMAND` names the option."""
    return option in _help(binary, binary.stat().st_mtime_ns, command)


@functools.lru_cache
def _help(binary: Path, built: int, command: str) -> str:
    """`built` is there so that a program which was built anew is asked again."""
    asked = subprocess.run(
        [binary, command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    return asked.stdout
