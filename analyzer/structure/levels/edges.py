"""When iterations begin and end on a rank: from places in its sequence of calls to times."""

from __future__ import annotations

import numpy as np

from analyzer.structure.calls.loops import Loop
from analyzer.structure.calls.sequence import Sequence

LIKELIER = 2.0
"""Computation after the last call is an iteration's if its length fits so many times better than that before the first
one's."""
AS_LONG = 2.0
"""What was computed before the first iteration's first call is all its own up to so many times the usual length."""


def edges_of(calls: Sequence, loop: Loop) -> np.ndarray:
    """int64 (count + 1,) ns: begin of each iteration, and the end of the last one.

    What is computed between the last call of an iteration and the first one of the next belongs to the next, as in
    loops that compute and then communicate; or to the one before, where the computation around the loop shows that it
    communicates first. Of computation that is longer before the loop than inside, the usual length is the loop's.
    """
    first, end = loop.begins, loop.end
    gaps = calls.enter[first] - calls.left[first]
    usual = float(np.median(gaps[1:]))
    left = int(calls.exit[end - 1])
    after = int(calls.enter[end] if end < len(calls) else calls.end_ns) - left
    if _off(float(gaps[0]), usual) > LIKELIER * _off(float(after), usual):
        return np.append(calls.enter[first], left + min(after, round(AS_LONG * usual)))
    edges = calls.left[first].copy()
    if gaps[0] > AS_LONG * usual:
        edges[0] = calls.enter[first[0]] - round(usual)
    return np.append(edges, left)


def _off(length: float, usual: float) -> float:
    """By what factor two lengths differ, from 1 on; lengths of less than a microsecond are alike."""
    one, other = max(length, 0.0) + 1000, max(usual, 0.0) + 1000  # damaged calls may overlap
    return max(one / other, other / one)
