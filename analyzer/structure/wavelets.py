"""Wavelet transform of a signal, which finds the phase of a run where the signal has its highest frequencies.

Source: Casas 2009, sections 3.4.1 and 3.4.2. Where the thesis is silent, two rules are ours: values no larger than
rounding are no information, and a level that falls into many pieces shows no phases.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def dilation(values: np.ndarray, k: int) -> np.ndarray:
    """Replace each sample by the largest value at most k samples away."""
    from scipy.ndimage import maximum_filter1d

    return maximum_filter1d(values, 2 * k + 1, mode="constant", cval=-np.inf)


def erosion(values: np.ndarray, k: int) -> np.ndarray:
    """Replace each sample by the smallest value at most k samples away."""
    from scipy.ndimage import minimum_filter1d

    return minimum_filter1d(values, 2 * k + 1, mode="constant", cval=np.inf)


def opening(values: np.ndarray, k: int) -> np.ndarray:
    """Remove stretches of high values that are at most 2 k samples long."""
    return dilation(erosion(values, k), k)


def closing(values: np.ndarray, k: int) -> np.ndarray:
    """Remove stretches of low values that are at most 2 k samples long."""
    return erosion(dilation(values, k), k)


def runs(chosen: np.ndarray) -> np.ndarray:
    """Return the stretches of True in a mask.

    Index of the first sample and of the one behind the last, int64 (n, 2).
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    return edges.reshape(-1, 2)


THRESHOLD, NEIGHBOURS = 0.3, 10
"""lambda, relative to the largest coefficient, and delta, a number of coefficients (figures 3.2 to 3.4)."""
NOTHING = 1e-9
"""A coefficient below this share of the signal's largest value is rounding."""
MOST_PIECES = 12
"""Largest number of pieces of a level. More pieces show single bursts, not a phase."""


def details(values: np.ndarray, wavelet: str = "haar") -> list[np.ndarray]:
    """Compute the detail coefficients of the fast wavelet transform (equations 2.6 and 2.7).

    Level l has the frequencies from alpha / 2^(l + 1) to alpha / 2^l. The last value is repeated up to a power of
    two of
    samples.

    Args:
        values: Evenly sampled values.
        wavelet: Name of an orthogonal wavelet of PyWavelets. Filters longer than Haar's wrap around to the first
            values.

    Returns:
        The coefficients of each level, level 1 first.
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
    """Yield the stretches of high frequency at each level of detail, the finest level first.

    Levels without information (NOTHING) are left out.

    Args:
        values: Evenly sampled values.
        threshold: lambda, as for `selected`.
        neighbours: delta, as for `selected`.

    Yields:
        First sample of each stretch, and the one behind its last, int64 (n, 2).
    """
    largest = float(np.abs(values).max(initial=0))
    for level, coefficients in enumerate(details(values), 1):
        size = np.abs(coefficients)
        if size.max(initial=0) <= NOTHING * largest:
            continue
        found = np.minimum(selected(size, threshold, neighbours) << level, len(values))
        yield found[found[:, 1] > found[:, 0]]


def selected(size: np.ndarray, threshold: float, neighbours: int) -> np.ndarray:
    """Return the stretches of large coefficients, int64 (n, 2).

    Args:
        size: Absolute values of the coefficients.
        threshold: A coefficient is large from this share of the largest one on.
        neighbours: Number of coefficients by which each stretch is made longer at both ends. Gaps of up to twice this
            number are closed.
    """
    chosen = (size >= threshold * size.max()).astype(np.float64)
    wide = (
        np.convolve(chosen, np.ones(2 * neighbours + 1), "same") > 0.5 if len(chosen) > 2 * neighbours else chosen > 0
    )
    return runs(closing(wide.astype(np.float64), neighbours) > 0)
