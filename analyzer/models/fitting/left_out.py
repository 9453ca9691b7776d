"""Errors on what was not fitted: each setting left out in turn, and the largest ones held out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analyzer.models.fitting.least_squares import fit_columns


def settings_of(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """(rows) the number of the setting of each row: rows with the same values of all parameters are repetitions."""
    together = np.column_stack(list(values.values()))
    return np.unique(together, axis=0, return_inverse=True)[1].ravel()


def cross_validation_error(columns: np.ndarray, observed: np.ndarray, weight: np.ndarray, setting: np.ndarray) -> float:
    """Root mean square of the relative errors of predictions of each setting from all others; NaN where these do not
    determine the coefficients. What is 0 has no relative error."""
    errors = np.full(len(observed), np.nan)
    seen = observed != 0
    for one in np.unique(setting[seen]):
        out = setting == one
        if (~out).sum() >= columns.shape[1] and np.linalg.matrix_rank(_scaled(columns[~out])) == columns.shape[1]:
            found = fit_columns(columns[~out], observed[~out], weight[~out])
            out &= seen
            errors[out] = columns[out] @ found.coefficients / observed[out] - 1
    return float(np.sqrt(np.mean(errors[seen] ** 2)))


def _scaled(columns: np.ndarray) -> np.ndarray:
    return columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)


def largest(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """(rows) whether any parameter of the row has its largest value: what predictions beyond the data are tried on."""
    out = np.zeros(len(next(iter(values.values()))), bool)
    for column in values.values():
        if np.ptp(column) > 0:
            out |= column == column.max()
    return out
