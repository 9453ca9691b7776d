"""The records of one rank of a Dimemas trace: its operations, formatted by a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from analyzer._kernels import lib
from analyzer.native import pointer
from analyzer.operations.events import NO_EVENTS
from analyzer.operations.virtual import VirtualThreads
from analyzer.operations.walk import RankOperations, is_definable
from analyzer.operations.windows import window_groups
from analyzer.program.streams import pieces
from analyzer.trace import Trace

OPERATION_BYTES = 320
"""Room for the text of one operation (see the kernel's header)."""


def communicator_ids(trace: Trace) -> list[int]:
    """A different id for each communicator: its own, but for those that another has, too. In a Paraver trace of several
    applications each of them numbers its own."""
    ids, used = [], set[int]()
    free = max((c.id for c in trace.communicators), default=0) + 1
    for communicator in trace.communicators:
        is_new = communicator.id not in used
        ids.append(communicator.id if is_new else free)
        free += not is_new
        used.add(ids[-1])
    return ids


def world_id(trace: Trace) -> int:
    """Id of the communicator of all ranks: the first of that size, else a new one."""
    ids = communicator_ids(trace)
    for id_, communicator in zip(ids, trace.communicators, strict=True):
        if is_definable(communicator) and len(communicator.members) == trace.size:
            return id_
    return max(ids, default=0) + 1


def window_ids(trace: Trace) -> list[int]:
    """Ids that no communicator has, for `window_groups`."""
    first = max([world_id(trace), *communicator_ids(trace)]) + 1
    return [*range(first, first + len(window_groups(trace)))]


class RankWriter:
    """Formats ranks one after the other with the same tables and the same memory."""

    def __init__(self, trace: Trace, buffered: int, events: np.ndarray = NO_EVENTS) -> None:
        """buffered: bytes up to which the run shows that MPI_Send does not wait; -1: it says nothing of that.
        events: EVENT in order of time, which the trace does not have."""
        self._buffered = buffered
        self._trace, self._program = trace, trace.program
        self._walk = RankOperations(trace, events=events) if trace.has_call_times else None
        windows = window_ids(trace) if trace.has_call_times else []
        self._comm_ids = np.array([world_id(trace), *communicator_ids(trace), *windows], np.int32)
        self._out = np.zeros(0, np.uint8)
        self._procedures = len(trace.procedures)

    @property
    def left_out(self) -> np.ndarray:
        """Calls by procedure that move data and have no record in Dimemas."""
        return self._walk.left_out[0] if self._walk else np.zeros(self._procedures, np.int64)

    @property
    def idle_events(self) -> int:
        """Events that would mean something else to Dimemas."""
        return self._walk.idle_events if self._walk else 0

    def write(self, rank: int, file: BinaryIO) -> list[int]:
        """Write the records of one rank; returns the size in bytes of those of each thread."""
        return [self._write_thread(rank, thread, blocks, file) for thread, blocks in self._threads(rank)]

    def _threads(self, rank: int) -> Iterator[tuple[int, Iterator[np.ndarray]]]:
        """Number and operations of each thread."""
        if self._walk:
            yield 0, map(VirtualThreads(self._trace, rank).share_out, self._walk.of(rank))
        if self._program:
            for stream in self._program.streams_of(rank):
                yield int(self._program.thread[stream]), pieces(self._program, stream)

    def _write_thread(self, rank: int, thread: int, blocks: Iterator[np.ndarray], file: BinaryIO) -> int:
        head = f"1:{rank}:{thread}:0.000000000\n"
        if rank == thread == 0 and self._buffered >= 0:
            head += f"20:0:0:{lib.DIM_EAGER_LIMIT}:{self._buffered + 1}\n"
        size = file.write(head.encode())
        return size + sum(file.write(self._text(rank, thread, operations)) for operations in blocks)

    def _text(self, rank: int, thread: int, operations: np.ndarray):
        """The text (bytes-like) of a block."""
        if len(self._out) < len(operations) * OPERATION_BYTES:
            self._out = np.empty(len(operations) * OPERATION_BYTES, np.uint8)
        size = lib.dim_text(
            pointer(operations), len(operations), rank, thread,
            pointer(self._comm_ids, "int32_t *"), self._buffered,
            pointer(self._out, "char *"),
        )  # fmt: skip
        return self._out[:size].data
