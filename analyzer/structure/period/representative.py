"""The iterations that are most like all others: where the signal follows sine waves of the period.

Source: Casas 2009, section 3.6.2, equations 2.8, 2.9 and 3.4.
"""

from __future__ import annotations

import numpy as np
from numpy.fft import irfft, rfft


def cross_correlation(pattern: np.ndarray, values: np.ndarray) -> np.ndarray:
    """sum over m of pattern[m] values[u + m], for each u at which the pattern lies within the values; by FFT."""
    length = 1 << (len(values) + len(pattern)).bit_length()
    found = irfft(np.conj(rfft(pattern, length)) * rfft(values, length), length)
    return found[: max(len(values) - len(pattern) + 1, 0)]


def representative(values: np.ndarray, period: float, iterations: int = 1, *, literal: bool = False) -> int:
    """The first of `iterations` periods of samples, so that they are the most periodic ones.

    `literal`: where the cross-correlation with sine waves is highest. That is also where bursts are larger than
    usual, so that a damaged iteration would be chosen. Else of all places of that phase the one whose samples are
    nearest to the median of all periods.
    """
    width = max(round(iterations * period), 1)
    if width >= len(values):
        return 0
    sine = np.sin(2 * np.pi * np.arange(width) / period)
    start = int(np.argmax(cross_correlation(sine, values - values.mean())))
    if literal:
        return start
    phase = start % period
    starts = np.rint(np.arange(phase, len(values) - width + 1, period)).astype(np.int64)
    starts = starts[starts + width <= len(values)]
    stretches = values[starts[:, None] + np.arange(width)]
    off = np.abs(stretches - np.median(stretches, axis=0)).mean(axis=1)
    return int(starts[off.argmin()])
