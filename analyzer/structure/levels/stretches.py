"""The stretches of a signal in which each period is like the next one.

Source: Casas 2009, sections 3.5 and 3.6; where it is silent, how alike periods are is what tells where they end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.fft import irfft, rfft
from scipy.fft import next_fast_len

from analyzer.structure.period import period_of
from analyzer.structure.period.autocorrelation import LEAST
from analyzer.structure.perturbed.morphology import closing, runs
from analyzer.structure.phase.wavelet import MOST_PIECES, levels
from analyzer.structure.signals import Signal

MORE = 1.02
"""A coarser division into phases is taken if it covers so many times as much."""
LIKE, STEPS = 0.75, 8
"""Periods in a row that correlate by a smaller share of what is usual are not both of the loop; so many places a period
are looked at."""
EARLY = 0.05
"""By this share of a period the next one may be early or late to be like this one."""
BETWEEN = 1
"""So many places on both sides of one that is not alike must be: a period that begins behind a burst may miss the next
one if that is late. Between two loops more than a period is not alike."""
OVER = 0.19
"""By this share of a period stretches that are alike reach beyond each end of a loop."""


class Stretch(NamedTuple):
    """A stretch of a signal, and its period."""

    signal: Signal
    period_ns: float


def periodic_stretches(piece: Signal) -> list[Stretch]:
    """The periodic stretches of the level at which they cover most; of levels alike the finest."""
    best, most = list[Stretch](), 0.0
    for cuts in (*levels(piece.values), np.array([[0, len(piece.values)]])):
        if len(cuts) > MOST_PIECES or np.diff(cuts).sum() <= MORE * most:
            continue
        parts = [part for first, last in cuts.tolist() for part in _periodic(cut(piece, first, last))]
        covered = sum(len(part.signal.values) for part in parts)
        if covered > MORE * most:
            best, most = parts, covered
    return best


def cut(piece: Signal, first: int, last: int) -> Signal:
    """The samples from the first to before the last."""
    return Signal(piece.name, piece.begin_ns + first * piece.width_ns, piece.width_ns, piece.values[first:last])


def _periodic(part: Signal) -> list[Stretch]:
    """The stretches of a part in which each period is like the next one; none: it has no period. Each may have a period
    of its own, of which that of the part is a multiple."""
    found = period_of(part.values)
    if found is None:
        return []
    width = round(found.samples)
    step = max(width // STEPS, 1)
    windows = np.lib.stride_tricks.sliding_window_view(part.values, width)[::step]
    ahead = np.lib.stride_tricks.sliding_window_view(part.values[width:], width)[::step]
    windows = windows[: len(ahead)]
    exactly = alike(windows, ahead, 0)
    least = max(LIKE * np.quantile(exactly, 0.75), LEAST)
    early = np.maximum(exactly, alike(windows, ahead, round(EARLY * width))) >= least
    over = round(OVER * width)
    ends = [
        (first * step, min((last - 1) * step + 2 * width, len(part.values)))
        for first, last in _from_like_to_like(runs(closing(early.astype(np.float64), BETWEEN) > 0), exactly >= least)
    ]
    parts = [
        cut(part, first and first + over, last if last > len(part.values) - over else last - over)
        for first, last in ends
    ]
    return [Stretch(one, (period_of(one.values) or found).samples * part.width_ns) for one in parts]


def _from_like_to_like(stretches: np.ndarray, like: np.ndarray) -> list[list[int]]:
    """Stretches, first and behind the last, each from the first to the last place of it that is like; those without one
    are left out."""
    inside = [first + np.flatnonzero(like[first:last]) for first, last in stretches.tolist()]
    return [[int(places[0]), int(places[-1]) + 1] for places in inside if len(places)]


def alike(one: np.ndarray, other: np.ndarray, shift: int) -> np.ndarray:
    """The correlations of stretches, (n, samples) each, with others that are up to `shift` samples early or late, as
    they are highest; 0 where one does not vary."""
    one, other = one - one.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True)
    energy = np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    length = next_fast_len(one.shape[1] + shift, real=True)
    by_shift = irfft(np.conj(rfft(one, length)) * rfft(other, length), length)
    best = np.maximum(by_shift[:, : shift + 1].max(axis=1), by_shift[:, length - shift :].max(axis=1, initial=-np.inf))
    return np.where(energy > 0, best / np.where(energy > 0, energy, 1), 0.0)
