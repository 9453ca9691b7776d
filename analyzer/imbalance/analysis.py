"""How even the iterations of a run's main loop are.

What is uneven about a run's iterations: an imbalance that moves from rank to rank, slow iterations, a drift.

All from two tables, int64 of shape (ranks, iterations): the time that each rank computes in each iteration, and when it
begins it. Costs are run time, in ns: of the ranks all or none can use it.
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
"""Of the time of the iterations; what costs less is not named."""
_FEWEST_RANKS, _FEWEST = 2, 5
_SLOW, _DEVIATIONS = 1.3, 6.0
"""An iteration is slow if it takes so many times the typical one, and differs by so many typical deviations."""
_MOST_SLOW = 0.25
"""Of all iterations; more of them are another kind of iteration, not slow ones."""
_LEAST_APART, _MOST_APART = 4, 200
"""Iterations apart that regular slow ones are looked for."""
_SUSPECTS = 8
"""Ranks whose own computing is looked at for regular slow iterations."""
_MISSED = 0.2
"""Of these the rank may not have computed longer; else every second one of them would do."""
_NOT_SLOW = 0.4
"""Of these may be hidden where the typical iteration waits as long."""
_CHANCE = 1e-3
"""That iterations without a rule look regular."""
_IN_TURN = 0.8
_BLOCKS, _DRIFT = 5, 0.1


@dataclass(frozen=True)
class MovingImbalance:
    """Ranks take turns to compute longest: what each computes in sum is more even than any iteration is."""

    within: float  # load balance of the typical iteration: sum of means / sum of longest
    of_sums: float  # of the sums over all iterations
    cost_ns: int  # what the iterations would be shorter, did each rank compute its mean in each: at most
    in_turn: bool  # the longest is the next rank in each iteration
    ranks: int  # how many ranks compute longest in one iteration in 2 * ranks at least


@dataclass(frozen=True)
class SlowIterations:
    """Iterations that take longer than the typical one, for the same reason."""

    numbers: tuple[int, ...]  # from 1
    every: int  # all of them are so many iterations apart; 0: they are not regular
    rank: int  # it computes longer then than it does typically; -1: none does, the time is lost in MPI or elsewhere
    typical_ns: int  # length of the typical iteration
    mean_ns: int  # of these
    cost_ns: int  # what they take longer, all together


@dataclass(frozen=True)
class Drift:
    """Iterations become longer, or shorter, from the first to the last."""

    first_ns: int  # length in the first fifth of them
    last_ns: int
    cost_ns: int  # what all take longer than those of the fastest fifth
    rank: int  # of the computing that is added this one has most; -1: it is not computing
    everybody: bool  # all compute longer


@dataclass(frozen=True)
class UnevenIterations:
    """What was found; nothing where there is nothing to say."""

    moving: MovingImbalance | None = None
    slow: tuple[SlowIterations, ...] = ()  # the most expensive first
    drift: Drift | None = None


def uneven_iterations(edges: np.ndarray, computing: np.ndarray) -> UnevenIterations:
    """What is uneven about iterations with these edges, int64 (ranks, iterations + 1), and what ranks compute in them.

    Ranks whose edges are -1 do not count.
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
    """From all iterations that are not slow ones."""
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
    """Slow iterations by the rank that computes longer in them."""
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
    """Of iterations with the same reason; `more`: what each rank computes longer than typically."""
    excess = lengths[found] - typical
    added = np.median(more[:, found], axis=1)
    rank = int(ranks[added.argmax()]) if added.max() >= np.median(excess) / 2 else -1
    apart = np.unique(np.diff(found))
    every = int(apart[0]) if len(found) > 2 and len(apart) == 1 and apart[0] > 1 else 0
    mean = int(lengths[found].mean())
    return SlowIterations(tuple((found + 1).tolist()), every, rank, int(typical), mean, int(excess.sum()))


def _suspects(lengths: np.ndarray, more: np.ndarray) -> np.ndarray:
    """The ranks that most often have most to compute in the slowest quarter of the iterations."""
    slowest = np.argsort(-lengths, kind="stable")[: max(1, int(_MOST_SLOW * len(lengths)))]
    ranks, often = np.unique(more[:, slowest].argmax(axis=0), return_counts=True)
    return ranks[np.argsort(-often, kind="stable")[:_SUSPECTS]]


def _regular(lengths: np.ndarray, more: np.ndarray, typical: float) -> np.ndarray:
    """Slow iterations (from 0) that are as far apart and nearly all among the slowest, where chance does not make that;
    the closest such; none. Noise may hide each of them, but not all together.

    `more`: what suspects compute longer in each iteration. Where waiting for CPUs hides the rule in the lengths, it may
    still be seen in what one rank computes.
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
    """The starts (from 0) of iterations so far apart of which enough may be slow for their quantile to be. To ask for
    the quantile of all takes long."""
    firsts = np.arange(apart)
    counts = (len(below) - firsts + apart - 1) // apart
    return np.flatnonzero(
        np.bincount(np.arange(len(below)) % apart, below, apart) < np.floor(_NOT_SLOW * (counts - 1)) + 2
    ).tolist()


def _from_the_longest(row: np.ndarray) -> np.ndarray:
    """The place of each iteration in the order from the longest, from 0."""
    order = np.empty(len(row), np.int64)
    order[np.argsort(-row, kind="stable")] = np.arange(len(row))
    return order


def _drift(lengths: np.ndarray, computing: np.ndarray, ranks: np.ndarray) -> Drift | None:
    """Whether the medians of five equal stretches of the run rise, or fall, all the way."""
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
    """That of `count` iterations without a rule some given ones are all but a fifth among the slowest; `places`: theirs
    in the order from the slowest, from 0."""
    from scipy.stats import hypergeom

    number = len(places)
    tried = (number * 3 // 2, number * 2)
    hits = [int((places < top).sum()) for top in tried]
    few = [hypergeom.sf(h - 1, count, top, number) for h, top in zip(hits, tried, strict=True) if h >= 0.8 * number]
    return min(1.0, len(tried) * min(few, default=1.0))


@dataclass(frozen=True)
class Imbalance:
    """What ranks compute in the iterations of a loop, and what is uneven about it."""

    iterations: Iterations
    computing_ns: np.ndarray  # int64 (ranks, iterations), those whose iterations are known
    uneven: UnevenIterations
    pipelines: tuple[Pipeline, ...]
    place: tuple[str, ...]  # text of the place of each of `pipelines`; empty: not known

    @property
    def elsewhere_ns(self) -> np.ndarray:
        """What each rank does not compute in each iteration: MPI, and what is nobody's."""
        return self.iterations.lengths_ns() - self.computing_ns


def analyze_imbalance(trace: Trace, team: Team, iterations: Iterations) -> Imbalance:
    """That of a loop. Collective over the team."""
    computing = computing_by_iteration(trace, team, iterations.edges)
    found = pipelines(trace, team)
    places = trace.extra(CallPaths).named() if any(one.place for one in found) else None
    texts = tuple(places.text(one.place) if places and one.place else "" for one in found)
    return Imbalance(
        iterations, computing[iterations.known], uneven_iterations(iterations.edges, computing), found, texts
    )
