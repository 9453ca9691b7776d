"""The stretches of a signal in which each period is like the next one.

Source: Casas 2009, sections 3.5 and 3.6; where it is silent, how alike periods are is what tells where they end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.fft import irfft, rfft

from analyzer.structure.period import LEAST, period_of
from analyzer.structure.signals import RunSignal
from analyzer.structure.wavelets import MOST_PIECES, NOTHING, closing, levels, runs


def cross_correlation(pattern: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sum over m of pattern[m] values[u + m], for each u at which the pattern lies within the values; by
    FFT."""
    length = 1 << (len(values) + len(pattern)).bit_length()
    found = irfft(np.conj(rfft(pattern, length)) * rfft(values, length), length)
    return found[: max(len(values) - len(pattern) + 1, 0)]


def representative(values: np.ndarray, period: float, iterations: int = 1, *, literal: bool = False) -> int:
    """Return the first of `iterations` periods of samples, so that they are the most periodic ones.

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


MORE = 1.02
"""Least ratio of covered time at which a coarser division into phases is taken."""
LIKE, STEPS = 0.75, 8
"""Least correlation of neighbouring periods of a loop, as a share of the usual one; and the number of places a period
at which it is computed."""
EARLY = 0.05
"""Share of a period by which the next one may be early or late and still be like this one."""
CLOSED = 1
"""Twice this number of places that are not alike does not end a stretch: a period that begins behind a burst may miss
the next one if that is late. Between two loops more than a period is not alike."""
OVER = 0.19
"""Share of a period by which stretches that are alike reach beyond each end of a loop."""


class SignalStretch(NamedTuple):
    """A stretch of a signal, and its period; None: its neighbours are alike, but have none."""

    signal: RunSignal
    period_ns: float | None


def periodic_stretches(piece: RunSignal) -> list[SignalStretch]:
    """Return the periodic stretches of the level at which they cover most; of levels alike the finest."""
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
    """Return the samples from the first to before the last."""
    return RunSignal(piece.name, piece.begin_ns + first * piece.width_ns, piece.width_ns, piece.values[first:last])


def _periodic(part: RunSignal) -> list[SignalStretch]:
    """Return the stretches of a part in which each period is like the next one; none: it has no period. Each may have a
    period of its own, of which that of the part is a multiple."""
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
    """Return the period of a signal by its own samples."""
    found = period_of(part.values)
    return found.samples * part.width_ns if found else None


def alike_share(part: RunSignal, period_ns: float) -> float:
    """Compute the share of a signal in which each period is like the next one."""
    windows, ahead, _ = _periods(part.values, round(period_ns / part.width_ns))
    return float((alike(windows, ahead) >= LEAST).mean()) if len(windows) else 0.0


def _periods(values: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return stretches of one period from STEPS places a period on, the stretches behind them, and the places'
    distance."""
    step = max(width // STEPS, 1)
    windows, ahead = (
        np.lib.stride_tricks.sliding_window_view(some, width)[::step] if len(some) >= width else np.zeros((0, width))
        for some in (values, values[width:])
    )
    return windows[: len(ahead)], ahead, step


def _from_like_to_like(stretches: np.ndarray, like: np.ndarray) -> list[list[int]]:
    """Shorten stretches to the first and the last alike place in them; stretches without one are left out."""
    inside = [first + np.flatnonzero(like[first:last]) for first, last in stretches.tolist()]
    return [[int(places[0]), int(places[-1]) + 1] for places in inside if len(places)]


def alike(one: np.ndarray, other: np.ndarray, shift: int = 0) -> np.ndarray:
    """Return the correlations of stretches, (n, samples) each, with others that are up to `shift` samples early or
    late, as they are highest; 0 where one does not vary."""
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
