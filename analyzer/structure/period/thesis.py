"""The rules of the thesis for a period (Casas 2009, section 3.6.1), as its own tables read them."""

from __future__ import annotations

import numpy as np

from analyzer.structure.period.autocorrelation import (
    FEWEST_SAMPLES,
    LEAST,
    MULTIPLE,
    RIVAL,
    autocorrelation,
    coarser,
    maxima,
)


def literal_period(samples: np.ndarray, least: float = 0.0) -> float | None:
    """Find the period as equations 3.2 and 3.3 of the thesis say.

    The period T is the lag of the highest relative maximum of the autocorrelation, of the values less their mean. No
    other maximum may have 0.9 of it, else the values are looked at in half the detail, and so on. Multiples of T are no
    other maxima: the thesis takes one at 2T for a confirmation. With them equation 3.3 would refuse what repeats more
    than about eleven times, and table 3.5 has 130 iterations. Of the details in which T is found, the finest is taken
    that confirms it: the second highest maximum is at 2T. If none does, it is the finest. A maximum of less than LEAST
    of the value at lag 0 is no period: noise has maxima, too.

    Args:
        samples: Even samples of any unit.
        least: A shorter period, in samples, is that of small oscillations, which are filtered, too.

    Returns:
        The period in samples; None: not found.
    """
    values, factor = np.asarray(samples, np.float64), 1
    first: float | None = None
    while len(values) >= FEWEST_SAMPLES:
        a = autocorrelation(values - values.mean())
        peaks = maxima(a)
        period, is_confirmed = _period(a, peaks) if len(peaks) else (0, False)
        if period and period * factor >= least:
            if is_confirmed:
                return _in_detail(samples, period * factor)
            first = first or float(period * factor)
        values, factor = coarser(values, 2), 2 * factor
    return first


def _in_detail(samples: np.ndarray, period: int) -> float:
    """The lag of the highest maximum about a period that was found in less detail."""
    values = np.asarray(samples, np.float64)
    a = autocorrelation(values - values.mean())
    peaks = maxima(a)
    near = peaks[np.abs(peaks / period - 1) <= MULTIPLE]
    return float(near[np.argmax(a[near])]) if len(near) else float(period)


def _period(a: np.ndarray, peaks: np.ndarray) -> tuple[int, bool]:
    """The lag that equations 3.2 and 3.3 choose of the relative maxima of an autocorrelation, 0 if they refuse it; and
    whether the second highest maximum is its first harmonic."""
    best = int(peaks[np.argmax(a[peaks])])
    multiple = np.rint(peaks / best)
    others = peaks[np.abs(peaks / best - multiple) > MULTIPLE]
    if a[best] < LEAST * a[0] or (a[others] >= RIVAL * a[best]).any():
        return 0, False
    further = peaks[np.abs(peaks / best - 1) > MULTIPLE]
    second = further[np.argmax(a[further])] if len(further) else best
    return best, bool(abs(second / best - 2) <= MULTIPLE)
