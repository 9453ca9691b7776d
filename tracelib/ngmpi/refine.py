"""Where the times of the sizes change their course, and which sizes would tell more.

A light detector that only steers the measurement: straight lines through T_o and T_g, joined by dynamic programming
(TIA spec 6.2, item 11). `analyze` does the same with care, on all rows.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tracelib.schema.prtt import SizeTimes

FEWEST_SIZES = 3
"""In a piece."""
NOISE = 0.02
"""Deviations up to this share of a time are never taken for a change."""
JUMP = 0.05
"""A step in a time of more than this is located exactly, a mere bend is not."""
_LEAST_S = 1e-12  # against division by zero
FINEST_BYTES, FINEST_SHARE, BEND_SHARE = 8, 1 / 256, 1 / 8
"""How close the two sizes around a step should be (in bytes, or as a share of the size), and those around a bend."""


def changes(times: SizeTimes) -> list[tuple[int, float]]:
    """Return each change as the index of the first size after it, and the step there, relative to the time."""
    if len(times.size) < 2 * FEWEST_SIZES:
        return []
    curves = [(times.overhead_s, times.overhead_ci_s), (times.gap_s, times.gap_ci_s)]
    weighted = [(y, 1 / _noise(y, ci) ** 2) for y, ci in curves]
    pieces = _pieces(times.size.astype(float), weighted)
    return [(begin, _step(times, before, begin, end)) for (before, begin), (_, end) in pairwise(pieces)]


def wanted(times: SizeTimes) -> list[int]:
    """Return sizes to measure next: between the two beside each change, if these are far apart."""
    found = []
    for begin, step in changes(times):
        below, above = int(times.size[begin - 1]), int(times.size[begin])
        enough = max(FINEST_BYTES, below * FINEST_SHARE) if step > JUMP else max(FINEST_BYTES, below * BEND_SHARE)
        if above - below > enough:
            found.append((below + above) // 2)
    return found


def _noise(y: np.ndarray, ci: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each time, at least a share of it."""
    size = np.abs(y)
    least = NOISE * np.maximum(size, np.median(size) / 50)
    return np.maximum(np.where(np.isfinite(ci), ci, size) / 2, least)


def _pieces(x: np.ndarray, curves: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[int, int]]:
    """Return [begin, end) of the pieces that fit best, at a price for each (the Bayesian criterion)."""
    n = len(x)
    price = 5 * np.log(2 * n)
    sums = [_running_sums(x, y, w) for y, w in curves]
    best, begin = np.full(n + 1, np.inf), np.zeros(n + 1, int)
    best[0] = -price
    for end in range(FEWEST_SIZES, n + 1):
        begins = np.arange(end - FEWEST_SIZES + 1)
        cost = best[begins] + price + sum(_residuals(s, begins, end) for s in sums)
        begin[end] = cost.argmin()
        best[end] = cost[begin[end]]
    pieces = []
    while n:
        pieces.append((int(begin[n]), n))
        n = begin[n]
    return pieces[::-1]


def _running_sums(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    columns = np.stack([w, w * x, w * y, w * x * x, w * x * y, w * y * y])
    return np.concatenate([np.zeros((6, 1)), columns.cumsum(axis=1)], axis=1)


def _residuals(sums: np.ndarray, begins: np.ndarray, end: int) -> np.ndarray:
    """Return weighted squares about the straight line through the points from each begin to `end`."""
    s, sx, sy, sxx, sxy, syy = sums[:, end, None] - sums[:, begins]
    across, along = sxx - sx * sx / s, sxy - sx * sy / s
    explained = np.divide(along * along, across, out=np.zeros_like(across), where=across > sxx * 1e-12)
    return np.maximum(syy - sy * sy / s - explained, 0)


def _step(times: SizeTimes, before: int, begin: int, end: int) -> float:
    """Return how far apart the lines left and right of a change are at it, relative to the larger of both times."""
    x = times.size.astype(float)
    middle = (x[begin - 1] + x[begin]) / 2

    def at_middle(y: np.ndarray, part: slice) -> float:
        line = np.polyfit(x[part], y[part], 1, w=1 / np.maximum(np.abs(y[part]), _LEAST_S))
        return float(np.polyval(line, middle))

    steps = []
    for y in (times.overhead_s, times.gap_s):
        left, right = at_middle(y, slice(before, begin)), at_middle(y, slice(begin, end))
        steps.append(abs(right - left) / max(abs(left), abs(right), _LEAST_S))
    return max(steps)
