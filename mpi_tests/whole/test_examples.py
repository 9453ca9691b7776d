"""The examples are right, and stay right when traced: each knows its own result."""

import math
import re

import numpy as np
import pytest
from matrix import ROOT, Leg

EXAMPLES = ROOT / "examples"


@pytest.fixture
def both(launch):
    """both(leg, program, *args): output of an untraced run, after a traced one said the same."""

    def start(leg: Leg, *command: str) -> str:
        plain = launch(leg, *command, preload=False).check()
        assert launch(leg, *command, env={"TRACELIB_QUIET": "1"}).check().stdout == plain.stdout
        return plain.stdout

    return start


def heat_result(text: str) -> tuple[float, float]:
    """Checksum and error that a heat solver printed."""
    found = re.search(r"checksum ([\d.]+), residual \S+, error (\S+)$", text)
    return float(found[1]), float(found[2])


def exact_checksum(size: int, steps: int) -> float:
    """Sum of the exact field: the eigenvalue's power times the square of a sum of sines, which is cot(pi h / 2)."""
    half = math.pi / (2 * (size + 1))
    return (1 - 8 * 0.2 * math.sin(half) ** 2) ** steps / math.tan(half) ** 2


def test_heat_in_c(mpi, compiled, both):
    checksum, error = heat_result(both(mpi, compiled(mpi, EXAMPLES / "heat.c"), "--size", "100", "--steps", "50"))
    assert error < 1e-12
    assert checksum == pytest.approx(exact_checksum(100, 50), abs=1e-5)


def test_heat_in_python(openmpi, both):
    script = str(EXAMPLES / "heat.py")
    checksum, error = heat_result(both(openmpi, openmpi.python, script, "--size", "60", "--steps", "20"))
    assert error < 1e-12
    assert checksum == pytest.approx(exact_checksum(60, 20), abs=1e-5)


def test_master_and_workers(mpi, compiled, both):
    """The area of the Mandelbrot set is 1.5066 (Foerstemann 2012); the grid is coarse."""
    program = compiled(mpi, EXAMPLES / "master_worker.c", "-O2")
    coarse, fine = (both(mpi, program, "--size", "200", "--block", block) for block in ("50", "1"))
    assert coarse == fine
    assert float(coarse.split("area ")[1]) == pytest.approx(1.5066, abs=0.02)


def test_an_integral_equation(mpi, compiled, both):
    """The solution is cosh, whoever computes which points."""
    program = compiled(mpi, EXAMPLES / "volterra.c", "-O2")
    block, cyclic = (both(mpi, program, "--points", "2000", "--steps", "20", *dealt) for dealt in ((), ("--cyclic",)))
    assert block == cyclic
    assert float(re.search(r"(\d\S*e-\d+)", block)[1]) < 1e-7


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
@pytest.mark.parametrize(
    "source,argument,expected",
    [
        ("pi_mpif.f", "20000", "pi is about  3.14159265"),
        ("ring_mpi.f90", "100", "token {token}, expected {token}"),
        ("transpose_f08.f90", "50", "{n} x {n} matrix transposed twice is itself: T"),
    ],
)
def test_fortran_interfaces(request, compiled, both, debian, source, argument, expected):
    leg = request.getfixturevalue(debian)
    ranks = leg.ranks
    said = both(leg, compiled(leg, EXAMPLES / "interfaces" / source), argument)
    assert said.startswith(expected.format(token=100 * ranks * (ranks - 1) // 2, n=50 * ranks))


@pytest.mark.parametrize("version", ["A", "B"])
def test_products(openmpi, compiled, both, version):
    """Sum over k of (column k of X) (row k of Y), with numpy."""
    n = 24
    i, j = np.mgrid[:n, :n]
    total = int((((i + 2 * j) % 5) @ ((3 * i + j) % 7)).sum())
    said = both(openmpi, compiled(openmpi, EXAMPLES / "products.c", "-Wno-unknown-pragmas"), version, str(n))
    assert said == f"{version} n={n} p={openmpi.ranks} sum={total}\n"
