"""Predicted against measured times of real programs: LAMMPS and the heat solver, 2 and 4 ranks, on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np

from analyzer.opening import open_trace
from analyzer.pairing.requests import gather_blocks
from analyzer.program.model import Program, pieces
from analyzer.program.operation import OperationKind, operations
from analyzer.replay import program_of, simulate
from analyzer.replay.predicted import CallTimes
from analyzer.trace import CALL, Trace
from benchmarks.mpi import ROOT, WORK, Mpi, remove_run
from benchmarks.recording import Figure
from benchmarks.shared import load
from benchmarks.this_machine import Here, Runnable

RANKS, ROUNDS, LOADED_ROUNDS = (2, 4), 10, 3


def programs(mpi: Mpi) -> Iterator[tuple[str, list[str]]]:
    """Yield the demo's heat solver, and LAMMPS if it is installed."""
    heat = WORK / "heat"
    subprocess.run([mpi.mpicc, "-O2", ROOT / "examples" / "heat.c", "-o", heat, "-lm"], check=True)
    yield "heat", [str(heat), "--size", "1024", "--steps", "3000"]
    if shutil.which("lmp"):
        yield "LAMMPS", ["lmp", "-in", str(ROOT / "mpi_tests" / "apps" / "inputs" / "lammps" / "in.lj")]


@dataclass(frozen=True)
class Traced:
    """Figures of a traced run, the number of calls of its rank 0, and the CPU that each rank was bound to."""

    program: Program
    calls: int
    places: list[int]


@dataclass(frozen=True)
class Round:
    """Untraced, traced, untraced.

    measured_s: what the untraced runs took, on average; apart: how far these two are apart, as a part of that;
    error: of what the traced run predicts, in per cent of it, signed.
    """

    measured_s: float
    apart: float
    error: float


def elapsed_s(mpi: Mpi, timer: Path, ranks: int, words: list[str]) -> tuple[float, float]:
    """Run without tracing: time between MPI_Init and MPI_Finalize, and the mean number of others that wanted a core."""
    answer = WORK / "elapsed.txt"
    answer.unlink(missing_ok=True)
    with Runnable() as runnable:
        mpi.run(ranks, words[0], *words[1:], preload=timer, options={"ELAPSED": str(answer)})
    return float(answer.read_text()), max(0.0, runnable.mean() - ranks)


def traced(mpi: Mpi, ranks: int, words: list[str]) -> Traced:
    """Run the program with the tracer."""
    mpi.run(ranks, words[0], *words[1:], traced="predicted", options={"TRACELIB_CPUTIME": "on"})
    trace = open_trace(WORK / "predicted.h5")
    calls = gather_blocks(trace.calls(0), CALL)
    names = [trace.procedures[call] for call in calls["call"][[0, -1]]]
    assert names[0].startswith("MPI_Init") and names[1] == "MPI_Finalize", names
    found = Traced(program_of(trace), len(calls), bound_to(trace))
    trace.close()
    remove_run("predicted")
    return found


def bound_to(trace: Trace) -> list[int]:
    """Return the place of each rank's CPU among those that this process may use."""
    here = sorted(os.sched_getaffinity(0))
    assert all(len(cpus) == 1 for cpus in trace.nodes.affinity), trace.nodes.affinity
    return [here.index(*cpus) for cpus in trace.nodes.affinity]


def predicted_s(run: Traced, here: Here, others: float) -> float:
    """Predict from the end of MPI_Init to the begin of MPI_Finalize, beside processes that always want a core."""
    bursts = sum(int(ops["burst"].sum()) for ops in pieces(run.program))
    busy = Program.from_streams([operations({"kind": OperationKind.NONE, "burst": 20 * bursts})])
    machine = here.machine(run.places, round(others))
    found = simulate([run.program] + [busy] * round(others), machine, times=True)
    enter, exit_ = CallTimes(run.program, found, 0).next(np.zeros(run.calls, np.int64))
    return float(enter[-1] - exit_[0]) / 1e9


def compared(mpi: Mpi, here: Here, timer: Path, ranks: int, words: list[str]) -> Round:
    """Run a traced run between two that are not: machines change their speed from one minute to the next."""
    before, others_before = elapsed_s(mpi, timer, ranks, words)
    run = traced(mpi, ranks, words)
    after, others_after = elapsed_s(mpi, timer, ranks, words)
    measured = fmean((before, after))
    predicted = predicted_s(run, here, fmean((others_before, others_after)))
    return Round(measured, abs(before - after) / measured, 100 * (predicted / measured - 1))


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield the median error of the predicted time, by program and number of ranks; then beside busy processes."""
    here = Here.measured(mpi)
    timer = mpi.compile("elapsed", "-shared", "-fPIC")
    cases = [(*p, ranks) for p in programs(mpi) for ranks in RANKS]
    for beside, rounds in ((0, ROUNDS), (os.cpu_count() or 1, LOADED_ROUNDS)):
        with load(beside):
            for name, words, ranks in cases:
                found = [compared(mpi, here, timer, ranks, words) for _ in range(rounds)]
                loaded = f", {beside} busy processes beside it" if beside else ""
                title = f"{name}, {ranks} ranks{loaded}: predicted against measured"
                yield Figure(title, median(abs(r.error) for r in found), "%", None if beside else 10, _note(found))


def _note(rounds: list[Round]) -> str:
    errors, took = [r.error for r in rounds], [r.measured_s for r in rounds]
    return (
        f"median of {len(rounds)} runs; from {min(errors):+.1f} to {max(errors):+.1f}; "
        f"measured twice, {100 * median(r.apart for r in rounds):.1f}% apart; {min(took):.2f} to {max(took):.2f} s"
    )
