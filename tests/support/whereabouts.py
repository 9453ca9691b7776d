"""Programs of data/places, compiled, and what they note of themselves: truth for names of places."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from paths import DATA

SOURCES = DATA / "places"
COMPILERS = {
    "gcc": ("whereabouts.c",),
    "clang": ("whereabouts.c",),
    "g++": ("whereabouts.cc",),
    "clang++": ("whereabouts.cc",),
    "gfortran": ("whereabouts.f90", "note.c"),
}
THERE = [name for name in COMPILERS if shutil.which(name)]


@dataclass(frozen=True)
class Noted:
    """A call of note(): its return address as the file numbers addresses, and where it is in the source."""

    address: int
    line: int
    function: str


def compile_program(target: Path, compiler: str, *flags: str, sources: tuple[str, ...] = ()) -> Path:
    """A program of some sources of data/places, by default that of the compiler's language. A call at the end of a
    function stays a call: as a jump, it would not be on the stack."""
    words = [compiler, *flags, "-fno-optimize-sibling-calls", "-o", str(target)]
    if compiler == "gfortran":
        words += ["-cpp", f"-J{target.parent}"]
    subprocess.run([*words, *(SOURCES / name for name in sources or COMPILERS[compiler])], check=True)
    return target


@cache
def load_address(program: Path) -> int:
    """The address of the first segment, as readelf says."""
    return int(re.search(r"LOAD\s+0x\w+ 0x(\w+)", tool("readelf", "-lW", program))[1], 16)


def noted(program: Path) -> list[Noted]:
    """Read the places that a running program notes of itself; a place can come several times."""
    lines = (line.split(" ", 2) for line in tool(program).splitlines())
    return [Noted(int(place, 16) + load_address(program), int(line), function) for place, line, function in lines]


def addresses_of(notes) -> np.ndarray:
    return np.array([note.address for note in notes], np.uint64)


def by_addr2line(program: Path, notes) -> list[list[tuple[str, int]]]:
    """File and line of each frame of each place, as binutils says."""
    asked = [f"{note.address - 1:#x}" for note in notes]
    answer = re.split(r"^0x\w+\n", tool("addr2line", "-a", "-i", "-e", program, *asked), flags=re.MULTILINE)[1:]
    frames = [[re.match(r"(.*):(\d+)", line).groups() for line in text.splitlines()] for text in answer]
    return [[(Path(file).name, int(line)) for file, line in each] for each in frames]


def tool(*words) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout
