"""CPU bursts: the pieces of computation between MPI calls, and how long they are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import State, Trace

STEPS = 64
"""Classes to a power of two: a percentile is at most 1/64 (1.6 %) too large."""
PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class Bursts:
    """All bursts of all threads."""

    count: int
    time_ns: int
    longest_ns: int
    percentiles_ns: dict[int, int]  # smallest upper bound of a class that this share of the bursts stays below
    by_length: tuple[int, ...] = field(default=(), compare=False)
    """How many last from 2^(k-1) ns on, and less than 2^k; k from 0."""

    @property
    def mean_ns(self) -> float:
        return self.time_ns / self.count if self.count else 0.0


def bursts(trace: Trace, team: Team) -> Bursts:
    """Number, mean, percentiles of the intervals in state Running of positive length."""
    return add_up(trace, team, BurstSums())


class BurstSums(Sums[Bursts]):
    """Adds up bursts.

    Percentiles come from a histogram of 64 classes to each power of two, since all lengths need not fit
    into memory. The 50th is the smallest class bound that half of the bursts do not exceed.
    """

    def __init__(self) -> None:
        self._histogram = np.zeros(64 * STEPS, np.int64)
        self._time_ns = self._longest = 0

    def add(self, part: Part) -> None:
        states = part.states
        length = (states["end"] - states["begin"])[states["state"] == State.RUNNING]
        length = length[length > 0]
        self._histogram += np.bincount(_class(length), minlength=len(self._histogram))
        self._time_ns += int(length.sum())
        self._longest = max(self._longest, int(length.max(initial=0)))

    def total(self, team: Team) -> Bursts:
        members = team.allgather((self._histogram, self._time_ns, self._longest))
        histogram = sum(m[0] for m in members)
        longest = max(m[2] for m in members)
        count = int(histogram.sum())
        below = np.cumsum(histogram)
        at = {p: int(np.searchsorted(below, count * p / 100)) for p in PERCENTILES} if count else {}
        percentiles = {p: min(_bound(k), longest) for p, k in at.items()}
        by_length = tuple(histogram.reshape(64, STEPS).sum(axis=1).tolist())
        return Bursts(count, sum(m[1] for m in members), longest, percentiles, by_length)


def _class(length: np.ndarray) -> np.ndarray:
    """Class k * STEPS + s ends at (1 + s / STEPS) * 2^(k - 1)."""
    mantissa, exponent = np.frexp(length.astype(np.float64))
    return exponent.astype(np.int64) * STEPS + np.ceil((2 * mantissa - 1) * STEPS).astype(np.int64)


def _bound(index: int) -> int:
    """The largest length in a class."""
    exponent, step = divmod(index, STEPS)
    return int((1 + step / STEPS) * 2.0 ** (exponent - 1))
