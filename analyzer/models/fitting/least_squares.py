"""Weighted least squares of columns that may differ by many orders of magnitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.models.fitting.constrained import constrained_least_squares

RANK = 1e-13
"""Singular values below this share of the largest one are rounding."""


@dataclass(frozen=True)
class Fitted:
    """Coefficients of columns. rss: the weighted sum of squares; freedom: rows less columns.

    `spread` gives the standard error of a prediction: sigma * |spread @ row|, row being the columns at a point.
    """

    coefficients: np.ndarray  # (columns)
    spread: np.ndarray  # (columns, columns)
    rss: float
    rows: int

    @property
    def freedom(self) -> int:
        return self.rows - len(self.coefficients)

    @property
    def sigma(self) -> float:
        """Residual standard deviation, sqrt(rss / (n - p)) (TIA, F20); infinite without freedom."""
        return float(np.sqrt(self.rss / self.freedom)) if self.freedom > 0 else float("inf")


def fit_columns(
    columns: np.ndarray, observed: np.ndarray, weight: np.ndarray, conditions: np.ndarray | None = None
) -> Fitted:
    """Minimise sum(weight * (observed - columns @ c)^2) over c; with `conditions` (rows, columns) conditions @ c >= 0.

    Columns are scaled to length 1 first. Columns that depend on others get the coefficients of least length.
    """
    root = np.sqrt(weight)
    weighted = columns * root[:, None]
    length = np.linalg.norm(weighted, axis=0)
    length = np.where(length > 0, length, 1.0)
    scaled, target = weighted / length, observed * root
    u, s, vt = np.linalg.svd(scaled, full_matrices=False)
    inverse = np.where(s > RANK * s[0], 1 / np.where(s > 0, s, 1), 0.0) if len(s) else s
    if conditions is None:
        c = vt.T @ (inverse * (u.T @ target))
    else:
        c = constrained_least_squares(scaled, target, conditions / length)
    left = target - scaled @ c
    return Fitted(c / length, inverse[:, None] * vt / length, float(left @ left), len(observed))


def relative_weights(observed: np.ndarray) -> np.ndarray:
    """1 / y^2: relative distances count (TIA, F20)."""
    return 1 / np.square(observed)
