"""Nodes of threads, in a time line for each: calls, begins and ends of regions, times that are not the program's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.rows import Rows
from analyzer.trace import CALL

MARKED, OF_TRACER, JOINED, NO_CPU, NOT_RECORDED = lib.NODE_MARKED, -2, -3, -4, -5
"""Values of `call` in nodes that are no calls.

MARKED: a point in time, such as the begin of a region. OF_TRACER: the tracer writes its buffer or measures clocks.
JOINED: a main thread waits for other threads of its rank to end. NO_CPU: a predicted thread waits for a CPU.
NOT_RECORDED: nothing is recorded.
"""

NODE = np.dtype([("enter", "<i8"), ("exit", "<i8"), ("call", "<i4"), ("region", "<i4"), ("tracer", "<i8")])
"""Node of a thread: a call or another stretch of time, from enter to exit (`struct node` of csrc/kernels/path/nodes.h).

Times are in ns. `call`: index in Trace.procedures, or MARKED, OF_TRACER, .... `region`: innermost region before the
node (index; -1: none). `tracer`: ns that the tracer held the thread after the exit.
"""

NOTED = np.dtype([*CALL.descr, ("rank", "<i4")])
"""A call with all columns, and its rank."""


@dataclass(frozen=True)
class NodeTimeline:
    """The nodes of all threads, thread after thread, in a temporary file. Each thread has a begin node and an end node.

    Nodes of a thread do not overlap. Between two nodes the thread computes, in the `region` of the later node (index in
    Regions.names of the innermost region; -1: none). Threads are numbered through all ranks.
    """

    file: Rows  # NODE
    offsets: np.ndarray  # (threads + 1,) int64, index of the first node of each thread
    rank: np.ndarray  # (threads,) int32
    thread: np.ndarray  # (threads,) int32
    first_thread: np.ndarray  # (ranks,) the main thread of each rank
    joined: np.ndarray  # (threads,) bool, threads that the main thread of their rank waited for
    noted: np.ndarray  # NOTED, the calls whose columns are all kept, by rank
    polling: Rows | None = None  # NODE of threads with failing polls: a node for each poll
    polling_offsets: np.ndarray | None = None  # (threads + 1,) first row of each thread in `polling`

    def __len__(self) -> int:
        return len(self.file)

    @property
    def rows(self) -> np.ndarray:
        """Return all nodes as an array that maps the file: (nodes,) NODE."""
        return self.file.mapped()

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield all nodes piece by piece, each piece with the index of its first node."""
        return self.file.pieces()

    def forget(self) -> None:
        """Free the memory of the mapped nodes. They are read again when they are used."""
        self.file.forget()
        if self.polling is not None:
            self.polling.forget()

    @property
    def enter(self) -> np.ndarray:
        """Return the entry of each node: (nodes,) int64, ns."""
        return self.rows["enter"]

    @property
    def exit(self) -> np.ndarray:
        """Return the exit of each node: (nodes,) int64, ns."""
        return self.rows["exit"]

    @property
    def call(self) -> np.ndarray:
        """Return the call of each node: (nodes,) int32, index in Trace.procedures; or MARKED, OF_TRACER, ...."""
        return self.rows["call"]

    @property
    def region(self) -> np.ndarray:
        """Return the innermost region before each node: (nodes,) int32, index in Regions.names; -1: none."""
        return self.rows["region"]

    @property
    def threads(self) -> int:
        """Return the number of threads, all ranks together."""
        return len(self.rank)

    def thread_slice(self, thread: int) -> slice:
        """Return the slice of `rows` with the nodes of a thread."""
        return slice(int(self.offsets[thread]), int(self.offsets[thread + 1]))

    def whole(self, thread: int) -> np.ndarray:
        """Return the nodes (NODE) of a thread, with a separate node for each failing poll."""
        if self.polling is not None and self.polling_offsets is not None:
            first, last = self.polling_offsets[thread : thread + 2].tolist()
            if last > first:
                return self.polling.mapped()[first:last]
        return self.rows[self.thread_slice(thread)]

    def entered(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the call that each thread was in, or entered, at a time.

        Args:
            rank: Rank of each thread.
            thread: Number of each thread within its rank.
            time: Time for each thread, ns.

        Returns:
            Index of the node (int64); -1: the thread was in no call.
        """
        return self._find(rank, thread, time, lib.nodes_entered)

    def left(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the call that each thread left, or was in, at a time. Arguments and result are as of `entered`."""
        return self._find(rank, thread, time, lib.nodes_left)

    def _find(self, rank: np.ndarray, thread: np.ndarray, time: np.ndarray, find: Callable) -> np.ndarray:
        streams = np.ascontiguousarray(self.first_thread[rank] + thread, np.int64)
        times = np.require(time, np.int64, ("C", "A"))  # a field of rows is not aligned
        hints = np.zeros(self.threads, np.int64)
        found = np.empty(len(times), np.int64)
        arrays = (pointer(array, "int64_t *") for array in (self.offsets, hints, streams, times))
        find(pointer(self.rows, "struct node *"), *arrays, len(times), pointer(found, "int64_t *"))
        return found
