"""Change points as netgauge looks for them while it measures (Hoefler et al. 2007), for comparison.

From the smallest size up: a line is fitted to the gaps since the last change. Where its residual at least doubles with
each of the next four sizes, the line ends. It looks at gaps only, never back, and its answer hangs on the factor.
"""

from __future__ import annotations

import numpy as np

from analyzer.loggp.lines import misfits
from analyzer.loggp.sample import Curves

AHEAD = 4
"""Sizes that must all agree."""
FEWEST_SIZES = 3
LEAST_S = 0.15e-6
"""A residual below does not count: netgauge's own threshold."""


def netgauge(of: Curves, factor: float) -> list[int]:
    """Places of the first size of each piece, 0 first."""
    n = len(of.size)
    squares = misfits(of.size, of.gap.time_s, np.ones(n))
    begins = [0]
    last = FEWEST_SIZES - 1
    while last + AHEAD < n:
        begin = begins[-1]
        ends = np.arange(last, last + AHEAD + 1)
        residual = np.sqrt(squares[begin, ends] / (ends - begin - 1))
        if residual[0] >= LEAST_S and (residual[1:] >= factor * residual[0]).all():
            begins.append(last + 1)
            last += FEWEST_SIZES
        else:
            last += 1
    return begins
