"""No interval is left with fewer rows than a neighbourhood (Rodriguez 2011, section 3.3.2, "checking")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.loggp.lines import misfits
from analyzer.loggp.sample import Curves


def checked(of: Curves, begins: Sequence[int], rows: np.ndarray, fewest: int) -> list[int]:
    """Of the places where an interval could begin (0 first) those that stay. `rows`: of each size.

    The shortest interval is joined to the neighbour whose lines, with it, fit least worse, relative to the times; and
    so on, until all have `fewest` rows.
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
