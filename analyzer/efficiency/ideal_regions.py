"""Where the regions of the program lie in a replay: the time and the computation of each visit."""

from __future__ import annotations

import numpy as np

from analyzer.operations.region_events import are_of_regions, outermost_visits
from analyzer.program.program import Program
from analyzer.replay.simulate import TIME

REPLAYED_VISIT = np.dtype([("rank", "<i4"), ("region", "<i4"), ("number", "<i8"), ("time", "<i8"), ("useful", "<i8")])
"""The visit `number` (from 0) by a rank of a region (index in Trace.region_names) that is in no other visit of it."""


def replayed_visits(program: Program, times: np.ndarray | None) -> np.ndarray:
    """All visits of all ranks of a program (REPLAYED_VISIT), whose operations took these times (TIME)."""
    times = np.zeros(0, TIME) if times is None else times
    parts = [np.zeros(0, REPLAYED_VISIT)]
    for rank, first, last in zip(program.rank.tolist(), program.offsets[:-1], program.offsets[1:], strict=True):
        parts.append(_of_stream(rank, program.ops[first:last], times[first:last]))
    return np.concatenate(parts)


def _of_stream(rank: int, ops: np.ndarray, times: np.ndarray) -> np.ndarray:
    at = np.flatnonzero(are_of_regions(ops))
    computed = np.cumsum(ops["burst"])[at]
    value, time = ops["other"][at], times["begin"][at]
    begins, ends = outermost_visits(value)
    regions = value[begins]
    found = np.zeros(len(begins), REPLAYED_VISIT)
    found["rank"], found["region"] = rank, regions - 1
    found["time"], found["useful"] = time[ends] - time[begins], computed[ends] - computed[begins]
    for region in np.unique(regions).tolist():
        mine = regions == region
        found["number"][mine] = np.arange(np.count_nonzero(mine))
    return found
