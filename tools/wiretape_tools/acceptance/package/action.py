"""The composite action, its steps run as a runner runs them: inputs into variables, bash for each step, two files read back."""

import hashlib
import http.server
import os
import pathlib
import re
import sys
import threading
from functools import partial
from typing import Any

from wiretape_tools.acceptance.package.clients import done, says_version
from wiretape_tools.lib.processes import ROOT, Failed, run

ACTION = ROOT / "packaging/action"
VENV = ROOT / ".build/acceptance/yaml-venv"
EXPRESSION = re.compile(r"\$\{\{\s*([a-z]+)\.([a-z.0-9]+)\s*\}\}")


def described():
    """What action.yml says, read by a parser of YAML."""
    try:
        import yaml
    except ImportError:
        if not (VENV / "bin/python").exists():
            done([sys.executable, "-m", "venv", VENV], seconds=120)
        done([VENV / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pyyaml"], seconds=120)
        sys.path.append(str(next((VENV / "lib").glob("python*/site-packages"))))
        import yaml
    return yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def execute(spec, folder, given):
    """Runs the steps with these inputs. (exit code, standard error, words for PATH, outputs of the action)."""
    folder.mkdir()
    files = {name: folder / name.lower() for name in ("GITHUB_PATH", "GITHUB_OUTPUT")}
    for file in files.values():
        file.touch()
    inputs = {name: about.get("default") for name, about in spec["inputs"].items()} | given
    runner = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(folder), "GITHUB_ACTION_PATH": str(ACTION)}
    runner |= {name: str(path) for name, path in files.items()}
    steps: dict[Any, Any] = {}
    for step in spec["runs"]["steps"]:
        filled = {name: filling(text, inputs, steps) for name, text in step.get("env", {}).items()}
        script = folder / "step.sh"
        script.write_text(filling(step["run"], inputs, steps), encoding="utf-8")
        if step["shell"] != "bash":
            raise Failed(f"a step wants {step['shell']}")
        # As runners start bash for a step of a composite action.
        code, _, err = run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], env=runner | filled, cwd=folder)
        if code != 0:
            return code, err, [], {}
        steps[step["id"]] = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    outputs = {name: filling(about["value"], inputs, steps) for name, about in spec["outputs"].items()}
    return 0, "", files["GITHUB_PATH"].read_text().split(), outputs


def filling(text, inputs, steps):
    """A text with its expressions replaced by what they stand for."""

    def value(found):
        kind, path = found.groups()
        if kind == "inputs":
            return inputs[path] or ""
        if kind == "steps":
            step, _, name = path.partition(".outputs.")
            return steps[step][name]
        raise Failed(f"action.yml uses {found.group()}, which is not known here")

    return EXPRESSION.sub(value, text)


def action(made):
    """A path and an address are installed; a wrong digest and a missing archive fail with a sentence."""
    spec = described()
    if spec["runs"]["using"] != "composite" or not all("description" in about for about in spec["inputs"].values()):
        raise Failed(f"action.yml is no composite action with described inputs: {spec}")
    folder, archive = made.folder("action"), made.of(".tar.gz")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(archive.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{archive.name}"
        for name, place in {"path": str(archive), "address": address}.items():
            code, err, added, outputs = execute(spec, folder / name, {"archive": place, "sha256": digest})
            if code != 0:
                raise Failed(f"the action with {place} ended with {code}: {err}")
            if outputs["version"] != made.version or [outputs["path"]] != [f"{path}/wiretape" for path in added]:
                raise Failed(f"the action says {outputs}, and puts {added} on PATH")
            says_version(pathlib.Path(outputs["path"]), made)
        server.shutdown()
    for name, given, words in [
        ("wrong", {"archive": str(archive), "sha256": "0" * 64}, "the digest of"),
        ("missing", {"archive": "/nowhere/wiretape.tar.gz"}, "there is no file"),
        ("plain", {"archive": "ftp://127.0.0.1/x"}, "only https"),
    ]:
        code, err, added, _ = execute(spec, folder / name, given)
        if code == 0 or words not in err or added:
            raise Failed(f"the action with {given} ended with {code}, PATH {added}: {err}")
    return "its steps install a path and an address, and refuse a wrong digest, a missing file and a scheme without TLS"
