"""The rules of the thesis for a period (Casas 2009, section 3.6.1), as its own tables read them."""

from __future__ import annotations

import numpy as np

from analyzer.structure.period.autocorrelation import (
    FEWEST_SAMPLES,
    MULTIPLE,
    RETRIES,
    RIVAL,
    autocorrelation,
    coarser,
    maxima,
)


def literal_period(samples: np.ndarray) -> float | None:
    """Find the period as equations 3.2 and 3.3 of the thesis say.

    The period T is the lag of the highest relative maximum of the autocorrelation, of the values less their mean. No
    other maximum may have 0.9 of it, else the values are looked at in half the detail, and so on. Multiples of T are no
    other maxima: the thesis takes one at 2T for a confirmation. With them equation 3.3 would refuse what repeats more
    than about eleven times, and table 3.5 has 130 iterations.

    Args:
        samples: Even samples of any unit.

    Returns:
        The period in samples; None: not found.
    """
    values, factor = np.asarray(samples, np.float64), 1
    for _ in range(RETRIES):
        if len(values) < FEWEST_SAMPLES:
            return None
        a = autocorrelation(values - values.mean())
        peaks = maxima(a)
        if len(peaks):
            best = int(peaks[np.argmax(a[peaks])])
            others = peaks[np.abs(peaks / best - np.rint(peaks / best)) > MULTIPLE]
            if a[best] > 0 and not (a[others] >= RIVAL * a[best]).any():
                return float(best * factor)
        values, factor = coarser(values, 2), 2 * factor
    return None
