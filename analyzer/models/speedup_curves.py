"""Curve of a factor of the speedup model, chosen from the data: several models weighted by their likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.models.averaging import WeightedModel
from analyzer.models.choose.likely_models import choose_models
from analyzer.models.model import Model
from analyzer.speedup_model.extrapolation import FORMS, FittedCurve, ReciprocalCurve, fitted

PARAMETER = "P"
FEWEST = 3
"""Least number of rank counts for a choice. With fewer, the curve is a + b ln P."""
LEAST = 0.1
"""Least drawn value, as a share of the least fitted value."""


@dataclass(frozen=True)
class AveragedModel:
    """Average of weighted models as a curve y(P). Errors are relative."""

    model: Model
    least: float  # least of the fitted values

    def value(self, p: float) -> float:
        """Return the value that all models together predict at `p` ranks."""
        return self.model.predict(**{PARAMETER: p})

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw values that a new measurement at `p` ranks could give.

        Each draw chooses a member by its weight, then draws from Student's t around the member's value. The width is
        the uncertainty of the value and of a new measurement.
        """
        members = self.model.members
        which = rng.choice(len(members), number, p=np.array([member.weight for member in members]))
        found = np.empty(number)
        for place, member in enumerate(members):
            mine = np.flatnonzero(which == place)
            value, width = _new_value(member, p)
            found[mine] = value + width * rng.standard_t(member.freedom, len(mine))
        return np.maximum(found, LEAST * self.least)

    def text(self) -> str:
        """Return the selected model's formula."""
        return str(self.model)


def _new_value(member: WeightedModel, p: float) -> tuple[float, float]:
    """Return a member's value at `p` ranks, and the standard error of a new measurement there."""
    terms = np.array([float(np.asarray(term.value({PARAMETER: np.array(p)}))) for term in member.terms])
    value = float(member.coefficients @ terms)
    return value, float(member.sigma * np.sqrt(value**2 + ((member.spread @ terms) ** 2).sum()))


def selected(p: np.ndarray, y: np.ndarray) -> FittedCurve:
    """Choose a sum of terms as a curve (an analyzer.speedup_model.extrapolation.Selector).

    Sums of terms describe quantities that grow. If a factor falls, its reciprocal is fitted, the time for each second
    of work.

    Args:
        p: Rank counts, shape (runs,).
        y: Values of the factor above 0, shape (runs,).
    """
    p, y = np.asarray(p, float), np.asarray(y, float)
    if len(np.unique(p)) < FEWEST:
        return fitted(FORMS["log"])(p, y)
    if y[p.argmax()] < y[p.argmin()]:
        return ReciprocalCurve(_of_growing(p, 1 / y))
    return _of_growing(p, y)


def _of_growing(p: np.ndarray, y: np.ndarray) -> AveragedModel:
    members = tuple(choose_models({PARAMETER: p}, y))
    ranges = {PARAMETER: (float(p.min()), float(p.max()))}
    model = Model("factor", (PARAMETER,), members, ("evidence", members[0].weight), True, ranges)
    return AveragedModel(model, float(y.min()))
