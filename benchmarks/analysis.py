"""Cost of an analysis: CPU time to write a .prv, and peak memory for traces of two lengths."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mpi import WORK, Mpi, remove_run
from benchmarks.processes import usage_of
from benchmarks.recording import Figure

REPEATS = 3

WRITE = """
import json, os, resource, sys
from analyzer.opening import open_trace
from analyzer.writers.prv import write_prv

def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime, usage.ru_utime + usage.ru_stime

spent = []
for _ in range(1 + int(sys.argv[3])):
    before = cpu()
    trace = open_trace(sys.argv[1])
    write_prv(trace, sys.argv[2])
    trace.close()
    spent.append([after - start for after, start in zip(cpu(), before)])
    os.unlink(sys.argv[2])
print(json.dumps(spent[1:]))
"""

ANALYZE = "import sys; from analyzer.cli import main; sys.exit(main(sys.argv[1:]))"


def make_run(mpi: Mpi, name: str, calls: int) -> Path:
    """Trace a run of that many calls on two ranks."""
    mpi.run(2, mpi.compile("ring"), calls // 2, traced=name)
    return WORK / f"{name}.h5"


def prv_seconds(run: Path) -> tuple[float, float]:
    """Return user and total CPU seconds of opening, matching and writing: minimum of some after a warm-up."""
    words = [sys.executable, "-c", WRITE, str(run), str(run.with_suffix(".prv")), str(REPEATS)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    spent = json.loads(done.stdout)
    return min(user for user, _ in spent), min(total for _, total in spent)


def peak_memory_mb(run: Path) -> float:
    """Return the largest resident memory of `analyze RUN`, which computes and writes everything (MB)."""
    return usage_of([sys.executable, "-c", ANALYZE, str(run)], WORK).memory_mb


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield CPU seconds per million calls of the .prv, bytes a call, peak memory at 1 and 10 million calls."""
    run = make_run(mpi, "million", 1_000_000)
    user, total = prv_seconds(run)
    yield Figure("writing .prv, user CPU", user, "s per million calls", 0.3, "opening and matching included")
    yield Figure("writing .prv, user and system CPU", total, "s per million calls", 0.5)
    size = sum(path.stat().st_size for path in run.with_suffix(".ranks").iterdir())
    yield Figure("size of the rank files", size / 1e6, "bytes a call", None, "a message makes a second row")
    yield Figure("peak memory of analyze, 1 million calls", peak_memory_mb(run), "MB", None)
    remove_run("million")
    run = make_run(mpi, "ten-million", 10_000_000)
    yield Figure("peak memory of analyze, 10 million calls", peak_memory_mb(run), "MB", None, "to be the same")
    remove_run("ten-million")
