"""`make lint`: C functions call down only, and their names can be searched for.

A room calls no function of a room that stands above it (check_rooms.ORDER), whatever it includes. No two units (a
source with its own headers) call each other, nor in a longer circle. What a header declares is defined in its own room.
Calls through pointers to functions are not seen: README.md names those that go up.

A static function has a name that no other file's function has, nor libc.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import c_code, check_rooms, rooms  # noqa: E402

ANYWHERE = {"replay.h"}
"""Interfaces of a whole tree: declared beside the rooms."""


@dataclass
class Tree:
    """The functions of one tree, and who refers to them."""

    defined: dict[str, Path] = field(default_factory=dict)
    """File of each function that other files can use: not static, or inline in a header."""
    static: list[tuple[str, Path]] = field(default_factory=list)
    declared: list[tuple[str, Path]] = field(default_factory=list)
    """By headers."""
    references: dict[Path, frozenset[str]] = field(default_factory=dict)


@cache
def _read_text(text: str) -> tuple[tuple[c_code.Function, ...], frozenset[str]]:
    """Return functions of a file and the names that it refers to, by its text: the tests read the same files often."""
    return tuple(c_code.functions(text)), frozenset(c_code.references(text))


def read(folder: Path) -> Tree:
    """Read all files of a tree."""
    tree = Tree()
    for path in sorted(folder.rglob("*.[ch]")):
        functions, references = _read_text(path.read_text())
        for function in functions:
            if function.body and (not function.is_static or path.suffix == ".h"):
                tree.defined[function.name] = path
            if function.body and function.is_static and not function.name.isupper():  # else: a macro that defines
                tree.static.append((function.name, path))
            if not function.body and path.suffix == ".h":
                tree.declared.append((function.name, path))
        tree.references[path] = references
    return tree


def wrong(csrc: Path = rooms.CSRC) -> Iterator[str]:
    """Yield one line for each violation."""
    trees = {name: read(csrc / name) for name in check_rooms.TREES}
    for name, tree in trees.items():
        yield from _upward(csrc, tree, check_rooms.ORDER.get(name, ()))
        yield from _elsewhere(csrc, tree)
        yield from (f"a circle of calls: {' -> '.join(c)}" for c in check_rooms.find_circles(_calls(csrc, tree)))
    yield from _names(csrc, trees)


def _upward(csrc: Path, tree: Tree, order: tuple[str, ...]) -> Iterator[str]:
    for path, words in tree.references.items():
        for word in sorted(words & set(tree.defined)):
            caller, called = (check_rooms.room_of(csrc, p) for p in (path, tree.defined[word]))
            own, its = caller.rpartition("/")[2], called.rpartition("/")[2]
            if own in order and its in order and order.index(its) > order.index(own):
                yield f"{path.relative_to(csrc)}: calls {word}, but {called} stands above {caller}"


def _elsewhere(csrc: Path, tree: Tree) -> Iterator[str]:
    for name, path in tree.declared:
        at = tree.defined.get(name)
        if at and path.name not in ANYWHERE and check_rooms.room_of(csrc, at) != check_rooms.room_of(csrc, path):
            yield f"{path.relative_to(csrc)}: declares {name}, which {at.relative_to(csrc)} defines"


def _calls(csrc: Path, tree: Tree) -> dict[str, set[str]]:
    """Return the units whose functions each unit refers to."""
    calls: dict[str, set[str]] = {}
    for path, words in tree.references.items():
        unit = check_rooms.unit_of(str(path.relative_to(csrc)))
        called = {check_rooms.unit_of(str(tree.defined[w].relative_to(csrc))) for w in words & set(tree.defined)}
        calls.setdefault(unit, set()).update(called - {unit})
    return calls


def _names(csrc: Path, trees: dict[str, Tree]) -> Iterator[str]:
    """Yield names of static functions that are too general to be found."""
    places: dict[str, set[str]] = {}
    for tree in trees.values():
        for name, path in [*tree.static, *tree.defined.items()]:
            places.setdefault(name, set()).add(str(path.relative_to(csrc)))
    libc = [ctypes.CDLL(library) for library in ("libc.so.6", "libm.so.6")]
    for name, path in sorted({pair for tree in trees.values() for pair in tree.static}):
        here = str(path.relative_to(csrc))
        others = sorted(places[name] - {here})
        if others:
            yield f"{here}: static {name} is also in {', '.join(others)}"
        if any(hasattr(library, name) for library in libc):
            yield f"{here}: static {name} is a function of libc, too"


if __name__ == "__main__":
    lines = list(wrong())
    print("\n".join(lines), file=sys.stderr, end="\n" if lines else "")
    sys.exit(bool(lines))
