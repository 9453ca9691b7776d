"""What `python -m tracelib.ngmpi` finds for one pair: how soon, whatever else runs, and as another program times it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from analyzer.loggp.estimate import Estimate, estimate
from analyzer.loggp.model import LoOgGP
from analyzer.loggp.netfile import read_measurement
from analyzer.loggp.options import Options
from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi
from benchmarks.recording import Figure
from benchmarks.shared import load
from tracelib.schema.prtt import size_times

LARGEST = "200K"
SIZES = [1 << k for k in range(18)]
ROUNDS = 100
KNOWN = 0.05
"""Parameters are compared that both runs know so well, by their confidence intervals."""
SAME_LEVEL = 1.25


def measure(mpi: Mpi, name: str) -> tuple[np.ndarray, float]:
    """The rows, and the wall time with start and end."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"{name}.h5"
    environment = dict(os.environ) | ENVIRONMENT | {"MPI4PY_MPIABI": "openmpi", "PYTHONPATH": str(ROOT)}
    words = ["timeout", "-k", "1", "60", mpi.mpirun, "-n", "2", sys.executable, "-m", "tracelib.ngmpi"]
    begin = time.monotonic()
    subprocess.run([*words, "-n", LARGEST, "-q", "-f", "-o", path], env=environment, check=True)
    return read_measurement(path).rows, time.monotonic() - begin


def figures(mpi: Mpi) -> Iterator[Figure]:
    """One measurement alone, one beside busy processes, one ping-pong."""
    rows, taken_s = measure(mpi, "network")
    times = size_times(rows)
    spread = np.median(np.maximum(times.overhead_ci_s / times.overhead_s, times.gap_ci_s / times.gap_s))
    note = f"{len(rows)} rows of {len(times.size)} sizes, half of which known within {spread:.1%}"
    yield Figure(f"LoOgGP of one pair, 1 B to {LARGEST}B", taken_s, "s", 30, note)
    quiet = estimate(rows)
    yield from held_out(rows, quiet)
    yield ping_pong(mpi, quiet.model)
    with load(os.cpu_count() or 1):
        busy_rows, _ = measure(mpi, "network-busy")
    yield from beside(quiet, busy_rows)


def held_out(rows: np.ndarray, of: Estimate) -> Iterator[Figure]:
    """Every fourth size, by the model of the others."""
    sizes = of.curves.size[2:-2:4]
    model = estimate(rows[~np.isin(rows["size"], sizes)]).model
    curves = of.curves.only(np.isin(of.curves.size, sizes))
    for name, predicted, curve in (
        ("overhead", model.overhead, curves.overhead), ("gap", model.gap, curves.gap), ("way", model.time, curves.way)
    ):  # fmt: skip
        off = np.abs(predicted(sizes) / curve.time_s - 1)
        note = f"median of {len(sizes)}; of three quarters within {np.quantile(off, 0.75):.1%}"
        yield Figure(f"{name} of sizes that were not measured, error", 100 * float(np.median(off)), "%", 5, note)


def ping_pong(mpi: Mpi, model: LoOgGP) -> Figure:
    """A program of its own times round trips; those count that it made while one byte took what the model says."""
    numbers = np.reshape(mpi.run(2, mpi.compile("round_trips"), ROUNDS, *SIZES), (-1, 3))
    size, one_ns, time_ns = numbers.T
    apart = np.maximum(one_ns / 2e9 / model.latency_s, model.latency_s / (one_ns / 2e9))
    alike = apart < SAME_LEVEL
    off = []
    for bytes_ in SIZES:
        chosen = time_ns[(size == bytes_) & alike]
        if len(chosen):
            off.append(2 * model.time(bytes_) / (np.median(chosen) / 1e9) - 1)
    note = f"of {len(off)} sizes up to 128 KiB, median; signed {np.median(off):+.1%}; {alike.mean():.0%} of the batches"
    return Figure("ping-pong of another program, error", 100 * float(np.median(np.abs(off))), "%", 5, note)


def beside(quiet: Estimate, rows: np.ndarray) -> Iterator[Figure]:
    """Parameters and times beside one busy process a core, at the level of the quiet run."""
    latencies = next(iter(estimate(rows).levels.values())).latency_s
    nearest = int(np.abs(np.log(latencies / quiet.model.latency_s)).argmin())
    busy = estimate(rows, Options(level=nearest + 1))
    off = [abs(b / a - 1) for a, b in known_pairs(quiet.model, busy.model)]
    note = f"beside a busy process a core; median of {len(off)} known within {KNOWN:.0%}, the worst {max(off):.1%}"
    yield Figure("parameters of a busy machine, error", 100 * float(np.median(off)), "%", 10, note)
    sizes = quiet.curves.size
    for name in ("overhead", "gap", "time"):
        share = getattr(busy.model, name)(sizes) / np.maximum(getattr(quiet.model, name)(sizes), 1e-12)
        note = f"median of {len(sizes)} sizes; signed {np.median(share) - 1:+.1%}"
        yield Figure(f"{name} of a busy machine, error", 100 * float(np.median(np.abs(share - 1))), "%", 10, note)


def known_pairs(first: LoOgGP, second: LoOgGP) -> Iterator[tuple[float, float]]:
    """The parameters of both models: L, and those of the intervals that hold mostly the same sizes."""
    yield first.latency_s, second.latency_s
    for a in first.intervals:
        b = max(second.intervals, key=lambda i: min(i.to_bytes, a.to_bytes) / max(i.from_bytes, a.from_bytes))
        for x, y in ((a.overhead, b.overhead), (a.gap, b.gap)):
            if all(known(line.start, line.start_ci) for line in (x, y)):
                yield x.start, y.start
            if all(known(line.slope, line.slope_ci) for line in (x, y)):
                yield x.slope, y.slope


def known(value: float, ci: Sequence[float]) -> bool:
    """Whether the confidence interval is narrow."""
    return ci[1] - ci[0] <= 2 * KNOWN * abs(value)
