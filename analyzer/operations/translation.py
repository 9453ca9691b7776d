"""Turns a rank's rows into packed operations in one step, if the file has the rows as they were recorded.

The result is the same as that of `RankOperations.of` and the packing of its operations, without the records between.
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
    """State of the translation of one rank."""

    walk: RankWalk
    events: ProgramEvents


class Unusual(Exception):
    """Exception for rows that do not have all facts about their operations.

    These are operations on RMA windows, and persistent collectives, whose bytes stand in the calls around their starts.
    """


class Translation:
    """Translator that appends the operations of one rank after the other to a spill.

    Rows are read once. If a rank turns out to be unusual, or has a request that was open for long, it is translated
    again in another way. For later ranks, which are likely to be like it, this is checked first.
    """

    def __init__(self, spill: OperationSpill, plans: Any, posted: Choice, done: Choice, on_window: np.ndarray) -> None:
        """Open the kernel's translation.

        Args:
            spill: Where operations are appended.
            plans: `struct op_plans *`.
            posted: Requests that open an operation.
            done: Requests that complete an operation.
            on_window: uint8 mask of the procedures whose operations need more than their rows.
        """
        self.spill, self._plans, self._posted, self._done = spill, plans, posted, done
        self._on_window = on_window
        packer = ffi.cast("struct packer *", spill.packer)
        wanted = [pointer(choice.wanted, "uint8_t *") for choice in (posted, done)]
        self._struct = ffi.gc(lib.translation_open(packer, *wanted), lib.translation_close)
        if not self._struct:
            raise MemoryError
        self._unusual = self._open_for_long = False  # found in an earlier rank

    def append(self, trace: Trace, lane: ThreadRecords, begin: Callable[[], Begun]) -> tuple[int, Begun] | None:
        """Append the operations of a rank.

        Args:
            trace: The run.
            lane: The only thread of the rank.
            begin: Makes the state at the begin of the rank. It may be called more than once.

        Returns:
            The number of operations, and the state at the rank's end. None: the rows do not have all facts, and nothing
            was appended.
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
        """Append the operations of the first ranks of `stored`, up to the first rank that is unusual.

        Args:
            stored: Threads of ranks that have one thread each.
            end: Rows from this time (ns) on are left out.
            tracer_times: Leave the tracer's time out of bursts.

        Returns:
            For each appended rank the number of operations, and the number of requests that it had open at once.
        """
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
        """Append a `struct packed_window` to the spill. Return the number of its operations."""
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
