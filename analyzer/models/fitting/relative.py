"""Weights for relative errors: 1 / expected^2, where expected values come from fits to the measurements.

TIA (3.5, F20) has the weights 1 / measured^2. A value that is too low by chance then has more weight than one that is
too high. A fit comes out too low, by about twice the square of the noise: 4 % at a noise of 14 %. Weights from a
model's expected values have no such bias (iteratively reweighted least squares; McCullagh and Nelder 1989, chapter 9).
"""

from __future__ import annotations

import numpy as np

from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import most_telling

_ROUNDS = 30
_SAME = 1e-9
_FARTHEST = 10.0
"""Largest ratio, either way, of an expected to a measured value. Beyond it the ratio is cut off."""


def expected_weights(
    columns: np.ndarray, observed: np.ndarray, setting: np.ndarray, criterion: str | None
) -> np.ndarray:
    """Compute weights for relative errors without the bias of 1 / measured^2.

    Each round fits the columns that explain most, as many as the criterion finds best. Their expected values give the
    weights of the next round.

    Args:
        columns: Values of the candidate terms, finite, shape (rows, terms).
        observed: Measured values, not 0, shape (rows,).
        setting: Number of each row's setting, shape (rows,). Repetitions have the same number.
        criterion: One of CRITERIA. None: all columns are used.

    Returns:
        Weights 1 / expected^2, shape (rows,).
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
    """Return the values that the best nested model of the most informative columns expects, shape (rows,)."""
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
