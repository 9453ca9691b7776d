"""Choice of the settings to measure next, so that predictions elsewhere become as certain as possible.

The likely models, with the uncertainty of their coefficients, are a distribution of curves. A measurement at one more
point reduces the variance at another point by cov^2 / (variance at the measured point + noise^2). This is exact for one
linear model (the update of least squares by a row). For several models it is the best linear estimate (kriging; Sacks
et al. 1989).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.averaging import WeightedModel
from analyzer.models.model import Model

FARTHER = 4.0
"""Factor beyond the largest value of each parameter at which predictions should improve, unless targets are given."""
_STEP = 2.0
"""Largest factor beyond the largest value for candidates. If measured values have a smaller step, the step is used."""
_WIDE = 1.5
"""Ratio of neighbouring values above which a candidate lies between them."""
_MOST = 5000


@dataclass(frozen=True)
class NextPoint:
    """A setting to measure.

    Attributes:
        at: Value of each parameter by name.
        expected: Value that the model predicts there.
        narrower: Width of the intervals at the targets after measuring this setting and all before it, as a share of
            the present width (mean over the targets).
    """

    at: dict[str, float]
    expected: float
    narrower: float


def next_points(
    model: Model, values: Mapping[str, np.ndarray], targets: Sequence[Mapping[str, float]], number: int
) -> list[NextPoint]:
    """Choose settings to measure one after the other, each the most informative after the ones before it.

    Args:
        model: A fitted model.
        values: Measured values of each parameter by name, shape (rows,).
        targets: Points at which predictions are wanted. Empty: at four times the largest values.
        number: Largest number of settings.

    Returns:
        At most `number` settings.

    Raises:
        TracelibError: There are too few rows to know the model's uncertainty.
    """
    goals = [dict(target) for target in targets] or [{name: FARTHER * float(x.max()) for name, x in values.items()}]
    candidates = [dict(zip(values, point, strict=True)) for point in _candidates(values)]
    covariance, noise, usable = _covariance(model, [*goals, *candidates])
    goal = np.flatnonzero(usable[: len(goals)])
    before = np.sqrt(np.diag(covariance)[goal])
    if not len(goal) or not np.isfinite(covariance[usable][:, usable]).all() or not (before > 0).all():
        raise TracelibError("the rows are too few to say what to measure next", "measure other settings first")
    allowed = usable.copy()
    allowed[: len(goals)] = False
    chosen: list[NextPoint] = []
    while len(chosen) < number and allowed.any():
        told = covariance[goal] ** 2 / (np.diag(covariance) + noise**2)
        left = np.sqrt(np.maximum(np.diag(covariance)[goal][:, None] - told, 0)) / before[:, None]
        place = int(np.where(allowed, left.mean(0), np.inf).argmin())
        point = candidates[place - len(goals)]
        chosen.append(NextPoint(point, model.predict(**point), float(left[:, place].mean())))
        row = covariance[place]
        covariance = covariance - np.outer(row, row) / (row[place] + noise[place] ** 2)
    return chosen


def _covariance(model: Model, points: Sequence[Mapping[str, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return covariances of expected values, noise of a measurement at each point, and a mask of points with a value.

    The covariances have shape (points, points). If errors are relative, all are of logarithms.
    """
    members = model.members if model.whole is None else (model.whole,)
    weights = np.array([member.weight for member in members]) if len(members) > 1 else np.ones(1)
    weights = weights / weights.sum()
    grid = {name: np.array([point[name] for point in points], float) for name in model.parameters}
    said, errors = zip(*(_of_member(member, grid) for member in members), strict=True)
    values, slopes = np.array(said), list(errors)  # (members, points); each (q, points)
    usable = np.isfinite(values).all(0) & np.array([np.isfinite(slope).all(0) for slope in slopes]).all(0)
    noise = np.full(len(points), float(weights @ np.array([member.sigma for member in members])))
    if model.relative:
        usable &= (values > 0).all(0)
        with np.errstate(all="ignore"):
            slopes = [slope / value for slope, value in zip(slopes, values, strict=True)]
            values = np.log(values)
    values = np.where(usable, values, 0.0)
    apart = values - weights @ values
    total = (weights[:, None] * apart).T @ apart
    for weight, slope in zip(weights, slopes, strict=True):
        slope = np.where(usable, slope, 0.0)
        total += weight * slope.T @ slope
    return total, noise, usable


def _of_member(member: WeightedModel, grid: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return a member's values (points,), and a matrix (q, points) whose column norms are the standard errors."""
    rows = next(iter(grid.values())).shape
    columns = np.array([np.broadcast_to(np.asarray(term.value(grid), float), rows) for term in member.terms])
    with np.errstate(all="ignore"):
        return member.coefficients @ columns, member.sigma * member.spread @ columns


def _candidates(values: Mapping[str, np.ndarray]) -> Iterator[tuple[float, ...]]:
    """Yield candidate settings of measured values, of values between them, and of one step beyond.

    If there are too many, yield measured settings with one parameter changed.
    """
    levels = [_levels(np.unique(column)) for column in values.values()]
    if np.prod([float(len(level)) for level in levels]) <= _MOST:
        yield from product(*levels)
        return
    settings = np.unique(np.column_stack(list(values.values())), axis=0)
    seen = set()
    for setting in settings[np.linspace(0, len(settings) - 1, 100).round().astype(int)].tolist():
        for place, level in enumerate(levels):
            for value in level:
                point = (*setting[:place], value, *setting[place + 1 :])
                if point not in seen:
                    seen.add(point)
                    yield point


def _levels(distinct: np.ndarray) -> list[float]:
    found = set(distinct.tolist())
    if len(distinct) < 2:
        return sorted(found)
    whole = bool((distinct == np.rint(distinct)).all())
    if distinct[0] > 0:
        step = min(float(distinct[-1] / distinct[-2]), _STEP)
        new = [low * (high / low) ** 0.5 for low, high in pairwise(distinct.tolist()) if high / low > _WIDE]
        new += [float(distinct[-1]) * step, float(distinct[0]) / float(distinct[1] / distinct[0])]
    else:
        new = [float(2 * distinct[-1] - distinct[-2])]
    rounded = [float(round(value)) if whole else value for value in new]
    return sorted(found | {value for value in rounded if not whole or value >= min(1.0, distinct[0])})
