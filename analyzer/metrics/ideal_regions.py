"""Where the regions of the program lie in a replay: the time and the computation of each visit."""

from __future__ import annotations

import numpy as np

from analyzer.operations.operation import Kind, Program
from analyzer.replay.simulate import TIME, Prediction
from tracelib.schema import REGION_TYPE

REPLAYED_VISIT = np.dtype([("rank", "<i4"), ("region", "<i4"), ("number", "<i8"), ("time", "<i8"), ("useful", "<i8")])
"""The visit `number` (from 0) by a rank of a region (index in Trace.region_names) that is in no other visit of it."""


def replayed_visits(program: Program, found: Prediction) -> np.ndarray:
    """All visits of all ranks (REPLAYED_VISIT); `found` needs the times of the operations."""
    times = np.zeros(0, TIME) if found.times is None else found.times
    parts = [np.zeros(0, REPLAYED_VISIT)]
    for rank, first, last in zip(program.rank.tolist(), program.offsets[:-1], program.offsets[1:], strict=True):
        parts.append(_of_stream(rank, program.ops[first:last], times[first:last]))
    return np.concatenate(parts)


def _of_stream(rank: int, ops: np.ndarray, times: np.ndarray) -> np.ndarray:
    at = np.flatnonzero((ops["kind"] == Kind.EVENT) & (ops["tag"] == REGION_TYPE))
    computed = np.cumsum(ops["burst"])[at]
    value, time = ops["other"][at], times["begin"][at]
    begins, ends, regions = _pairs(value)
    found = np.zeros(len(begins), REPLAYED_VISIT)
    found["rank"], found["region"] = rank, regions - 1
    found["time"], found["useful"] = time[ends] - time[begins], computed[ends] - computed[begins]
    for region in np.unique(regions).tolist():
        mine = regions == region
        found["number"][mine] = np.arange(np.count_nonzero(mine))
    return found


def _pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Begins, ends and regions of the visits that are in no other visit of their region, in order of their ends.

    A value is the region that begins, or 0 where the innermost ends.
    """
    stack: list[tuple[int, int]] = []
    open_: dict[int, int] = {}
    rows = []
    for place, value in enumerate(values.tolist()):
        if value:
            stack.append((place, value))
            open_[value] = open_.get(value, 0) + 1
        elif stack:
            begin, region = stack.pop()
            open_[region] -= 1
            if not open_[region]:
                rows.append((begin, place, region))
    table = np.array(rows, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]
