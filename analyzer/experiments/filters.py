"""SIEVE: selection of the rows to which a model is fitted (Rodriguez 2011, section 2.5.2; cll.sieve)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analyzer.errors import TracelibError
from analyzer.experiments.columns import OBSERVABLES
from analyzer.experiments.expression import chosen

if TYPE_CHECKING:
    import pandas

DEVIATIONS = 2
"""Standard deviations from the mean beyond which rule `deviation` marks outliers (thesis, section 3.3.2)."""
MODIFIED_Z = 3.5
"""Score above which rule `median` marks outliers.

Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993), section 3.3.
"""
_NORMAL_MAD = 0.6745
"""Median of the distances from the median of a normal distribution, in its standard deviations."""


def by_deviation(values: np.ndarray) -> np.ndarray:
    """Return a mask of the values more than two sample standard deviations from their mean.

    Five or fewer values have no outliers: the largest possible distance is (n - 1) / sqrt(n) deviations.
    """
    if len(values) < 3:
        return np.zeros(len(values), bool)
    return np.abs(values - values.mean()) > DEVIATIONS * values.std(ddof=1)


def by_median(values: np.ndarray) -> np.ndarray:
    """Return a mask of the values whose modified z-score, 0.6745 |x - median| / MAD, is above 3.5.

    MAD is the median of the distances from the median. The rule finds several outliers that hide each other. It finds
    none if more than half of the values are equal.
    """
    away = np.abs(values - np.median(values))
    typical = np.median(away)
    if len(values) < 3 or typical == 0:
        return np.zeros(len(values), bool)
    return _NORMAL_MAD * away > MODIFIED_Z * typical


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"median": by_median, "deviation": by_deviation}
"""Rules by name. Each takes the repetitions of one setting and returns a mask of the outliers."""


def select(frame: pandas.DataFrame, conditions: Sequence[str]) -> pandas.DataFrame:
    """Return the rows for which all conditions hold (see `analyzer.experiments.expression`).

    Raises:
        TracelibError: A condition is not valid.
    """
    for condition in conditions:
        frame = frame[chosen(condition, frame)]
    return frame.reset_index(drop=True)


def observable_of(frame: pandas.DataFrame) -> str:
    """Return the column to model if the user names none: PAPI_REAL_USEC, else CLOCK, else time.

    Raises:
        TracelibError: The table has none of these columns.
    """
    for name in OBSERVABLES:
        if name in frame.columns:
            return name
    raise TracelibError(f"the table has none of {', '.join(OBSERVABLES)}", "name the column: --observable NAME")


def outliers(frame: pandas.DataFrame, observable: str, factors: Sequence[str], rule: str = "median") -> np.ndarray:
    """Return a mask of the rows that are outliers among the rows with the same factors.

    A missing value is no outlier. A setting with one or two measurements has no outliers.

    Args:
        frame: Table of experiments.
        observable: The measured column.
        factors: Columns that identify a setting.
        rule: Name of the rule, one of RULES.

    Raises:
        TracelibError: A column is missing, or the observable is not a column of numbers.
    """
    for name in (observable, *factors):
        if name not in frame.columns:
            raise TracelibError(f"there is no column {name}", f"columns: {', '.join(map(str, frame.columns))}")
    if frame[observable].dtype.kind not in "iufb":
        raise TracelibError(f"column {observable} has texts", "name a column of numbers: --observable NAME")
    values = frame[observable].to_numpy(float)
    found = np.zeros(len(frame), bool)
    known = np.flatnonzero(np.isfinite(values))
    for rows in _groups(frame.iloc[known], factors):
        at = known[rows]
        found[at] = RULES[rule](values[at])
    return found


def _groups(frame: pandas.DataFrame, factors: Sequence[str]) -> list[np.ndarray]:
    """Return the positions of the rows of each setting. A missing factor counts as a value of its own."""
    if not factors:
        return [np.arange(len(frame))]
    return list(frame.groupby(list(factors), dropna=False, sort=False).indices.values())
