"""Finds the directives of a C or C++ source: what is in comments and strings is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STRING = r'"(?:\\(?:\r?\n|.)|[^"\\\n])*"'
_COMMENT = r"/\*(?:.|\n)*?(?:\*/|\Z)"
_NUMBER = r"\.?\d(?:'?\w)*"
"""With the quotes that C++14 and C23 have between digits; signs of exponents are tokens of their own."""
_TOKENS = re.compile(
    rf"""
    (?P<directive>^(?<!\\\n)(?<!\\\r\n)[ \t]*(?:/\*[^\n]*?\*/[ \t]*)*
        \#(?:\\\r?\n|{_COMMENT}|//(?:\\\r?\n|[^\n])*|{_STRING}|[^\n])*)
  | (?P<comment>{_COMMENT}|//(?:\\\r?\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?R"(?P<end>[^()\\\s]{{0,16}})\((?:.|\n)*?\)(?P=end)"|{_STRING}
        |'(?:\\(?:\r?\n|.)|[^'\\\n])+')
  | (?P<space>[ \t\r\f\v]+|\n)
  | (?P<code>{_NUMBER}|\w+|.)
    """,
    re.VERBOSE | re.MULTILINE,
)
_HIDDEN = re.compile(rf"(?P<kept>{_STRING})|(?P<gone>{_COMMENT}|//(?:\\\r?\n|[^\n])*|\\\r?\n)")


@dataclass(frozen=True)
class Directive:
    """A line that begins with #, with the lines that continue it."""

    begin: int  # of the text, in the source
    end: int
    text: str  # comments and line ends are blanks, so that places in it are places in the source
    depth: int  # of braces around it
    conditions: int  # of #if around it
    before: str  # the last character of code before it; "": there is none

    @property
    def word(self) -> str:
        """ "include", "pragma", ..."""
        found = re.match(r"\s*#\s*(\w*)", self.text)
        return found[1] if found else ""


def directives(source: str) -> Iterator[Directive]:
    """Yield all directives in order."""
    depth = conditions = 0
    before = ""
    for token in _TOKENS.finditer(source):
        if token.lastgroup == "directive":
            found = Directive(token.start(), token.end(), _plain(token[0]), depth, conditions, before)
            conditions += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(found.word, 0)
            yield found
        elif token["code"]:
            depth += {"{": 1, "}": -1}.get(token["code"], 0)
            before = token["code"][-1]
        elif token["string"]:
            before = '"'


def _plain(text: str) -> str:
    """Replace comments and continued line ends by blanks."""
    return _HIDDEN.sub(lambda found: found["kept"] or " " * len(found[0]), text)


def place(source: str, at: int) -> tuple[int, int]:
    """Return line and column of a character, from 1."""
    line = source.count("\n", 0, at)
    return line + 1, at - (source.rfind("\n", 0, at) + 1) + 1
