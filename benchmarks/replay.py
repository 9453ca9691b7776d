"""What replaying costs: calls a second on one core, with and without contention, and how it grows with the run."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from analyzer.operations.operation import Flag, Kind, Program, operations
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


def figures(_mpi: Mpi) -> Iterator[Figure]:
    """Million calls a second of the simulator, from operations in memory; what twice as long a run costs."""
    for name, ranks, machine in MACHINES:
        once = seconds(halo(ranks, CALLS), machine)
        yield Figure(f"replay of {ranks} ranks, {name}", CALLS / once / 1e6, "M calls/s", BUDGET, "at least")
    _, ranks, machine = MACHINES[-1]
    twice = seconds(halo(ranks, 2 * CALLS), machine)
    yield Figure("replay of a run twice as long", twice / once, "times", 2.2, "1024 ranks, links and buses")
