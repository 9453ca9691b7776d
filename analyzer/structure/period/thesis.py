"""The rules of the thesis to the letter (Casas 2009, section 3.6.1), to compare with."""

from __future__ import annotations

import numpy as np

from analyzer.structure.period.autocorrelation import FEWEST_SAMPLES, RETRIES, RIVAL, autocorrelation, coarser, maxima


def literal_period(samples: np.ndarray) -> float | None:
    """The lag of the highest relative maximum of the autocorrelation (equation 3.2), in samples, if no other maximum
    has 0.9 of it (equation 3.3); else the same of the signal at half the detail, and so on. None: not found.

    So it refuses what repeats more than about eleven times: multiples of the period are as high.
    """
    values, factor = np.asarray(samples, np.float64), 1
    for _ in range(RETRIES):
        if len(values) < FEWEST_SAMPLES:
            return None
        a = autocorrelation(values)
        peaks = maxima(a)
        if len(peaks):
            best = int(peaks[np.argmax(a[peaks])])
            if not (a[peaks[peaks != best]] >= RIVAL * a[best]).any():
                return float(best * factor)
        values, factor = coarser(values, 2), 2 * factor
    return None
