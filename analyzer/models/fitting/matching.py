"""Columns one after the other, each the one that explains most of what is left: orthogonal matching pursuit."""

from __future__ import annotations

import numpy as np

_NOTHING = 1e-9
"""What is left of a column of length 1, beside others that nearly give it."""


def most_telling(matrix: np.ndarray, y: np.ndarray, number: int) -> list[int]:
    """So many columns, each the one that explains most of what those before it left of y (orthogonal matching)."""
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
