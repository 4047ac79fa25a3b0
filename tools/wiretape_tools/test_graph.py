"""Tests of tools/check-graph: python3 -m unittest wiretape_tools.test_graph (in tools/)."""

import pathlib
import tempfile
import unittest

from wiretape_tools import graph


def target(name: str, declared: str = "", imported: str = "", kind: str = "regular") -> graph.Target:
    folder = pathlib.Path("Tests" if kind == "test" else "Sources") / name
    return graph.Target(name, kind, folder, set(declared.split()), dict.fromkeys(imported.split(), f"{folder}/A.swift:1"))


class GraphTests(unittest.TestCase):
    def test_finds_a_dependency_that_nobody_imports(self) -> None:
        problems = graph.compare_dependencies([target("WiretapeA", "WiretapeB WiretapeC", "WiretapeB")], {"WiretapeB", "WiretapeC"})
        self.assertEqual(len(problems), 1)
        self.assertIn("WiretapeA declares WiretapeC", problems[0])

    def test_finds_an_import_that_nobody_declares(self) -> None:
        problems = graph.compare_dependencies([target("WiretapeATests", "", "WiretapeB Testing", kind="test")], {"WiretapeB"})
        self.assertEqual(len(problems), 1)
        self.assertIn("Tests/WiretapeATests/A.swift:1: imports WiretapeB", problems[0])

    def test_finds_rows_that_say_too_much_or_too_little(self) -> None:
        targets = [target("WiretapeA", imported="WiretapeB WiretapeC")]
        self.assertEqual(graph.compare_table(targets, "| `WiretapeA` | B, C | a |"), [])
        [problem] = graph.compare_table(targets, "| `WiretapeA` | B, D | a |")
        self.assertIn("imports C, and the row does not say so; does not import D", problem)

    def test_finds_missing_rows_and_rows_of_targets_that_are_gone(self) -> None:
        problems = graph.compare_table([target("WiretapeA")], "| `WiretapeB` | – | b |")
        self.assertEqual(len(problems), 2)

    def test_writes_rows(self) -> None:
        text = graph.rewrite([target("WiretapeA", imported="Glibc WiretapeB")], "# Page\n| `WiretapeA` | old | what it is |\n")
        self.assertEqual(text, "# Page\n| `WiretapeA` | B, Glibc | what it is |\n")

    def test_finds_a_forbidden_import(self) -> None:
        [problem] = graph.check_layers([target("WiretapeReplay", imported="WiretapeCodecs")])
        self.assertIn("WiretapeReplay must never import WiretapeCodecs", problem)

    def test_reads_imports_of_every_spelling(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            folder = root / "Sources/WiretapeA"
            folder.mkdir(parents=True)
            (folder / "A.swift").write_text(
                "package import WiretapeB\n@preconcurrency internal import WiretapeC\ninternal import struct WiretapeD.Thing\n"
                "#if canImport(Glibc)\n    internal import Glibc\n#endif\nimport WiretapeE\n// import WiretapeF\n"
            )
            one = target("WiretapeA")
            problems = graph.read_imports(root, one)
        self.assertEqual(set(one.imported), {"WiretapeB", "WiretapeC", "WiretapeD", "WiretapeE", "Glibc"})
        self.assertEqual(problems, ["Sources/WiretapeA/A.swift:7: write 'internal import WiretapeE' or 'package import WiretapeE'"])


if __name__ == "__main__":
    unittest.main()
