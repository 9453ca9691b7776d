"""Averages of weighted models: a value with an interval.

The interval is that of the mixture of the models' own intervals (Student's t about each value). The further a point is
from the data, the more the models differ. The interval is as wide as their differences (multi-model inference, Burnham
and Anderson 2002, chapter 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from analyzer.models.terms.product import Product


@dataclass(frozen=True)
class WeightedModel:
    """A fitted model with its weight among other models: the sum of coefficients * terms.

    The standard error of a value is sigma * |spread @ terms at the point|.

    Attributes:
        coefficients: Coefficients of the terms, shape (terms,).
        spread: Matrix of the standard errors, shape (terms, terms).
        sigma: Residual standard deviation; a share of the value if errors are relative.
        freedom: Degrees of freedom of Student's t.
        weight: Weight of the model.
    """

    terms: tuple[Product, ...]
    coefficients: np.ndarray  # (terms)
    spread: np.ndarray  # (terms, terms)
    sigma: float
    freedom: int
    weight: float

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of the coefficients, shape (terms,). Infinite without degrees of freedom."""
        return self.sigma * np.linalg.norm(self.spread, axis=0)

    def with_weight(self, weight: float) -> WeightedModel:
        """Return a copy of the model with another weight."""
        return replace(self, weight=weight)


NEAR = 0.5
"""Relative difference from which differences between models count less than in proportion.

The truth is near one of the models. A value between two models is near none.
"""
_STEPS = 80


def central(values: np.ndarray, weights: np.ndarray) -> int:
    """Return the index of the model that is nearest to all models.

    It has the least sum of weight * log(1 + |relative difference| / NEAR). This sum is concave between the values, so
    that it is least at one of them.

    Args:
        values: Value of each model, shape (models,).
        weights: Weight of each model, shape (models,).
    """
    size = np.maximum(np.abs(values), 1e-300)
    away = np.abs(values[:, None] - values) / size
    return int((np.log1p(away / NEAR) @ weights).argmin())


def consensus(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the value of the model that is nearest to all models, see `central`."""
    return float(values[central(values, weights)])


def interval(
    values: np.ndarray, errors: np.ndarray, freedom: np.ndarray, weights: np.ndarray, confidence: float
) -> tuple[float, float]:
    """Compute the central confidence interval: quantiles of the mixture of the models' distributions.

    Args:
        values: Value of each model, shape (models,).
        errors: Standard error of each model; infinite where a model has no degrees of freedom.
        freedom: Degrees of freedom of each model.
        weights: Weight of each model.
        confidence: Probability that the interval contains the truth, such as 0.95.
    """
    outside = (1 - confidence) / 2
    low, high = (_quantile(values, errors, freedom, weights, share) for share in (outside, 1 - outside))
    return low, high


def _quantile(values: np.ndarray, errors: np.ndarray, freedom: np.ndarray, weights: np.ndarray, share: float) -> float:
    if not (np.isfinite(errors).all() and (freedom > 0).all()):
        return float("-inf") if share < 0.5 else float("inf")
    errors = np.maximum(errors, np.abs(values) * 1e-12 + 1e-300)
    reach = 4.0
    while True:
        low, high = float((values - reach * errors).min()), float((values + reach * errors).max())
        if _below(low, values, errors, freedom, weights) < share < _below(high, values, errors, freedom, weights):
            break
        reach *= 4
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _below(middle, values, errors, freedom, weights) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _below(at: float, values: np.ndarray, errors: np.ndarray, freedom: np.ndarray, weights: np.ndarray) -> float:
    return float(weights @ stdtr(freedom, (at - values) / errors))
