"""Joining of intervals that are too narrow to have parameters of their own.

Near a limit between two protocols many sizes are measured, and some times may belong to either protocol. A piece of
such sizes is found as an interval, but its lines have no meaning at one byte: -13 +-257 us was seen. (Rodriguez 2011,
section 3.3.2, "checking", joins intervals that are shorter than a tenth of the rows.)
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
    """Remove boundaries until each interval has `fewest` rows.

    The shortest interval is joined to the neighbour where one line fits least worse, relative to the times. This is
    repeated.

    Args:
        of: Curves of overhead and gap.
        begins: Index of each interval's first size, 0 first.
        rows: Number of rows of each size.
        fewest: Least number of rows in an interval.

    Returns:
        Index of the first size of each interval that is left, 0 first.
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
    """Return by how much the misfit grows if two neighbouring intervals have one line instead of two.

    Args:
        cost: Misfit of the line through the sizes a to b, shape (sizes, sizes).
        begin: Index of the first size of the first interval.
        border: Index of the first size of the second interval.
        end: Index after the last size of the second interval.
    """
    return float(cost[begin, end - 1] - cost[begin, border - 1] - cost[border, end - 1])


NARROW = 1.25
"""Ratio of largest to smallest size below which an interval is narrow.

A quarter of an octave holds at most two of the planned sizes.
"""


@dataclass(frozen=True)
class JoinedIntervals:
    """Intervals after joining.

    Attributes:
        begins: Index of the first size of each interval that is left.
        joined: (from, to) sizes in bytes of the intervals that were joined to a neighbour.
    """

    begins: tuple[int, ...]
    joined: tuple[tuple[int, int], ...]


def is_unknown(line: CostLine, from_bytes: int, to_bytes: int) -> bool:
    """Check whether the half-width of the confidence interval of a line's start exceeds the line's times.

    Args:
        line: The line.
        from_bytes: Smallest size of the line.
        to_bytes: Largest size of the line.
    """
    half = (line.start_ci[1] - line.start_ci[0]) / 2
    return half > float(np.abs(line(np.array([from_bytes, to_bytes]))).max())


def determined(of: SizeCurves, begins: Sequence[int], tolerance: float) -> JoinedIntervals:
    """Join narrow intervals that have unknown overhead and gap to the neighbour that they fit best.

    Args:
        of: Curves over the sizes.
        begins: Index of each interval's first size, 0 first.
        tolerance: Largest deviation from a line that is taken for noise, as a share of the time.
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
