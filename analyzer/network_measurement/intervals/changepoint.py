"""Change points: straight pieces that describe overhead and gap together, no more pieces than the data support.

Dynamic programming over the sizes finds the split with the least cost. The cost is the sum of squares, in units of the
noise, plus a price for each piece: (2 c + 1) ln(c n) for c curves of n sizes, for 2 c parameters and one boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from analyzer.loggp.line_fit import misfits
from analyzer.network_measurement.roughness import noise
from analyzer.network_measurement.sample import SizeCurve, SizeCurves

FEWEST_SIZES = 3
"""Least number of sizes in a piece."""
MOST_CHANCE = 0.05
_LIKELY = 3.84
"""Increase of the sum of squares up to which another boundary is as likely (95 %)."""


@dataclass(frozen=True)
class ChangePoint:
    """Boundary between two pieces. Its fields are indices of sizes."""

    begin: int  # first size of the next piece
    earliest: int  # with 95 % confidence the boundary lies between earliest and latest
    latest: int
    chance: float  # probability that noise alone gives such a change anywhere (p value)


def misfit(size: np.ndarray, curves: Sequence[SizeCurve], tolerance: float) -> np.ndarray:
    """Return the misfit of the line through sizes a to b, shape (sizes, sizes).

    It is the sum of the squared deviations in units of the noise, summed over the curves.

    Args:
        size: Sizes in bytes, ascending.
        curves: Curves over the sizes.
        tolerance: Least deviation from a line that counts as noise, as a share of the time.
    """
    return sum((misfits(size, c.time_s, 1 / _positive(noise(size, c, tolerance))) for c in curves), np.zeros((1, 1)))


def changepoints(of: SizeCurves, tolerance: float) -> list[int]:
    """Split the sizes into pieces by overhead and gap together. Return each piece's first index, 0 first."""
    return significant_pieces(misfit(of.size, (of.overhead, of.gap), tolerance), 2)


def pieces(cost: np.ndarray, number: int) -> list[int]:
    """Return the cheapest split of the sizes: the index of each piece's first size, 0 first.

    Args:
        cost: Misfit of the piece from size a to size b, shape (sizes, sizes).
        number: Number of curves that `cost` sums.
    """
    n = len(cost)
    if n < 2 * FEWEST_SIZES:
        return [0]
    price = (2 * number + 1) * np.log(number * n)
    best, begin = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    best[0] = 0.0
    for end in range(FEWEST_SIZES, n + 1):
        totals = best[: end - FEWEST_SIZES + 1] + cost[: end - FEWEST_SIZES + 1, end - 1] + price
        begin[end] = totals.argmin()
        best[end] = totals[begin[end]]
    found, end = [], n
    while end:
        end = int(begin[end])
        found.append(end)
    return found[::-1]


def significance(cost: np.ndarray, begins: Sequence[int], number: int) -> list[ChangePoint]:
    """Compute for each boundary its p value and its confidence interval, given the other boundaries.

    The p value is that of an F test of one line against two in each curve, times the number of possible boundaries.

    Args:
        cost: Misfit of the piece from size a to size b, shape (sizes, sizes).
        begins: Index of each piece's first size, 0 first.
        number: Number of curves that `cost` sums.
    """
    ends = [*begins[1:], len(cost)]
    found = []
    for a, b, end in zip(begins, begins[1:], ends[1:], strict=False):
        splits = np.arange(min(a + FEWEST_SIZES, b), max(end - FEWEST_SIZES, b) + 1)
        apart = cost[a, splits - 1] + cost[splits, end - 1]
        more, freedom = 2 * number + 1, number * (end - a - 4)
        least = float(cost[a, b - 1] + cost[b, end - 1])
        scale = max(1.0, least / freedom) if freedom > 0 else 1.0
        gain = float(cost[a, end - 1]) - least
        chance = float(fdtrc(more, max(freedom, 1), gain / more / scale)) * len(splits)
        likely = np.append(splits[apart <= least + _LIKELY * scale], b)
        found.append(ChangePoint(b, int(likely.min()), int(likely.max()), min(1.0, chance)))
    return found


def significant_pieces(cost: np.ndarray, number: int) -> list[int]:
    """Return `pieces` without the boundaries that scatter may have caused: p value above `MOST_CHANCE` (5 %).

    The least certain boundary is removed first. The price alone is too low if points scatter more than the noise, as on
    a busy machine.
    """
    begins = pieces(cost, number)
    while len(begins) > 1:
        chances = [change.chance for change in significance(cost, begins, number)]
        if max(chances) <= MOST_CHANCE:
            break
        del begins[int(np.argmax(chances)) + 1]
    return begins


def _positive(variance: np.ndarray) -> np.ndarray:
    return np.maximum(variance, np.finfo(float).tiny ** 0.5)
