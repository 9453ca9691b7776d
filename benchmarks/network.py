"""How long `python -m tracelib.ngmpi` takes for one pair, and what it has measured by then."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import h5py
import numpy as np

from benchmarks.mpi import ENVIRONMENT, ROOT, WORK, Mpi
from benchmarks.recording import Figure
from tracelib.schema.prtt import size_times


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Wall time from 1 B to 200 KB, start and end included."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / "network.h5"
    environment = dict(os.environ) | ENVIRONMENT | {"MPI4PY_MPIABI": "openmpi", "PYTHONPATH": str(ROOT)}
    command = [mpi.mpirun, "-n", "2", sys.executable, "-m", "tracelib.ngmpi", "-n", "200K", "-q", "-f", "-o", path]
    begin = time.monotonic()
    subprocess.run(command, env=environment, check=True)
    taken_s = time.monotonic() - begin
    with h5py.File(path) as file:
        rows = file["rows"][:]
    times = size_times(rows)
    spread = np.median(np.maximum(times.overhead_ci_s / times.overhead_s, times.gap_ci_s / times.gap_s))
    note = f"{len(rows)} rows of {len(times.size)} sizes, half of which known within {spread:.1%}"
    yield Figure("LoOgGP of one pair, 1 B to 200 KB", taken_s, "s", 30, note)
