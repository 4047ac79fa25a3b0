"""Tests of tools/check-cycles, on small Swift modules in temporary folders: tools/wiretape_tools/start test_cycles

Or, in the folder tools: python3 -m unittest wiretape_tools.test_cycles
"""

import pathlib
import tempfile
import textwrap
import unittest

from wiretape_tools.cycles import Check, TypeID, Unusable
from wiretape_tools.lib.swift_members import Unreadable
from wiretape_tools.lib.swift_source import code_lines

ENGINE = TypeID("Module", "Engine")
# A.swift and B.swift call each other.
PAIR = {
    "A": "struct Engine { func a() { b() } }",
    "B": "extension Engine { func b() { self.a() } }",
}


class CyclesTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.list = self.root / "known.txt"

    def check(self, files: dict[str, str], module: str = "Module") -> Check:
        """A check of one module with exactly these files, by their names without `.swift`."""
        folder = self.root / "Sources" / module
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.swift"):
            path.unlink()
        for name, text in files.items():
            # A declaration stands at the beginning of its line, as the formatter leaves it.
            text = textwrap.dedent(text).replace("Engine { ", "Engine {\n").replace("; func", "\nfunc").replace("; var", "\nvar")
            (folder / f"{name}.swift").write_text(text, encoding="utf-8")
        return Check(self.root / "Sources", self.list)

    def cycles(self, files: dict[str, str], one: TypeID = ENGINE) -> list[list[str]]:
        return [sorted(file.removesuffix(".swift") for file in group) for group in self.check(files).found.get(one, [])]

    def calls_back(self, body: str, extra: str = "") -> bool:
        """Whether B, with this body of a function, calls A, which declares `peer`, `send` and `start`. A calls B in any case."""
        found = self.cycles(
            {
                "A": """\
                    struct Engine {
                        var stored = 1
                        var peer: Int { 1 }
                        func send(to peer: Int) { run(1, 2) }
                        static func start() {}
                    }
                    """,
                "B": f"""\
                    extension Engine {{
                        {extra}
                        func run(_ first: Int, _ second: Int) {{
                            {body}
                        }}
                    }}
                    """,
            }
        )
        self.assertIn(found, ([], [["A", "B"]]))
        return bool(found)

    # What is a cycle.

    def test_two_files(self) -> None:
        self.assertEqual(self.cycles(PAIR), [["A", "B"]])

    def test_three_files_and_one_beside(self) -> None:
        files = {
            "A": "struct Engine { func a() { b() } }",
            "B": "extension Engine { func b() { c() } }",
            "C": "extension Engine { func c() { a(); d() } }",
            "D": "extension Engine { func d() {} }",
        }
        self.assertEqual(self.cycles(files), [["A", "B", "C"]])

    def test_two_cycles_of_one_type(self) -> None:
        files = PAIR | {
            "C": "extension Engine { func c() { a(); d() } }",
            "D": "extension Engine { func d() { c() } }",
        }
        self.assertEqual(self.cycles(files), [["A", "B"], ["C", "D"]])

    def test_calls_one_way_are_no_cycle(self) -> None:
        files = {
            "A": "struct Engine { func a() { b(); c() } }",
            "B": "extension Engine { func b() { c() } }",
            "C": "extension Engine { func c() {} }",
        }
        self.assertEqual(self.cycles(files), [])

    def test_recursion_in_one_file_is_no_cycle(self) -> None:
        self.assertEqual(self.cycles({"A": "struct Engine { func a() { a() } }", "B": "extension Engine { func b() {} }"}), [])

    def test_types_do_not_mix(self) -> None:
        files = {
            "A": "struct Engine { func a() { b() } }\nextension Other {\n    func x() {}\n}",
            "B": "extension Engine { func b() { other.a() } }\nstruct Other {\n    func a() { x() }\n}",
        }
        self.assertEqual(self.cycles(files), [])

    def test_a_nested_type_is_a_type_of_its_own(self) -> None:
        files = {
            "A": "struct Engine {\n    struct Step {\n        func a() { b() }\n    }\n    func outer() { other() }\n}",
            "B": "extension Engine.Step {\n    func b() { a() }\n}\nextension Engine {\n    func other() {}\n}",
        }
        self.assertEqual(self.cycles(files), [])
        self.assertEqual(self.cycles(files, TypeID("Module", "Engine.Step")), [["A", "B"]])

    def test_private_types_of_two_files_are_two_types(self) -> None:
        files = {
            "A": "private struct Row {\n    func a() { b() }\n}",
            "B": "private struct Row {\n    func b() { a() }\n}",
        }
        self.assertEqual(self.check(files).found, {})

    # What is a call.

    def test_calls(self) -> None:
        for body in (
            "send(to: 1)",
            "self.send(to: 1)",
            "later { [weak self] in self?.send(to: 1) }",
            "_ = [1].map(send)",
            "_ = peer + 1",
            'print("a \\(peer) b")',
            "if let peer { print(peer) }",
            "guard let other = peer else { return }",
            "let peer = peer",
            "later { [peer] in print(peer) }",
            "later { [one = peer] in print(one) }",
            "Engine.start()",
            "Self.start()",
            "func inner() { send(to: 1) }",
            "for peer in 0..<peer {}",
            "if let peer = first { _ = peer }\nprint(peer)",
            "switch first {\ncase let peer: break\ncase 2: print(peer)\n}",
        ):
            with self.subTest(body):
                self.assertTrue(self.calls_back(body))

    def test_no_calls(self) -> None:
        for body in (
            "stored += 1",
            "other.send(to: 1)",
            "link.self.peer.send(to: 1)",
            "call(peer: 1, send: 2)",
            "// send(to: 1)",
            'print("send(to: 1)")',
            "_ = other.map(\\.peer)",
            "_ = .start()",
        ):
            with self.subTest(body):
                self.assertFalse(self.calls_back(body))

    def test_local_names_hide_members(self) -> None:
        for body in (
            "let peer = 1\nprint(peer)",
            "let one = 1, peer = 2\nprint(peer)",
            "var (one, peer) = (1, 2)\nprint(peer)",
            "if let peer = first, peer > 1 { print(peer) }",
            "guard let peer = first else { return }\nprint(peer)",
            "for peer in [1] where peer > 1 { print(peer) }",
            "for (number, peer) in [1].enumerated() { print(peer) }",
            "_ = [1].map { peer in peer + 1 }",
            "_ = [1].map { (peer: Int) -> Int in peer + 1 }",
            "later { [peer = 1, weak link] in print(peer) }",
            "switch first {\ncase .open(let peer): print(peer)\ncase let .shut(at: peer, _): print(peer)\n}",
            "if case .open(let peer) = first { print(peer) }",
            "while let peer = next() { print(peer) }",
            "func peer() {}\npeer()",
            "func inner(of peer: Int) { print(peer) }",
            "do { try first() } catch let peer { print(peer) }",
            "let peer =\n    first\n    .last\nprint(peer)",
        ):
            with self.subTest(body):
                self.assertFalse(self.calls_back(body))
        self.assertFalse(self.calls_back("", extra="func other(_ peer: Int, at time: Int = 1) { print(peer) }"))
        self.assertTrue(self.calls_back("", extra="func other(_ time: Int = start()) {}"))

    def test_a_name_of_two_files_gives_no_call(self) -> None:
        files = PAIR | {"C": "extension Engine { func a(_ other: Int) {} }"}
        self.assertEqual(self.cycles(files), [])

    def test_a_private_name_of_another_file_is_no_choice(self) -> None:
        files = PAIR | {"C": "extension Engine { private func a(_ other: Int) {} }"}
        self.assertEqual(self.cycles(files), [["A", "B"]])

    def test_a_requirement_gives_no_call(self) -> None:
        files = {
            "A": "protocol Engine { func a() }\nextension Engine { func c() { b() } }",
            "B": "extension Engine { func b() { a() } }",
        }
        self.assertEqual(self.cycles(files), [])

    def test_initializers(self) -> None:
        call = "extension Engine { init(text: Int) { self.init(1) }; func b() {} }"
        self.assertEqual(self.cycles({"A": "class Engine { func a() { b() } }", "B": call}), [])
        files = {"A": "class Engine { init(_ a: Int) {}; func a() { b() } }", "B": "extension Engine { func b() { _ = Engine(1) } }"}
        self.assertEqual(self.cycles(files), [["A", "B"]])
        # The call may mean the initializer that the compiler writes.
        files = {
            "A": "struct Engine { func a() { _ = Engine(stored: 1) } }",
            "B": "extension Engine { init(_ a: Int) { self.init(stored: a) }; func b() { a() } }",
        }
        self.assertEqual(self.cycles(files), [])

    def test_brackets_that_do_not_balance(self) -> None:
        with self.assertRaises(Unreadable):
            self.check(PAIR | {"B": "extension Engine { func b() { }"})

    # The list.

    def write(self, files: dict[str, str]) -> None:
        passed, _ = self.check(files).judge(write=True, grow=True)
        self.assertTrue(passed)

    def judge(self, files: dict[str, str], write: bool = False, grow: bool = False) -> tuple[bool, str]:
        passed, lines = self.check(files).judge(write, grow)
        return passed, "\n".join(lines)

    def test_a_listed_cycle_passes(self) -> None:
        self.write(PAIR)
        self.assertEqual(self.judge(PAIR), (True, "Module Engine: 2 of 2 files in cycles, known 2"))

    def test_a_cycle_that_is_not_listed(self) -> None:
        passed, text = self.judge(PAIR)
        self.assertFalse(passed)
        self.assertIn("Module Engine: 2 of 2 files in cycles, known 0", text)
        self.assertIn("Module Engine: a new cycle of 2 files:", text)
        self.assertIn("A.swift:2: uses 'b', declared in B.swift:2", text)
        self.assertIn("B.swift:2: uses 'a', declared in A.swift:2", text)

    def test_a_file_that_is_not_listed(self) -> None:
        self.write(PAIR)
        grown = PAIR | {"B": "extension Engine { func b() { a(); c() } }", "C": "extension Engine { func c() { b() } }"}
        passed, text = self.judge(grown)
        self.assertFalse(passed)
        self.assertIn("Module Engine: C.swift: not in the listed cycle of this type, and now part of it:", text)
        self.assertIn("C.swift:2: uses 'b', declared in B.swift:2", text)
        self.assertIn("B.swift:2: uses 'c', declared in C.swift:2", text)

    def test_the_list_only_grows_when_asked(self) -> None:
        self.write({"A": "struct Engine {}"})
        before = self.list.read_text()
        self.assertFalse(self.judge(PAIR, write=True)[0])
        self.assertEqual(self.list.read_text(), before)
        self.assertTrue(self.judge(PAIR, write=True, grow=True)[0])
        self.assertTrue(self.judge(PAIR)[0])

    def test_two_listed_cycles_that_become_one(self) -> None:
        two = PAIR | {"C": "extension Engine { func c() { d() } }", "D": "extension Engine { func d() { c() } }"}
        self.write(two)
        self.assertTrue(self.judge(two)[0])
        one = two | {"A": "struct Engine { func a() { b(); c() } }", "D": "extension Engine { func d() { c(); b() } }"}
        passed, text = self.judge(one)
        self.assertFalse(passed)
        self.assertIn("A.swift:2: uses 'c', declared in C.swift:2", text)

    def test_a_file_that_left_its_cycle(self) -> None:
        files = PAIR | {"C": "extension Engine { func c() { b() } }", "B": "extension Engine { func b() { a(); c() } }"}
        self.write(files)
        passed, text = self.judge(files | {"C": "extension Engine { func c() {} }"})
        self.assertFalse(passed)
        self.assertIn("Module Engine: remove C.swift: no longer in a cycle", text)
        self.assertTrue(self.judge(files | {"C": "extension Engine { func c() {} }"}, write=True)[0])
        self.assertEqual(self.judge(files | {"C": "extension Engine { func c() {} }"})[0], True)

    def test_a_listed_cycle_that_is_gone(self) -> None:
        self.write(PAIR)
        passed, text = self.judge({"A": "struct Engine { func a() {} }"})
        self.assertFalse(passed)
        self.assertIn("Module Engine: 0 files in cycles, known 2", text)
        self.assertIn("Module Engine: remove A.swift, B.swift: no longer in a cycle", text)

    def test_a_listed_cycle_that_became_two(self) -> None:
        two = PAIR | {"C": "extension Engine { func c() { d() } }", "D": "extension Engine { func d() { c() } }"}
        one = two | {"A": "struct Engine { func a() { b(); c() } }", "D": "extension Engine { func d() { c(); b() } }"}
        self.write(one)
        passed, text = self.judge(two)
        self.assertFalse(passed)
        self.assertIn("the listed cycle of 4 files is now 2 cycles", text)
        self.assertTrue(self.judge(two, write=True)[0])

    def test_a_list_that_cannot_be_read(self) -> None:
        self.list.write_text("A.swift\n", encoding="utf-8")
        with self.assertRaisesRegex(Unusable, "known.txt:1: expected"):
            self.check(PAIR)


class CodeLinesTests(unittest.TestCase):
    def test_literals_and_comments(self) -> None:
        for text, kept in (
            ('a("{") // }', 'a("") '),
            ("a /* { /* { */\n{ */ b", "a \n b"),
            ('a("x \\(b ? "{" : #"\\"#) {")', 'a("(b ? "" : "")")'),
            ('#"\\(a) \\#(b) "{"# + c', '"(b)" + c'),
            ('"""\n  { \\(a)\n  """ + b', '"\n(a)\n" + b'),
            ('"\\\\" + "\\"{" + a', '"" + "" + a'),
        ):
            with self.subTest(text):
                self.assertEqual(code_lines(text), kept.split("\n"))


if __name__ == "__main__":
    unittest.main()
