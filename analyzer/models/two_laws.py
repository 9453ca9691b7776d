"""Data that follow one law up to a value of a parameter, and another law beyond it.

Causes are a full cache, or another algorithm of a collective. One formula cannot describe both laws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from analyzer.models.averaging import WeightedModel
from analyzer.models.choose.likely_models import MOST_PARAMETERS, choose_models
from analyzer.models.fitting.cross_validation import rows_of, settings_of
from analyzer.models.measurements import Measurements

_SURE = 0.001
"""Significance level of the test that one law explains the settings' means."""
_MUCH = 10.0
"""Difference of the BIC from which two laws count (very strong evidence; Kass and Raftery 1995)."""
_VALUES, _VALUES_ALONE = 3, 5
"""Least number of the parameter's values under each law. The second number is for data without repetitions."""
_MOST_VARYING = 2
_MOST_VALUES, _PLACES = 64, 12
"""Largest number of values of a parameter for which two laws are searched, and number of places tried at first.

A parameter with more values is no series of sizes. After the first places, all places around the best one are tried.
"""
_EXACT = 1e-9


@dataclass(frozen=True)
class TwoLaws:
    """Two laws of an observable, one for small and one for large values of a parameter.

    Attributes:
        last: Largest value of the parameter under the law `below`.
        first: Smallest value of the parameter under the law `above`.
        closer: Residual standard deviation of one law for all data / that of the two laws.
    """

    parameter: str
    last: float
    first: float
    below: WeightedModel
    above: WeightedModel
    closer: float


def two_laws(data: Measurements, whole: WeightedModel) -> TwoLaws | None:
    """Find the split of the data with the best two laws.

    Args:
        data: The measurements; all must be positive.
        whole: Model of all data, with relative errors.

    Returns:
        The laws. None: one law explains the data, or there are too few data.
    """
    varying = [name for name, column in data.values.items() if np.ptp(column) > 0]
    if not 0 < len(varying) <= min(_MOST_VARYING, MOST_PARAMETERS) or not (data.observed > 0).all():
        return None
    repeated = _is_repeated(data)
    if repeated and _by_chance(data, whole) > _SURE:
        return None
    least = _VALUES if repeated else _VALUES_ALONE
    found = [split for name in varying if (split := _best_split(data, whole, name, least))]
    if not found:
        return None
    score, laws = min(found, key=lambda one: one[0])
    return laws if score < _bic(len(data.observed), whole) - _MUCH else None


def _best_split(data: Measurements, whole: WeightedModel, name: str, least: int) -> tuple[float, TwoLaws] | None:
    """Find the best two laws along a parameter, with their BIC. `least`: least number of its values under each law."""
    distinct = np.unique(data.values[name])
    if not 2 * least <= len(distinct) <= _MOST_VALUES:
        return None
    places = np.arange(least, len(distinct) - least + 1)
    some = np.unique(np.linspace(0, len(places) - 1, _PLACES).round().astype(int))
    tried = {k: _split(data, whole, name, distinct, k) for k in places[some].tolist()}
    best = min(tried, key=lambda k: tried[k][0])
    step = int(np.diff(places[some], append=places[-1]).max())
    near = places[np.abs(places - best) < step].tolist()
    tried |= {k: _split(data, whole, name, distinct, k) for k in near if k not in tried}
    return min(tried.values(), key=lambda one: one[0])


def _split(
    data: Measurements, whole: WeightedModel, name: str, distinct: np.ndarray, k: int
) -> tuple[float, TwoLaws]:  # fmt: skip
    """Fit two laws, the second from the k-th value of the parameter on. Return their BIC and the laws."""
    under = data.values[name] < distinct[k]
    parts = (data.rows(under), data.rows(~under))
    below, above = (choose_models(part.values, part.observed)[0] for part in parts)
    closer = float(np.sqrt(_squares(whole) / (_squares(below) + _squares(above))))
    laws = TwoLaws(name, float(distinct[k - 1]), float(distinct[k]), below, above, closer)
    return _bic(len(data.observed), below, above), laws


def _is_repeated(data: Measurements) -> bool:
    """Check whether more than half of the settings were measured several times."""
    number = np.array([len(rows) for rows in rows_of(settings_of(data.values))])
    return bool((number > 1).mean() > 0.5)


def _by_chance(data: Measurements, whole: WeightedModel) -> float:
    """Return the probability that means of settings lie this far from the model (the F test of lack of fit)."""
    columns = [np.broadcast_to(np.asarray(term.value(data.values), float), data.observed.shape) for term in whole.terms]
    expected = whole.coefficients @ np.array(columns)
    away = data.observed / expected - 1
    groups = rows_of(settings_of(data.values))
    pure = sum(float(((away[rows] - away[rows].mean()) ** 2).sum()) for rows in groups)
    lack = sum(len(rows) * float(away[rows].mean()) ** 2 for rows in groups)
    free, left = len(groups) - len(whole.terms), len(away) - len(groups)
    return float(fdtrc(free, left, lack / free / (pure / left))) if free > 0 and left > 0 and pure > 0 else 1.0


def _squares(member: WeightedModel) -> float:
    """Return the sum of squares of a model's relative residuals."""
    return max(member.sigma**2 * member.freedom, _EXACT**2)


def _bic(rows: int, *laws: WeightedModel) -> float:
    """Return the BIC. Each term has a coefficient and an exponent; two laws also have the value at which they meet."""
    parameters = 2 * sum(len(law.terms) for law in laws) + len(laws) - 1
    return float(rows * np.log(sum(map(_squares, laws)) / rows) + parameters * np.log(rows))
