"""Check of `python -m tracelib.ngmpi` on one pair: time it takes, noise it stands, and a second program's timing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from analyzer.loggp.model import LoOgGP
from analyzer.network_measurement.estimate import LinkEstimate, estimate
from analyzer.network_measurement.netfile import read_measurement
from analyzer.network_measurement.options import EstimateOptions
from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi
from benchmarks.recording import Figure
from benchmarks.shared import load
from tracelib.ngmpi.stopping_rules import spread
from tracelib.schema.prtt import size_times

LARGEST = "200K"
SIZES = [1 << k for k in range(18)]
ROUNDS = 100
KNOWN = 0.05
"""Parameters are compared that both runs know so well, by their confidence intervals."""
SAME_LEVEL = 1.25
"""Latencies so close are of one level of the network's speed (docs/analyze-loggp.md)."""
ATTEMPTS, FEWEST_BATCHES = 4, 10
"""To meet the level of the model again; and of each size."""


def measure(mpi: Mpi, name: str) -> tuple[np.ndarray, float]:
    """Measure. Return the rows, and the wall time with start and end."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"{name}.h5"
    environment = dict(os.environ) | ENVIRONMENT | {"MPI4PY_MPIABI": "openmpi", "PYTHONPATH": str(ROOT)}
    words = ["timeout", "-k", "1", "60", mpi.mpirun, "-n", "2", sys.executable, "-m", "tracelib.ngmpi"]
    begin = time.monotonic()
    subprocess.run([*words, "-n", LARGEST, "-q", "-f", "-o", path], env=environment, check=True)
    return read_measurement(path).rows, time.monotonic() - begin


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield one measurement alone, one beside busy processes, one ping-pong."""
    rows, taken_s = measure(mpi, "network")
    times = size_times(rows)
    note = f"{len(rows)} rows of {len(times.size)} sizes, half of which known within {np.median(spread(times)):.1%}"
    yield Figure(f"LoOgGP of one pair, 1 B to {LARGEST}B", taken_s, "s", 30, note)
    quiet = estimate(rows)
    yield from held_out(rows, quiet)
    yield ping_pong(mpi, quiet.model)
    yield from beside(mpi, rows)


def held_out(rows: np.ndarray, of: LinkEstimate) -> Iterator[Figure]:
    """Predict every fourth size by the model of the others."""
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
    """Compare a separate program's round trips with the model; only batches at the latency of the model count."""
    program = mpi.compile("round_trips")
    batches = np.zeros((0, 3))  # bytes, ns of a round trip of one byte, of so many
    for _ in range(ATTEMPTS):
        batches = np.concatenate([batches, np.reshape(mpi.run(2, program, ROUNDS, *SIZES), (-1, 3))])
        alike = np.abs(np.log(batches[:, 1] / 2e9 / model.latency_s)) < np.log(SAME_LEVEL)
        parts = {size: batches[alike & (batches[:, 0] == size), 2] / 1e9 for size in SIZES}
        if min(map(len, parts.values())) >= FEWEST_BATCHES:
            break
    if min(map(len, parts.values())) < FEWEST_BATCHES:
        parts = {size: batches[batches[:, 0] == size, 2] / 1e9 for size in SIZES}
    off = [2 * model.time(size) / np.median(part) - 1 for size, part in parts.items()]
    note = (
        f"median of {len(off)} sizes; signed {np.median(off):+.1%}; {alike.mean():.0%} of batches at the model's level"
    )
    return Figure("ping-pong of another program, error", 100 * float(np.median(np.abs(off))), "%", 5, note)


def beside(mpi: Mpi, quiet_rows: np.ndarray) -> Iterator[Figure]:
    """Yield parameters and times beside one busy process a core, at a level that was met without them as well."""
    for _ in range(ATTEMPTS):
        with load(os.cpu_count() or 1):
            busy_rows, _ = measure(mpi, "network-busy")
        quiet, busy = at_one_level(quiet_rows, busy_rows)
        latencies = quiet.model.latency_s, busy.model.latency_s
        if abs(np.log(latencies[1] / latencies[0])) < np.log(SAME_LEVEL):
            break
        quiet_rows, _ = measure(mpi, "network")
    level = f"beside a busy process a core; L {latencies[0] * 1e6:.3f} and {latencies[1] * 1e6:.3f} us"
    off = [abs(b / a - 1) for a, b in known_pairs(quiet.model, busy.model)]
    note = f"{level}; median of {len(off)} known within {KNOWN:.0%}, the worst {max(off):.1%}"
    yield Figure("parameters of a busy machine, error", 100 * float(np.median(off)), "%", 10, note)
    sizes = quiet.curves.size
    for name in ("overhead", "gap", "time"):
        share = getattr(busy.model, name)(sizes) / np.maximum(getattr(quiet.model, name)(sizes), 1e-12)
        note = f"median of {len(sizes)} sizes; signed {np.median(share) - 1:+.1%}"
        yield Figure(f"{name} of a busy machine, error", 100 * float(np.median(np.abs(share - 1))), "%", 10, note)


def at_one_level(first: np.ndarray, second: np.ndarray) -> tuple[LinkEstimate, LinkEstimate]:
    """Return the estimates of the two levels, one of each measurement, whose latencies are nearest."""
    levels = [next(iter(estimate(rows).levels.values())).latency_s for rows in (first, second)]
    apart = np.abs(np.log(levels[0][:, None] / levels[1]))
    chosen = np.unravel_index(apart.argmin(), apart.shape)
    found = [estimate(rows, EstimateOptions(level=int(k) + 1)) for rows, k in zip((first, second), chosen, strict=True)]
    return found[0], found[1]


def known_pairs(first: LoOgGP, second: LoOgGP) -> Iterator[tuple[float, float]]:
    """Yield the parameters that both models know well: L, and all of the intervals that begin and end alike."""
    yield first.latency_s, second.latency_s
    for a in first.intervals:
        for b in second.intervals:
            ends = (b.from_bytes / a.from_bytes, b.to_bytes / a.to_bytes)
            if all(1 / SAME_LEVEL < end < SAME_LEVEL for end in ends):
                for x, y in ((a.overhead, b.overhead), (a.gap, b.gap)):
                    if known(x.start, x.start_ci) and known(y.start, y.start_ci):
                        yield x.start, y.start
                    if known(x.slope, x.slope_ci) and known(y.slope, y.slope_ci):
                        yield x.slope, y.slope


def known(value: float, ci: Sequence[float]) -> bool:
    """Return True if the confidence interval is narrow."""
    return ci[1] - ci[0] <= 2 * KNOWN * abs(value)
