"""How fast signals are built from the files of a run, and in how much memory its structure is found."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.mpi import ROOT, WORK, Mpi
from benchmarks.processes import usage_of
from benchmarks.recording import Figure
from benchmarks.synthetic.run import Written, write_run

RANKS = 16
CALLS = (1_000_000, 10_000_000)
CALLS_A_SECOND = 20
"""Million, of one core."""

BUILD = """
import json, sys, time
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.signals import signals

spent = []
for _ in range(3):
    trace = open_trace(sys.argv[1], matched=False)
    begin = time.process_time()
    signals(trace, Team())
    spent.append(time.process_time() - begin)
    trace.close()
print(json.dumps(spent))
"""


def seconds(run: Written) -> float:
    """Return the CPU time of the four signals of calls, from the files on; the least of three processes."""
    words = [sys.executable, "-c", BUILD, str(run.path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    return min(json.loads(done.stdout))


def figures(_: Mpi) -> Iterator[Figure]:
    """Yield calls a second; time and peak memory of analyze structure for runs of two lengths."""
    folder = WORK / "signals"
    for calls in CALLS:
        shutil.rmtree(folder, ignore_errors=True)
        run = write_run(folder, "halo", RANKS, calls / RANKS)
        said = f"{calls // 1_000_000} million calls"
        speed = run.calls / seconds(run) / 1e6
        yield Figure(
            f"signals of {said}", speed, "M calls/s", CALLS_A_SECOND, f"four signals, {RANKS} ranks, from HDF5"
        )
        usage = usage_of([sys.executable, "-m", "analyzer", "structure", "-q", run.path], ROOT)
        yield Figure(f"analyze structure, {said}", usage.seconds, "s", None, "user and system CPU, start-up included")
        yield Figure(f"peak memory of analyze structure, {said}", usage.memory_mb, "MB", None)
    shutil.rmtree(folder, ignore_errors=True)
