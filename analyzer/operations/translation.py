"""A rank's rows turned into packed operations in one go, where its file has them as they were recorded.

The kernel does what `RankOperations.of` does step by step, and what packs its result, without the records between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.metrics.requests import Choice
from analyzer.operations.events import ProgramEvents
from analyzer.operations.rank_rows import OpenForLong, RankRows, Rows
from analyzer.operations.rank_walk import RankWalk, pointer
from analyzer.operations.spill import OperationSpill
from analyzer.sources.lane import Lane
from analyzer.trace import Trace


class Begun(NamedTuple):
    """Where the translation of a rank stands."""

    walk: RankWalk
    events: ProgramEvents


class Unusual:
    """What rows do not say all of: operations on windows, and persistent collectives, whose bytes the calls around
    their starts tell."""

    def __init__(self, on_window: np.ndarray, persistent: np.ndarray) -> None:
        """Which procedures these are."""
        self._on_window = on_window.view(np.uint8)
        self._any = on_window | persistent

    def is_in(self, lane: Lane, rank: RankRows) -> bool:
        """Whether a rank has any. Its rows are looked at only where it names such procedures."""
        marked = pointer(self._on_window, "uint8_t *")
        return lane.names_any(self._any) and not all(
            lib.rows_are_plain(lane.struct, rows.struct, marked) for rows in rank.apart()
        )


class Translation:
    """Of ranks one after the other, all into the same spill."""

    def __init__(self, spill: OperationSpill, plans: Any, posted: Choice, done: Choice, unusual: Unusual) -> None:
        """plans: `struct op_plans *`; which requests open something, and which end it."""
        self.spill, self._plans, self._posted, self._done, self._unusual = spill, plans, posted, done, unusual
        packer = ffi.cast("struct packer *", spill.packer)
        wanted = [pointer(choice.wanted, "uint8_t *") for choice in (posted, done)]
        self._struct = ffi.gc(lib.translation_open(packer, *wanted), lib.translation_close)
        if not self._struct:
            raise MemoryError
        self._open_for_long = False  # in a rank before: others will be like it

    def append(self, trace: Trace, lane: Lane, begin: Callable[[], Begun]) -> tuple[int, Begun] | None:
        """Append the operations of a rank; returns their number, and where it ended. None: its rows do not say all of
        them, and none is appended. `begin` may be asked more than once."""
        rank = RankRows(lane, max(trace.duration_ns + 1, 1), self._posted)
        if self._unusual.is_in(lane, rank):
            return None
        end = trace.span(lane.rank)[1]
        if not rank.is_long:
            return self._translated(lane, rank.windows(None), end, begin())
        if not self._open_for_long:
            before = self.spill.mark()
            with suppress(OpenForLong):
                return self._translated(lane, rank.windows(None), end, begin())
            self._open_for_long = True
            self.spill.return_to(before)
        return self._translated(lane, rank.windows(rank.far_requests()), end, begin())

    def _translated(self, lane: Lane, windows: Iterator[Rows], end: int, begun: Begun) -> tuple[int, Begun]:
        lib.translation_begin(self._struct, begun.walk.struct, lane.struct)
        count = 0
        for rows in windows:
            if rows.is_last:
                rows.struct.end = end
            count += self._window(begun.walk, rows, begun.events.window(rows.window))
        return count, begun

    def _window(self, walk: RankWalk, rows: Rows, events: np.ndarray) -> int:
        rest, events = walk.rest(events)
        used = ffi.new("int64_t *")
        found = lib.translation_window(self._struct, self._plans, rest, rows.struct, used)
        if not found:
            raise MemoryError
        walk.leave(events[used[0] :])
        begins = np.frombuffer(ffi.buffer(found.begins, 8 * found.n_begins), np.int64)
        return self.spill.append_packed(memoryview(ffi.buffer(found.bytes, found.n_bytes)), begins, found.n_operations)
