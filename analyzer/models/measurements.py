"""Measurements for a fit: checked columns of numbers from a table."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.fitting.cross_validation import rows_of, settings_of

if TYPE_CHECKING:
    import pandas

REPETITIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "median": np.median,
}
"""Ways to reduce the repeated measurements of a setting to one."""
_FEWEST = 3
_LARGEST = 1e100
"""Largest number in a column, and inverse of the smallest: squares of others overflow or become 0."""


@dataclass(frozen=True)
class Measurements:
    """Measurements of an observable, with the parameters of each row.

    Attributes:
        values: Values of each parameter by name, shape (rows,).
        observed: Measured values of the observable, shape (rows,).
        left_out: Number of rows of the table in which one of these was missing.
    """

    observable: str
    values: dict[str, np.ndarray]
    observed: np.ndarray
    left_out: int = 0

    def rows(self, which: np.ndarray) -> Measurements:
        """Return the measurements of some rows. `which`: a mask or indices."""
        values = {k: v[which] for k, v in self.values.items()}
        return Measurements(self.observable, values, self.observed[which], self.left_out)

    def put_together(self, repetitions: str) -> Measurements:
        """Return one row for each setting, with the least, largest, mean or median of its measurements.

        Args:
            repetitions: A name in REPETITIONS. "all": all rows are kept.
        """
        if repetitions == "all":
            return self
        setting = settings_of(self.values)
        first = np.unique(setting, return_index=True)[1]
        of = REPETITIONS[repetitions]
        observed = np.array([of(self.observed[rows]) for rows in rows_of(setting)])
        values = {k: v[first] for k, v in self.values.items()}
        return Measurements(self.observable, values, observed, self.left_out)


def measurements_of(frame: pandas.DataFrame, observable: str, parameters: Sequence[str]) -> Measurements:
    """Take the columns of the observable and the parameters from a table. Rows with missing values are left out.

    Raises:
        TracelibError: A column is missing, not numeric, or has a name that no formula can contain; or there are fewer
            than three rows.
    """
    names = list(dict.fromkeys(parameters))
    if not names:
        raise TracelibError("no parameters are named", "say what the observable depends on: --parameters p,n", 2)
    if observable in names:
        raise TracelibError(f"{observable} is the observable and a parameter", "name it once", 2)
    for name in (observable, *names):
        if name not in frame.columns:
            there = ", ".join(map(str, frame.columns[:12]))
            raise TracelibError(f"the table has no column {name!r}", f"it has {there}")
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise TracelibError(f"{name!r} cannot stand in a formula", "rename the column to letters, digits and _")
    columns = {name: numbers_of(frame[name], name) for name in (observable, *names)}
    there = ~np.isnan(np.column_stack(list(columns.values()))).any(1)
    columns = {name: column[there] for name, column in columns.items()}
    for name, column in columns.items():
        size = np.abs(column[column != 0])
        if (size > _LARGEST).any():
            raise TracelibError(f"column {name!r} has numbers that are too large", "leave these rows out")
        if (size < 1 / _LARGEST).any():
            raise TracelibError(f"column {name!r} has numbers that are too small", "leave these rows out")
    if there.sum() < _FEWEST:
        raise TracelibError(f"the table has {there.sum()} rows of numbers", f"a fit needs at least {_FEWEST}")
    if not columns[observable].any():
        raise TracelibError(f"{observable} is 0 in all rows", "name another observable")
    values = {name: columns[name] for name in names}
    return Measurements(observable, values, columns[observable], int((~there).sum()))


def numbers_of(column: pandas.Series, name: str) -> np.ndarray:
    """Return a column as float64.

    Raises:
        TracelibError: The column is not all numbers.
    """
    try:
        return np.asarray(column, float)
    except (TypeError, ValueError) as error:
        raise TracelibError(f"column {name!r} is not all numbers", "leave out or correct the others") from error
    except OverflowError as error:  # integers of hundreds of digits
        raise TracelibError(f"column {name!r} has numbers that are too large", "leave these rows out") from error
