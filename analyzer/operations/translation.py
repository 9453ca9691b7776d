"""A rank's rows turned into packed operations in one go, where its file has them as they were recorded.

The kernel does what `RankOperations.of` does step by step, and what packs its result, without the records between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.metrics.requests import Choice, gather_blocks, windows_of_rank
from analyzer.operations.events import ProgramEvents
from analyzer.operations.rank_walk import RankWalk, pointer
from analyzer.operations.spill import OperationSpill
from analyzer.sources.lane import Lane
from analyzer.trace import REQUEST, Trace

_NONE = np.zeros(0, REQUEST)


class _Rows:
    """Rows of a lane in a window of time, as `struct thread_rows`, which lives as long as this."""

    def __init__(self, lane: Lane, window: tuple[int, int]) -> None:
        calls, polls, requests = lane.rows("calls", *window), lane.folded(*window), lane.rows("requests", *window)
        self._calls, self._polls, self.requests = calls, polls, requests
        self.window = window
        self.struct = ffi.new(
            "struct thread_rows *",
            {
                "calls": ffi.from_buffer(calls), "polls": ffi.from_buffer(polls),
                "requests": ffi.from_buffer(requests), "n_calls": len(calls), "n_polls": len(polls),
                "n_requests": len(requests), "begin": window[0], "begin_ticks": lane.ticks(*window)[0], "end": -1,
            },
        )  # fmt: skip


class _RankRows:
    """Those of a lane, window by window, as often as they are asked for; those of the last window are kept."""

    def __init__(self, lane: Lane, windows: Sequence[tuple[int, int]]) -> None:
        self._lane, self._windows = lane, windows
        self._last: _Rows | None = None

    def __iter__(self) -> Iterator[_Rows]:
        for window in self._windows[:-1]:
            yield _Rows(self._lane, window)
        if self._last is None:
            self._last = _Rows(self._lane, self._windows[-1])
        yield self._last


def _posted_before(lane: Lane, rows: _Rows) -> np.ndarray:
    """Requests (REQUEST) that are completed in a window and were posted in an earlier one."""
    before = rows.requests[rows.requests["posted"] < lane.clock.ticks(rows.window[0])]
    return lane.requests(before) if len(before) else _NONE


class Translation:
    """Of ranks one after the other, all into the same spill."""

    def __init__(self, spill: OperationSpill, plans: Any, posted: Choice, done: Choice, on_window: np.ndarray) -> None:
        """plans: `struct op_plans *`; which requests open something, and which end it; on_window: the procedures
        (uint8) whose operations need more than their rows."""
        self.spill, self._plans, self._posted, self._done = spill, plans, posted, done
        self._on_window = on_window
        packer = ffi.cast("struct packer *", spill.packer)
        wanted = [pointer(choice.wanted, "uint8_t *") for choice in (posted, done)]
        self._struct = ffi.gc(lib.translation_open(packer, *wanted), lib.translation_close)
        if not self._struct:
            raise MemoryError

    def append(self, trace: Trace, lane: Lane, walk: RankWalk, events: ProgramEvents) -> int | None:
        """Append the operations of a rank; returns their number. None: its rows do not say all of them, and none is
        appended."""
        windows = [*pairwise(windows_of_rank(trace, lane.rank).tolist())]
        blocks, marked = _RankRows(lane, windows), pointer(self._on_window, "uint8_t *")
        posted = []
        for rows in blocks:
            if not lib.rows_are_plain(lane.struct, rows.struct, marked):
                return None
            if rows.window != windows[0]:
                posted.append(_posted_before(lane, rows))
        late = self._posted.of(gather_blocks(posted, REQUEST))
        lib.translation_begin(self._struct, walk.struct, lane.struct)
        count = 0
        for rows in blocks:
            if rows.window == windows[-1]:
                rows.struct.end = trace.span(lane.rank)[1]
            count += self._window(walk, rows, late, events.window(rows.window))
        return count

    def _window(self, walk: RankWalk, rows: _Rows, late: np.ndarray, events: np.ndarray) -> int:
        if len(late):
            first, last = np.searchsorted(late["posted"], rows.window)
            rows.struct.late, rows.struct.n_late = pointer(late[first:last]), last - first
        rest, events = walk.rest(events)
        used = ffi.new("int64_t *")
        found = lib.translation_window(self._struct, self._plans, rest, rows.struct, used)
        if not found:
            raise MemoryError
        walk.leave(events[used[0] :])
        begins = np.frombuffer(ffi.buffer(found.begins, 8 * found.n_begins), np.int64)
        return self.spill.append_packed(memoryview(ffi.buffer(found.bytes, found.n_bytes)), begins, found.n_operations)
