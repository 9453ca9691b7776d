"""The command lines on the pages of the documentation, and the tables that the pages show as their output."""

from __future__ import annotations

import re
from collections.abc import Iterator

Table = tuple[str, tuple[str, ...]]
"""A heading without what is behind its first figure or bracket, and the names of the columns below it."""

_STARTS = r"(?:analyze|tracelib|mpirun|mpicc|mpifort|make|pip|python|srun|export|LD_PRELOAD=\S*|TRACELIB_\w+=\S+) "
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
_CODE = re.compile(r"(?:(?<=\n\n)|\A)((?: {4}[^\n]*\n)+)")
_LINE = re.compile(rf"(?:\S+\$ )?{_STARTS}")


def lines(page: str) -> Iterator[str]:
    """Yield the command lines of a page, in their order, as they are typed: from shell blocks, behind the `$` of shown
    terminals, and the examples in help texts."""
    found = [(block.start(), line) for block in _FENCE.finditer(page) for line in _of_fence(block[1], block[2])]
    for block in _CODE.finditer(_without_fences(page)):
        typed = re.sub(r"^    ", "", _joined(block[1]), flags=re.M).splitlines()
        found += [(block.start(), line) for line in typed if _LINE.match(line)]
    return (re.sub(r"\s+#.*|^\w+\$ ", "", line).strip() for _, line in sorted(found, key=lambda of: of[0]))


def _without_fences(page: str) -> str:
    """The page with as many characters."""
    return _FENCE.sub(lambda block: re.sub(r"[^\n]", "`", block[0]), page)


def _joined(text: str) -> str:
    """Lines that go on behind a backslash, as one."""
    return re.sub(r" *\\\n\s*", " ", text)


def _of_fence(kind: str, text: str) -> Iterator[str]:
    if kind == "help":
        options = text.partition("\nOptions:")[0]
        yield from (line.strip() for line in options.splitlines()[1:] if _LINE.match(line.strip()))
    elif kind == "sh":
        yield from filter(_LINE.match, _joined(text).splitlines())
    elif kind == "text":
        yield from re.findall(r"^\$ (.*)$", _joined(text), re.M)


def tables(text: str) -> set[Table]:
    """Return the tables in the output of commands. A table has a heading at the margin and the names of its columns
    below it."""
    return {
        (re.split(r"\d|[(:;,]|\.$", heading)[0].strip(), tuple(columns.split()))
        for heading, columns in re.findall(r"(?:^|\n)([A-Z][^\n]*)\n  +(\S[^\n\d]*)(?=\n  )", text)
        if not re.search(r"[.:;]", columns)
    }


def shown(page: str) -> set[Table]:
    """The tables that a page shows."""
    blocks = (block[2] for block in _FENCE.finditer(page) if block[1] == "text" and not block[2].startswith("Usage"))
    return set().union(*(tables(re.sub(r"^\$ .*\n", "\n", block, flags=re.M)) for block in blocks))
