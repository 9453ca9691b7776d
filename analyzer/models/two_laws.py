"""Data that follow one law up to a value of a parameter and another law beyond it.

Causes are a cache that is full, or another algorithm of a collective; one formula serves neither law.
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
"""One law is doubted if its distance from the settings' means is by chance less often than this."""
_MUCH = 10.0
"""Two laws count if their BIC is lower by so much (very strong evidence; Kass and Raftery 1995)."""
_VALUES, _VALUES_ALONE = 3, 5
"""Least number of values of the parameter under each law; the second where nothing was repeated."""
_MOST_VARYING = 2
_MOST_VALUES, _PLACES = 64, 12
"""A parameter with more values than the first number is no series of sizes, and no second law is looked for. The second
number is how many places between values are tried at first; then the places around the best one are."""
_EXACT = 1e-9


@dataclass(frozen=True)
class TwoLaws:
    """The law `below` holds up to `last`, `above` from `first` on. closer: residual standard deviation of one law for
    all, divided by that of the two."""

    parameter: str
    last: float
    first: float
    below: WeightedModel
    above: WeightedModel
    closer: float


def two_laws(data: Measurements, whole: WeightedModel) -> TwoLaws | None:
    """Find the split with the best two laws; None: one law explains the data, or they are too few to say.

    Args:
        data: The measurements; all positive.
        whole: The model of all of them, its error a share of the value.
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
    """Find the best two laws along a parameter, with their BIC; `least`: number of its values that each has."""
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
    """Fit two laws, the second one from the k-th value of the parameter on, and their BIC."""
    under = data.values[name] < distinct[k]
    parts = (data.rows(under), data.rows(~under))
    below, above = (choose_models(part.values, part.observed)[0] for part in parts)
    closer = float(np.sqrt(_squares(whole) / (_squares(below) + _squares(above))))
    laws = TwoLaws(name, float(distinct[k - 1]), float(distinct[k]), below, above, closer)
    return _bic(len(data.observed), below, above), laws


def _is_repeated(data: Measurements) -> bool:
    """Check whether most settings were measured several times."""
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
    """Sum up the squares of relative residuals."""
    return max(member.sigma**2 * member.freedom, _EXACT**2)


def _bic(rows: int, *laws: WeightedModel) -> float:
    """Compute the BIC. Each term has a coefficient and an exponent; two laws also have the value where they meet."""
    parameters = 2 * sum(len(law.terms) for law in laws) + len(laws) - 1
    return float(rows * np.log(sum(map(_squares, laws)) / rows) + parameters * np.log(rows))
