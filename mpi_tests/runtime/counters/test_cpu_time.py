"""Where ranks share cores, bursts are the CPU time that the program used, however long it waited for a core."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.timed

PHASES = 12
MILLISECONDS = 15


@contextmanager
def busy(processes: int):
    """Run processes that always want a core."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def bursts_s(folder, rank: int) -> float:
    """Return the sum of a rank's phases in run.dim, its longest bursts.

    An empty burst and the burst before MPI_Init come before them.
    """
    text = (folder / "run.dim").read_text()
    found = [float(b) for b in re.findall(rf"^1:{rank}:0:([0-9.]+)$", text, re.MULTILINE)]
    return sum(sorted(found[2:])[-PHASES:])


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_bursts_on_a_loaded_machine(request, compiled, traced, analyze, mpi_name):
    """First row of the checklist of "Dimemas": the CPU time that the program itself saw, within a few per cent."""
    leg = request.getfixturevalue(mpi_name)
    program = compiled(leg, "phases.c", "-O1")
    with busy(3):
        result = traced(leg, program, str(PHASES), str(MILLISECONDS), ranks=2, env={"TRACELIB_CPUTIME": "on"})
    analyze("dim", result.run).check()
    for rank in range(2):
        cpu_ns, wall_ns, _ = map(int, (result.folder / f"phases-{rank}").read_text().split())
        assert bursts_s(result.folder, rank) == pytest.approx(cpu_ns / 1e9, rel=0.03)
        assert wall_ns > 1.2 * cpu_ns, "the machine was not loaded: this test shows nothing"


def test_without_readings_they_are_what_the_clock_says(openmpi, compiled, traced, analyze):
    program = compiled(openmpi, "phases.c", "-O1")
    with busy(3):
        result = traced(openmpi, program, str(PHASES), str(MILLISECONDS), ranks=2, env={"TRACELIB_CPUTIME": "off"})
    analyze("dim", result.run).check()
    for rank in range(2):
        _, wall_ns, _ = map(int, (result.folder / f"phases-{rank}").read_text().split())
        assert bursts_s(result.folder, rank) == pytest.approx(wall_ns / 1e9, rel=0.03)


def test_the_tracer_takes_no_part_in_them(openmpi, compiled, traced, analyze):
    """Between back-to-back calls next to nothing is left, though each reading of the CPU time takes half a us."""
    result = traced(openmpi, compiled(openmpi, "back_to_back.c"), "4000", ranks=1, env={"TRACELIB_CPUTIME": "on"})
    overhead_ns = int(result.ranks[0].attributes["overhead_cpu_ns"])
    assert 50 < overhead_ns < 100_000
    analyze("dim", result.run).check()
    found = [float(b) for b in re.findall(r"^1:0:0:([0-9.]+)$", (result.folder / "run.dim").read_text(), re.MULTILINE)]
    bursts_ns = sorted([0] * max(4000 - len(found), 0) + [1e9 * b for b in found[1:]])
    assert bursts_ns[2000] < overhead_ns
    assert json.loads(analyze("look", "--no-files", "--json", result.run).check().stdout)["ranks"] == 1
