"""Swift source with its comments and literal text removed, for the checks that read code without a compiler."""

import re

# Where code stops being plain code. Brackets only matter inside an interpolation, which ends at its closing bracket.
CODE = re.compile(r'//|/\*|#*"""|#*"')
INTERPOLATION = re.compile(r'//|/\*|#*"""|#*"|[()]')
COMMENT = re.compile(r"/\*|\*/")


def code_lines(text: str) -> list[str]:
    """The lines of a file without comments and without the text of string literals. The code of interpolations stays.

    The result has as many lines as the file, and its braces are only those of the code.
    """
    kept: list[str] = []
    _code(text, 0, kept, CODE)
    return "".join(kept).split("\n")


def _code(text: str, at: int, kept: list[str], pattern: re.Pattern[str]) -> int:
    """Copies code until the file ends, or until the interpolation that starts at `at` ends. Returns where it stopped."""
    depth = 0
    while found := pattern.search(text, at):
        kept.append(text[at : found.start()])
        at = found.end()
        token = found.group()
        if token == "//":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif token == "/*":
            at = _comment(text, at, kept)
        elif token in "()":
            kept.append(token)
            depth += 1 if token == "(" else -1
            if depth < 0:
                return at
        else:
            at = _literal(text, at, kept, token)
    kept.append(text[at:])
    return len(text)


def _comment(text: str, at: int, kept: list[str]) -> int:
    """Skips a block comment, which may contain others. Keeps its line breaks."""
    depth = 1
    begun = at
    while depth and (found := COMMENT.search(text, at)):
        depth += 1 if found.group() == "/*" else -1
        at = found.end()
    if depth:
        at = len(text)
    kept.append("\n" * text.count("\n", begun, at))
    return at


def _literal(text: str, at: int, kept: list[str], opening: str) -> int:
    """Skips the string literal after its opening quotes. Keeps a pair of quotes, line breaks and interpolated code."""
    hashes = "#" * opening.count("#")
    quotes = opening.strip("#")
    pattern = re.compile(rf"\\{hashes}\(|\\{hashes}.|{quotes}{hashes}" + (r"|\n" if quotes == '"""' else ""))
    kept.append('"')
    while found := pattern.search(text, at):
        at = found.end()
        token = found.group()
        if token == "\n":
            kept.append(token)
        elif token == quotes + hashes:
            kept.append('"')
            return at
        elif token == f"\\{hashes}(":
            kept.append("(")
            at = _code(text, at, kept, INTERPOLATION)
    return len(text)
