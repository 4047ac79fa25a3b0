"""The wheel and the npm tarball, each installed offline where nothing was, with an empty PATH for the libraries."""

import os
import shutil

from wiretape_tools.lib.processes import ROOT, Failed, run

TAPE = ROOT / "recordings/chat.tape.gz"
PYTHON = """
import json, sys, urllib.request
from wiretape import find_binary, replay
with replay(sys.argv[1], check=False) as server:
    asked = urllib.request.Request(server.url.rstrip("/") + "/hub/negotiate?negotiateVersion=1", data=b"", method="POST")
    assert "availableTransports" in json.load(urllib.request.urlopen(asked, timeout=10))
    server.stop()
print(find_binary())
"""
NODE = """
import { replay } from 'wiretape';
const server = await replay(process.argv[2]);
const answer = await fetch(new URL('/hub/negotiate?negotiateVersion=1', server.url), { method: 'POST' });
if (!('availableTransports' in await answer.json())) throw new Error('no negotiation');
await server.stop();
console.log(process.argv[3]);
"""


def needs(name):
    """The path of a program that the part cannot do without."""
    path = shutil.which(name)
    if path is None:
        raise Failed(f"{name} is not here, so nothing was looked at")
    return path


def done(command, **options):
    """What a command prints on standard output; its failure is ours."""
    code, out, err = run(command, **options)
    if code != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {code}: {(out + err)[-800:]}")
    return out


def says_version(program, made):
    said = done([program, "version"], env={})
    if said != f"wiretape {made.version}\n":
        raise Failed(f"{program} version says {said!r}")


def wheel(made):
    """pip installs the wheel without an index; the command, the library and pytest's plugin are there."""
    folder = made.folder("wheel")
    done([needs("python3"), "-m", "venv", folder / "venv"], seconds=120)
    python = folder / "venv/bin/python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    done([*pip, "install", "--quiet", "--no-index", made.of(".whl")], seconds=120)
    says_version(folder / "venv/bin/wiretape", made)
    (folder / "use.py").write_text(PYTHON, encoding="utf-8")
    found = done([python, folder / "use.py", TAPE], env={"PATH": str(folder / "nowhere")}).strip()
    if found != str((folder / "venv/bin/wiretape").resolve()):
        raise Failed(f"the library found {found}, which is not the program of its wheel")
    plugins = "from importlib.metadata import entry_points as e; print(*(p.value for p in e(group='pytest11')))"
    if "wiretape.pytest_plugin" not in done([python, "-c", plugins]):
        raise Failed("the wheel brings no plugin for pytest")
    # pip compares every installed file with the wheel's RECORD when it takes it away again.
    done([*pip, "uninstall", "--quiet", "--yes", "wiretape"])
    if (left := list((folder / "venv").rglob("*wiretape*"))) != []:
        raise Failed(f"pip leaves {left} when the wheel is uninstalled")
    return f"{made.of('.whl').name} installs with --no-index, runs, and its library plays a tape with an empty PATH"


def npm(made):
    """npm installs the tarball offline; the command and the library are there."""
    folder = made.folder("npm")
    (folder / "package.json").write_text('{"name": "fresh", "version": "1.0.0", "type": "module"}\n', encoding="utf-8")
    home = dict(os.environ, HOME=str(folder), npm_config_cache=str(folder / "cache"))
    quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"]
    done([needs("npm"), "install", *quiet, made.of(".tgz")], cwd=folder, env=home, seconds=120)
    says_version(folder / "node_modules/.bin/wiretape", made)
    (folder / "use.js").write_text(NODE, encoding="utf-8")
    done([needs("node"), folder / "use.js", TAPE, "played"], cwd=folder, env={"PATH": str(folder / "nowhere")})
    return f"{made.of('.tgz').name} installs with --offline, runs, and its library plays a tape with an empty PATH"
