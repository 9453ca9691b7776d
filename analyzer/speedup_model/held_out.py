"""Choice of the extrapolation method: the one that predicts the larger runs best from the smaller ones.

Each of the largest runs is predicted from all smaller ones, as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log

import numpy as np

MODEL = "factor by factor"
MARGIN, MARGIN_OF_ONE = 1.25, 2.0
"""The model of factors says why, too: another method must be better by this factor to be taken; by the second one if a
single run was held out, as then it was predicted from as few as two."""
SCATTER = 0.05
"""|ln| by which runs scatter: a model that is off by no more stays."""
_MOST = 2
"""Largest rank counts that are held out."""

Method = Callable[[int], Mapping[str, float | None]]
"""Speedups by method at the i-th rank count, from those before it; None: the method needs more runs."""


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors of each method at rank counts that were held out.

    Attributes:
        ranks: The rank counts that were held out, ascending.
        errors: By method the mean of |ln(predicted / measured)|; methods that need more runs are not there.
        growth: By method the largest |ln(predicted / measured)| for each step of ln P beyond the runs.
    """

    ranks: tuple[int, ...]
    errors: dict[str, float]
    growth: dict[str, float]

    @property
    def chosen(self) -> str:
        """The method to predict with."""
        best = min(self.errors, key=lambda method: self.errors[method])
        margin = MARGIN if len(self.ranks) > 1 else MARGIN_OF_ONE
        return MODEL if self.errors[MODEL] <= max(margin * self.errors[best], SCATTER) else best


def held_out(ranks: np.ndarray, measured: np.ndarray, predicted: Method) -> HeldOutErrors | None:
    """Predict the largest rank counts from the smaller ones.

    Args:
        ranks: Rank counts of the runs, ascending (runs,).
        measured: Their speedups (runs,).
        predicted: The methods.

    Returns:
        None where fewer than three rank counts are there.
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
