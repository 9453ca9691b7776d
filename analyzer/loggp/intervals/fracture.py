"""Upward jumps of the times (Rodriguez 2011, section 3.3.2, "fracture detection").

Just before a jump all neighbours of a row are smaller messages, so that it is the largest itself. Neighbours have to be
those nearest in time for that; the reading by size, as the text has it, cannot find anything.
"""

from __future__ import annotations

import numpy as np

from analyzer.loggp.neighbourhood import neighbours


def fractures(size: np.ndarray, time_s: np.ndarray, window: float, kind: str, guard: float) -> set[int]:
    """Sizes after which `time_s` jumps up, the largest of all never among them.

    On flat pieces with noise a row may be the largest of its neighbourhood by chance: so the times must rise by `guard`
    standard deviations of theirs, unless that is 0.
    """
    near = neighbours(size, time_s, window, kind)
    largest = np.unique(size[size == size[near].max(axis=1)])
    found = set(largest[largest < size.max()].tolist())
    return {s for s in found if not guard or _rises(size, time_s, s, guard)}


def _rises(size: np.ndarray, time_s: np.ndarray, before: int, guard: float) -> bool:
    """Whether the next size takes longer by far more than the rows of both scatter."""
    after = size[size > before].min()
    low, high = time_s[size == before], time_s[size == after]
    scatter = np.hypot(_deviation(low), _deviation(high))
    return bool(np.median(high) - np.median(low) > guard * scatter)


def _deviation(values: np.ndarray) -> float:
    return float(1.4826 * np.median(np.abs(values - np.median(values))))
