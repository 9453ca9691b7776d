"""The imbalance of the iterations of a run's main loop: moving between ranks, slow iterations, a drift.

All is computed from two tables, int64 of shape (ranks, iterations) in ns: the computing time of each rank in each
iteration, and the begin of each iteration. Costs are run time in ns: the time that all ranks together could use.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.imbalance.by_iteration import computing_by_iteration
from analyzer.imbalance.pipelines import Pipeline, pipelines
from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.trace import CallPaths, Trace

LEAST_COST = 0.01
"""Problems that cost less than this share of the time of all iterations are not reported."""
_FEWEST_RANKS, _FEWEST = 2, 5
_SLOW, _DEVIATIONS = 1.3, 6.0
"""Limits of a slow iteration: its length in typical lengths, and its excess in typical deviations."""
_MOST_SLOW = 0.25
"""If more than this share of all iterations is slow, they are another kind of iteration, not slow ones."""
_LEAST_APART, _MOST_APART = 4, 200
"""Smallest and largest distance, in iterations, at which regular slow iterations are searched."""
_SUSPECTS = 8
"""Number of ranks whose own computing is searched for regular slow iterations."""
_MISSED = 0.2
"""Share of regular slow iterations in which the rank may fail to compute longer.

With a larger share, every second of these iterations would satisfy the rule.
"""
_NOT_SLOW = 0.4
"""Share of regular slow iterations that may look like typical ones, because the typical iteration waits as long."""
_CHANCE = 1e-3
"""Largest accepted probability that iterations without a rule look regular by chance."""
_IN_TURN = 0.8
_BLOCKS, _DRIFT = 5, 0.1


@dataclass(frozen=True)
class MovingImbalance:
    """Ranks that take turns in computing longest. So the sums of ranks are more even than any single iteration."""

    within: float  # load balance of the typical iteration: sum of means / sum of longest
    of_sums: float  # load balance of the sums over all iterations: mean / largest
    cost_ns: int  # upper bound of the ns saved if each rank computed its mean in each iteration
    in_turn: bool  # True: in each iteration the next rank is the one that computes longest
    ranks: int  # number of ranks that compute longest in at least one iteration in 2 * ranks


@dataclass(frozen=True)
class SlowIterations:
    """Iterations that take longer than the typical iteration, for one reason."""

    numbers: tuple[int, ...]  # from 1
    every: int  # distance between them in iterations; 0: they are not regular
    rank: int  # rank that computes longer than typically; -1: none, time is lost elsewhere
    typical_ns: int  # length of the typical iteration
    mean_ns: int  # mean length of these iterations
    cost_ns: int  # sum of their excess over the typical length


@dataclass(frozen=True)
class Drift:
    """Drift: the iterations become longer, or shorter, throughout the run."""

    first_ns: int  # median length in the first fifth of the iterations
    last_ns: int
    cost_ns: int  # sum of the excess of all iterations over the median of the fastest fifth
    rank: int  # rank whose computing grew most; -1: computing is not the cause
    everybody: bool  # True: all ranks compute longer


@dataclass(frozen=True)
class UnevenIterations:
    """Problems that make the iterations of a loop uneven. None or empty: no such problem."""

    moving: MovingImbalance | None = None
    slow: tuple[SlowIterations, ...] = ()  # the most expensive first
    drift: Drift | None = None


def uneven_iterations(edges: np.ndarray, computing: np.ndarray) -> UnevenIterations:
    """Find the problems that make iterations uneven.

    Args:
        edges: Begins of each rank's iterations and the end of the last, int64 of shape (ranks, iterations + 1), ns.
            Ranks
            with edges of -1 do not count.
        computing: Computing time of ranks in each iteration, int64 of shape (ranks, iterations), ns.
    """
    known = edges[:, 0] >= 0
    edges, computing = edges[known], computing[known]
    if computing.shape[1] < _FEWEST or not len(computing):
        return UnevenIterations()
    ranks = np.flatnonzero(known)
    lengths = np.diff(edges.max(axis=0))
    least = LEAST_COST * float(lengths.sum())
    slow = tuple(one for one in _slow(lengths, computing, ranks) if one.cost_ns >= least)
    usual = np.ones(len(lengths), bool)
    usual[[number - 1 for one in slow for number in one.numbers]] = False
    moving, drift = _moving(computing[:, usual]), _drift(lengths[usual], computing[:, usual], ranks)
    return UnevenIterations(
        moving if moving and moving.cost_ns >= least else None,
        slow,
        drift if drift and drift.cost_ns >= least else None,
    )


def _moving(computing: np.ndarray) -> MovingImbalance | None:
    """Find a moving imbalance in the iterations that are not slow."""
    ranks, count = computing.shape
    longest = int(computing.max(axis=0).sum())
    sums = computing.sum(axis=1)
    if ranks < _FEWEST_RANKS or not longest:
        return None
    within, of_sums = float(sums.mean() / longest), float(sums.mean() / sums.max())
    who = computing.argmax(axis=0)
    often = np.bincount(who, minlength=ranks) >= count / (2 * ranks)
    in_turn = float((np.diff(who) % ranks == 1).mean()) if count > 1 else 0.0
    cost = longest - int(sums.max())
    return MovingImbalance(within, of_sums, cost, ranks > _FEWEST_RANKS and in_turn >= _IN_TURN, int(often.sum()))


def _slow(lengths: np.ndarray, computing: np.ndarray, ranks: np.ndarray) -> list[SlowIterations]:
    """Find slow iterations, grouped by the rank that computes longer in them."""
    typical = float(np.median(lengths))
    deviation = float(np.median(np.abs(lengths - typical))) * 1.4826
    more = computing - np.median(computing, axis=1)[:, None]
    regular = _regular(lengths, more[_suspects(lengths, more)], typical)
    slow = lengths > max(_SLOW * typical, typical + _DEVIATIONS * deviation)
    slow[regular] = False
    if slow.sum() > max(1, _MOST_SLOW * len(lengths)):
        slow[:] = False
    groups = [_slow_group(regular, lengths, more, ranks, typical)] if len(regular) else []
    found = np.flatnonzero(slow)
    excess = lengths[found] - typical
    who = np.where(more[:, found].max(axis=0) >= excess / 2, more[:, found].argmax(axis=0), -1)
    groups += [_slow_group(found[who == one], lengths, more, ranks, typical) for one in np.unique(who)]
    return sorted(groups, key=lambda group: -group.cost_ns)


def _slow_group(
    found: np.ndarray, lengths: np.ndarray, more: np.ndarray, ranks: np.ndarray, typical: float
) -> SlowIterations:
    """Describe slow iterations with the same reason. `more`: ns that each rank computes longer than typically."""
    excess = lengths[found] - typical
    added = np.median(more[:, found], axis=1)
    rank = int(ranks[added.argmax()]) if added.max() >= np.median(excess) / 2 else -1
    apart = np.unique(np.diff(found))
    every = int(apart[0]) if len(found) > 2 and len(apart) == 1 and apart[0] > 1 else 0
    mean = int(lengths[found].mean())
    return SlowIterations(tuple((found + 1).tolist()), every, rank, int(typical), mean, int(excess.sum()))


def _suspects(lengths: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the ranks that most often have the largest additional computing in the slowest quarter of iterations."""
    slowest = np.argsort(-lengths, kind="stable")[: max(1, int(_MOST_SLOW * len(lengths)))]
    ranks, often = np.unique(more[:, slowest].argmax(axis=0), return_counts=True)
    return ranks[np.argsort(-often, kind="stable")[:_SUSPECTS]]


def _regular(lengths: np.ndarray, more: np.ndarray, typical: float) -> np.ndarray:
    """Find slow iterations at a regular distance (indices from 0); of several distances, the shortest. Empty: none.

    Nearly all of them must be among the slowest iterations, which chance would not produce. Noise may hide each of
    them, but not all together.

    Args:
        lengths: Length of each iteration, ns.
        more: ns that each suspect rank computes longer than typically, by iteration. Where waiting for CPUs hides the
            rule in the lengths, it may still show in the computing of one rank.
        typical: Typical length of an iteration, ns.
    """
    count = len(lengths)
    seen = [(lengths, 0.5, _SLOW * typical), *((row, _MISSED, (_SLOW - 1) * typical) for row in more)]
    orders = [_from_the_longest(row) for row, *_ in seen]
    most = min(count // 3, _MOST_APART)
    chance = _CHANCE / (most * most / 2 * len(seen)) if most else 0.0
    below = lengths < _SLOW * typical
    for apart in range(_LEAST_APART, most + 1):
        for first in _mostly_above(below, apart):
            if np.quantile(lengths[first::apart], _NOT_SLOW) < _SLOW * typical:
                continue
            for (row, share, least), order in zip(seen, orders, strict=True):
                if np.quantile(row[first::apart], share) >= least and _chance(order[first::apart], count) < chance:
                    return np.arange(first, count, apart)
    return np.zeros(0, np.int64)


def _mostly_above(below: np.ndarray, apart: int) -> list[int]:
    """Return the first iterations (from 0) from which on enough iterations at this distance may be slow.

    A fast test before the quantile, which takes long to compute for all of them.
    """
    firsts = np.arange(apart)
    counts = (len(below) - firsts + apart - 1) // apart
    return np.flatnonzero(
        np.bincount(np.arange(len(below)) % apart, below, apart) < np.floor(_NOT_SLOW * (counts - 1)) + 2
    ).tolist()


def _from_the_longest(row: np.ndarray) -> np.ndarray:
    """Return the position of each iteration in the order from the longest to the shortest, from 0."""
    order = np.empty(len(row), np.int64)
    order[np.argsort(-row, kind="stable")] = np.arange(len(row))
    return order


def _drift(lengths: np.ndarray, computing: np.ndarray, ranks: np.ndarray) -> Drift | None:
    """Find a drift: the median lengths of five equal stretches of the run only rise, or only fall, by 10 % or more."""
    if len(lengths) < 2 * _BLOCKS:
        return None
    cuts = np.linspace(0, len(lengths), _BLOCKS + 1).astype(int)
    blocks = np.array([np.median(lengths[a:b]) for a, b in pairwise(cuts.tolist())])
    steps = np.diff(blocks)
    if not ((steps > 0).all() or (steps < 0).all()) or blocks.max() < (1 + _DRIFT) * blocks.min():
        return None
    slowest, fastest = (slice(*cuts[b : b + 2]) for b in (int(blocks.argmax()), int(blocks.argmin())))
    added = np.median(computing[:, slowest], axis=1) - np.median(computing[:, fastest], axis=1)
    change = float(blocks.max() - blocks.min())
    cost = int((lengths - blocks.min()).clip(0).sum())
    rank = int(ranks[added.argmax()]) if added.max() >= change / 2 else -1
    everybody = rank >= 0 and bool((added >= 0.5 * added.max()).all())
    return Drift(int(blocks[0]), int(blocks[-1]), cost, rank, everybody)


def _chance(places: np.ndarray, count: int) -> float:
    """Return the probability that, without a rule, all but a fifth of some iterations are among the slowest.

    Args:
        places: Positions of these iterations in the order from the slowest, from 0.
        count: Number of all iterations.
    """
    from scipy.stats import hypergeom

    number = len(places)
    tried = (number * 3 // 2, number * 2)
    hits = [int((places < top).sum()) for top in tried]
    few = [hypergeom.sf(h - 1, count, top, number) for h, top in zip(hits, tried, strict=True) if h >= 0.8 * number]
    return min(1.0, len(tried) * min(few, default=1.0))


@dataclass(frozen=True)
class Imbalance:
    """The computing of ranks in the iterations of a loop, and the problems that make it uneven."""

    iterations: Iterations
    computing_ns: np.ndarray  # int64 (ranks, iterations), only ranks whose iterations are known
    uneven: UnevenIterations
    pipelines: tuple[Pipeline, ...]
    place: tuple[str, ...]  # text of the place of each pipeline; empty: not known

    @property
    def elsewhere_ns(self) -> np.ndarray:
        """Return the ns that each rank does not compute in each iteration: MPI, and time that belongs to nobody."""
        return self.iterations.lengths_ns() - self.computing_ns


def analyze_imbalance(trace: Trace, team: Team, iterations: Iterations) -> Imbalance:
    """Find what is uneven in the iterations of a loop, and the pipelines of the run. Collective."""
    computing = computing_by_iteration(trace, team, iterations.edges)
    found = pipelines(trace, team)
    places = trace.extra(CallPaths).named() if any(one.place for one in found) else None
    texts = tuple(places.text(one.place) if places and one.place else "" for one in found)
    return Imbalance(
        iterations, computing[iterations.known], uneven_iterations(iterations.edges, computing), found, texts
    )
