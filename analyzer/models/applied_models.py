"""Values of a model at every row of a table, beside the measured values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.measurements import numbers_of
from analyzer.models.model import Model
from analyzer.models.terms.names import identifiers

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ModelValues:
    """Expected values of a model at the rows of a table. Arrays have shape (rows,).

    Expected values are NaN where a row lacks a parameter, or the model has no value.

    Attributes:
        low: Lower end of the 95 % confidence interval.
        high: Upper end of the 95 % confidence interval.
        beyond: Mask of the rows with a parameter outside of the range of the fitted data.
        measured: Measured values of the observable. None: the table does not have them.
    """

    values: dict[str, np.ndarray]  # values of each parameter, by name
    expected: np.ndarray
    low: np.ndarray
    high: np.ndarray
    beyond: np.ndarray
    measured: np.ndarray | None

    @property
    def differences(self) -> np.ndarray:
        """Relative differences measured / expected - 1. NaN: one of them is not known."""
        if self.measured is None:
            return np.full(len(self.expected), np.nan)
        with np.errstate(all="ignore"):
            found = self.measured / self.expected - 1
        return np.where(np.isfinite(found), found, np.nan)


def apply_model(model: Model, frame: pandas.DataFrame) -> ModelValues:
    """Compute a model's expected value at each row of a table.

    Raises:
        TracelibError: The table lacks a parameter, or a column is not numeric.
    """
    there = ", ".join(map(str, frame.columns[:12]))
    frame = frame.rename(columns=identifiers(frame.columns))
    if missing := [name for name in model.parameters if name not in frame.columns]:
        raise TracelibError(f"the table has no column {', '.join(missing)}, which the model needs", f"it has {there}")
    values = {name: numbers_of(frame[name], name) for name in model.parameters}
    measured = numbers_of(frame[model.observable], model.observable) if model.observable in frame.columns else None
    return apply_to(model, values, measured)


def apply_to(model: Model, values: Mapping[str, np.ndarray], measured: np.ndarray | None) -> ModelValues:
    """Compute a model's expected value for each row of parameters.

    Args:
        model: The model.
        values: Values of each parameter of the model by name, shape (rows,). Further names are ignored.
        measured: Measured values of the observable, shape (rows,). None: not known.
    """
    values = {name: values[name] for name in model.parameters}
    together = np.column_stack([*values.values()])
    settings, setting = np.unique(together, axis=0, return_inverse=True)
    said = np.array([_at(model, row) for row in settings.tolist()]).reshape(-1, 3)[setting.ravel()]
    beyond = np.zeros(len(together), bool)
    for name, column in values.items():
        low, high = model.ranges[name]
        beyond |= (column < low) | (column > high)
    return ModelValues(values, said[:, 0], said[:, 1], said[:, 2], beyond, measured)


def _at(model: Model, row: list[float]) -> tuple[float, float, float]:
    try:
        found = model.prediction(**dict(zip(model.parameters, row, strict=True)))
    except TracelibError:  # no value there
        return np.nan, np.nan, np.nan
    return found.value, *found.interval
