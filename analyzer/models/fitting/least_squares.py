"""Weighted least squares of columns that may differ by many orders of magnitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

_NOTHING = 1e-9
"""Least distance of a column of length 1 from the span of others. Below it the column depends on them."""


def most_telling(matrix: np.ndarray, y: np.ndarray, number: int) -> list[int]:
    """Choose columns one by one, each the one that explains most of what is left of y (orthogonal matching pursuit).

    Args:
        matrix: Columns of length 1, shape (rows, columns).
        y: Target, shape (rows,).
        number: Number of columns to choose.

    Returns:
        Indices of the columns, in the order of the choice.
    """
    left, basis, order = y.copy(), matrix.copy(), []
    rest = np.ones(matrix.shape[1], bool)
    for _ in range(min(number, matrix.shape[1])):
        length = np.linalg.norm(basis, axis=0)
        gain = np.where(length > _NOTHING, np.abs(left @ basis) / np.maximum(length, _NOTHING), -1.0)
        best = int(np.where(rest, gain, -2.0).argmax())
        order.append(best)
        rest[best] = False
        if length[best] > _NOTHING:
            direction = basis[:, best] / length[best]
            left = left - direction * (direction @ left)
            basis -= np.outer(direction, direction @ basis)
    return order


_KEPT = 1e-13


def constrained_least_squares(columns: np.ndarray, target: np.ndarray, conditions: np.ndarray) -> np.ndarray:
    """Return c that minimises |columns @ c - target| with conditions @ c >= 0.

    Columns of length 0, and columns that depend on others, get no weight of their own. c = 0 always satisfies the
    conditions.

    Source: Lawson and Hanson, chapter 23: as a problem of least distance, which non-negative least squares solve.
    """
    u, s, vt = np.linalg.svd(columns, full_matrices=False)
    kept = s > _KEPT * s[0]
    to_c = vt[kept].T / s[kept]
    best = u[:, kept].T @ target
    turned = conditions @ to_c
    length = np.linalg.norm(turned, axis=1)
    turned = turned[length > 0] / length[length > 0, None]
    missing = -turned @ best
    if not len(turned) or (missing <= 0).all():
        return to_c @ best
    # z of least length with turned @ z >= missing, z = best's correction, from the dual problem.
    scale = float(missing.max())
    dual = np.vstack([turned.T, missing / scale])
    wanted = np.zeros(len(dual))
    wanted[-1] = 1.0
    u_dual, _ = nnls(dual, wanted, maxiter=30 * len(turned))
    left = dual @ u_dual - wanted
    return to_c @ (best - left[:-1] / left[-1] * scale) if left[-1] else to_c @ (best * 0)


RANK = 1e-13
"""Singular values below this share of the largest one count as rounding errors."""


@dataclass(frozen=True)
class LeastSquaresFit:
    """Fitted coefficients of columns.

    The standard error of a prediction is sigma * |spread @ row|, where row has the columns' values at a point.

    Attributes:
        coefficients: Coefficients, shape (columns,).
        spread: Matrix of the standard errors, shape (columns, columns).
        rss: Weighted sum of squares of the residuals.
        rows: Number of rows.
    """

    coefficients: np.ndarray  # (columns)
    spread: np.ndarray  # (columns, columns)
    rss: float
    rows: int

    @property
    def freedom(self) -> int:
        """Degrees of freedom: number of rows - number of columns."""
        return self.rows - len(self.coefficients)

    @property
    def sigma(self) -> float:
        """Residual standard deviation, sqrt(rss / (n - p)) (TIA, F20). Infinite without degrees of freedom."""
        return float(np.sqrt(self.rss / self.freedom)) if self.freedom > 0 else float("inf")


def fit_columns(
    columns: np.ndarray, observed: np.ndarray, weight: np.ndarray, conditions: np.ndarray | None = None
) -> LeastSquaresFit:
    """Fit coefficients c that minimise sum(weight * (observed - columns @ c)^2).

    Columns are scaled to length 1 first. Columns that depend on others get the coefficients of least length.

    Args:
        columns: Values of the terms, shape (rows, columns).
        observed: Measured values, shape (rows,).
        weight: Weight of each row, shape (rows,).
        conditions: Require conditions @ c >= 0, shape (conditions, columns). None: no conditions.
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
    return LeastSquaresFit(c / length, inverse[:, None] * vt / length, float(left @ left), len(observed))


def relative_weights(observed: np.ndarray) -> np.ndarray:
    """Return 1 / y^2 for each row, so that relative distances count (TIA, F20)."""
    return 1 / np.square(observed)
