"""Reads C as it is written here (clang-format's style): the functions of a file, what they call, and their comments.

This is no C parser. It relies on three things that the compiler and clang-format ensure: braces and parentheses match,
a definition's name is the first word before a parenthesis at depth 0, and a member is written behind `.` or `->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NO_CODE = re.compile(
    r"/\*.*?\*/"  # comments
    r"|//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"'  # texts
    r"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#[ \t]*(?!define)(?:[^\n\\]|\\.|\\\n)*",  # the preprocessor's lines, but for definitions of macros
    re.DOTALL | re.MULTILINE,
)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Function:
    """A definition (with a body) or a declaration of a function."""

    name: str
    head: str
    """All before the body, without attributes."""
    body: str
    """Empty: a declaration."""
    offset: int
    """Where the head begins in the file's text."""

    @property
    def is_static(self) -> bool:
        """True if no other file can call it by name; inline functions of headers are static, too."""
        return "static" in self.head.partition("(")[0].split()


def blank(text: str, pattern: re.Pattern[str] = _NO_CODE) -> str:
    """Replace what is no code by blanks, so that offsets and lines stay."""
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(text: str) -> Iterator[Function]:
    """Yield the functions that a file defines or declares, in their order."""
    code = blank(blank(blank(text), _MACRO), _ATTRIBUTE)
    begin = depth = body = 0
    head = ""
    for i, char in enumerate(code):
        if char == "{":
            if depth == 0:
                head, body = code[begin:i], i
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                yield from _function(head, code[body : i + 1], begin)
                begin = i + 1
        elif char == ";" and depth == 0:
            yield from _function(code[begin:i], "", begin)
            begin = i + 1


def _function(head: str, body: str, begin: int) -> Iterator[Function]:
    name = _NAME.search(head)
    if not name or "=" in head or "typedef" in head.split() or name.group(1).startswith(("_Static", "static_")):
        return
    offset = begin + len(head) - len(head.lstrip())
    if head[: name.start()].strip():  # a type stands before the name; else it is a macro's use
        yield Function(name.group(1), head.strip(), body, offset)


def references(text: str) -> set[str]:
    """Return all words of a file that may name functions: in bodies, in tables that are initialised, and in macros.

    Left out are members, tags, and in each body the parameters and variables of that function.
    """
    used: set[str] = set()
    outside = blank(text)
    for macro in _MACRO.finditer(outside):
        used |= _words(macro.group(2))
    outside = blank(outside, _MACRO)
    for function in functions(text):
        used |= _references_of(function)
        outside = outside.replace(function.body, "") if function.body else outside
    for table in re.finditer(r"=\s*([^;]*);", outside):
        used |= _words(table.group(1))
    return used


def _references_of(function: Function) -> set[str]:
    body = function.body
    called = {name.group(1) for name in _NAME.finditer(body) if not body[: name.start()].rstrip().endswith((".", ">"))}
    own = set(_WORD.findall(function.head.partition("(")[2]))
    own |= {name.group(1) for name in re.finditer(r"\b\w+[\s*]+\**(\w+)\s*(?:=|;|,|\[)", body)}
    return called | (_words(body) - own)


def _words(code: str) -> set[str]:
    words = set()
    for word in _WORD.finditer(code):
        before = code[: word.start()].rstrip()[-8:]
        member = before.endswith(("->", ".")) and not before.endswith("...")
        if not member and not re.search(r"\b(struct|enum|union|goto)$", before):
            words.add(word.group())
    return words
