"""A rank's rows turned into packed operations in one go, where its file has them as they were recorded.

The kernel does what `RankOperations.of` does step by step, and what packs its result, without the records between.
"""

from __future__ import annotations

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


class Translation:
    """Of ranks one after the other, all into the same spill."""

    def __init__(self, spill: OperationSpill, plans: Any, posted: Choice, done: Choice) -> None:
        """plans: `struct op_plans *`; which requests open something, and which end it."""
        self.spill, self._plans, self._posted, self._done = spill, plans, posted, done
        packer = ffi.cast("struct packer *", spill.packer)
        wanted = [pointer(choice.wanted, "uint8_t *") for choice in (posted, done)]
        self._struct = ffi.gc(lib.translation_open(packer, *wanted), lib.translation_close)
        if not self._struct:
            raise MemoryError

    def append(self, trace: Trace, lane: Lane, walk: RankWalk, events: ProgramEvents) -> int:
        """Append the operations of a rank; returns their number."""
        windows = windows_of_rank(trace, lane.rank).tolist()
        late, end = self._late(lane, windows), trace.span(lane.rank)[1]
        lib.translation_begin(self._struct, walk.struct, lane.struct)
        count = 0
        for window in pairwise(windows):
            first, last = np.searchsorted(late["posted"], window) if len(late) else (0, 0)
            said = events.window(window)
            count += self._window(lane, walk, window, late[first:last], said, end if window[1] == windows[-1] else -1)
        return count

    def _late(self, lane: Lane, windows: list[int]) -> np.ndarray:
        """Requests (REQUEST) that were posted in one window and completed in a later one, in order of posting."""
        found = []
        for begin, end in pairwise(windows[1:]):
            rows = lane.rows("requests", begin, end)
            before = rows[rows["posted"] < lane.clock.ticks(begin)]
            if len(before):
                found.append(lane.requests(before))
        return self._posted.of(gather_blocks(found, REQUEST)) if found else np.zeros(0, REQUEST)

    def _window(
        self, lane: Lane, walk: RankWalk, window: tuple[int, int], late: np.ndarray, events: np.ndarray, end: int
    ) -> int:
        tables = {
            "calls": lane.rows("calls", *window), "polls": lane.folded(*window),
            "requests": lane.rows("requests", *window), "late": late,
        }  # fmt: skip
        rows = ffi.new("struct thread_rows *")
        for name, table in tables.items():
            setattr(rows, name, pointer(table))
            setattr(rows, f"n_{name}", len(table))
        rows.begin, rows.begin_ticks, rows.end = window[0], lane.clock.ticks(window[0]), end
        rest, events = walk.rest(events)
        used = ffi.new("int64_t *")
        found = lib.translation_window(self._struct, self._plans, rest, rows, used)
        if not found:
            raise MemoryError
        walk.leave(events[used[0] :])
        begins = np.array(ffi.unpack(found.begins, found.n_begins), np.int64)
        return self.spill.append_packed(ffi.buffer(found.bytes, found.n_bytes)[:], begins, found.n_operations)
