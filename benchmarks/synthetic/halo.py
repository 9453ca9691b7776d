"""A stencil on a ring or on a torus of two dimensions: neighbours exchange 4 KB, now and then all reduce a number."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic.exchange import Exchange
from benchmarks.synthetic.world import World

SIZE = 4096
COMPUTE_NS = 200_000
STEPS_A_REDUCTION = 10


def grid(ranks: int) -> tuple[int, int]:
    """Return rows and columns, as alike as they can be; rank = row * columns + column."""
    rows = next(n for n in range(int(ranks**0.5), 0, -1) if ranks % n == 0)
    return rows, ranks // rows


def neighbours(places: np.ndarray) -> list[np.ndarray]:
    """Return the rank before and behind each rank in each dimension of a periodic grid, where there is another."""
    shifts = [(by, axis) for axis in range(places.ndim) if places.shape[axis] > 1 for by in (1, -1)]
    by_place = [np.roll(places, by, axis) for by, axis in shifts]
    return [peers.ravel() for peers in by_place]


def steps(mean_calls: float, directions: int) -> int:
    """Return the number of steps that make about `mean_calls` calls a rank."""
    return max(1, round((mean_calls - 2) / (2 * directions + 1 + 1 / STEPS_A_REDUCTION)))


def simulate(world: World, mean_calls: float, places: np.ndarray) -> None:
    """Simulate the steps. `places`: the ranks on their grid."""
    peers = neighbours(places)
    sources = np.concatenate(peers)
    tags = np.repeat(np.arange(len(peers)), world.ranks)
    exchange = Exchange(world, sources, np.tile(world.every, len(peers)), tags)
    for step in range(1, steps(mean_calls, len(peers)) + 1):
        world.compute(world.every, COMPUTE_NS)
        exchange.run(SIZE)
        if step % STEPS_A_REDUCTION == 0:
            world.allreduce()


def ring(world: World, mean_calls: float) -> None:
    """Exchange with two neighbours: 2 Irecv, 2 Isend, a Waitall each step."""
    simulate(world, mean_calls, world.every)


def halo(world: World, mean_calls: float) -> None:
    """Exchange with four neighbours."""
    simulate(world, mean_calls, world.every.reshape(grid(world.ranks)))
