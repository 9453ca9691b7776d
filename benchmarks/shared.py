"""Bursts of a program on a loaded machine, compared with an idle one (first row of the checklist of "Dimemas")."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.writers.dim import write_dim
from benchmarks.mpi import ROOT, WORK, Mpi, remove_run
from benchmarks.recording import Figure

PHASES, MILLISECONDS, ROUNDS = 20, 20, 3


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Run this number of processes that always want a core."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def bursts_s(name: str) -> float:
    """Sum of the long bursts of all ranks in the .dim of a run, those before MPI_Init aside."""
    trace = open_trace(WORK / f"{name}.h5")
    write_dim(trace, WORK / f"{name}.dim", Team())
    trace.close()
    text = (WORK / f"{name}.dim").read_text()
    ranks = [re.findall(rf"^1:{rank}:0:([0-9.]+)$", text, re.MULTILINE)[2:] for rank in range(2)]
    return sum(float(b) for bursts in ranks for b in bursts if float(b) > MILLISECONDS / 4e3)


def measure(mpi: Mpi, steps: str, cpu_time: str) -> float:
    words = (PHASES, MILLISECONDS, steps)
    mpi.run(2, WORK / "phases", *words, traced="shared", options={"TRACELIB_CPUTIME": cpu_time}, bind=False)
    seconds = bursts_s("shared")
    remove_run("shared")
    return seconds


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield the ratio by CPU time, to be 1, and the ratio by wall-clock time; loaded and idle in turns."""
    WORK.mkdir(parents=True, exist_ok=True)
    source = ROOT / "mpi_tests" / "programs" / "waits" / "phases.c"
    subprocess.run([mpi.mpicc, "-O1", source, "-o", WORK / "phases"], check=True)
    mpi.run(1, WORK / "phases", 1, MILLISECONDS)
    steps = (WORK / "phases-0").read_text().split()[2]
    cores = os.cpu_count() or 1
    for name, cpu_time in (("CPU time", "on"), ("the time that passed", "off")):
        ratios = []
        for _ in range(ROUNDS):
            idle = measure(mpi, steps, cpu_time)
            with load(2 * cores):
                ratios.append(measure(mpi, steps, cpu_time) / idle)
        note = f"two busy processes a core beside it; median of {ROUNDS}"
        yield Figure(f"bursts on a loaded machine / idle, {name}", median(ratios), "", None, note)
