"""The machine on which replays take as long as runs did, and all those on which they nearly do.

Source: "Dimemas specification", section 1.17 (thesis, sections 6.4 and 6.5): machines are drawn at random, those whose
predictions are within 10 % of what was measured are kept, and the ranges of their parameters are what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.montecarlo.design import points
from analyzer.montecarlo.distribution import Varied
from analyzer.montecarlo.region import Region, region, unlike
from analyzer.montecarlo.samples import Samples, replayed
from analyzer.montecarlo.search import Point, search
from analyzer.montecarlo.workers import Workers

TOLERANCE = 0.10
ROUNDS = 8
_ENOUGH = 0.5
"""Rounds go on until this share of a round's machines is near."""
_BEST, _FEWEST = 0.1, 20
"""A box is drawn around such a share of a round's machines, around so many at least, and around all that are near."""
_MARGIN = 0.1
"""Margin of the box on each side, as a share of the box."""


@dataclass(frozen=True)
class Wanted:
    """What replays should take: measured times (runs,) in ns, weights (runs,) with sum 1, and the largest error that
    counts as near."""

    measured_ns: np.ndarray
    weights: np.ndarray
    tolerance: float = TOLERANCE

    @classmethod
    def of(cls, measured_ns: Sequence[float], weights: Sequence[float], tolerance: float = TOLERANCE) -> Wanted:
        """Make one from weights of any sum."""
        return cls(np.array(measured_ns, float), np.array(weights, float) / sum(weights), tolerance)

    def errors(self, times_ns: np.ndarray) -> np.ndarray:
        """predicted / measured - 1 of each run, over the last axis."""
        return times_ns / self.measured_ns - 1

    def misfit(self, times_ns: np.ndarray) -> np.ndarray:
        """Root of the weighted mean of the squared errors."""
        return np.sqrt((self.weights * self.errors(times_ns) ** 2).sum(axis=-1))

    def worst(self, times_ns: np.ndarray) -> np.ndarray:
        """The largest error of any run; a machine is near if this is below the tolerance."""
        return np.abs(self.errors(times_ns)).max(axis=-1)


@dataclass(frozen=True)
class Fit:
    """What is known of the machine of some runs."""

    wanted: Wanted
    samples: Samples  # of all rounds
    near: np.ndarray  # (samples,) bool: each run within the tolerance
    rounds: int
    region: Region
    best: Point


def fit(workers: Workers, varied: Sequence[Varied], wanted: Wanted, design: str, count: int, seed: int) -> Fit:
    """Draw `count` machines a round, until enough are near, and search the best from the best of them on.

    The first round draws from all there is, the next ones from a box around the best machines so far: a region that is
    a thousandth of what was tried is found by few of thousands, but by many in the box around those.
    """
    low, high = np.zeros(len(varied)), np.ones(len(varied))
    found: Samples | None = None
    number = 0
    while number < ROUNDS and (found is None or np.count_nonzero(_near(wanted, found)) < _ENOUGH * count):
        if found is not None:
            low, high = _box(found, wanted, count, low, high)
        cube = points(design, count, len(varied), (seed + number) & (2**64 - 1))
        drawn = replayed(workers, varied, low + cube * (high - low), [seed] * count)
        found = drawn if found is None else found + drawn
        number += 1
    assert found is not None, "there is a first round"
    near = _near(wanted, found)
    known = region(found.values, found.shares, near, high - low)
    at = int(wanted.misfit(found.times_ns).argmin())
    start = Point(tuple(found.values[at].tolist()), tuple(found.times_ns[at].tolist()))
    best = search(workers, varied, seed, start, wanted.misfit)
    return Fit(wanted, found, near, number, known, best)


def _near(wanted: Wanted, samples: Samples) -> np.ndarray:
    return wanted.worst(samples.times_ns) < wanted.tolerance


def _box(
    found: Samples, wanted: Wanted, count: int, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Around the best machines so far, with a margin; as wide as it was along parameters in which they are like the
    others."""
    order = np.argsort(wanted.worst(found.times_ns), kind="stable")
    kept = max(_FEWEST, round(_BEST * count), int(_near(wanted, found).sum()))
    best, others = np.split(found.shares[order], [kept])
    matters = np.array([unlike(*columns) for columns in zip(best.T, others.T, strict=True)])
    least, most = best.min(axis=0), best.max(axis=0)
    margin = _MARGIN * (most - least)
    return (
        np.where(matters, np.maximum(least - margin, 0.0), low),
        np.where(matters, np.minimum(most + margin, 1.0), high),
    )
