"""Least squares under linear inequalities: for coefficients, or values, that must not be negative."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

_KEPT = 1e-13


def constrained_least_squares(columns: np.ndarray, target: np.ndarray, conditions: np.ndarray) -> np.ndarray:
    """c of least |columns @ c - target| with conditions @ c >= 0 (Lawson and Hanson, chapter 23: as a problem of
    least distance, which non-negative least squares solve).

    Columns of length 0 or that depend on others are not moved. c = 0 always satisfies the conditions.
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
