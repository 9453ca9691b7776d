"""The tutorials in docs/: their commands are run as they stand, and what they print and draw is put into the pages.

    python -m benchmarks.tutorials [heat lammps mpi4py]

A page is a list of blocks. A block `sh` is run by bash, in a folder that has examples/. A block `text` behind a comment
`<!-- output: 1-6, 9 -->` is replaced by these lines of what the block `sh` before it printed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "tutorials"
PICTURES = {"heat": "slow.png", "lammps": "lammps.png", "mpi4py": "python.png"}
"""Picture of each page, shown as docs/pictures/tutorial-NAME.png."""
LONGEST_S = 300

_BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n<!-- output: ([-\d, ]+) -->\n```text\n(.*?)^```\n)?", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """Commands, and which lines of their output the page shows (from 1, first and last); where that text stands."""

    commands: str
    shown: tuple[tuple[int, int], ...] = ()
    begin: int = 0
    end: int = 0

    def output(self, text: str) -> str:
        """Return the part of the output that the page shows."""
        lines = text.splitlines()
        parts = ["".join(f"{line}\n" for line in lines[first - 1 : last]) for first, last in self.shown]
        more = "...\n" if self.shown and self.shown[-1][1] < len(lines) else ""
        return "...\n".join(parts) + more


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page, in their order."""
    for found in _BLOCK.finditer(page):
        if found[2] is None:
            yield Block(found[1])
            continue
        ranges = (part.strip().partition("-") for part in found[2].split(","))
        shown = tuple((int(first), int(last or first)) for first, _, last in ranges)
        yield Block(found[1], shown, *found.span(3))


def run(block: Block, folder: Path, environment: Mapping[str, str]) -> str:
    """Return the output of the commands of a block. Raises CalledProcessError where one of them fails."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.commands], cwd=folder, env=dict(environment), timeout=LONGEST_S,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, block.commands, done.stdout, done.stderr)
    return done.stdout


def prepared(folder: Path) -> Path:
    """Prepare a folder that has all files that the pages need."""
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def remade(page: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Return the page with the present output of its commands."""
    parts, done = [], 0
    for block in blocks(page):
        text = run(block, folder, environment)
        if block.shown:
            parts += [page[done : block.begin], block.output(text)]
            done = block.end
    return "".join([*parts, page[done:]])


def main(names: list[str]) -> None:
    """Remake pages and pictures."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name in names or PICTURES:
        page = PAGES / f"{name}.md"
        with tempfile.TemporaryDirectory() as scratch:
            folder = prepared(Path(scratch))
            page.write_text(remade(page.read_text(), folder, os.environ | {"PATH": path}))
            shutil.copy(folder / PICTURES[name], ROOT / "docs" / "pictures" / f"tutorial-{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
