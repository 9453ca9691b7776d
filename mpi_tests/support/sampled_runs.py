"""Programs without MPI under the sampler, and what is in the table `samples`."""

from __future__ import annotations

import os
from pathlib import Path

import matrix
import numpy as np
from conftest import LIBRARY, source_of
from result import rank_files
from running import Finished, run

from tracelib import schema

WAYS = {"perf": 0, "signal": schema.SAMPLE_BY_SIGNAL}
"""By which samples are taken, and their `flags`."""
MARKS = schema.SAMPLE_BEGIN | schema.SAMPLE_END


def compile_alone(source: str, folder: Path, *flags: str) -> Path:
    """A program of mpi_tests/programs without MPI."""
    target = folder / Path(source).stem
    words = ["cc", "-g", "-O2", "-Wall", "-Werror", "-DALONE", source_of(source), "-o", target, "-pthread", *flags]
    run(words, folder, matrix.environment(), 60).check()
    return target


def run_alone(folder: Path, *words: str | Path, traced: bool = True, library: Path = LIBRARY, **more: str) -> Finished:
    """Run a command as `tracelib run --sample` would, or without us."""
    ours = {"LD_PRELOAD": str(library), "TRACELIB_SAMPLE": "1ms", "TRACELIB_ALONE": str(os.getpid())} if traced else {}
    return run(words, folder, matrix.environment() | ours | more, 120)


def samples_of(path: Path, rank: int = 0) -> np.ndarray:
    """The table `samples` of a rank."""
    return rank_files(path)[rank].tables["samples"]


def is_sample(rows: np.ndarray) -> np.ndarray:
    """Return a mask of the rows of `samples` that are samples, and no marks."""
    return rows["flags"] & MARKS == 0
