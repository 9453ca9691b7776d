"""Cost of a replay: calls a second on one core, with and without contention and reading, memory, and how both
grow."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

from analyzer.machine.description import Machine, Network, Node
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.process_memory import fix_thresholds
from analyzer.program.model import Program
from analyzer.replay.simulate import simulate
from benchmarks.halo import halo, write_halo
from benchmarks.mpi import Mpi
from benchmarks.recording import Figure

REPEATS = 3
CALLS = 2_500_000
BUDGET = 5  # million calls a second
STAGES = ("opening", "translating", "simulating")

LINKS = Node(latency_s=1e-6, links_in=1, links_out=1)
MACHINES = (
    ("infinite network", 64, Machine.ideal()),
    ("links of each node 1 in, 1 out", 1024, Machine(node=LINKS, networks=(Network(100),))),
    ("the same and 64 buses", 1024, Machine(node=LINKS, networks=(Network(100, 64),))),
)
READ = tuple((*machine, 4 * CALLS) for machine in MACHINES[:2])
"""With reading: each rank costs something, however little it did, so runs of some length."""


def seconds(program: Program, machine: Machine) -> float:
    """Return the CPU time of a replay: the smallest of some."""
    spent = []
    for _ in range(REPEATS):
        before = time.process_time()
        simulate(program, machine)
        spent.append(time.process_time() - before)
    return min(spent)


def _stages(run: str, machine: Machine) -> list[float]:
    stamps = [time.process_time()]
    trace = open_trace(run)
    stamps.append(time.process_time())
    program = program_of(trace)
    stamps.append(time.process_time())
    simulate(program, machine)
    stamps.append(time.process_time())
    trace.close()
    return [after - before for before, after in pairwise(stamps)]


def _status_mib(field: str) -> float:
    """Read the memory of this process, as the kernel says: VmRSS is resident now, VmHWM the most that ever was."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) / 1024


def _spent(run: str, machine: Machine) -> tuple[list[float], float]:
    """Return CPU s of each stage, the smallest of some, and by how many MiB the process grew at most."""
    fix_thresholds()  # as the command does
    before = _status_mib("VmRSS")
    spent = [_stages(run, machine) for _ in range(REPEATS)]
    return [min(stage) for stage in zip(*spent, strict=True)], _status_mib("VmHWM") - before


def read_and_replayed(ranks: int, calls: int, machine: Machine) -> tuple[list[float], float]:
    """Return the same from a fresh process, of a run in files."""
    folder = Path(tempfile.mkdtemp(prefix="replay-"))
    try:
        run = write_halo(folder, ranks, calls)
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            return process.submit(_spent, str(run), machine).result()
    finally:
        shutil.rmtree(folder)


def figures(_mpi: Mpi) -> Iterator[Figure]:
    """Yield million calls a second of the simulator alone and from the files of a run, and how time and memory grow."""
    for name, ranks, machine in MACHINES:
        once = seconds(halo(ranks, CALLS), machine)
        yield Figure(
            f"replay of {ranks} ranks, {name}", CALLS / once / 1e6, "M calls/s", BUDGET, "operations in memory"
        )
    for name, ranks, machine, calls in READ:
        stages, _ = read_and_replayed(ranks, calls, machine)
        each = ", ".join(f"{stage} {spent / calls * 1e9:.0f}" for stage, spent in zip(STAGES, stages, strict=True))
        note = f"{calls / 1e6:g} million calls; ns a call: {each}"
        yield Figure(f"{ranks} ranks, {name}, reading included", calls / sum(stages) / 1e6, "M calls/s", BUDGET, note)
        yield Figure(f"opening a rank, of {ranks}", stages[0] / ranks * 1e3, "ms", None, "of the above")
    _, ranks, machine = MACHINES[0]
    spent, grown = zip(*(read_and_replayed(ranks, n * CALLS // 2, machine) for n in (1, 2, 4)), strict=True)
    for times, stages in zip((2, 4), spent[1:], strict=True):
        note = f"{ranks} ranks, reading included"
        yield Figure(f"replay of a run {times} times as long", sum(stages) / sum(spent[0]), "times", 1.1 * times, note)
    yield Figure("memory of a replay at its peak", grown[0], "MiB", None, f"reading included, {CALLS / 2e6:g} M calls")
    yield Figure("more memory for a run four times as long", grown[2] - grown[0], "MiB", 32, "windows full")
