"""What replaying costs: calls a second on one core, with and without contention, memory, and how both grow."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from analyzer.operations.operation import OP, Flag, Kind, Program, operations
from analyzer.replay.machine import Machine, Network, Node
from analyzer.replay.simulate import simulate
from benchmarks.mpi import Mpi
from benchmarks.recording import Figure

REPEATS = 3
CALLS = 2_500_000
CALLS_A_HALO = 5
BUDGET = 5  # million calls a second

LINKS = Node(latency_s=1e-6, links_in=1, links_out=1)
MACHINES = (
    ("infinite network", 64, Machine.ideal()),
    ("links of each node 1 in, 1 out", 1024, Machine(node=LINKS, networks=(Network(100),))),
    ("the same and 64 buses", 1024, Machine(node=LINKS, networks=(Network(100, 64),))),
)


def halo(ranks: int, calls: int) -> Program:
    """A ring that exchanges 4 KB with both neighbours: 2 Irecv, 2 Isend, a Waitall, and bursts of random length."""
    random, streams = np.random.default_rng(1), []
    for rank in range(ranks):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        one = operations(
            {"kind": Kind.IRECV, "peer": left, "request": 0, "bytes": 4096},
            {"kind": Kind.IRECV, "peer": right, "request": 1, "bytes": 4096, "tag": 1, "burst": 20},
            {"kind": Kind.SEND, "peer": right, "bytes": 4096, "burst": 20, "flags": Flag.IMMEDIATE},
            {"kind": Kind.SEND, "peer": left, "bytes": 4096, "tag": 1, "flags": Flag.IMMEDIATE},
            {"kind": Kind.WAIT, "request": 0},
            {"kind": Kind.WAIT, "request": 1},
        )
        stream = np.tile(one, calls // CALLS_A_HALO // ranks)
        stream["burst"][:: len(one)] = random.integers(1000, 100_000, len(stream) // len(one))
        streams.append(stream)
    return Program.of(streams)


def seconds(program: Program, machine: Machine) -> float:
    """CPU time of a replay: the smallest of some."""
    spent = []
    for _ in range(REPEATS):
        before = time.process_time()
        simulate(program, machine)
        spent.append(time.process_time() - before)
    return min(spent)


def _status_mib(field: str) -> float:
    """Of this process, as the kernel says: VmRSS is resident now, VmHWM the most that ever was."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) / 1024


def _growth_mib(program: Program, path: str, machine: Machine) -> float:
    program = replace(program, ops=np.fromfile(path, OP), virtual_threads=0)
    before = _status_mib("VmRSS")
    simulate(program, machine)
    return _status_mib("VmHWM") - before


def memory_mib(ranks: int, calls: int, machine: Machine) -> float:
    """By what a fresh process grows at most beside the operations, which it has read before."""
    program = halo(ranks, calls)
    with tempfile.NamedTemporaryFile() as file, ProcessPoolExecutor(1, get_context("spawn")) as process:
        program.ops.tofile(file.name)
        return process.submit(_growth_mib, replace(program, ops=program.ops[:0]), file.name, machine).result()


def figures(_mpi: Mpi) -> Iterator[Figure]:
    """Million calls a second of the simulator, from operations in memory; what twice as long a run costs."""
    for name, ranks, machine in MACHINES:
        once = seconds(halo(ranks, CALLS), machine)
        yield Figure(f"replay of {ranks} ranks, {name}", CALLS / once / 1e6, "M calls/s", BUDGET, "at least")
    _, ranks, machine = MACHINES[-1]
    twice = seconds(halo(ranks, 2 * CALLS), machine)
    yield Figure("replay of a run twice as long", twice / once, "times", 2.2, "1024 ranks, links and buses")
    short, long = (memory_mib(ranks, n, machine) for n in (CALLS // 4, CALLS))
    yield Figure("memory of the simulator at its peak", long, "MiB", 16, "the same, beside the operations")
    yield Figure("more memory for a run four times as long", long - short, "MiB", 1, "what is in flight is the same")
