"""Messages along the edges of a random graph: few ranks have many neighbours and meet them often, most are seldom
busy."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic.exchange import Exchange
from benchmarks.synthetic.world import World

MOST_NEIGHBOURS = 12
MEAN_NEIGHBOURS = 3
SPREAD = 1.0  # standard deviation of the logarithm of a rank's weight, whose median is 1
ALWAYS = 8.0  # product of the weights of two ranks that meet in every step
COMPUTE_NS = 50_000  # for each neighbour that is met
LEAST_SIZE, DOUBLINGS = 256, 7
TAG = 7


def random_edges(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Draw pairs of ranks (2, edges), the lower one first; nobody has more than MOST_NEIGHBOURS."""
    wanted = np.clip(np.rint(weights * MEAN_NEIGHBOURS / weights.mean()), 1, MOST_NEIGHBOURS).astype(np.int64)
    ends = random.permutation(np.repeat(np.arange(len(weights)), wanted))
    pairs = np.sort(ends[: len(ends) // 2 * 2].reshape(-1, 2), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0).T


def steps(mean_calls: float, edges: np.ndarray, often: np.ndarray, ranks: int) -> int:
    """Return the number of steps for about `mean_calls` calls a rank: each message is two calls, each rank in a step
    waits."""
    idle = np.zeros(ranks)
    for ends in edges:
        np.add.at(idle, ends, np.log1p(-np.minimum(often, 1 - 1e-9)))
    calls_a_step = 4 * often.sum() + (1 - np.exp(idle)).sum()
    return max(1, round((mean_calls - 2) * ranks / calls_a_step))


def irregular(world: World, mean_calls: float) -> None:
    """Write the whole program."""
    random = world.random
    weights = random.lognormal(0, SPREAD, world.ranks)
    edges = random_edges(weights, random)
    often = np.minimum(weights[edges[0]] * weights[edges[1]] / ALWAYS, 1)
    sizes = LEAST_SIZE << random.integers(0, DOUBLINGS, edges.shape[1])
    for _ in range(steps(mean_calls, edges, often, world.ranks)):
        met = np.flatnonzero(random.random(len(often)) < often)
        if len(met):
            _step(world, edges[:, met], sizes[met])


def _step(world: World, edges: np.ndarray, sizes: np.ndarray) -> None:
    """Let both ends of each edge compute, then send to each other."""
    sources, destinations = edges.ravel(), edges[::-1].ravel()
    exchange = Exchange(world, sources, destinations, np.full(len(sources), TAG))
    met = np.bincount(sources, minlength=world.ranks)[exchange.ranks]
    world.compute(exchange.ranks, COMPUTE_NS * met)
    exchange.run(np.tile(sizes, 2))
