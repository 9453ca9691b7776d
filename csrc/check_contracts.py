"""`make lint`: each function that a header of the runtime or the replay offers has a comment with its contract.

The comment stands directly above the function, or above the group of functions that follow each other without an empty
line. In the rooms of WITH_CONTEXT it, or the header's first comment, also says who may call the function:

    Context: any thread, no lock.

README.md explains the words of that line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from csrc import c_code, check_rooms, rooms  # noqa: E402

TREES = ("runtime", "replay")
WITH_CONTEXT = {"common", "clock", "node", "record", "buffer", "output", "ranks", "run"}
"""Rooms of the runtime whose headers name the context of every function."""
WITHOUT = {"mpi", "select"}
"""Rooms of the runtime that still have functions without a comment of their own."""


def wrong(csrc: Path = rooms.CSRC) -> Iterator[str]:
    """Yield one line for each function without a contract."""
    for path in sorted(path for tree in TREES for path in (csrc / tree).rglob("*.h")):
        tree, _, room = check_rooms.room_of(csrc, path).partition("/")
        text = path.read_text()
        first = text.partition("*/")[0] if text.startswith("/*") else ""
        for function in c_code.functions(text):
            block = text[: function.offset].rpartition("\n\n")[2]
            here = f"{path.relative_to(csrc)}: {function.name}"
            if "*/" not in block and room not in WITHOUT:
                yield f"{here} has no comment"
            elif tree == "runtime" and room in WITH_CONTEXT and "Context:" not in block + first:
                yield f"{here} does not say who may call it (Context: ...)"


if __name__ == "__main__":
    lines = list(wrong())
    print("\n".join(lines), file=sys.stderr, end="\n" if lines else "")
    sys.exit(bool(lines))
