"""Stretches of a signal in which each period resembles the next one.

Source: Casas 2009, sections 3.5 and 3.6. Where the thesis is silent, stretches end where periods no longer resemble
each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.fft import irfft, rfft

from analyzer.structure.period import LEAST, period_of
from analyzer.structure.signals import RunSignal
from analyzer.structure.wavelets import MOST_PIECES, NOTHING, closing, levels, runs


def cross_correlation(pattern: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Compute the sum over m of pattern[m] values[u + m], by FFT.

    The result has one value for each u at which the pattern lies within the values.
    """
    length = 1 << (len(values) + len(pattern)).bit_length()
    found = irfft(np.conj(rfft(pattern, length)) * rfft(values, length), length)
    return found[: max(len(values) - len(pattern) + 1, 0)]


def representative(values: np.ndarray, period: float, iterations: int = 1, *, literal: bool = False) -> int:
    """Return the sample at which the most typical stretch of whole periods begins.

    Args:
        values: Samples of a signal.
        period: Period, in samples.
        iterations: Number of periods in the stretch.
        literal: Whether to choose the place with the highest cross-correlation with a sine wave, as the thesis does.
            There
            bursts are larger than usual, so that a damaged iteration may be chosen. Otherwise, of all places with
            the same
            phase, the one whose samples are nearest to the median of all periods is chosen.
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


MORE = 1.02
"""A coarser division into phases is used only if it covers at least this many times the time."""
LIKE, STEPS = 0.75, 8
"""LIKE: smallest correlation of neighbouring periods of a loop, relative to the usual one. STEPS: places per period."""
EARLY = 0.05
"""Share of a period by which the next period may be early or late, and still resembles this one."""
CLOSED = 1
"""Up to twice this number of places without resemblance do not end a stretch.

A period that begins behind a burst may miss the next burst if that is late. Between two loops, more than a period has
no resemblance."""
OVER = 0.19
"""Share of a period by which stretches of resemblance reach beyond each end of a loop."""


class SignalStretch(NamedTuple):
    """Stretch of a signal, and its period.

    Attributes:
        signal: The samples of the stretch.
        period_ns: Period of the stretch. None: neighbouring stretches of the part resemble each other, but it has
            none.
    """

    signal: RunSignal
    period_ns: float | None


def periodic_stretches(piece: RunSignal) -> list[SignalStretch]:
    """Find the periodic stretches of a signal, at the level of detail at which they cover most time.

    Of levels that cover about as much (MORE), the finest is used.
    """
    best, most = list[SignalStretch](), 0.0
    for cuts in (*levels(piece.values), np.array([[0, len(piece.values)]])):
        if len(cuts) > MOST_PIECES or np.diff(cuts).sum() <= MORE * most:
            continue
        parts = [part for first, last in cuts.tolist() for part in _periodic(cut(piece, first, last))]
        covered = sum(len(part.signal.values) for part in parts)
        if covered > MORE * most:
            best, most = parts, covered
    return best


def cut(piece: RunSignal, first: int, last: int) -> RunSignal:
    """Return the part of a signal from sample `first` to before sample `last`."""
    return RunSignal(piece.name, piece.begin_ns + first * piece.width_ns, piece.width_ns, piece.values[first:last])


def _periodic(part: RunSignal) -> list[SignalStretch]:
    """Return the stretches in which each period resembles the next. []: the part has no period.

    Each stretch may have a period of its own, of which the period of the part is a multiple.
    """
    found = period_of(part.values)
    if found is None:
        return []
    width = round(found.samples)
    windows, ahead, step = _periods(part.values, width)
    exactly = alike(windows, ahead)
    least = max(LIKE * np.quantile(exactly, 0.75), LEAST)
    early = np.maximum(exactly, alike(windows, ahead, round(EARLY * width))) >= least
    over = round(OVER * width)
    ends = [
        (first * step, min((last - 1) * step + 2 * width, len(part.values)))
        for first, last in _from_like_to_like(runs(closing(early.astype(np.float64), CLOSED) > 0), exactly >= least)
    ]
    parts = [
        cut(part, first and first + over, last if last > len(part.values) - over else last - over)
        for first, last in ends
    ]
    return [SignalStretch(one, period_ns(one)) for one in parts]


def period_ns(part: RunSignal) -> float | None:
    """Return the period of a signal by its own samples, ns. None: it has none."""
    found = period_of(part.values)
    return found.samples * part.width_ns if found else None


def alike_share(part: RunSignal, period_ns: float) -> float:
    """Compute the share of a signal in which each period resembles the next one, 0 to 1."""
    windows, ahead, _ = _periods(part.values, round(period_ns / part.width_ns))
    return float((alike(windows, ahead) >= LEAST).mean()) if len(windows) else 0.0


def _periods(values: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return periods of samples and the periods behind them, from STEPS places a period, and the distance of places."""
    step = max(width // STEPS, 1)
    windows, ahead = (
        np.lib.stride_tricks.sliding_window_view(some, width)[::step] if len(some) >= width else np.zeros((0, width))
        for some in (values, values[width:])
    )
    return windows[: len(ahead)], ahead, step


def _from_like_to_like(stretches: np.ndarray, like: np.ndarray) -> list[list[int]]:
    """Shorten stretches to their first and last place with resemblance. A stretch without such a place is left out."""
    inside = [first + np.flatnonzero(like[first:last]) for first, last in stretches.tolist()]
    return [[int(places[0]), int(places[-1]) + 1] for places in inside if len(places)]


def alike(one: np.ndarray, other: np.ndarray, shift: int = 0) -> np.ndarray:
    """Correlate stretches with other stretches that may be early or late; return the highest correlation of each pair.

    Args:
        one: Stretches, shape (n, samples).
        other: Stretches, shape (n, samples).
        shift: Largest number of samples by which the others may be early or late.

    Returns:
        float64 of shape (n,). 0: one of the two does not vary.
    """
    (one, first), (other, second) = _varying(one), _varying(other)
    if shift:
        length = 1 << (one.shape[1] + shift - 1).bit_length()
        by_shift = irfft(np.conj(rfft(one, length)) * rfft(other, length), length)
        best = np.maximum(by_shift[:, : shift + 1].max(axis=1), by_shift[:, length - shift :].max(axis=1))
    else:
        best = np.einsum("ij,ij->i", one, other)
    energy = np.sqrt(first * second)
    return np.where(energy > 0, best / np.where(energy > 0, energy, 1), 0.0)


def _varying(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows without their means, and the energy of each: 0 if there is nothing but rounding."""
    varying = rows - rows.mean(axis=1, keepdims=True)
    energy = np.einsum("ij,ij->i", varying, varying)
    rounding = rows.shape[1] * np.square(NOTHING * np.abs(rows).max(axis=1, initial=0))
    return varying, np.where(energy > rounding, energy, 0.0)
