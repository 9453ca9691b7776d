"""`make lint`: C files include only headers that they may. Each room is a folder of a tree; see rooms.py on headers.

A file that is included exists; no room includes another room's internal header; no header includes itself in a circle.
No unit, a source together with its own header, includes itself by way of others. Where a tree has an ORDER, rooms
include only rooms that stand before them; a header beside the rooms is the tree's interface, which all may include.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import rooms  # noqa: E402

TREES = {
    "runtime": ("runtime",),
    "ngmpi": ("ngmpi", "runtime"),
    "replay": ("replay",),
    "kernels": ("kernels", "replay"),
}
"""Folders in which the files of each tree find the headers that they include."""
ORDER = {
    "runtime": (
        "common", "clock", "mpi", "node", "record", "places", "counters", "buffer", "handles", "select", "sampling",
        "output", "ranks", "run", "calls",
    ),
    "kernels": (
        "subsets", "jobs", "rows", "text", "hdf5", "lanes", "paraver", "matching", "waits", "path", "operations",
        "dimemas", "structure", "perfetto", "otf2", "views",
    ),
    "replay": ("common", "state", "machine", "packed", "threads", "network", "match", "engine", "ideal"),
}  # fmt: skip
"""Rooms of a tree, the lowest first."""
GENERATED = {"schema.h", "call_classes.h", "variables.h", "links.h", "records.h", "net.h", "tracelib.h"}


def wrong(csrc: Path = rooms.CSRC) -> Iterator[str]:
    """Yield one line for each violation."""
    for tree in TREES:
        includes = {path: _found(csrc, tree, path) for path in sorted((csrc / tree).rglob("*.[ch]"))}
        for path, found in includes.items():
            yield from _without_place(csrc, tree, path)
            for name, target in found.items():
                yield from _wrong_include(csrc, tree, path, name, target)
        files = {_name(csrc, path): _names(csrc, found.values()) for path, found in includes.items()}
        yield from (f"a circle: {' -> '.join(circle)}" for circle in find_circles(files))
        yield from (f"a circle of units: {' -> '.join(circle)}" for circle in find_circles(_units(files)))


def _found(csrc: Path, tree: str, path: Path) -> dict[str, Path | None]:
    """Map each name that a file includes to the file found under it; None: there is none."""
    names = [name for name in rooms.included(path) if name not in GENERATED]
    places = {name: [csrc / t / name for t in TREES[tree] if (csrc / t / name).exists()] for name in names}
    return {name: (found[0] if found else None) for name, found in places.items()}


def _wrong_include(csrc: Path, tree: str, path: Path, name: str, target: Path | None) -> Iterator[str]:
    here = path.relative_to(csrc)
    if target is None:
        yield f"{here}: includes {name}, which is not there"
        return
    room, other = room_of(csrc, path), room_of(csrc, target)
    if "internal" in target.parts and room != other:
        yield f"{here}: includes {name}, which is internal to {other}"
    order = ORDER.get(tree, ())
    own, its = room.rpartition("/")[2], other.rpartition("/")[2]
    if own in order and its in order and order.index(its) > order.index(own):
        yield f"{here}: includes {name}, but {other} stands above {room}"


def _without_place(csrc: Path, tree: str, path: Path) -> Iterator[str]:
    room = room_of(csrc, path)
    if tree in ORDER and room != tree and room.rpartition("/")[2] not in ORDER[tree]:
        yield f"{_name(csrc, path)}: {room} has no place in the order of rooms"


def room_of(csrc: Path, path: Path) -> str:
    """Name the room of a file, with its tree: `runtime/clock`."""
    return "/".join(path.relative_to(csrc).parts[:-1][:2])


def _name(csrc: Path, path: Path) -> str:
    return str(path.relative_to(csrc))


def _names(csrc: Path, paths: Iterable[Path | None]) -> set[str]:
    return {_name(csrc, path) for path in paths if path}


def unit_of(file: str) -> str:
    """Name the unit of a file: `run/run` for run/run.c, run/run.h and run/internal/run.h."""
    return "/".join(part for part in file.rpartition(".")[0].split("/") if part not in ("internal", "inline"))


def _units(files: dict[str, set[str]]) -> dict[str, set[str]]:
    """Map each unit to the other units that it includes."""
    units: dict[str, set[str]] = {}
    for file, others in files.items():
        units.setdefault(unit_of(file), set()).update({unit_of(other) for other in others} - {unit_of(file)})
    return units


def find_circles(includes: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield each circle once: the names on the way from its beginning back to there."""
    done: set[str] = set()

    def follow(name: str, way: list[str]) -> Iterator[list[str]]:
        if name in way:
            yield [*way[way.index(name) :], name]
        elif name not in done:
            for other in sorted(includes.get(name, ())):
                yield from follow(other, [*way, name])
            done.add(name)

    for name in includes:
        yield from follow(name, [])


if __name__ == "__main__":
    lines = list(wrong())
    print("\n".join(lines), file=sys.stderr, end="\n" if lines else "")
    sys.exit(bool(lines))
