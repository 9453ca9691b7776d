"""The regions of a signal that have a period by the rules of the thesis: where frequencies are high, and not in pieces.

Source: Casas 2009, sections 3.4.2, 3.6.1 and 3.6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from analyzer.structure.calls.candidates import FEWEST
from analyzer.structure.period.thesis import literal_period
from analyzer.structure.phase.wavelet import MOST_PIECES, levels

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
    """Whether a region holds several others, (n, 2) first and behind the last sample, and none of these has a longer
    period."""
    first, last, period = region
    held = ((others[:, 0] >= first) & (others[:, 1] <= last)).sum()
    return bool(held >= FEWEST) and all(one[2] <= (1 + SAME) * period for one in known)


def _gaps(selected: np.ndarray) -> np.ndarray:
    """The times, in samples, between those that are selected."""
    return np.diff(np.flatnonzero(selected)) - 1


def _reach(selected: np.ndarray, first: int, last: int, apart: float) -> tuple[int, int]:
    """A region with what finer levels select beside it, up to a gap of `apart` samples."""
    at = np.flatnonzero(selected)
    ends = np.flatnonzero(np.diff(at) > apart)
    begins, behind = np.append(0, at[ends + 1]), np.append(at[ends] + 1, len(selected))
    return int(max(begins[begins <= first].max(), at[0])), int(min(behind[behind >= last].min(), at[-1] + 1))


def _usual_gap(selected: np.ndarray) -> int:
    """The longest time, in samples, between two that are selected, such that those as long or longer make CALM_SHARE of
    all: a single burst may be missed."""
    gaps = np.sort(_gaps(selected))[::-1]
    enough = np.flatnonzero(np.cumsum(gaps) > CALM_SHARE * len(selected))
    return int(gaps[enough[0]]) if len(enough) else 0
