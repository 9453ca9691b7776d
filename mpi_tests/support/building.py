"""Compiling a test's programs with an MPI's own compilers, and the counter that stands beside the tracer."""

from __future__ import annotations

import re
from pathlib import Path

import matrix
from matrix import Leg
from running import run

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
PROTOTYPE = re.compile(r"\b(MPI_[A-Z][A-Za-z0-9_]*)\s*\(")
CLOCKS = ("MPI_Wtime", "MPI_Wtick")
FORTRAN_SUFFIXES = ("_", "_f08_", "_f08ts_")


def source_of(name: str) -> Path:
    """Where a test's program is: each has a name of its own, whatever its folder."""
    (found,) = PROGRAMS.rglob(name)
    return found


def build(leg: Leg, source: Path, target: Path, *flags: str) -> None:
    """Compile `source` to `target`; the leg must have a compiler for its language."""
    words = [
        leg.compiler(source),
        "-g",
        "-O1",
        "-w",
        "-I",
        source_of("truth.h").parent,
        source,
        "-o",
        target,
        *flags,
        "-lm",
    ]
    run(words, target.parent, matrix.environment(leg), 120).check()


def build_counter(leg: Leg, folder: Path) -> Path:
    """The library of counter.c, for all that this MPI declares in mpi.h."""
    (folder / "mpi.c").write_text("#include <mpi.h>\n")
    text = run([leg.compilers[".c"], "-E", "mpi.c"], folder, matrix.environment(leg)).check().stdout
    suffixes = FORTRAN_SUFFIXES if ".F90" in leg.compilers else ()
    (folder / "procedures.h").write_text(ways_in(set(PROTOTYPE.findall(text)), suffixes))
    target = folder / "libcounter.so"
    build(leg, source_of("counter.c"), target, "-shared", "-fPIC", "-O0", "-I", str(folder))
    return target


def ways_in(names: set[str], fortran_suffixes: tuple[str, ...]) -> str:
    """The lines of counter.c's procedures.h. A large-count form counts under the plain name."""
    counted = sorted({name.removesuffix("_c") for name in names})
    lines = [f"COUNT({name})" for name in counted]
    for name in sorted(names):
        plain = name.removesuffix("_c")
        wrap = "WRAP_CLOCK" if plain in CLOCKS else "WRAP"
        lines.append(f"{wrap}({name}, {plain}, 0)")
        if name == plain:
            lines += [f"{wrap}({name.lower()}{suffix}, {name}, 1)" for suffix in fortran_suffixes]
    return "\n".join(lines) + "\n"
