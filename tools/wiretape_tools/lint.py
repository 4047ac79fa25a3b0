"""The Python of tools/, clients/python and Examples/python under ruff and mypy. Started by tools/lint."""

import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHEBANG = re.compile(rb"#!.*\bpython")


def python_files(*folders: str) -> list[str]:
    """Every file below these folders that is Python: by its name, or by the interpreter that its first line names."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found = []
    for name in sorted(set(listed.stdout.split("\0")) - {""}):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        if path.suffix == ".py":
            found.append(name)
        elif not path.suffix:
            with path.open("rb") as file:
                if SHEBANG.match(file.readline(200)):
                    found.append(name)
    return found


def run(title: str, *command: str, folder: pathlib.Path = ROOT) -> bool:
    """Runs one tool of the virtual environment and says how it ended."""
    begun = time.monotonic()
    code = subprocess.run([sys.executable, "-m", *command], cwd=folder, check=False).returncode
    print(f"lint: {title}: {'nothing to complain about' if code == 0 else 'FAILED'}, {time.monotonic() - begun:.1f} s", flush=True)
    return code == 0


def main() -> int:
    tools, clients = python_files("tools"), python_files("clients", "Examples")
    if not tools or not clients:
        print("lint: FAILED: no Python file was found, so that nothing was checked", file=sys.stderr)
        return 1
    well = [
        run(f"ruff check, {len(tools + clients)} files", "ruff", "check", "--quiet", "--output-format", "concise", *tools, *clients),
        run(f"ruff format, {len(clients)} files", "ruff", "format", "--quiet", "--check", *clients),
        run("mypy, tools", "mypy", "--no-error-summary", folder=ROOT / "tools"),
        run("mypy, clients/python", "mypy", "--no-error-summary", "--strict", folder=ROOT / "clients/python"),
    ]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
