"""Linear algebra: hpcc, ScaLAPACK's own test of LU, and PETSc."""

from __future__ import annotations

import re
from pathlib import Path

from apps.application import Application, compiled, lines, own_results, unpacked
from matrix import Leg

HPCC_EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
GRID = 24
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


def _grid(leg: Leg, folder: Path) -> None:
    """A grid as a graph in Scotch's format: number of vertices, of arcs, then the neighbours of each vertex."""
    n = GRID
    neighbours = [
        [a * n + b for a, b in ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)) if 0 <= a < n and 0 <= b < n]
        for i in range(n)
        for j in range(n)
    ]
    head = ["0", f"{n * n} {sum(map(len, neighbours))}", "0 000"]
    (folder / "grid.grf").write_text(
        "\n".join([*head, *(f"{len(row)} {' '.join(map(str, row))}" for row in neighbours)])
    )


def _solution(folder: Path, stdout: str) -> list[str]:
    """The unknowns, which differ in the last digits by the order of sums."""
    found = re.search(r"^  Solution is (.*)$", stdout, re.MULTILINE)
    return [f"{float(number):.9f}" for number in found[1].split()] if found else []


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

PETSC4PY = Application(
    name="petsc4py",
    title="Poisson's equation, 40 x 40: conjugate gradients, 10 times",
    packages=("python3-petsc4py-real",),
    command=("/usr/bin/python3", "poisson.py"),
    result=own_results,
)

SLEPC4PY = Application(
    name="slepc4py",
    title="frequencies of a string of 300 masses",
    packages=("python3-slepc4py-real",),
    command=("/usr/bin/python3", "string.py"),
    result=own_results,
)

MPI4PY_FFT = Application(
    name="mpi4py-fft",
    title="a field of 24 x 24 x 24, 20 times to its spectrum and back",
    packages=("python3-mpi4py-fft",),
    command=("/usr/bin/python3", "turns.py"),
    result=own_results,
    iterations=20,
)

SCOTCH = Application(
    name="scotch",
    title="PT-Scotch: dgord orders a grid of 24 x 24",
    packages=("ptscotch",),
    prepare=_grid,
    command=("dgord", "grid.grf", "ordering.txt"),
    result=lines(r"^.+$", file="ordering.txt"),
)

MUMPS = Application(
    name="mumps",
    title="its own example: 5 equations",
    packages=("mumps-test",),
    command=("sh", "-c", "exec /usr/lib/mumps/dsimpletest < /usr/lib/mumps/input_simpletest_real"),
    result=_solution,
)
