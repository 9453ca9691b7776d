"""The runs of a study: traced, and made a table by `analyze table`, as a user would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas

from benchmarks.mpi import NOTHING, WORK, Mpi

OPTIONS = {"TRACELIB_COUNTERS": "CPU_NS"}
"""CPU time does not depend on what else the machine does."""


def traced(
    mpi: Mpi, name: str, ranks: int, program: str | Path, *words: object, options: Mapping[str, str] = NOTHING
) -> Path:
    """Trace a run. Return its file."""
    mpi.run(ranks, program, *words, traced=name, options=OPTIONS | dict(options), bind=False)
    return WORK / f"{name}.h5"


def table(runs: Sequence[Path], *words: str) -> pandas.DataFrame:
    """Return the table that `analyze table` makes of some runs."""
    target = WORK / "study.csv"
    command = [sys.executable, "-m", "analyzer", "table", *map(str, runs), *words, "-o", str(target), "-f", "-q"]
    subprocess.run(command, check=True)
    return pandas.read_csv(target)
