"""Errors on what was not fitted: each setting left out in turn, and the largest ones held out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_DEPENDENT = 1e-10


def settings_of(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """(rows) the number of the setting of each row: rows with the same values of all parameters are repetitions."""
    together = np.column_stack(list(values.values()))
    return np.unique(together, axis=0, return_inverse=True)[1].ravel()


def cross_validation_error(columns: np.ndarray, observed: np.ndarray, weight: np.ndarray, setting: np.ndarray) -> float:
    """Root mean square of the relative errors of predictions of each setting from all others; NaN where these do not
    determine the coefficients. What is 0 has no relative error.

    With Q of the columns' QR, residuals r become (1 - Q Q^T)^-1 r, for the rows that are left out, without another fit.
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
    order = np.argsort(setting, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(setting[order])) + 1):
        rest = np.eye(len(rows)) - q[rows] @ q[rows].T
        if np.linalg.eigvalsh(rest)[0] < _DEPENDENT:
            return float("nan")
        errors[rows] = np.linalg.solve(rest, residuals[rows])
    seen = observed != 0
    return float(np.sqrt(np.mean((errors[seen] / target[seen]) ** 2)))


def largest(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """(rows) whether any parameter of the row has its largest value: what predictions beyond the data are tried on."""
    out = np.zeros(len(next(iter(values.values()))), bool)
    for column in values.values():
        if np.ptp(column) > 0:
            out |= column == column.max()
    return out
