"""The computation phase of a run: where its signal has the highest frequencies.

Source: Casas 2009, sections 3.4.1 and 3.4.2. Where the thesis is silent: what is no more than rounding is no
information; a level that falls into many pieces says nothing of phases.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def dilation(values: np.ndarray, k: int) -> np.ndarray:
    """Return the largest value at most k samples away."""
    from scipy.ndimage import maximum_filter1d

    return maximum_filter1d(values, 2 * k + 1, mode="constant", cval=-np.inf)


def erosion(values: np.ndarray, k: int) -> np.ndarray:
    """Return the smallest value at most k samples away."""
    from scipy.ndimage import minimum_filter1d

    return minimum_filter1d(values, 2 * k + 1, mode="constant", cval=np.inf)


def opening(values: np.ndarray, k: int) -> np.ndarray:
    """Remove high values of no more than 2 k samples."""
    return dilation(erosion(values, k), k)


def closing(values: np.ndarray, k: int) -> np.ndarray:
    """Remove low values of no more than 2 k samples."""
    return erosion(dilation(values, k), k)


def runs(chosen: np.ndarray) -> np.ndarray:
    """Return first and behind the last sample of each stretch of chosen ones, int64 (n, 2)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    return edges.reshape(-1, 2)


THRESHOLD, NEIGHBOURS = 0.3, 10
"""lambda, of the largest coefficient, and delta, in coefficients (figures 3.2 to 3.4)."""
NOTHING = 1e-9
"""Coefficients below this share of the signal's largest value are rounding."""
MOST_PIECES = 12
"""A level that falls into more pieces says where single bursts are, and not where the phase is."""


def details(values: np.ndarray, wavelet: str = "haar") -> list[np.ndarray]:
    """Compute the detail coefficients of the fast wavelet transform, level 1 first (equations 2.6 and 2.7).

    Level l has the frequencies from alpha / 2^(l + 1) to alpha / 2^l. The values are continued by the last one to a
    power of two.

    Args:
        values: Evenly sampled values.
        wavelet: Any orthogonal one of PyWavelets; filters longer than Haar's go on at the begin of the values.
    """
    import pywt

    low, high = (np.array(taps[::-1]) for taps in pywt.Wavelet(wavelet).filter_bank[:2])
    length = 1 << max(len(values) - 1, 1).bit_length()
    smooth = np.concatenate([values, np.full(length - len(values), values[-1] if len(values) else 0.0)])
    found = []
    while len(smooth) > 1:
        smooth, detail = _filtered(smooth, low), _filtered(smooth, high)
        found.append(detail)
    return found


def _filtered(values: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Compute the sum over d of taps[d] values[2i + d] for each pair of values (2i, 2i + 1)."""
    found = taps[0] * values[::2]
    for d in range(1, len(taps)):
        found += taps[d] * np.roll(values, -d)[::2]
    return found


def levels(values: np.ndarray, threshold: float = THRESHOLD, neighbours: int = NEIGHBOURS) -> Iterator[np.ndarray]:
    """Yield the stretches of high frequency as each level of detail has them, the finest first; those without
    information are left out."""
    largest = float(np.abs(values).max(initial=0))
    for level, coefficients in enumerate(details(values), 1):
        size = np.abs(coefficients)
        if size.max(initial=0) <= NOTHING * largest:
            continue
        found = np.minimum(selected(size, threshold, neighbours) << level, len(values))
        yield found[found[:, 1] > found[:, 0]]


def selected(size: np.ndarray, threshold: float, neighbours: int) -> np.ndarray:
    """Return the stretches of coefficients of at least `threshold` of the largest, int64 (n, 2).

    They have `neighbours` on both sides; gaps no longer than both together are closed.
    """
    chosen = (size >= threshold * size.max()).astype(np.float64)
    wide = (
        np.convolve(chosen, np.ones(2 * neighbours + 1), "same") > 0.5 if len(chosen) > 2 * neighbours else chosen > 0
    )
    return runs(closing(wide.astype(np.float64), neighbours) > 0)
