"""States and events of many ranks in a window of time. Kernels read neighbouring ranks together where possible."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.recording.thread_records import records
from analyzer.recording.thread_records.records import Runs, joined
from analyzer.recording.thread_records.stored import StoredThreads
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import EVENT, STATE

_BEFORE, _BEHIND = np.iinfo(np.int64).min // 2, np.iinfo(np.int64).max // 2


class _Kind(NamedTuple):
    """Kind of records (STATE or EVENT), with the functions that read it, for stored ranks and for other threads."""

    dtype: np.dtype
    of_stored: Callable[..., int]
    of_lanes: Callable[[Sequence[ThreadRecords], int, int], Runs]


_STATES = _Kind(STATE, lib.window_states, records.states)
_EVENTS = _Kind(EVENT, lib.window_events, records.events)


class WindowedThreads:
    """Reader of the states and events of a run's threads, one window of time after the other."""

    def __init__(self, lanes: Mapping[int, Sequence[ThreadRecords]], size: int, stored: StoredThreads) -> None:
        self._lanes, self._stored = lanes, stored
        self._structs = ffi.new("struct windowed_lane[]", size)
        self._shown: list[np.ndarray] = []  # arrays that the structs point to
        self._has_shown = np.zeros(size, bool)
        self._has_others = np.zeros(size, bool)
        self._records = ffi.gc(ffi.new("struct lane_records *"), lib.lane_records_free)

    def are_stored(self, ranks: range) -> bool:
        """Return True if kernels read the states of all these ranks."""
        return bool(self._stored.are(ranks).all())

    def states(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return the states (STATE) of ranks that begin in [begin, end) ns, in order of (begin, rank, thread)."""
        return self._taken(ranks, _STATES, begin, end, Runs.merged)

    def states_by_rank(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return the states (STATE) of ranks that begin in [begin, end) ns, in order of (rank, thread, begin)."""
        return self._taken(ranks, _STATES, begin, end, lambda runs: runs.records.copy())

    def events(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return the events (EVENT) of ranks with time in [begin, end) ns, in order of (time, rank, thread)."""
        return self._taken(ranks, _EVENTS, begin, end, Runs.merged)

    def _taken(self, ranks: range, kind: _Kind, begin: int, end: int, take: Callable[[Runs], np.ndarray]) -> np.ndarray:
        """Read the ranks, return what `take` makes of the sequences, and free their memory."""
        found = take(self._runs(ranks, kind, begin, end))
        lib.lane_records_free(self._records)
        return found

    def _runs(self, ranks: range, kind: _Kind, begin: int, end: int) -> Runs:
        """Read one sorted sequence for each thread. The next call may overwrite its memory."""
        groups = list(self._groups(ranks, kind))
        parts = []
        for group, stored in groups:
            found = self._read(group, kind, begin, end) if stored else None
            if found is None:
                found = kind.of_lanes([lane for rank in group for lane in self._lanes.get(rank, ())], begin, end)
            elif len(groups) > 1:
                found = Runs(found.records.copy(), found.offsets)
            parts.append(found)
        return joined(parts)

    def _groups(self, ranks: range, kind: _Kind) -> Iterator[tuple[range, bool]]:
        """Yield groups of neighbouring ranks, with True if kernels read all of them, False if none."""
        can = self._stored.are(ranks)
        if kind is _EVENTS:
            for rank in (ranks.start + np.flatnonzero(can & ~self._has_shown[ranks.start : ranks.stop])).tolist():
                self._show(rank)
            can &= ~self._has_others[ranks.start : ranks.stop]
        edges = [0, *(np.flatnonzero(np.diff(can)) + 1).tolist(), len(can)]
        for first, last in itertools.pairwise(edges):
            yield ranks[first:last], bool(first < last and can[first])

    def _show(self, rank: int) -> None:
        """Prepare the events of a stored rank for the kernel, unless there are too many or accesses."""
        (lane,), struct = self._lanes[rank], self._structs[rank]
        self._has_shown[rank] = True
        if len(lane.tables["events"]) > lane.tables["events"].sizes.shown_events or len(lane.tables["accesses"]):
            self._has_others[rank] = True
            return
        rows = np.ascontiguousarray(records.shown_events(lane, _BEFORE, _BEHIND))
        if len(rows):
            struct.events, struct.n_events = pointer(rows), len(rows)
            self._shown.append(rows)

    def _read(self, ranks: range, kind: _Kind, begin: int, end: int) -> Runs | None:
        """Read stored ranks. The next call overwrites the memory. None: a rank must be read in another way."""
        stored, counts = self._stored.of(ranks), np.zeros(len(ranks), np.int64)
        assert stored is not None
        read = kind.of_stored(
            stored.structs, self._structs + ranks.start, len(ranks), begin, end, pointer(counts, "int64_t *"),
            self._records,
        )  # fmt: skip
        if read < 0:
            raise MemoryError
        if read < len(ranks):
            return None
        found = np.frombuffer(ffi.buffer(self._records.bytes, self._records.used), kind.dtype)
        return Runs(found, np.concatenate([[0], np.cumsum(counts)]))
