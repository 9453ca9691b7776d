"""Linear algebra: hpcc, ScaLAPACK's own test of LU, and PETSc."""

from __future__ import annotations

import re
from pathlib import Path

from apps.application import Application, compiled, lines, own_results, unpacked
from matrix import Leg

HPCC_EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
LU_DATA = Path("/usr/share/scalapack/LU.dat")


def _smallest_sizes(leg: Leg, folder: Path) -> None:
    (folder / "hpccinf.txt").write_text(unpacked(HPCC_EXAMPLE).replace("1000         Ns", "400          Ns"))


def _without_condition_estimate(leg: Leg, folder: Path) -> None:
    """The estimate can hang by itself; and two ranks need process grids that they can fill."""
    text = re.sub(r"(?m)^T(?=\s.*Cond)", "F", unpacked(LU_DATA))
    if leg.ranks < 4:
        text = re.sub(r"(?m)^1 2 1 4(.*values of P)", r"1 2 1 1\1", text)
        text = re.sub(r"(?m)^1 2 4 1(.*values of Q)", r"1 1 2 1\1", text)
    (folder / "LU.dat").write_text(text)


def _cases(folder: Path, stdout: str) -> list[str]:
    rows = [line.split() for line in stdout.splitlines() if line.startswith("WALL")]
    return [" ".join([*row[1:8], row[-1]]) for row in rows]


HPCC = Application(
    name="hpcc",
    title="N = 400",
    packages=("hpcc",),
    prepare=_smallest_sizes,
    command=("hpcc",),
    result=lines(
        r"^\|\|Ax-b.*$",
        r"^.*Errors(?:Fraction)?=.*$",
        r"^PTRANS_residual=.*$",
        r"^.*tests completed and .*$",
        r"^Success=.*$",
        file="hpccoutf.txt",
    ),
)

SCALAPACK = Application(
    name="scalapack",
    title="xdlu, the test of LU",
    packages=("scalapack-mpi-test",),
    prepare=_without_condition_estimate,
    command=("/usr/lib/x86_64-linux-gnu/scalapack/{mpi}-tests/xdlu",),
    result=_cases,
    legs=("apt-openmpi", "apt-mpich"),
)

PETSC = Application(
    name="petsc",
    title="Poisson's equation, 65 x 65: CG, GMRES with Schwarz, multigrid",
    packages=("petsc-dev",),
    prepare=compiled("solve.c", "-I/usr/lib/petsc/include", "-L/usr/lib/petsc/lib", "-lpetsc_real"),
    command=("./program",),
    result=own_results,
)
