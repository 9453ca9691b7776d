"""Filters of mathematical morphology on evenly sampled values.

Source: Casas 2009, section 2.3.3, equations 2.10 to 2.13. Beyond the ends nothing is larger, and nothing smaller.
"""

from __future__ import annotations

import numpy as np


def dilation(values: np.ndarray, k: int) -> np.ndarray:
    """The largest value at most k samples away."""
    from scipy.ndimage import maximum_filter1d

    return maximum_filter1d(values, 2 * k + 1, mode="constant", cval=-np.inf)


def erosion(values: np.ndarray, k: int) -> np.ndarray:
    """The smallest value at most k samples away."""
    from scipy.ndimage import minimum_filter1d

    return minimum_filter1d(values, 2 * k + 1, mode="constant", cval=np.inf)


def opening(values: np.ndarray, k: int) -> np.ndarray:
    """Without what is high for no longer than 2 k samples."""
    return dilation(erosion(values, k), k)


def closing(values: np.ndarray, k: int) -> np.ndarray:
    """Without what is low for no longer than 2 k samples."""
    return erosion(dilation(values, k), k)


def runs(chosen: np.ndarray) -> np.ndarray:
    """int64 (n, 2): first and behind the last sample of each stretch of chosen ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    return edges.reshape(-1, 2)
