"""Synchronizations: the times at which two threads were last in step. From then on, their delays are compared.

Threads are in step after a message between them, and after MPI_Init, which no rank leaves before all have entered.
"""

from __future__ import annotations

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import Sorted
from analyzer.columns.spill import Spill
from analyzer.pairing.parts import Pieces
from analyzer.trace import Trace
from analyzer.waits.message_candidates import append_by_window, some_messages
from analyzer.waits.threads import Lanes
from tracelib.schema.procedures import INIT, base_name

SYNC = np.dtype(
    [
        ("key", "<i8"),
        ("time", "<i8"),
        ("other_time", "<i8"),
        ("lane", "<i4"),
        ("other", "<i4"),
        ("comm", "<i4"),  # communicator of a collective that nobody leaves before all have come
        ("what", "<i4"),
    ]
)
"""Row for the kernel that finds the last synchronization of two threads. It takes rows in order of `key` (ns).

MESSAGE: `lane` and `other` were in step; they went on at `time` and `other_time`. MEMBER: `lane` left a collective of
`comm` at `time`. QUESTION: when were `lane` and `other` last in step? The kernel puts the answer into `time`.
"""

MESSAGE, MEMBER, QUESTION = lib.SYNC_MESSAGE, lib.SYNC_MEMBER, lib.SYNC_QUESTION
"""Values of the column `what` of SYNC."""


class LastSyncs:
    """The kernel that finds when two threads were last in step, from the SYNC rows before each question."""

    def __init__(self, starts: np.ndarray) -> None:
        """Begin with no lane in step with another.

        Args:
            starts: Begin of each lane in ns, int64 of shape (lanes,). It is the answer where two lanes were never in
                step.
        """
        self._starts = np.ascontiguousarray(starts, np.int64)
        self._struct = ffi.gc(lib.syncs_new(len(starts), ffi.from_buffer("int64_t[]", self._starts)), lib.syncs_free)
        if not self._struct:
            raise MemoryError

    def feed(self, rows: np.ndarray) -> np.ndarray:
        """Answer the questions among the next rows.

        Args:
            rows: SYNC rows, in any order.

        Returns:
            The QUESTION rows with the answer in `time`, in order of key.
        """
        rows = rows[np.lexsort((rows["lane"], -rows["what"], rows["key"]))]
        if lib.syncs_feed(self._struct, pointer(rows), len(rows)):
            raise MemoryError
        return rows[rows["what"] == QUESTION]


_EVERYBODY = -1
"""Number used as the communicator of MPI_Init."""


def add_syncs_of_calls(trace: Trace, lanes: Lanes, pieces: Pieces, windows: np.ndarray, syncs: Spill) -> None:
    """Put the SYNC rows of messages and MPI_Init into `syncs`, by the window of their key.

    Args:
        trace: The trace.
        lanes: The threads of the trace.
        pieces: The pieces in which the calls of the ranks of this member are read.
        windows: Bounds of the windows, ns.
        syncs: Gets the rows.
    """
    sent, inits = _sends(trace, lanes, pieces), _Inits(trace)
    for index, (ranks, begin, end) in enumerate(pieces.all):
        rows, counts = trace.rank_calls(ranks, begin, end)
        rank = np.repeat(np.arange(ranks.start, ranks.stop), counts)
        lane = lanes.lane_numbers(rank, rows["thread"])
        for found in (_left(sent.read(index), lane, rows), inits.sync_rows(rank, lane, rows)):
            append_by_window(syncs, found, found["key"], windows)
    sent.close()


def _sends(trace: Trace, lanes: Lanes, pieces: Pieces) -> Spill:
    """Build SYNC rows of the messages from these ranks to other threads, by the piece in which they were sent.

    `time` is the entry of the call that sent; `_left` replaces it.
    """
    sent = Spill(SYNC)
    for messages in some_messages(trace, pieces.ranks):
        rows = np.zeros(len(messages), SYNC)
        rows["lane"] = lanes.lane_numbers(messages["source"], messages["source_thread"])
        rows["other"] = lanes.lane_numbers(messages["destination"], messages["destination_thread"])
        rows["time"], rows["other_time"] = messages["logical_send"], messages["physical_receive"]
        mine = (messages["source"] >= pieces.ranks.start) & (messages["source"] < pieces.ranks.stop)
        rows = rows.compress(mine & (rows["lane"] != rows["other"]))
        pieces.put_aside(sent, rows, lanes.rank[rows["lane"]], rows["time"])
    return sent


def _left(sent: np.ndarray, lane: np.ndarray, calls: np.ndarray) -> np.ndarray:
    """Complete SYNC rows of messages: `time` becomes the time when the sender left the call that sent."""
    order = np.argsort(lane, kind="stable") if (np.diff(lane) < 0).any() else slice(None)
    exit_ = calls["exit"][order]
    at = Sorted(lane[order], calls["enter"][order]).exactly(sent["lane"], sent["time"])
    if len(calls):
        sent["time"] = np.where(at >= 0, exit_[at], sent["time"])
    else:
        sent["time"] = sent["other_time"]
    sent["key"] = np.maximum(sent["time"], sent["other_time"])
    return sent


class _Inits:
    """The first MPI_Init of each rank, as it is found in the calls of window after window."""

    def __init__(self, trace: Trace) -> None:
        self._is_init = np.array([base_name(p) in INIT for p in trace.procedures], bool)
        self._began = np.zeros(trace.size, bool)

    def sync_rows(self, rank: np.ndarray, lane: np.ndarray, calls: np.ndarray) -> np.ndarray:
        """Return the SYNC rows of MPI_Init among the next calls (CALL) of some ranks."""
        at = np.flatnonzero(self._is_init[calls["call"]] & ~self._began[rank])
        at = at[np.unique(rank[at], return_index=True)[1]]
        self._began[rank] = True
        rows = np.zeros(len(at), SYNC)
        rows["key"] = rows["time"] = calls["exit"][at]
        rows["lane"], rows["comm"], rows["what"] = lane[at], _EVERYBODY, MEMBER
        return rows
