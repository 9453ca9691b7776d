"""A factor's curve chosen from the data, by the selection of analytical models: several models weighted by how likely
they are, with what that leaves unsure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.models.averaging import WeightedModel
from analyzer.models.choose.likely_models import choose_models
from analyzer.models.model import Model
from analyzer.speedup_model.extrapolation import FORMS, FittedCurve, ReciprocalCurve, fitted

PARAMETER = "P"
FEWEST = 3
"""With runs at fewer rank counts there is nothing to choose: a + b ln P."""
LEAST = 0.1
"""Least drawn value, as a share of the least value that was fitted."""


@dataclass(frozen=True)
class AveragedModel:
    """The average of the models. Errors are shares of a value."""

    model: Model
    least: float  # of the values fitted

    def value(self, p: float) -> float:
        return self.model.predict(**{PARAMETER: p})

    def drawn(self, p: float, number: int, rng: np.random.Generator) -> np.ndarray | None:
        """Draw from Student's t around each member, as wide as its value and a new measurement are uncertain.

        Members come as often as their weights say.
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
        return str(self.model)


def _new_value(member: WeightedModel, p: float) -> tuple[float, float]:
    """Compute a member's value at p, and the standard error of a new measurement there."""
    terms = np.array([float(np.asarray(term.value({PARAMETER: np.array(p)}))) for term in member.terms])
    value = float(member.coefficients @ terms)
    return value, float(member.sigma * np.sqrt(value**2 + ((member.spread @ terms) ** 2).sum()))


def selected(p: np.ndarray, y: np.ndarray) -> FittedCurve:
    """Select a curve as a sum of terms (an analyzer.speedup_model.extrapolation.Selector); y above 0.

    Models are of quantities that grow: where a factor falls, its reciprocal, the time for each second of work, is a
    sum of terms.
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
