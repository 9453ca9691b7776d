"""Predicted against measured times of real programs: LAMMPS and the heat solver, 2 and 4 ranks, on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from analyzer.metrics.requests import gather_blocks
from analyzer.operations.operation import Kind, Program, operations
from analyzer.operations.streams import pieces
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.predicted import CallTimes
from analyzer.sources.opening import open_trace
from analyzer.trace import CALL
from benchmarks.mpi import ROOT, WORK, Mpi, remove_run
from benchmarks.recording import Figure
from benchmarks.shared import load
from benchmarks.this_machine import Here, Runnable

RANKS, ROUNDS, LOADED_ROUNDS = (2, 4), 10, 3


def programs(mpi: Mpi) -> Iterator[tuple[str, list[str]]]:
    """The demo's heat solver, and LAMMPS where it is installed."""
    heat = WORK / "heat"
    subprocess.run([mpi.mpicc, "-O2", ROOT / "examples" / "heat.c", "-o", heat, "-lm"], check=True)
    yield "heat", [str(heat), "--size", "1024", "--steps", "3000"]
    if shutil.which("lmp"):
        yield "LAMMPS", ["lmp", "-in", str(ROOT / "mpi_tests" / "programs" / "in.lj")]


def elapsed_s(mpi: Mpi, timer: Path, ranks: int, words: list[str]) -> tuple[float, float]:
    """Of an untraced run, between MPI_Init and MPI_Finalize; and how many others wanted a core, on average."""
    answer = WORK / "elapsed.txt"
    answer.unlink(missing_ok=True)
    with Runnable() as runnable:
        mpi.run(ranks, words[0], *words[1:], preload=timer, options={"ELAPSED": str(answer)}, bind=False)
    return float(answer.read_text()), max(0.0, runnable.mean() - ranks)


def program(mpi: Mpi, ranks: int, words: list[str]) -> tuple[Program, int]:
    """What a traced run did, and the number of calls of its rank 0."""
    mpi.run(ranks, words[0], *words[1:], traced="predicted", options={"TRACELIB_CPUTIME": "on"}, bind=False)
    trace = open_trace(WORK / "predicted.h5")
    calls = gather_blocks(trace.calls(0), CALL)
    names = [trace.procedures[call] for call in calls["call"][[0, -1]]]
    assert names[0].startswith("MPI_Init") and names[1] == "MPI_Finalize", names
    found = program_of(trace)
    trace.close()
    remove_run("predicted")
    return found, len(calls)


def predicted_s(run: Program, calls: int, machine: Machine, others: float) -> float:
    """From the end of MPI_Init to the begin of MPI_Finalize, beside other processes that always want a core."""
    bursts = sum(int(ops["burst"].sum()) for ops in pieces(run))
    busy = Program.of([operations({"kind": Kind.NONE, "burst": 20 * bursts})])
    found = simulate([run] + [busy] * round(others), machine, times=True)
    enter, exit_ = CallTimes(run, found, 0).next(np.zeros(calls, np.int64))
    return float(enter[-1] - exit_[0]) / 1e9


def compared(
    mpi: Mpi, here: Here, timer: Path, ranks: int, words: list[str], rounds: int
) -> Iterator[tuple[float, float]]:
    """Of each round, what an untraced run took (s), and what a traced one predicted of it less that, in per cent."""
    for _ in range(rounds):
        run, calls = program(mpi, ranks, words)
        measured, others = elapsed_s(mpi, timer, ranks, words)
        predicted = predicted_s(run, calls, here.machine(ranks), others)
        yield measured, 100 * (predicted / measured - 1)


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Median error of the predicted time, of each program and number of ranks; then beside a busy process a core."""
    here = Here.measured(mpi)
    timer = mpi.compile("elapsed", "-shared", "-fPIC")
    cases = [(*p, ranks) for p in programs(mpi) for ranks in RANKS]
    for beside, rounds in ((0, ROUNDS), (os.cpu_count() or 1, LOADED_ROUNDS)):
        with load(beside):
            for name, words, ranks in cases:
                took, found = zip(*compared(mpi, here, timer, ranks, words, rounds), strict=True)
                spread = f"these took {min(took):.2f} to {max(took):.2f} s"
                note = f"median of {rounds} runs; from {min(found):+.1f} to {max(found):+.1f}; {spread}"
                loaded = f", {beside} busy processes beside it" if beside else ""
                title = f"{name}, {ranks} ranks{loaded}: predicted against measured"
                yield Figure(title, median(map(abs, found)), "%", None if beside else 10, note)
