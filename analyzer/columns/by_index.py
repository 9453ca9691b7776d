"""Sums of integers by an index."""

from __future__ import annotations

import numpy as np

_MOST = float(2**63 - 1024)
"""The largest double that 64 bits hold."""


def by_index(index: np.ndarray, weights: np.ndarray, length: int) -> np.ndarray:
    """Sums of integer `weights` by `index`, exact while each block's sum stays below 2^53; at most about 2^63, which
    only damaged rows come to."""
    return np.bincount(index, weights, length).clip(-_MOST, _MOST).astype(np.int64)
