"""R4: how the time of the analysis grows with the trace."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import numpy as np

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.run_structure import IterationMethod, structure
from benchmarks.results.rows import Part, Row
from benchmarks.synthetic.run import write_run

RANKS = 16
SIZES = (200_000, 800_000, 3_200_000)
"""Calls of all ranks."""


def part(folder: Path) -> Part:
    """Measure CPU time of the structure of runs of three lengths, and the exponent by which it grows."""
    said, times = [], []
    for calls in SIZES:
        run = write_run(folder / str(calls), "halo", RANKS, calls / RANKS)
        times.append(min(_seconds(run.path) for _ in range(2)))
        bytes_ = sum(path.stat().st_size for path in run.path.with_suffix(".ranks").iterdir())
        said.append(Row(f"{run.calls} calls, {bytes_ / 1e6:.0f} MB", "a few minutes for GB", f"{times[-1]:.2f} s"))
    slope = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
    said.append(
        Row("exponent of the growth", "1.0 (0.85 to 1.15)", f"{slope:.2f}", "less: opening and signals of fixed length")
    )
    return Part(
        "R4: time of the analysis",
        ((f"CPU time of analyze structure on synthetic runs of {RANKS} ranks without disturbances.", tuple(said)),),
    )


def _seconds(path: Path) -> float:
    begin = time.process_time()
    with closing(open_trace(path, matched=False)) as trace:
        structure(trace, Team(), IterationMethod.BOTH)
    return time.process_time() - begin
