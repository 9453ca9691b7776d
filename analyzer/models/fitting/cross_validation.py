"""Errors of predictions for data that were not fitted: each setting left out in turn, or the largest held out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_DEPENDENT = 1e-10
_FOLDS = 1000


def settings_of(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the number of each row's setting, shape (rows,).

    Rows with equal values of all parameters are repetitions of one setting.
    """
    together = np.column_stack(list(values.values()))
    return np.unique(together, axis=0, return_inverse=True)[1].ravel()


def rows_of(setting: np.ndarray) -> list[np.ndarray]:
    """Return the row indices of each setting, in the order of the settings' numbers."""
    order = np.argsort(setting, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(setting[order])) + 1)


def cross_validation_error(columns: np.ndarray, observed: np.ndarray, weight: np.ndarray, setting: np.ndarray) -> float:
    """Return the root mean square of the relative errors of each setting, predicted from all others.

    With Q of the columns' QR, residuals r become (1 - Q Q^T)^-1 r = r + Q (1 - Q^T Q)^-1 Q^T r for the rows that are
    left out, without another fit. More than 1000 settings are left out in 1000 groups. Measured values of 0 do not
    count.

    Args:
        columns: Values of the terms, shape (rows, terms).
        observed: Measured values, shape (rows,).
        weight: Weight of each row, shape (rows,).
        setting: Number of each row's setting, shape (rows,).

    Returns:
        The error. NaN: the other settings do not determine the coefficients.
    """
    root = np.sqrt(weight)
    weighted = columns * root[:, None]
    length = np.linalg.norm(weighted, axis=0)
    q, r = np.linalg.qr(weighted / np.where(length > 0, length, 1.0))
    if len(observed) <= columns.shape[1] or np.abs(np.diag(r)).min() < _DEPENDENT:
        return float("nan")
    target = observed * root
    residuals = target - q @ (q.T @ target)
    errors = np.zeros(len(observed))
    for rows in rows_of(setting % _FOLDS):
        out, left = q[rows], residuals[rows]
        rest = np.eye(q.shape[1]) - out.T @ out
        if np.linalg.eigvalsh(rest)[0] < _DEPENDENT:
            return float("nan")
        errors[rows] = left + out @ np.linalg.solve(rest, out.T @ left)
    seen = observed != 0
    return float(np.sqrt(np.mean((errors[seen] / target[seen]) ** 2)))


def largest(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return a mask of the rows in which a parameter has its largest value. They test predictions beyond the data."""
    out = np.zeros(len(next(iter(values.values()))), bool)
    for column in values.values():
        if np.ptp(column) > 0:
            out |= column == column.max()
    return out
