"""Where the C sources are: each tree (`runtime`, `kernels`, ...) has rooms, and its place says who may use a header.

    ROOM/name.h           for every room; of kernels also what Python calls: plain prototypes, which cffi parses
    ROOM/inline/name.h    for every room of C, and for no Python
    ROOM/internal/name.h  for this room alone

Files include each other by room: `#include "clock/sync.h"`.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_HIDDEN = {"inline", "internal"}


def sources(tree: str) -> list[Path]:
    """Return all .c files of a tree, in order of name."""
    return sorted((CSRC / tree).rglob("*.c"))


def headers(tree: str) -> list[Path]:
    """Return all .h files of a tree, in order of name."""
    return sorted((CSRC / tree).rglob("*.h"))


def included(path: Path) -> list[str]:
    """Return the headers that a file includes, except the system's."""
    return _INCLUDE.findall(path.read_text())


def interface(tree: str) -> list[str]:
    """Return the headers of a tree that cffi parses, each after the ones that it includes."""
    root = CSRC / tree
    names = [str(p.relative_to(root)) for p in headers(tree) if not _HIDDEN & set(p.relative_to(root).parts)]
    found: list[str] = []

    def add(name: str) -> None:
        if name not in found:
            for other in included(root / name):
                if other in names:
                    add(other)
            found.append(name)

    for name in names:
        add(name)
    return found


def declarations(path: Path) -> str:
    """Return the text of a header that cffi parses: all but the preprocessor's lines."""
    return "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))


def relative(paths: list[Path]) -> list[str]:
    """Return paths from the folder of setup.py, as setuptools needs them."""
    return [str(path.relative_to(ROOT)) for path in paths]
