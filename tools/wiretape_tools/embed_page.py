"""Writes the files of the web page (Sources/WiretapeControl/Page) into Sources/WiretapeControl/PageResources.swift.

SwiftPM could do that by itself (embedInCode), as an array of numbers, which the compiler takes half a minute for; texts it takes as
they are. With --check nothing is written, and a source that is not up to date is told. PageTests holds it, too.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "Sources/WiretapeControl/Page"
SOURCE = ROOT / "Sources/WiretapeControl/PageResources.swift"
MARK = "###"

HEAD = """\
// swift-format-ignore-file
// Written by tools/embed-page from the files of the folder Page: change those.

/// The files of the web page, byte for byte.
package enum PageResources {
    /// By their paths below the folder.
    package static let files: [(path: String, text: String)] = [
"""


def embedded() -> str:
    """The source as it has to be."""
    text = HEAD
    for path in sorted(PAGE.rglob("*")):
        if path.is_dir():
            continue
        content = path.read_text(encoding="utf-8")
        if "\\" + MARK in content or '"""' + MARK in content or "\r" in content:
            raise SystemExit(f"{path} has characters that the literal cannot have")
        name = path.relative_to(PAGE).as_posix()
        text += f'        ("{name}", {MARK}"""\n{content}\n"""{MARK}),\n'
    return text + "    ]\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say whether the source is up to date")
    options = parser.parse_args()
    text = embedded()
    if options.check:
        if SOURCE.read_text(encoding="utf-8") != text:
            print(f"{SOURCE.relative_to(ROOT)} is not up to date: run tools/embed-page", file=sys.stderr)
            return 1
        return 0
    SOURCE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
