"""Which members each type of a Swift file declares, and which of its own members its code uses, read without a compiler.

A use is a name without a receiver that is not a local name (`advance(to: now)`, `map(describe)`), or a name after `self`, `Self` or
the name of the type itself (`self?.advance()`, `Engine.start`). `Self(…)` and `Engine(…)` use `init`. Local names are parameters,
captures, and what `let`, `var`, `for`, `case` and nested functions declare, each where Swift knows it.

This reading does not see:

- a member of another value, as in `other.advance()`, because the type of `other` is not known; nor `.start` without a type before it;
- subscripts, operators, and `get` and `set` apart from each other;
- a call through a stored closure, a protocol or a superclass;
- which of several functions of one name is called: it reads names, not argument labels;
- a static member that a nested type uses without naming the outer type. A nested type is a type of its own here.
"""

import dataclasses
import pathlib
import re

from wiretape_tools.lib.swift_source import code_lines

MODIFIERS = r"(?:(?:@\w+(?:\([^)]*\))?|package|public|private|fileprivate|internal|final|lazy|weak|unowned|nonisolated|static|class"
MODIFIERS += r"|mutating|nonmutating|override|required|convenience|indirect|borrowing|consuming|unsafe)(?:\([^)]*\))?\s+)*"
TYPE = re.compile(rf"^\s*(?P<mods>{MODIFIERS})(?P<kind>struct|class|actor|enum|extension|protocol)\s+(?P<name>[\w.]+)")
PRIVATE = re.compile(r"\b(private|fileprivate)\b(?!\()")
CONDITION = re.compile(r"\s*#(?:if|elseif|else|endif|warning|error)\b")
TOKEN = re.compile(r"`\w+`|[A-Za-z_]\w*|\d\w*(?:\.\d\w*)?|\$\w+|->|\.\.[.<]|[-+*/%&|^~<>=!?]+|[^\s\w]")
NAME = re.compile(r"`?[A-Za-z_]")
OPERATORS = frozenset("-+*/%&|^~<>=!?.:")
# A name after one of these is declared there, or is a label.
DECLARING = {"func", "typealias", "associatedtype", "break", "continue", "import", "@", "#"}
# Words that no header of a closure contains.
STATEMENTS = {"{", "}", "=", "let", "var", "if", "for", "guard", "switch", "while", "return", "try", "func", "repeat"}


@dataclasses.dataclass
class Member:
    """A declaration in the body or an extension of a type."""

    type: str
    name: str
    line: int
    # "code": a function, an initializer or a computed property. "stored": a stored property. "requirement": of a protocol.
    kind: str
    in_extension: bool
    # Whether other files cannot use it.
    is_private: bool


@dataclasses.dataclass
class FileMembers:
    """What one file says about types."""

    # The name of each type whose body or extension is here, with the names of the types around it: "Engine.Step".
    types: set[str] = dataclasses.field(default_factory=set)
    # The keyword of each type that is declared here, and not only extended.
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    members: list[Member] = dataclasses.field(default_factory=list)
    # The line of the first use of each member, by type and name.
    uses: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Header:
    """A statement before its block, such as `if let a = b, a.isOpen`."""

    keyword: str
    depth: int
    names: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class Pending:
    """Names that Swift knows once their initial value ends."""

    names: set[str]
    depth: int
    target: set[str]


@dataclasses.dataclass
class Frame:
    """What a pair of braces encloses."""

    kind: str  # a keyword of a type, "switch" or "block"
    type: str | None = None
    locals: set[str] = dataclasses.field(default_factory=set)
    header: Header | None = None
    pending: list[Pending] = dataclasses.field(default_factory=list)
    # The depth of brackets of a `case` whose colon has not been read.
    case: int | None = None

    @property
    def is_type(self) -> bool:
        return self.kind not in ("block", "switch")


class Unreadable(Exception):
    """The braces of a file do not balance, as far as this reading understands them."""


def read(path: pathlib.Path) -> FileMembers:
    return _Reader(path).read()


class _Reader:
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.source = code_lines(path.read_text(encoding="utf-8"))
        # A condition is no code, and `#else` may repeat the first line of a declaration.
        found = [(m, n) for n, line in enumerate(self.source) if not CONDITION.match(line) for m in TOKEN.finditer(line)]
        # The two empty tokens at each end let every token have neighbours.
        self.texts = ["", "", *(m.group() for m, _ in found), "", ""]
        self.lines = [-1, -1, *(n for _, n in found), -1, -1]
        self.starts = [0, 0, *(m.start() for m, _ in found), 0, 0]
        self.result = FileMembers()
        self.frames = [Frame("block")]
        self.depth = 0
        self.next_type: Frame | None = None
        self.next_locals: set[str] = set()

    def read(self) -> FileMembers:
        at = 2
        while at < len(self.texts) - 2:
            if self.lines[at] != self.lines[at - 1]:
                self.begin_line(at)
            at = self.step(at)
        if len(self.frames) != 1 or self.depth:
            raise Unreadable(f"{self.path}: its brackets do not balance; does it contain a regular expression literal?")
        return self.result

    def step(self, at: int) -> int:
        """Reads what begins with the token, and returns where the next thing begins."""
        text = self.texts[at]
        frame = self.frames[-1]
        if text == "{":
            return self.open(at)
        if text == "}":
            if len(self.frames) == 1:
                raise Unreadable(f"{self.path}:{self.lines[at] + 1}: one brace more is closed than was opened")
            self.frames.pop()
        elif text in ("(", "["):
            self.depth += 1
        elif text in (")", "]"):
            self.depth -= 1
        elif text == ",":
            return self.comma(at)
        elif text == ":":
            if frame.case == self.depth:
                frame.case = None
        elif NAME.match(text):
            return self.word(at, text, frame)
        return at + 1

    def word(self, at: int, text: str, frame: Frame) -> int:
        if self.texts[at - 1] == "." or self.is_label(at):
            self.use(at)
        elif text in ("let", "var"):
            return self.property(at) if frame.is_type else self.local(at)
        elif text == "func":
            if frame.is_type:
                self.declare(self.texts[at + 1], at)
            else:
                frame.locals.add(self.texts[at + 1])
            return self.parameters(at + 2)
        elif text in ("init", "subscript") and frame.is_type:
            if text == "init":
                self.declare("init", at)
            return self.parameters(at + 1)
        elif text == "case":
            return self.case(at)
        elif text == "default" and frame.kind == "switch":
            frame.locals = set()
        elif text == "else":
            self.end_guard(frame)
        elif text == "where":
            self.settle(frame, self.depth)
        elif text == "for":
            return self.loop(at)
        elif text in ("if", "guard", "while", "switch", "catch"):
            # The `while` of a `repeat` has no block.
            if not (text == "while" and self.texts[at - 1] == "}" and self.lines[at - 1] == self.lines[at]):
                frame.header = Header(text, self.depth, {"error"} if text == "catch" else set())
        elif not self.begin_type(at):
            self.use(at)
        return at + 1

    # Braces and brackets.

    def open(self, at: int) -> int:
        outer = self.frames[-1]
        self.settle(outer, self.depth)
        if self.next_type:
            self.frames.append(self.next_type)
            self.next_type = None
            return at + 1
        frame = Frame("block", locals=self.next_locals)
        self.next_locals = set()
        if outer.header and outer.header.depth == self.depth:
            frame.locals |= outer.header.names
            if outer.header.keyword == "switch":
                frame.kind = "switch"
            outer.header = None
        self.frames.append(frame)
        return self.closure(at + 1, frame)

    def closure(self, begin: int, frame: Frame) -> int:
        """Reads the captures and parameters of a closure, if there are any before an `in`."""
        end, depth = begin, 0
        while not (self.texts[end] == "in" and depth == 0):
            text = self.texts[end]
            is_broken = depth == 0 and self.lines[end] != self.lines[begin - 1]
            if not text or is_broken or (text in STATEMENTS and not (text == "=" and depth)):
                return begin
            depth += (text in ("(", "[")) - (text in (")", "]"))
            end += 1
        at = begin
        if self.texts[at] == "[":
            depth = 0
            while True:
                text = self.texts[at]
                depth += (text in ("(", "[")) - (text in (")", "]"))
                at += 1
                if depth == 0:
                    break
                if NAME.match(text):
                    # `[peer]` and `[peer = other]` declare a local name; `peer` and `other` are used.
                    is_declared = depth == 1 and self.texts[at] in ("=", ",", "]") and self.texts[at - 2] != "="
                    if not is_declared or self.texts[at] != "=":
                        self.use(at - 1)
                    if is_declared:
                        frame.locals.add(text)
        for each in range(at, end):
            is_name = NAME.match(self.texts[each]) and self.texts[each - 1] not in (":", ".", "->", "inout")
            if is_name and self.texts[each + 1] in (",", ")", ":", "in", "->", "async", "throws"):
                frame.locals.add(self.texts[each])
        return end + 1

    def parameters(self, at: int) -> int:
        """Reads the parameters of a function. Their names belong to the braces that follow."""
        while self.texts[at] and self.texts[at] != "(":
            at += 1
        names: set[str] = set()
        depth = 0
        is_value = False
        while self.texts[at]:
            text = self.texts[at]
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 0:
                break
            if depth == 1 and text in ("=", ","):
                is_value = text == "="
            elif NAME.match(text) and is_value:
                self.use(at)
            elif NAME.match(text) and depth == 1 and self.texts[at + 1] == ":":
                names.add(text)
            at += 1
        if self.frames[-1].kind != "protocol":
            self.next_locals = names
        return at + 1

    # Declarations.

    def begin_type(self, at: int) -> bool:
        line = self.source[self.lines[at]]
        found = TYPE.match(line)
        if not found or found.start("kind") != self.starts[at]:
            return False
        around = self.type
        name = f"{around}.{found['name']}" if around else found["name"]
        is_extension = found["kind"] == "extension"
        if not is_extension and PRIVATE.search(found["mods"]):
            # Another file may have another type of that name.
            name += f"@{self.path.stem}"
        self.result.types.add(name)
        if not is_extension:
            self.result.kinds[name] = found["kind"]
        self.next_type = Frame(found["kind"], type=name)
        return True

    @property
    def type(self) -> str | None:
        return next((frame.type for frame in reversed(self.frames) if frame.is_type), None)

    def declare(self, name: str, at: int, kind: str = "code") -> None:
        frame = self.frames[-1]
        assert frame.type
        if frame.kind == "protocol":
            kind = "requirement"
        line = self.lines[at]
        is_private = PRIVATE.search(self.source[line][: self.starts[at]]) is not None
        self.result.members.append(Member(frame.type, name.strip("`"), line + 1, kind, frame.kind == "extension", is_private))

    def property(self, at: int) -> int:
        """Reads the names of a property of a type."""
        kind = "stored" if self.texts[at] == "let" or self.is_stored(self.lines[at]) else "code"
        names, end = self.pattern(at + 1)
        while self.texts[end] == "," and NAME.match(self.texts[end + 1]):
            names.add(self.texts[end + 1])
            end += 2
        for name in names:
            self.declare(name, at, kind)
        return end

    def is_stored(self, line: int) -> bool:
        """Whether the property that begins on the line has no getter: no brace, one after `=`, or one before observers."""
        text = self.source[line]
        if "{" not in text or "=" in text.split("{", 1)[0]:
            return True
        body = text.split("{", 1)[1] + " " + " ".join(self.source[line + 1 : line + 2])
        return re.match(r"\s*(didSet|willSet)\b", body) is not None

    def local(self, at: int) -> int:
        """Reads the names after `let` or `var` in a function."""
        frame = self.frames[-1]
        names, end = self.pattern(at + 1)
        if frame.case is not None:
            frame.locals |= names
        elif frame.header:
            is_condition = frame.header.keyword in ("if", "guard", "while") and self.texts[at - 1] != "case"
            if is_condition and self.texts[end] in (",", "{", "else"):
                # `if let peer` reads the member and declares a local name.
                self.use(at + 1)
            frame.pending.append(Pending(names, frame.header.depth, frame.header.names))
        else:
            frame.pending.append(Pending(names, self.depth, frame.locals))
        return end

    def pattern(self, at: int) -> tuple[set[str], int]:
        """The names that a pattern such as `name`, `(a, b)` or `.open(a, at: b)` declares, and where the pattern ends."""
        if NAME.match(self.texts[at]) and self.texts[at + 1] not in (".", "("):
            return {self.texts[at]}, at + 1
        names: set[str] = set()
        depth = 0
        while self.texts[at] and self.texts[at] not in ("=", "in", "{"):
            text = self.texts[at]
            depth += (text == "(") - (text == ")")
            if depth < 0 or (depth == 0 and text in (":", ",")):
                break
            if depth and NAME.match(text) and self.texts[at - 1] != "." and not self.is_label(at):
                names.add(text)
            at += 1
            if depth == 0 and text == ")":
                break
        return names, at

    def loop(self, at: int) -> int:
        frame = self.frames[-1]
        frame.header = Header("for", self.depth)
        at += 1
        while self.texts[at] in ("try", "await"):
            at += 1
        if self.texts[at] in ("case", "var", "let"):
            return at
        names, end = self.pattern(at)
        frame.pending.append(Pending(names, self.depth, frame.header.names))
        return end

    def case(self, at: int) -> int:
        frame = self.frames[-1]
        at += 1
        if frame.is_type:
            # The cases of an enum contain labels and types only.
            depth = 0
            while self.texts[at] and (depth or self.lines[at] == self.lines[at - 1] or self.texts[at - 1] == ","):
                if depth == 0 and self.texts[at] in ("}", ";"):
                    break
                depth += (self.texts[at] == "(") - (self.texts[at] == ")")
                at += 1
        elif frame.kind == "switch" and not frame.header:
            # The names of the case before end here.
            frame.locals = set()
            frame.pending = []
            frame.case = self.depth
        return at

    # Where local names begin to be known.

    def settle(self, frame: Frame, depth: int) -> bool:
        """Makes the names known whose initial value ends here. Returns whether one of them was a plain `let` or `var`."""
        done = [one for one in frame.pending if one.depth >= depth]
        frame.pending = [one for one in frame.pending if one.depth < depth]
        for one in done:
            one.target |= one.names
        return any(one.target is frame.locals for one in done)

    def comma(self, at: int) -> int:
        frame = self.frames[-1]
        if self.settle(frame, self.depth) and NAME.match(self.texts[at + 1]) and self.texts[at + 2] in ("=", ":"):
            # `var a = 1, b = 2`
            frame.pending.append(Pending({self.texts[at + 1]}, self.depth, frame.locals))
            return at + 2
        return at + 1

    def begin_line(self, at: int) -> None:
        goes_on = self.texts[at - 1][-1:] in OPERATORS or self.texts[at][0] in OPERATORS
        if not goes_on:
            self.settle(self.frames[-1], self.depth)

    def end_guard(self, frame: Frame) -> None:
        if frame.header and frame.header.keyword == "guard" and frame.header.depth == self.depth:
            self.settle(frame, self.depth)
            frame.locals |= frame.header.names
            frame.header = None

    # Uses.

    def is_label(self, at: int) -> bool:
        return self.texts[at + 1] == ":" and self.starts[at + 1] == self.starts[at] + len(self.texts[at])

    def use(self, at: int) -> None:
        """Records the use of a member of the type around it, if the name can be one."""
        around = self.type
        if around is None:
            return
        text = self.texts[at]
        before = self.texts[at - 1]
        own = around.rpartition(".")[2].partition("@")[0]
        if before == ".":
            receiver = at - 2
            while self.texts[receiver] in ("?", "!"):
                receiver -= 1
            if self.texts[receiver] not in ("self", "Self", own):
                return
            if self.texts[receiver - 1] == "." and self.texts[receiver] != own:
                return
        elif text in ("Self", own):
            if self.texts[at + 1] != "(":
                return
            text = "init"
        elif before in DECLARING or self.is_label(at) or self.is_local(text):
            return
        self.result.uses.setdefault((around, text.strip("`")), self.lines[at] + 1)

    def is_local(self, name: str) -> bool:
        for frame in reversed(self.frames):
            if frame.is_type:
                return False
            if name in frame.locals or (frame.header and name in frame.header.names):
                return True
        return False
