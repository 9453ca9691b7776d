"""A transposition on a grid of ranks: MPI_Alltoallv in each row, then in each column, and at times all reduce."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic.halo import STEPS_A_REDUCTION, grid
from benchmarks.synthetic.world import BYTES_A_NS, World

COMPUTE_NS = 300_000
UNIT_BYTES = 64
MOST_UNITS = 8
"""A rank sends 1 to MOST_UNITS units to each member, the same number to all."""


def steps(mean_calls: float) -> int:
    """Return the number of steps that make about `mean_calls` calls a rank."""
    return max(1, round((mean_calls - 4) / (2 + 1 / STEPS_A_REDUCTION)))


def alltoall(world: World, mean_calls: float) -> None:
    """Write the whole program."""
    rows = world.every.reshape(grid(world.ranks))
    groups = [(rows, world.split(rows)), (rows.T, world.split(rows.T))]
    for step in range(1, steps(mean_calls) + 1):
        for members, comm in groups:
            world.compute(world.every, COMPUTE_NS)
            _transpose(world, members, comm)
        if step % STEPS_A_REDUCTION == 0:
            world.allreduce()


def _transpose(world: World, members: np.ndarray, comm: int) -> None:
    to_each = UNIT_BYTES * world.random.integers(1, MOST_UNITS + 1, world.ranks)
    received = np.empty_like(to_each)
    received[members] = to_each[members].sum(axis=1, keepdims=True)
    transfer_ns = int(received.max()) // BYTES_A_NS
    world.collective("MPI_Alltoallv", members, comm, transfer_ns, sent=to_each * members.shape[1], received=received)
