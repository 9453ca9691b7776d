"""Cost of sampling where threads compute: CPU time of the same work with and without them, in turns.

Only the work is compared: to load the library, to begin and to end takes as long for a run of an hour, and is a figure
of its own. The median of the batches of a run leaves out the batches that something else disturbed.

Our thread looks for samples each tenth of a second that passes, also while the program waits for a CPU. So its CPU time
is compared with the time that passed: in the program's CPU time it would be the more, the busier the machine is.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from benchmarks.mpi import LIBRARY, Mpi
from benchmarks.recording import Figure

ROUNDS, BATCHES = 7, 10
"""A batch takes about 0.15 s: some 15 samples, and the thread that takes them over comes each tenth of a second."""
MOST_PERCENT = 1
WAYS = {"perf": "by the kernel", "signal": "by a signal"}


@dataclass(frozen=True)
class Spent:
    """User and system time: of who computes, for the typical batch; of other threads of the process, in the time that
    passed; and outside batches."""

    batch_s: float
    beside: float
    outside_s: float


def spent(program: Path, folder: Path, way: str = "") -> Spent:
    """Run the program, sampled in this way; "": without the library."""
    ours = {"LD_PRELOAD": str(LIBRARY), "TRACELIB_SAMPLE": "10ms", "TRACELIB_SAMPLER": way, "TRACELIB_QUIET": "1"}
    environment = os.environ | (ours | {"TRACELIB_ALONE": str(os.getpid())} if way else {})
    with subprocess.Popen(
        [program, str(BATCHES)], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        said = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{program} ended with {process.returncode}")
    batches = [tuple(map(float, line.split())) for line in said.splitlines()]
    beside_s, passed_s = (sum(batch[k] for batch in batches) for k in (1, 2))
    inside_s = sum(batch[0] for batch in batches) + beside_s
    return Spent(
        median(batch[0] for batch in batches[1:]), beside_s / passed_s, used.ru_utime + used.ru_stime - inside_s
    )


def compared(pairs: list[tuple[Spent, Spent]]) -> tuple[float, float, float]:
    """Return percent of a CPU that the second of pairs takes more: the median, and the range of half of all."""
    shares = [100 * (with_.batch_s / without.batch_s - 1 + with_.beside - without.beside) for without, with_ in pairs]
    low, middle, high = quantiles(shares, n=4)
    return middle, low, high


def figures(mpi: Mpi) -> Iterator[Figure]:
    """Yield for each way the typical difference, and the costs of beginning and ending."""
    del mpi  # the program does without
    found: dict[str, list[tuple[Spent, Spent]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "computes"
        subprocess.run(["cc", "-O2", "-o", program, Path(__file__).with_name("computes.c")], check=True)
        for _ in range(ROUNDS):
            without = spent(program, Path(name))
            for way, pairs in found.items():
                pairs.append((without, spent(program, Path(name), way)))
    for way, said in WAYS.items():
        middle, low, high = compared(found[way])
        ours = 100 * median(with_.beside for _, with_ in found[way])
        note = f"of a CPU, {ours:.2f} of it our thread; half of {ROUNDS} pairs of runs between {low:.2f} and {high:.2f}"
        yield Figure(f"samples each 10 ms, {said}", middle, "%", MOST_PERCENT, note)
        once_ms = [1e3 * (with_.outside_s - without.outside_s) for without, with_ in found[way]]
        yield Figure(f"to begin and end them, {said}", median(once_ms), "ms", None, "CPU time, once")
