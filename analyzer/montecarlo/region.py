"""Region of the machines that are near the measured times: how well each parameter is known, and which are coupled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

_DOUBT = 0.001
"""Significance level of the test whether a parameter has influence."""
_TIED = 0.5
"""Rank correlation from which two parameters are only known together."""
_FEWEST = 5
"""Least number of samples for a distribution or a correlation."""


class ParameterKnowledge(Enum):
    """Whether the near machines determine a parameter."""

    YES = "yes"
    NO = "no"  # its values are distributed as in all other machines
    TOO_FEW = "too few"


@dataclass(frozen=True)
class ParameterRange:
    """Range of a parameter in the near machines."""

    low: float
    high: float
    width: float  # share of the parameter's distribution that lies between low and high
    known: ParameterKnowledge


@dataclass(frozen=True)
class NearMachines:
    """The machines that are near the measured times: their number and their parameters."""

    count: int
    ranges: tuple[ParameterRange, ...]  # in the order of the parameters; (): no machine is near
    correlation: np.ndarray  # Spearman's rank correlation (parameters, parameters); NaN: too few machines, or equal

    def tied(self, parameter: int) -> tuple[int, ...]:
        """Return the numbers of the parameters that are correlated with a parameter by 0.5 or more (`_TIED`)."""
        row = np.abs(np.nan_to_num(self.correlation[parameter]))
        return tuple(int(k) for k in np.flatnonzero(row >= _TIED) if k != parameter)


def region(values: np.ndarray, shares: np.ndarray, near: np.ndarray, box: np.ndarray) -> NearMachines:
    """Find the ranges of parameters among the machines that are near the measured times.

    A parameter is known in two cases. Either the box became narrower around it, or its distribution in the near
    machines differs from that in the others. A parameter without influence is recognised however few machines are near.

    Args:
        values: Values of all machines, shape (machines, parameters).
        shares: Positions of the values in their distributions, in [0, 1), of the same shape.
        near: Mask of the near machines, shape (machines,).
        box: Width of the last box from which machines were drawn, as a share of the distribution, shape (parameters,).
    """
    kept = values[near]
    ranges = []
    for k in range(values.shape[1]) if len(kept) else ():
        inside, outside = shares[near, k], shares[~near, k]
        known = ParameterKnowledge.YES if box[k] < 1 or unlike(inside, outside) else ParameterKnowledge.NO
        known = known if len(kept) >= _FEWEST else ParameterKnowledge.TOO_FEW
        ranges.append(ParameterRange(float(kept[:, k].min()), float(kept[:, k].max()), float(np.ptp(inside)), known))
    return NearMachines(len(kept), tuple(ranges), correlations(kept))


def unlike(some: np.ndarray, others: np.ndarray) -> bool:
    """Check whether two sets of numbers differ in distribution (Kolmogorov-Smirnov test, significance 0.001)."""
    from scipy.stats import ks_2samp

    return bool(len(some) and len(others) and ks_2samp(some, others).pvalue < _DOUBT)


def correlations(columns: np.ndarray, others: np.ndarray | None = None) -> np.ndarray:
    """Return Spearman's rank correlation of each column with each column of `others`.

    Args:
        columns: Numbers of shape (rows, columns).
        others: Numbers of shape (rows, other columns). None: `columns`.

    Returns:
        Correlations of shape (columns, other columns). NaN: there are fewer than 5 rows, or a column is constant.
    """
    from scipy.stats import spearmanr

    others = columns if others is None else others
    found = np.full((columns.shape[1], others.shape[1]), np.nan)
    for i, a in enumerate(columns.T):
        for j, b in enumerate(others.T):
            if len(a) >= _FEWEST and np.ptp(a) > 0 and np.ptp(b) > 0:
                found[i, j] = spearmanr(a, b).statistic
    return found
