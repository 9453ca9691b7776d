"""Intervals that are too narrow to have parameters are joined to a neighbour.

Near a limit between two protocols many sizes are measured, and some of their times may be of either. A piece of them is
a change like any other, but what its lines say of one byte means nothing: -13 +-257 us was seen. (Rodriguez 2011,
section 3.3.2, "checking", joins what is shorter than a tenth of the rows.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.loggp.line_fit import CostLine, fit_line, misfits
from analyzer.network_measurement.intervals.changepoint import misfit
from analyzer.network_measurement.roughness import noise
from analyzer.network_measurement.sample import SizeCurve, SizeCurves


def checked(of: SizeCurves, begins: Sequence[int], rows: np.ndarray, fewest: int) -> list[int]:
    """Drop begins of intervals (0 first) until each interval has `fewest` rows.

    The shortest interval is joined to the neighbour whose lines, with it, fit least worse, relative to the times; and
    this is repeated.

    Args:
        of: Curves of overhead and gap.
        begins: Places where an interval could begin.
        rows: Number of rows of each size.
        fewest: Least number of rows of an interval.
    """
    weighted = ((c.time_s, 1 / np.maximum(c.time_s**2, 1e-30)) for c in (of.overhead, of.gap))
    cost = np.sum([misfits(of.size, time_s, weight) for time_s, weight in weighted], axis=0)
    before = np.concatenate([[0], np.cumsum(rows)])
    borders = [*begins, len(of.size)]
    while len(borders) > 2:
        lengths = np.diff(before[borders])
        short = int(lengths.argmin())
        if lengths[short] >= fewest:
            break
        removable = [place for place in (short, short + 1) if 0 < place < len(borders) - 1]
        worse = [cost_of_joining(cost, *borders[place - 1 : place + 2]) for place in removable]
        del borders[removable[int(np.argmin(worse))]]
    return borders[:-1]


def cost_of_joining(cost: np.ndarray, begin: int, border: int, end: int) -> float:
    """Compute by how much one line fits two neighbouring intervals worse than a line for each.

    Args:
        cost: Misfit of the line through the sizes a to b, (n, n).
        begin: Place of the first size of the first interval.
        border: Place of the first size of the second one.
        end: Place behind its last size.
    """
    return float(cost[begin, end - 1] - cost[begin, border - 1] - cost[border, end - 1])


NARROW = 1.25
"""Ratio of the largest to the smallest size below which an interval is narrow: a quarter of an octave holds no more
than two of the planned sizes."""


@dataclass(frozen=True)
class JoinedIntervals:
    """Places of the first size of each interval that is left, and the sizes (bytes) of those that were joined."""

    begins: tuple[int, ...]
    joined: tuple[tuple[int, int], ...]


def is_unknown(line: CostLine, from_bytes: int, to_bytes: int) -> bool:
    """Check whether the confidence interval of a line's start is wider than any time on the line."""
    half = (line.start_ci[1] - line.start_ci[0]) / 2
    return half > float(np.abs(line(np.array([from_bytes, to_bytes]))).max())


def determined(of: SizeCurves, begins: Sequence[int], tolerance: float) -> JoinedIntervals:
    """Join narrow intervals of which neither overhead nor gap is known to the neighbour that they fit best.

    Args:
        of: Times of each size.
        begins: Places of the first size of each interval, 0 first.
        tolerance: Share of a time by which it may be off its line.
    """
    cost = misfit(of.size, (of.overhead, of.gap), tolerance)
    borders, joined = [*begins, len(of.size)], []
    while len(borders) > 2:
        nothing = [i for i in range(len(borders) - 1) if _says_nothing(of, borders[i], borders[i + 1], tolerance)]
        if not nothing:
            break
        narrowest = min(nothing, key=lambda i: of.size[borders[i + 1] - 1] / of.size[borders[i]])
        joined.append((int(of.size[borders[narrowest]]), int(of.size[borders[narrowest + 1] - 1])))
        removable = [place for place in (narrowest, narrowest + 1) if 0 < place < len(borders) - 1]
        del borders[min(removable, key=lambda place: cost_of_joining(cost, *borders[place - 1 : place + 2]))]
    return JoinedIntervals(tuple(borders[:-1]), tuple(sorted(joined)))


def _says_nothing(of: SizeCurves, begin: int, end: int, tolerance: float) -> bool:
    first, last = int(of.size[begin]), int(of.size[end - 1])
    if last >= NARROW * first:
        return False
    return all(is_unknown(_line(of.size, c, slice(begin, end), tolerance), first, last) for c in (of.overhead, of.gap))


def _line(size: np.ndarray, curve: SizeCurve, part: slice, tolerance: float) -> CostLine:
    weight, variance = 1 / np.maximum(noise(size, curve, tolerance), 1e-150), noise(size, curve)
    return fit_line(size[part], curve.time_s[part], weight[part], variance[part])
