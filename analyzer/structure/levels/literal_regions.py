"""The regions of a signal that have a period by the rules of the thesis: where frequencies are high, and not in pieces.

Source: Casas 2009, sections 3.4.2, 3.6.1 and 3.6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from analyzer.structure.calls.candidates import FEWEST
from analyzer.structure.period import FEWEST_SAMPLES, LEAST, MULTIPLE, RIVAL, autocorrelation, coarser, maxima
from analyzer.structure.wavelets import MOST_PIECES, levels


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
    """Return the lag of the highest maximum about a period that was found in less detail."""
    values = np.asarray(samples, np.float64)
    a = autocorrelation(values - values.mean())
    peaks = maxima(a)
    near = peaks[np.abs(peaks / period - 1) <= MULTIPLE]
    return float(near[np.argmax(a[near])]) if len(near) else float(period)


def _period(a: np.ndarray, peaks: np.ndarray) -> tuple[int, bool]:
    """Return the lag that equations 3.2 and 3.3 choose of the relative maxima of an autocorrelation, 0 if they refuse
    it; and whether the second highest maximum is its first harmonic."""
    best = int(peaks[np.argmax(a[peaks])])
    multiple = np.rint(peaks / best)
    others = peaks[np.abs(peaks / best - multiple) > MULTIPLE]
    if a[best] < LEAST * a[0] or (a[others] >= RIVAL * a[best]).any():
        return 0, False
    further = peaks[np.abs(peaks / best - 1) > MULTIPLE]
    second = further[np.argmax(a[further])] if len(further) else best
    return best, bool(abs(second / best - 2) <= MULTIPLE)


SAME = 0.05
"""Periods that differ by less than this share are the same."""
APART = 1.5
"""Times between regions that are shorter than this many periods are no end of a loop: a wavelet may miss a burst."""
CALM_SHARE = 0.1
"""Times between bursts that make a smaller share of a region are none of its loop."""

Region = tuple[int, int, float]
"""The first sample, behind the last one, and the period in samples."""


def literal_regions(values: np.ndarray) -> list[Region]:
    """Find the regions of highest frequency that have a period: of the finest level of the wavelets with any, or of a
    coarser one at which a region with as long a period holds several, as these are parts of its iterations, or of the
    loop. Regions lie APART of their periods from each other, and times inside that all finer levels leave out are
    usually not as long: else they are pieces of one loop."""
    found, within = list[Region](), np.zeros((0, 2), np.int64)
    selected = np.zeros(len(values), bool)
    for regions in (*levels(values), np.array([[0, len(values)]])):
        before = selected.copy()
        for first, last in regions.tolist():
            selected[first:last] = True
        if len(regions) <= MOST_PIECES:
            calm = [_usual_gap(before[first:last]) for first, last in regions.tolist()]
            periods = [
                literal_period(values[first:last], least / APART) or 0.0
                for (first, last), least in zip(regions.tolist(), calm, strict=True)
            ]
            beside = pairwise(regions.tolist())
            gaps = np.array([_gaps(selected[one[1] - 1 : next_one[0] + 1]).max() for one, next_one in beside])
            is_whole = (gaps >= APART * np.maximum(periods[1:], periods[:-1])).all()
            known = [
                (*_reach(selected, first, last, APART * period), period)
                for (first, last), period in zip(regions.tolist(), periods, strict=True) if period
            ]  # fmt: skip
            if is_whole and known and (not found or any(_holds(one, within, found) for one in known)):
                found, within = known, regions
    return found


def _holds(region: Region, others: np.ndarray, known: Sequence[Region]) -> bool:
    """Check whether a region holds several others, none of which has a longer period. others: (n, 2) first sample and
    end."""
    first, last, period = region
    held = ((others[:, 0] >= first) & (others[:, 1] <= last)).sum()
    return bool(held >= FEWEST) and all(one[2] <= (1 + SAME) * period for one in known)


def _gaps(selected: np.ndarray) -> np.ndarray:
    """Return the times, in samples, between those that are selected."""
    return np.diff(np.flatnonzero(selected)) - 1


def _reach(selected: np.ndarray, first: int, last: int, apart: float) -> tuple[int, int]:
    """Extend a region by finer levels' selections beside it, up to a gap of `apart` samples."""
    at = np.flatnonzero(selected)
    ends = np.flatnonzero(np.diff(at) > apart)
    begins, behind = np.append(0, at[ends + 1]), np.append(at[ends] + 1, len(selected))
    return int(max(begins[begins <= first].max(), at[0])), int(min(behind[behind >= last].min(), at[-1] + 1))


def _usual_gap(selected: np.ndarray) -> int:
    """Return the longest time, in samples, between two that are selected, such that those as long or longer make
    CALM_SHARE of all: a single burst may be missed."""
    gaps = np.sort(_gaps(selected))[::-1]
    enough = np.flatnonzero(np.cumsum(gaps) > CALM_SHARE * len(selected))
    return int(gaps[enough[0]]) if len(enough) else 0
