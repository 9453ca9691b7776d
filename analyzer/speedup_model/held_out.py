"""Choice of the extrapolation method that predicts the larger runs best from the smaller ones.

Each of the largest runs is predicted from all smaller ones, as if it did not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log

import numpy as np

MODEL = "factor by factor"
MARGIN, MARGIN_OF_ONE = 1.25, 2.0
"""Factors by which another method must be better than the model of factors to replace it.

The model of factors is preferred because it also explains the speedup. The first number holds if several rank counts
were held out. The second holds if a single one was held out, as its prediction rests on as few as two runs.
"""
SCATTER = 0.05
"""Scatter of runs as |ln(predicted / measured)|. The model of factors stays if its mean error is not larger."""
_MOST = 2
"""Largest number of rank counts that are held out."""

Method = Callable[[int], Mapping[str, float | None]]
"""Function of i that returns the speedup at the i-th rank count by method, predicted from smaller ones.

None: the method needs more runs.
"""


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors of each extrapolation method at rank counts that were held out.

    Attributes:
        ranks: The rank counts that were held out, ascending.
        errors: Mean of |ln(predicted / measured)| by method. Methods that need more runs are missing.
        growth: Largest |ln(predicted / measured)| per step of ln P beyond the fitted runs, by method.
    """

    ranks: tuple[int, ...]
    errors: dict[str, float]
    growth: dict[str, float]

    @property
    def chosen(self) -> str:
        """Name of the method that predictions should use.

        It is the model of factors, unless the error of another method is smaller by `MARGIN` or `MARGIN_OF_ONE`.
        """
        best = min(self.errors, key=lambda method: self.errors[method])
        margin = MARGIN if len(self.ranks) > 1 else MARGIN_OF_ONE
        return MODEL if self.errors[MODEL] <= max(margin * self.errors[best], SCATTER) else best


def held_out(ranks: np.ndarray, measured: np.ndarray, predicted: Method) -> HeldOutErrors | None:
    """Predict the largest rank counts from the smaller ones, and compare with the measured speedups.

    Args:
        ranks: Rank counts of the runs, ascending, shape (runs,).
        measured: Speedups of the runs, shape (runs,).
        predicted: Function that predicts by all methods.

    Returns:
        Errors of the methods. None: the runs have fewer than three rank counts.
    """
    firsts = np.flatnonzero(np.diff(ranks, prepend=-1) > 0)  # the first run of each rank count
    at = [int(i) for number, i in enumerate(firsts) if number >= (3 if len(firsts) > 3 else 2)][-_MOST:]
    if not at:
        return None
    off: dict[str, list[float]] = {}
    growth: dict[str, list[float]] = {}
    for i in at:
        step = log(ranks[i] / ranks[i - 1])
        for method, value in predicted(i).items():
            if value is not None:
                error = abs(log(max(value, 1e-12) / measured[i]))
                off.setdefault(method, []).append(error)
                growth.setdefault(method, []).append(error / step)
    whole = [method for method, errors in off.items() if len(errors) == len(at)]
    return HeldOutErrors(
        tuple(int(ranks[i]) for i in at),
        {method: float(np.mean(off[method])) for method in whole},
        {method: max(growth[method]) for method in whole},
    )
