"""An application: its packages, its input, and the part of its output that is the result."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from building import build
from matrix import Leg

INPUTS = Path(__file__).parent / "inputs"
NEGATIVE_ZERO = re.compile(r"-(0\.0+)(?![\d.])")
WANTED = re.compile(r"^result: .*$", re.MULTILINE)
"""How our own small programs on others' libraries mark their results."""


def nothing(leg: Leg, folder: Path) -> None:
    """A folder that needs nothing but the inputs."""


def own_results(folder: Path, stdout: str) -> list[str]:
    """Return the results that a program of ours prints."""
    return sorted(WANTED.findall(stdout))


@dataclass(frozen=True)
class Application:
    """`command` may have {mpi}, the MPI's name at Debian; `result` takes from the run's folder and its standard output
    the lines that do not depend on time."""

    name: str
    title: str
    packages: tuple[str, ...]  # the first one gives the version
    command: tuple[str, ...]
    result: Callable[[Path, str], list[str]]
    prepare: Callable[[Leg, Path], None] = nothing
    legs: tuple[str, ...] = ("apt-openmpi",)
    environment: dict[str, str] = field(default_factory=dict)
    iterations: int | None = None  # how often its main loop turns, where its input says so

    def prepare_folder(self, leg: Leg, folder: Path) -> None:
        """Inputs, and what is made from them."""
        if (INPUTS / self.name).exists():
            shutil.copytree(INPUTS / self.name, folder, dirs_exist_ok=True)
        self.prepare(leg, folder)

    def words(self, leg: Leg) -> list[str]:
        """The command line."""
        return [word.format(mpi=mpi_of(leg)) for word in self.command]


def mpi_of(leg: Leg) -> str:
    """The name that Debian gives to its MPI."""
    return leg.name.removeprefix("apt-")


def lines(*patterns: str, file: str | None = None) -> Callable[[Path, str], list[str]]:
    """A result: what the patterns find in the standard output or in a file, in order. A zero has no sign: that of a sum
    that rounds to 0 depends on the order of its terms, which NWChem deals out as its ranks come."""
    wanted = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.MULTILINE)

    def found(folder: Path, stdout: str) -> list[str]:
        text = (folder / file).read_text() if file else stdout
        return [NEGATIVE_ZERO.sub(r" \1", match.group()) for match in wanted.finditer(text)]

    return found


def unpacked(path: Path) -> str:
    """A text file that Debian may have compressed."""
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()).decode() if packed.exists() else path.read_text()


def compiled(source: str, *flags: str) -> Callable[[Leg, Path], None]:
    """A program of ours, built in its folder as ./program; flags may have {mpi}."""

    def prepare(leg: Leg, folder: Path) -> None:
        build(leg, folder / source, folder / "program", *(flag.format(mpi=mpi_of(leg)) for flag in flags))

    return prepare
