"""A rank's rows turned into packed operations in one step, if its file has them as they were recorded.

The kernel does without intermediate records what `RankOperations.of` and the packing of its result do step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.operations.events import ProgramEvents
from analyzer.operations.rank_rows import OpenForLong, RankRows, Rows
from analyzer.operations.rank_walk import RankWalk
from analyzer.pairing.requests import Choice
from analyzer.program.storage import OperationSpill
from analyzer.recording.thread_records.stored import Stored
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import Trace


class Begun(NamedTuple):
    """State of the translation of a rank."""

    walk: RankWalk
    events: ProgramEvents


class Unusual(Exception):
    """Rows that do not hold all facts on their operations.

    These are operations on windows, and persistent collectives, whose bytes stand in the calls around their starts.
    """


class Translation:
    """Translation of ranks, one after the other, into the same spill.

    Rows are read once. A fact that comes too late (a rank is unusual, a request was open for long) lets its rank begin
    again. For the ranks after it, which will be like it, this fact is looked for first.
    """

    def __init__(self, spill: OperationSpill, plans: Any, posted: Choice, done: Choice, on_window: np.ndarray) -> None:
        """Open the kernel's translation.

        plans: `struct op_plans *`; posted, done: requests that open and that end an operation; on_window: mask (uint8)
        of the procedures whose operations need more than their rows.
        """
        self.spill, self._plans, self._posted, self._done = spill, plans, posted, done
        self._on_window = on_window
        packer = ffi.cast("struct packer *", spill.packer)
        wanted = [pointer(choice.wanted, "uint8_t *") for choice in (posted, done)]
        self._struct = ffi.gc(lib.translation_open(packer, *wanted), lib.translation_close)
        if not self._struct:
            raise MemoryError
        self._unusual = self._open_for_long = False  # a rank before

    def append(self, trace: Trace, lane: ThreadRecords, begin: Callable[[], Begun]) -> tuple[int, Begun] | None:
        """Append the operations of a rank. Return their number and the state at its end.

        None: its rows do not hold all facts on them, and none is appended. `begin` may be called more than once.
        """
        rank = RankRows(lane, max(trace.duration_ns + 1, 1), self._posted)
        if self._unusual and not all(self._are_plain(lane, rows) for rows in rank.apart()):
            return None
        far = rank.far_requests() if self._open_for_long and rank.is_long else None
        before = self.spill.mark() if rank.is_long else None
        try:
            return self._translated(lane, rank.windows(far), trace.span(lane.rank)[1], begin())
        except (Unusual, OpenForLong) as met:
            if before:
                self.spill.return_to(before)
            if isinstance(met, Unusual):
                self._unusual = True
                return None
        self._open_for_long = True
        return self.append(trace, lane, begin)

    def append_lanes(self, stored: Stored, end: int, *, tracer_times: bool) -> tuple[np.ndarray, np.ndarray]:
        """Append the operations of the first ones of some ranks, as many as say all of them in rows that lie before
        `end` (ns): the number of operations of each, and how many requests it had open at once."""
        count = len(stored.has_events)
        if self._unusual or stored.has_events.any() or stored.counts.max(initial=0) > stored.stream_rows:
            count = 0
        operations, slots = np.zeros((2, count), np.int64)
        marked = pointer(self._on_window, "uint8_t *")
        span = ffi.new("struct stored_span *", {"end": end, "marked": marked, "tracer_times": tracer_times})
        used = lib.translation_lanes(
            self._struct, self._plans, stored.structs, count, span,
            pointer(operations, "int64_t *"), pointer(slots, "int64_t *"),
        )  # fmt: skip
        if used < 0:
            raise MemoryError
        self._keep(lib.translation_packed(self._struct))
        return operations[:used], slots[:used]

    def _keep(self, found: Any) -> int:
        """Append a `struct packed_window`; returns the number of its operations."""
        if not found.n_operations:
            return 0
        begins = np.frombuffer(ffi.buffer(found.begins, 8 * found.n_begins), np.int64)
        return self.spill.append_packed(memoryview(ffi.buffer(found.bytes, found.n_bytes)), begins, found.n_operations)

    def _are_plain(self, lane: ThreadRecords, rows: Rows) -> bool:
        return bool(lib.rows_are_plain(lane.struct, rows.struct, pointer(self._on_window, "uint8_t *")))

    def _translated(self, lane: ThreadRecords, windows: Iterator[Rows], end: int, begun: Begun) -> tuple[int, Begun]:
        lib.translation_begin(self._struct, begun.walk.struct, lane.struct)
        count = 0
        for rows in windows:
            if not self._are_plain(lane, rows):
                raise Unusual
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
        return self._keep(found)
