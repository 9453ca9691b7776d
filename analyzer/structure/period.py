"""Period of evenly sampled values, by autocorrelation.

Source: Casas 2009, section 3.6.1, equations 2.9 and 3.1 to 3.3. The thesis is silent on some points, and its rule
refuses clean signals (from 11 repeats on, 0.9 holds for multiples of the period, too). This module therefore adds
rules:

* The trend is subtracted.
* Lags are weighted by how much of the signal they compare.
* Multiples of the period are no rivals of it.
* Of lags that are as good, the smallest is the period, if its multiples up to the best lags are good, too. Otherwise it
  is the period of a loop inside.
* What the lag predicts must be more than chance would.

`thesis.literal_period` is the literal rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.fft import irfft, rfft

RIVAL = 0.9
"""A maximum that is no multiple of the period must be below this share of the period's maximum (equation 3.3)."""
AS_GOOD = 0.93
"""The smallest lag with at least this share of the highest maximum is taken, since larger lags may be its multiples."""
LEAST = 0.45
"""Smallest correlation at the period."""
FEWEST_SAMPLES = 24
"""Smallest number of samples in which a period is searched."""
RETRIES = 6
"""Largest number of attempts. After each, the signal is made coarser by 2, which filters small oscillations."""
MULTIPLE = 0.12
"""Tolerance of a lag about a multiple of the period, as a share of the period."""
DIP = 0.5
"""A lag is only the period of a loop inside if the correlation at one of its multiples is below this share of a later
maximum."""
BINS = 16
"""Number of samples of a period for the test of chance."""
CHANCE = 5.0
"""Smallest correlation in standard deviations of the correlation of noise of equal length."""
ENOUGH = 0.9
"""Correlation that is never taken for chance, even with few samples."""


@dataclass(frozen=True)
class Period:
    """Period of evenly sampled values.

    Attributes:
        samples: Length of the period, in samples.
        correlation: Correlation of the signal with itself one period later. 1: exact repeats.
        repetitions: Number of samples / period.
        confirmed: Whether the next maximum lies at twice the period (the thesis' additional test).
        coarsened: Factor by which the values were made coarser to find the period.
    """

    samples: float  # length of a repeat, in samples
    correlation: float  # of the signal with itself a period later: 1 is an exact repeat
    repetitions: float  # how often it fits into the values
    confirmed: bool  # the next maximum lies at twice the period (the thesis' extra confidence)
    coarsened: int  # by how much the values were made coarser to find it


def autocorrelation(values: np.ndarray) -> np.ndarray:
    """Compute A(k) = sum over i of x_i x_(i+k) for k from 0 to N - 1 (equation 3.1), by FFT with zero padding."""
    length = 1 << (2 * len(values)).bit_length()
    return irfft(np.abs(rfft(values, length)) ** 2, length)[: len(values)]


def correlation(values: np.ndarray) -> np.ndarray:
    """Correlate the values with themselves k samples later, over the part that both have: shape (N,), 1 at k = 0."""
    squares = np.concatenate([[0.0], np.cumsum(values * values)])
    total, lags = squares[-1], np.arange(len(values))
    energy = np.sqrt(np.maximum((total - squares[lags]) * squares[len(values) - lags], 0.0))
    floor = 1e-12 * max(total, 1e-300)
    return np.where(energy > floor, autocorrelation(values) / np.maximum(energy, floor), 0.0)


def maxima(values: np.ndarray) -> np.ndarray:
    """Return the indices k > 0 with values[k - 1] < values[k] > values[k + 1]. A plateau counts at its middle."""
    steps = np.sign(np.diff(values))
    moved = np.flatnonzero(steps)
    top = np.flatnonzero((steps[moved[:-1]] > 0) & (steps[moved[1:]] < 0))
    return (moved[top] + 1 + moved[top + 1]) // 2


def period_of(samples: np.ndarray, fewest: float = 2.5) -> Period | None:
    """Find the period of evenly sampled values, in nearly linear time.

    Args:
        samples: Values of any real type and unit, shape (N,). Values that are not finite are replaced by the mean.
        fewest: Smallest number of periods that must fit into the values.

    Returns:
        The period. None: there is none.
    """
    values = np.asarray(samples, np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        values = np.where(finite, values, values[finite].mean() if finite.any() else 0.0)
    factor = 1
    for _ in range(RETRIES):
        if len(values) < FEWEST_SAMPLES:
            return None
        found = _best(values, fewest)
        if found is not None:
            lag, height, confirmed = found
            return Period(lag * factor, height, len(samples) / (lag * factor), confirmed, factor)
        values = coarser(values, 2)
        factor *= 2
    return None


def coarser(values: np.ndarray, factor: int) -> np.ndarray:
    """Average groups of `factor` values. Values that fill no group at the end are dropped."""
    whole = len(values) // factor * factor
    return values[:whole].reshape(-1, factor).mean(axis=1)


def without_trend(values: np.ndarray) -> np.ndarray:
    """Subtract the straight line of least squares from the values."""
    at = np.arange(len(values)) - (len(values) - 1) / 2
    slope = (at @ values) / (at @ at)
    return values - values.mean() - slope * at


def _best(values: np.ndarray, fewest: float) -> tuple[float, float, bool] | None:
    """Return period (samples), correlation and confirmation of the period that passes all rules. None: none does."""
    flat = without_trend(values)
    spread = float(np.abs(flat).max())
    if spread <= 1e-9 * max(float(np.abs(values).max()), 1e-300):
        return None
    r = correlation(flat / spread)
    longest = int(len(values) / fewest)
    peaks = maxima(r[: longest + 2])
    peaks = peaks[(peaks >= 2) & (peaks <= longest)]
    while len(peaks) and r[peaks].max() >= LEAST:
        lag = int(peaks[np.argmax(r[peaks] >= AS_GOOD * r[peaks].max())])
        dip = _dip(r, lag, peaks)
        if dip is None:
            break
        peaks = peaks[peaks > dip]
    else:
        return None
    exact = _refined(r, lag, int(len(values) * (1 - 1 / fewest)))
    others = peaks[np.abs(peaks / exact - np.rint(peaks / exact)) > MULTIPLE]
    others = others[others > (1 - MULTIPLE) * exact] if len(others) else others
    if len(others) and (r[others] >= RIVAL * r[lag]).any():
        return None
    if not _beyond_chance(flat, exact):
        return None
    return exact, float(r[lag]), _has_harmonic(r, exact)


def _dip(r: np.ndarray, lag: int, peaks: np.ndarray) -> int | None:
    """Return the first multiple of a lag with a low correlation, if a later maximum is high (DIP). None: there is none.

    The multiples are followed one by one, because each shows more exactly where the next one lies.
    """
    highest = np.maximum.accumulate(r[peaks][::-1])[::-1]
    period, number = float(lag), 2
    width = max(int(0.25 * lag), 1)
    while True:
        around = round(number * period)
        later = int(np.searchsorted(peaks, around + width, side="right"))
        if later == len(peaks):
            return None
        low = around - width
        at = low + int(np.argmax(r[low : around + width + 1]))
        if highest[later] >= LEAST and r[at] < DIP * highest[later]:
            return around
        period, number = float(np.clip(at / number, (1 - MULTIPLE) * lag, (1 + MULTIPLE) * lag)), number + 1


def _refined(r: np.ndarray, lag: int, last: int) -> float:
    """Return the exact period.

    The place of its highest multiple that can be followed, divided by the multiple's number.
    """
    period, number = float(_top(r, lag)), 1
    while True:
        following = min(2 * number, int(last / period))
        if following <= number:
            return period
        width = max(int(min(0.25 * period, 0.5 * period * following / number * 0.1 + 2)), 1)
        around = round(following * period)
        low, high = max(around - width, 1), min(around + width + 1, len(r) - 1)
        if high - low < 1:
            return period
        at = low + int(np.argmax(r[low:high]))
        if r[at] < 0.5 * r[lag] or at in (low, high - 1):
            return period
        period, number = float(_top(r, at)) / following, following


def _top(r: np.ndarray, at: int) -> float:
    """Return the position of the top of the parabola through a maximum and its neighbours."""
    if not 0 < at < len(r) - 1:
        return float(at)
    left, middle, right = r[at - 1 : at + 2]
    bend = left - 2 * middle + right
    return at + float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5)) if bend < 0 else float(at)


def _has_harmonic(r: np.ndarray, period: float) -> bool:
    """Check whether there is a maximum within tolerance of twice the period."""
    low, high = round((2 - MULTIPLE) * period), round((2 + MULTIPLE) * period) + 1
    return high < len(r) and len(maxima(r[low - 1 : high + 1])) > 0


def _beyond_chance(flat: np.ndarray, period: float) -> bool:
    """Return True if the steps of the signal correlate with the steps one period later, by more than chance.

    The signal is brought to BINS samples a period and differenced: steps of noise and of random walks do not correlate,
    whatever slow maxima their sums have.
    """
    bins = min(BINS, int(period))
    count = int(len(flat) / period * bins)
    sums = np.concatenate([[0.0], np.cumsum(flat)])
    edges = np.arange(count + 1) * (period / bins)
    at = np.interp(edges, np.arange(len(sums)), sums)
    steps = np.diff(at, 2)
    now, later = steps[:-bins], steps[bins:]
    energy = float(np.sqrt((now @ now) * (later @ later)))
    if len(now) < 4 or energy <= 0:
        return False
    return float(now @ later) / energy > min(max(LEAST, CHANCE / np.sqrt(len(now))), ENOUGH)
