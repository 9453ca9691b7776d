"""The regions of a Paraver trace: its events of type 60000019 (Extrae's user functions) as marks that nest."""

from __future__ import annotations

import numpy as np

from analyzer.sources.paraver.labels import Labels
from analyzer.trace import MARK, Mark
from analyzer.trace.region_labels import ended
from tracelib.schema import PARALLEL_TYPE, REGION_TYPE

MOST_REGIONS = 1 << 16
"""Values from here on are no numbers of regions, but addresses or the like."""


def named_regions(labels: Labels, largest: int) -> tuple[str, ...]:
    """The names of regions 1, 2, ... up to `largest`, the largest value that occurs."""
    _, names = labels.get(REGION_TYPE, ("", {}))
    return tuple(names.get(number, f"region {number}") for number in range(1, largest + 1))


def marks_of(events: np.ndarray, last: int) -> np.ndarray:
    """MARK of one rank, thread by thread, from its events (EVENT) in order of time.

    An end without a begin is left out; what is open at the end is ended at `last`.
    """
    events = events[np.isin(events["type"], (REGION_TYPE, PARALLEL_TYPE))]
    threads = [_of_thread(events[events["thread"] == t], t, last) for t in np.unique(events["thread"]).tolist()]
    return np.concatenate([np.zeros(0, MARK), *threads])


def _of_thread(events: np.ndarray, thread: int, last: int) -> np.ndarray:
    is_region = events["type"] == REGION_TYPE
    regions = np.zeros(len(events), np.int64)
    regions[is_region] = ended(events["value"][is_region])
    known = (regions > 0) | ~is_region
    events, regions, is_region = events[known], regions[known], is_region[known]
    is_begin = is_region & (events["value"] > 0)
    left = _open(is_begin, is_region)
    found = np.zeros(len(events) + len(left), MARK)
    found["thread"], found["time"] = thread, np.append(events["time"], np.full(len(left), last))
    found["number"] = np.append(regions, regions[left])
    what = np.where(is_begin, Mark.BEGIN, np.where(is_region, Mark.END, Mark.PARALLEL))
    found["what"] = np.append(what, np.full(len(left), Mark.END))
    found["value"][: len(events)] = np.where(is_region, 0, events["value"])
    return found


def _open(is_begin: np.ndarray, is_region: np.ndarray) -> np.ndarray:
    """Places of the begins that never end, the innermost first."""
    depth = np.cumsum(np.where(is_begin, 1, np.where(is_region, -1, 0)))
    least_after = np.minimum.accumulate(depth[::-1])[::-1]
    return np.flatnonzero(is_begin & (least_after >= depth))[::-1]
