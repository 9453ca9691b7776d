"""Records of several threads, each thread's in order of time, and all of them merged by time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from analyzer._kernels import lib
from analyzer.native import pointer


class Runs(NamedTuple):
    """Run k is records[offsets[k]:offsets[k+1]]; offsets int64, shape (runs + 1,)."""

    records: np.ndarray
    offsets: np.ndarray

    def merged(self) -> np.ndarray:
        """All records by (time, run, order in the run), as a new array."""
        return self.records.copy() if np.count_nonzero(np.diff(self.offsets)) < 2 else merge_runs(*self)


def joined(parts: Sequence[Runs]) -> Runs:
    """One after the other."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
    return Runs(np.concatenate([part.records for part in parts]), np.cumsum(lengths))


def merge_runs(records: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Runs records[offsets[k]:offsets[k+1]], each in order of its first column, merged by (that, k)."""
    merged = np.empty_like(records)
    runs = len(offsets) - 1
    if lib.lane_merge(pointer(records), pointer(offsets, "int64_t *"), runs, records.itemsize, pointer(merged)) < 0:
        raise MemoryError
    return merged


class Buffer:
    """Runs while they are made, one after the other."""

    def __init__(self, dtype: np.dtype, room: int) -> None:
        self._records = np.empty(room, dtype)
        self._offsets = [0]

    def tail(self) -> Any:
        """Where the next run's records go."""
        return pointer(self._records[self._offsets[-1] :])

    def wrote(self, count: int) -> None:
        """The run is done."""
        self._offsets.append(self._offsets[-1] + int(count))

    def runs(self) -> Runs:
        """What was made."""
        return Runs(self._records[: self._offsets[-1]], np.array(self._offsets, np.int64))
