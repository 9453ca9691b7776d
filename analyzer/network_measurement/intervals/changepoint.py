"""Change points: the straight pieces that explain overhead and gap together, no more of them than the data bear out.

Dynamic programming over the sizes finds the split with the least sum of squares, in units of the noise, plus a price
for each piece: (2 c + 1) ln(c n) for c curves of n sizes, 2 c parameters and one place.
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
"""Places of a change whose sum of squares is larger by less are as likely (95 %)."""


@dataclass(frozen=True)
class ChangePoint:
    """Boundary between two pieces."""

    begin: int  # place of the first size of the next piece
    earliest: int  # it is between these two with 95 % confidence
    latest: int
    chance: float  # that noise alone gives such a change anywhere (p value)


def misfit(size: np.ndarray, curves: Sequence[SizeCurve], tolerance: float) -> np.ndarray:
    """Return (n, n): squares about the lines through the sizes a to b, in units of the noise, summed over the
    curves."""
    return sum((misfits(size, c.time_s, 1 / _positive(noise(size, c, tolerance))) for c in curves), np.zeros((1, 1)))


def changepoints(of: SizeCurves, tolerance: float) -> list[int]:
    """Return the places of the first size of each piece, 0 first, by overhead and gap together."""
    return significant_pieces(misfit(of.size, (of.overhead, of.gap), tolerance), 2)


def pieces(cost: np.ndarray, number: int) -> list[int]:
    """Return the cheapest split of n sizes; `cost` of each piece, `number` of curves that it sums."""
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
    """Compute how sure each change but the first size is and where else it could be, given the other changes.

    The chance is that of an F test of one line against two in each of the `number` curves of which `cost` is the sum,
    times the number of places where the change could have been.
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
    """Return `pieces` without the changes that scatter may well have caused, the least certain first.

    If the points of both sides scatter more than the noise, as on a busy machine, the price alone is too low.
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
