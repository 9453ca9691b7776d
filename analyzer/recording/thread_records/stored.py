"""Stored threads: their rows lie in the files as they were recorded, so a kernel reads many ranks in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import CALL, REQUEST
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

_UNKNOWN, _STORED, _OTHER = range(3)
_TABLES = ("calls", "polls", "requests")


class Stored(NamedTuple):
    """Structs of neighbouring ranks with one stored thread each, for the kernels.

    structs: array of `struct stored_lane`. counts: number of rows of calls, polls and requests, shape (3, ranks).
    has_events: bool by rank, True if it has events that are not the tracer's. stream_rows: as in ReadSizes.
    """

    structs: Any
    counts: np.ndarray
    has_events: np.ndarray
    stream_rows: int


class StoredThreads:
    """Stored threads by rank: the only threads of ranks whose rows kernels can read in the file.

    Rows that are left out later (`ThreadTable.leave_out`) are not noticed.
    """

    def __init__(
        self, lanes: Mapping[int, Sequence[ThreadRecords]], size: int, sizes: ReadSizes = DEFAULT_SIZES
    ) -> None:
        self._lanes, self._stream_rows = lanes, sizes.stream_rows
        self._structs = ffi.new("struct stored_lane[]", size)
        self._what = np.zeros(size, np.int8)
        self._counts = np.zeros((len(_TABLES), size), np.int64)
        self._has_events = np.zeros(size, bool)
        self._paths: list[Any] = []  # strings that the structs point to

    def are(self, ranks: range) -> np.ndarray:
        """Return a bool mask of the ranks that are stored: the kernel can read their only thread."""
        for rank in (ranks.start + np.flatnonzero(self._what[ranks.start : ranks.stop] == _UNKNOWN)).tolist():
            self._what[rank] = _STORED if self._describe(rank) else _OTHER
        return self._what[ranks.start : ranks.stop] == _STORED

    def of(self, ranks: range) -> Stored | None:
        """Return the stored threads of these ranks; None: one of the ranks is not stored."""
        if not self.are(ranks).all():
            return None
        some = slice(ranks.start, ranks.stop)
        return Stored(self._structs + ranks.start, self._counts[:, some], self._has_events[some], self._stream_rows)

    def calls(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the calls (CALL) of these ranks, rank after rank, and the number of calls of each rank.

        None: a rank is not stored, not all of its calls lie in [begin, end) ns, or the kernel cannot read them.
        """
        stored = self.of(ranks)
        return stored and _records(lib.stored_calls, stored, begin, end, stored.counts[0] + stored.counts[1], CALL)

    def requests(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the requests (REQUEST) of these ranks, rank after rank, and the number of each rank.

        None: as in `calls`.
        """
        stored = self.of(ranks)
        return stored and _records(lib.stored_requests, stored, begin, end, stored.counts[2], REQUEST)

    def _describe(self, rank: int) -> bool:
        """Fill the struct of a rank. Return False if the kernel cannot read the rank.

        A rank without a file has no rows.
        """
        lanes = self._lanes.get(rank, ())
        if len(lanes) != 1 or len(lanes[0].tables["summaries"]):
            return False
        (lane,), struct, path = lanes, self._structs[rank], ""
        for number, name in enumerate(_TABLES):
            table = lane.tables[name]
            if not len(table):
                continue
            place = table.place
            if place is None:
                return False
            rows = getattr(struct, name)
            rows.at, rows.chunk_rows = pointer(place.chunks.at, "int64_t *"), place.chunks.rows
            rows.first, rows.count = place.first, len(table)
            self._counts[number, rank] = len(table)
            struct.first_tick, struct.last_tick, struct.slack = place.stamps
            path = place.path
        self._paths.append(ffi.new("char[]", os.fsencode(path)))
        struct.lane, struct.path = lane.struct, self._paths[-1]
        struct.flushes, struct.n_flushes = pointer(lane.not_the_programs), len(lane.not_the_programs)
        self._has_events[rank] = lane.has_programs_events
        return True


def _records(
    kernel: Callable[..., int], stored: Stored, begin: int, end: int, counts: np.ndarray, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray] | None:
    found = np.empty(counts.sum(), dtype)
    good = _check(kernel(stored.structs, len(counts), begin, end, pointer(found)), len(counts))
    return (found, counts) if good else None


def _check(answer: int, wanted: int) -> bool:
    if answer < 0:
        raise MemoryError
    return answer == wanted
