"""Choose the settings to measure next: they make predictions elsewhere as sure as possible.

The models that are likely, each with what its coefficients may be, are a distribution of curves. Measuring one more
point takes from the variance at another one cov^2 / (variance here + noise^2): exactly so for one linear model (the
update of least squares by a row), and as the best linear estimate for several (kriging; Sacks et al. 1989).
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
"""Factor beyond the largest value of each parameter at which predictions shall become surer, unless points are
given."""
_STEP = 2.0
"""Factor beyond the largest value up to which candidates go, or one step of the values as they are."""
_WIDE = 1.5
"""Neighbouring values that are further apart than this factor have a candidate between them."""
_MOST = 5000


@dataclass(frozen=True)
class NextPoint:
    """A setting. expected: what the model says that it takes; narrower: what part of their width the intervals at the
    targets keep when it and all those before it are measured (mean over the targets)."""

    at: dict[str, float]
    expected: float
    narrower: float


def next_points(
    model: Model, values: Mapping[str, np.ndarray], targets: Sequence[Mapping[str, float]], number: int
) -> list[NextPoint]:
    """Choose settings one after the other, each the one that tells most beside those before it.

    Args:
        model: A fitted model.
        values: Of each parameter, (rows): where was measured.
        targets: Where predictions are wanted; none: at four times the largest values.
        number: How many settings are wanted.

    Returns:
        At most `number` settings.

    Raises:
        TracelibError: The rows are too few to say how sure the model is.
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
    """Return the covariance of expected values (points, points), the noise of one measurement (points), and a mask.

    The mask has the points with a value. If errors are shares of the value, all are of logarithms.

    Where errors are shares of the value, all are of logarithms.
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
    """Return the member's values (points), and (q, points) whose columns have the standard errors as their norms."""
    rows = next(iter(grid.values())).shape
    columns = np.array([np.broadcast_to(np.asarray(term.value(grid), float), rows) for term in member.terms])
    with np.errstate(all="ignore"):
        return member.coefficients @ columns, member.sigma * member.spread @ columns


def _candidates(values: Mapping[str, np.ndarray]) -> Iterator[tuple[float, ...]]:
    """Yield settings of measured values, of values between them and of one step beyond.

    If these are too many: settings that were measured, with one parameter changed.
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
