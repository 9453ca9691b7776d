"""Weights of relative distances: 1 / expected^2, where what is expected comes from the measurements themselves.

TIA (3.5, F20) weighs by 1 / measured^2. A value that is too low by chance then weighs more than one that is too high.
A fit comes out too low, by about twice the square of the noise: 4 % at a noise of 14 %. Weights of what a model expects
have no such bias (iteratively reweighted least squares; McCullagh and Nelder 1989, chapter 9).
"""

from __future__ import annotations

import numpy as np

from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import most_telling

_ROUNDS = 30
_SAME = 1e-9
_FARTHEST = 10.0
"""Largest ratio, either way, of an expected to a measured value at which the model is used there."""


def expected_weights(
    columns: np.ndarray, observed: np.ndarray, setting: np.ndarray, criterion: str | None
) -> np.ndarray:
    """Find weights for relative distances without the bias of 1 / measured^2.

    Each round takes the most telling columns, as many as the criterion finds best, and weighs by what they expect.

    Args:
        columns: (rows, terms) values of the candidate terms; finite.
        observed: (rows) what was measured; not 0.
        setting: (rows) the number of each row's setting: repetitions have the same one.
        criterion: One of CRITERIA; None: all columns are taken.

    Returns:
        (rows) 1 / expected^2.
    """
    typical = np.sqrt(np.bincount(setting, observed**2) / np.bincount(setting))[setting]
    weight = typical**-2.0
    for _ in range(_ROUNDS):
        size = np.abs(_expected(columns, observed, weight, criterion))
        new = np.clip(size, typical / _FARTHEST, typical * _FARTHEST) ** -2.0
        change = np.abs(new / weight - 1).max()
        weight = new
        if change < _SAME:
            break
    return weight


def _expected(columns: np.ndarray, observed: np.ndarray, weight: np.ndarray, criterion: str | None) -> np.ndarray:
    """Return the values that the best of the nested models of the most telling columns expects, (rows)."""
    root = np.sqrt(weight)
    weighted, target = columns * root[:, None], observed * root
    length = np.linalg.norm(weighted, axis=0)
    scaled = weighted[:, length > 0] / length[length > 0]
    order = most_telling(scaled, target, max(min(scaled.shape[1], len(observed) - 3), 1))
    q = np.linalg.qr(scaled[:, order])[0]
    along = q.T @ target
    left = np.maximum(target @ target - np.cumsum(along**2), 1e-28 * (target @ target))
    best = len(order)
    if criterion is not None:
        scores = criterion_of(criterion, weight, scaled.shape[1]).score(np.arange(1, best + 1), left)
        best = int(scores.argmin()) + 1 if np.isfinite(scores).any() else 1
    expected: np.ndarray = q[:, :best] @ along[:best] / root
    return expected
