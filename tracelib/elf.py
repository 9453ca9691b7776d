"""Facts about an executable file, without running it: the MPI that it links, and why a preload may see no calls."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

MPI_LIBRARY = re.compile(r"lib(mpi|mpich|mpi_abi|mpi_cray|mpi_gnu[^.]*|mpich_[^.]*|pmpi)(\.so|_)[^/]*$")
SANITIZER = re.compile(r"lib(clang_rt\.)?(a|hwa|l|t|ub|m)san[^/]*\.so[^/]*$")
"""Runtimes of sanitizers as libraries; clang links them into the program, unless it gets -shared-libsan."""
CALLS = ("MPI_Init", "MPI_Init_thread", "MPI_Send", "mpi_init_", "mpi_init_f08_")


@dataclass(frozen=True)
class ElfFile:
    """An executable file. `readable` is False for what is no ELF file, or where readelf is missing."""

    path: Path
    readable: bool
    dynamic: bool  # has a dynamic loader, so that LD_PRELOAD can work at all
    privileged: bool  # set-user-ID or set-group-ID: the loader ignores LD_PRELOAD
    libraries: tuple[str, ...]  # MPI libraries among all that it loads at its start
    defines: tuple[str, ...]  # MPI procedures that the program itself defines
    mentions: bool  # the file holds the name of an MPI library or procedure


def find_program(command: list[str]) -> Path | None:
    """Return the program in a command: the first word behind the launcher that names an executable file."""
    for word in command[1:] or command:
        found = shutil.which(word)
        if found and not word.startswith("-"):
            return Path(found).resolve()
    return None


def sanitizer(program: Path) -> str:
    """Return the path of the sanitizer's runtime that a program is linked with; "" for none.

    One that must be the first library of a process: those for addresses, leaks and threads, of which a program has one.
    """
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return ""
    for name, path in _libraries(_tool("ldd", str(program))):
        if SANITIZER.search(name) and "ubsan" not in name and path:
            return path
    return ""


def _tool(*words: str) -> str:
    """Return the output of a tool of the compiler or the loader; empty if it is missing or refuses."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def inspect(path: Path) -> ElfFile:
    """Look at an executable with readelf and ldd."""
    mode = path.stat().st_mode
    data = path.read_bytes()
    header = _tool("readelf", "-lW", str(path)) if data[:4] == b"\x7fELF" else ""
    symbols = _tool("readelf", "-sW", str(path)) if header else ""
    return ElfFile(
        path=path,
        readable=bool(header),
        dynamic="INTERP" in header,
        privileged=bool(mode & (stat.S_ISUID | stat.S_ISGID)),
        libraries=tuple(_mpi_libraries(_tool("ldd", str(path)))) if header else (),
        defines=tuple(name for name in CALLS if _defined(symbols, name)),
        mentions=b"libmpi" in data or b"MPI_Init" in data,
    )


def _libraries(ldd: str) -> list[tuple[str, str]]:
    """Name and path of each library in ldd's list; the path is empty where it was not found."""
    found = []
    for line in ldd.splitlines():
        name, _, place = (part.strip() for part in line.partition("=>"))
        path = place.split(" (")[0]
        found.append((name.split(" ")[0], "" if "not found" in place else path))
    return found


def _mpi_libraries(ldd: str) -> list[str]:
    """Return paths (or names, if not found) of the MPI libraries in ldd's list."""
    return [path or f"{name} (not found)" for name, path in _libraries(ldd) if MPI_LIBRARY.search(name)]


def _defined(symbols: str, name: str) -> bool:
    """Return True if a symbol table defines a function of that name: its section is a number, not UND."""
    return bool(re.search(rf"FUNC\s+(GLOBAL|WEAK)\s+\S+\s+\d+\s+{name}(@\S*)?$", symbols, re.MULTILINE))
