"""Region of the machines that are near: how far each parameter is known, and which are only known together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

_DOUBT = 0.001
"""Probability with which a parameter without influence is taken to have one."""
_TIED = 0.5
"""Rank correlation from which on two parameters are only known together."""
_FEWEST = 5
"""With fewer samples a distribution or a correlation says nothing."""


class ParameterKnowledge(Enum):
    """Knowledge of a parameter from the machines that are near."""

    YES = "yes"
    NO = "no"  # they lie like all others
    TOO_FEW = "too few"


@dataclass(frozen=True)
class ParameterRange:
    """A parameter in the machines that are near."""

    low: float
    high: float
    width: float  # of the distribution that was drawn from, this share lies between the two
    known: ParameterKnowledge


@dataclass(frozen=True)
class NearMachines:
    """The machines that are near."""

    count: int
    ranges: tuple[ParameterRange, ...]  # by parameter; () without any machine
    correlation: np.ndarray  # (parameters, parameters) Spearman's of ranks; NaN where they are too few or all equal

    def tied(self, parameter: int) -> tuple[int, ...]:
        """Return the parameters with which a parameter is correlated."""
        row = np.abs(np.nan_to_num(self.correlation[parameter]))
        return tuple(int(k) for k in np.flatnonzero(row >= _TIED) if k != parameter)


def region(values: np.ndarray, shares: np.ndarray, near: np.ndarray, box: np.ndarray) -> NearMachines:
    """Find the parameters' ranges among machines that are near.

    values, shares: of all machines, and where they lie in their distributions (machines, parameters). near:
    (machines,). box: width of the last box that they were drawn from (parameters,).

    A parameter is known if the box became narrower around it, or if those that are near lie otherwise in its
    distribution than the others: one without influence is seen as such however few are near.
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
    """Return Spearman's rank correlation of each column with each of `others` (default: themselves).

    NaN if rows are too few or a column is constant.
    """
    from scipy.stats import spearmanr

    others = columns if others is None else others
    found = np.full((columns.shape[1], others.shape[1]), np.nan)
    for i, a in enumerate(columns.T):
        for j, b in enumerate(others.T):
            if len(a) >= _FEWEST and np.ptp(a) > 0 and np.ptp(b) > 0:
                found[i, j] = spearmanr(a, b).statistic
    return found
