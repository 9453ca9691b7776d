"""The nodes of each thread: its calls, the begins and ends of its regions, and the time that it lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.rows import Rows
from analyzer.trace import CALL

MARKED, OF_TRACER, JOINED, NO_CPU, NOT_RECORDED = lib.NODE_MARKED, -2, -3, -4, -5
"""Values in place of a call. MARKED: a point in time. OF_TRACER: the tracer writes its buffer or measures clocks.

JOINED: a main thread waits for others of its rank to end. NO_CPU: a predicted thread waits for a CPU. NOT_RECORDED:
nothing is recorded.
"""

NODE = np.dtype([("enter", "<i8"), ("exit", "<i8"), ("call", "<i4"), ("region", "<i4"), ("tracer", "<i8")])
"""One node (`struct node` of csrc/kernels/path/nodes.h)."""

NOTED = np.dtype([*CALL.descr, ("rank", "<i4")])
"""A call and its rank."""


@dataclass(frozen=True)
class NodeTimeline:
    """The nodes of all threads, thread after thread, in a temporary file; each thread has a begin and an end node.

    Nodes of a thread do not overlap. Before a node its thread computed, since the exit of the node before, in `region`
    (index in Trace.region_names, the innermost one; -1: in none).
    """

    file: Rows  # NODE
    offsets: np.ndarray  # (threads + 1,) int64, the first node of each thread
    rank: np.ndarray  # (threads,) int32
    thread: np.ndarray  # (threads,) int32
    first_thread: np.ndarray  # (ranks,) the main thread of each rank
    joined: np.ndarray  # (threads,) bool, threads that the main thread of their rank waited for
    noted: np.ndarray  # NOTED, calls that are kept whole, by rank
    polling: Rows | None = None  # NODE of the threads that poll, each poll by itself, computing between them
    polling_offsets: np.ndarray | None = None  # (threads + 1,) first row of each thread in `polling`

    def __len__(self) -> int:
        return len(self.file)

    @property
    def rows(self) -> np.ndarray:
        """Return all nodes, mapped: (nodes,) NODE."""
        return self.file.mapped()

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield all rows piece by piece, each piece with the number of its first node."""
        return self.file.pieces()

    def forget(self) -> None:
        """Release the memory of the nodes that were read."""
        self.file.forget()
        if self.polling is not None:
            self.polling.forget()

    @property
    def enter(self) -> np.ndarray:
        """Return the times of entry: (nodes,) int64, ns."""
        return self.rows["enter"]

    @property
    def exit(self) -> np.ndarray:
        """Return the times of exit: (nodes,) int64, ns."""
        return self.rows["exit"]

    @property
    def call(self) -> np.ndarray:
        """Return the calls: (nodes,) int32, index in Trace.procedures; or MARKED, OF_TRACER, ..."""
        return self.rows["call"]

    @property
    def region(self) -> np.ndarray:
        """Return the regions: (nodes,) int32."""
        return self.rows["region"]

    @property
    def threads(self) -> int:
        """Return the number of threads of all ranks."""
        return len(self.rank)

    def thread_slice(self, thread: int) -> slice:
        """Return the nodes of a thread as a slice."""
        return slice(int(self.offsets[thread]), int(self.offsets[thread + 1]))

    def whole(self, thread: int) -> np.ndarray:
        """Return the nodes (NODE) of a thread; of a thread that polls, each poll by itself."""
        if self.polling is not None and self.polling_offsets is not None:
            first, last = self.polling_offsets[thread : thread + 2].tolist()
            if last > first:
                return self.polling.mapped()[first:last]
        return self.rows[self.thread_slice(thread)]

    def entered(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the calls (node, int64) that these threads were in, or entered, at these times; -1: in none."""
        return self._find(rank, thread, time, lib.nodes_entered)

    def left(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the calls (node, int64) that these threads left, or were in, at these times; -1: in none."""
        return self._find(rank, thread, time, lib.nodes_left)

    def _find(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray, find: Callable) -> np.ndarray:
        streams = np.ascontiguousarray(self.first_thread[rank] + thread, np.int64)
        times = np.require(time, np.int64, ("C", "A"))  # a field of rows is not aligned
        hints = np.zeros(self.threads, np.int64)
        found = np.empty(len(times), np.int64)
        arrays = (pointer(array, "int64_t *") for array in (self.offsets, hints, streams, times))
        find(pointer(self.rows, "struct node *"), *arrays, len(times), pointer(found, "int64_t *"))
        return found
