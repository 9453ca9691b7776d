"""The critical path: the activities that determine the run's length, and the slack of all others.

The path is walked back from the last event (S. Girona, "Performance Prediction and Evaluation Tools", 2003, section
3.7.1), through computing and calls. Where a call waited, the walk continues on the thread that the call waited for, at
the time when that thread entered the call that ended the wait. The rest of the waiting call, its transfer, stays on the
path. So the parts of the path follow each other without a gap from the begin of the run to its end.

Slack is called total float in classical network planning. A call ends at max(its entry, the entries that it depends on)
+ its time after that; computing lasts as long as it did. Each activity may be longer by its slack before the run
becomes longer. The activities on the path have no slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.rows import PIECE, Rows
from analyzer.critical.collectives import WHOLE_CALLS, add_collectives
from analyzer.critical.dependences import Dependences, add_joins
from analyzer.critical.messages import add_messages
from analyzer.critical.nodes import read_nodes
from analyzer.critical.one_sided import NEEDED, add_one_sided
from analyzer.critical.polling import POLL_GAP_NS
from analyzer.critical.thread_nodes import NodeTimeline
from analyzer.trace import Trace
from analyzer.trace.trace import check_computing
from tracelib.schema.procedures import ARRIVED, HANDED_OVER, PROBES

SEGMENT = np.dtype([("begin", "<i8"), ("end", "<i8"), ("thread", "<i8")])
"""Stay of the critical path on one thread (index in NodeTimeline.rank), from begin to end in ns."""


@dataclass(frozen=True)
class CriticalPath:
    """The critical path of one run, and the slack of its nodes. Times are in ns."""

    nodes: NodeTimeline
    segments: np.ndarray  # (stays,) SEGMENT in order of time: each begins where the one before ends
    slack_file: Rows  # int64, ns; one row for each node, then one for each join
    eager_limit: int  # bytes of a message up to which senders do not wait for receivers
    contradictions: int  # number of dependences that the times contradict: the effect ended before its cause

    @property
    def slack(self) -> np.ndarray:
        """Return the ns by which each node may be entered later without a longer run.

        It is int64 of shape (nodes,), mapped from the file.
        """
        return self.slack_file.mapped()[: len(self.nodes)]

    @cached_property
    def stays(self) -> dict[int, np.ndarray]:
        """Return the stays of the path (SEGMENT, in order of time) of each thread that has any."""
        order = np.argsort(self.segments["thread"], kind="stable")
        rows = self.segments.take(order)
        cuts = np.flatnonzero(np.diff(rows["thread"])) + 1
        return {int(of_thread["thread"][0]): of_thread for of_thread in np.split(rows, cuts) if len(of_thread)}

    def forget(self) -> None:
        """Free the memory of the mapped nodes and slacks. They are read again when they are used."""
        self.nodes.forget()
        self.slack_file.forget()

    @property
    def length_ns(self) -> int:
        """Return the sum of the lengths of all stays in ns, which is the length of the run."""
        return int((self.segments["end"] - self.segments["begin"]).sum())

    @property
    def hops(self) -> int:
        """Return how often the path changes from one thread to another."""
        return max(len(self.segments) - 1, 0)


_NOTED = PROBES | HANDED_OVER | ARRIVED | WHOLE_CALLS | NEEDED


def critical_path(trace: Trace, eager_limit: int | None = None, poll_gap_ns: int = POLL_GAP_NS) -> CriticalPath:
    """Find the critical path of a measured, imported or predicted run.

    Memory holds about 12 bytes for each call, and 72 for each call of `NodeTimeline.noted`. The rest is in temporary
    files.

    Args:
        trace: The trace.
        eager_limit: Bytes up to which a sender does not wait for its receiver. None: taken from the run, as the largest
            message whose sending call ended before its receive was posted, at least 1024.
        poll_gap_ns: Largest time between two polls of one wait; see POLL_GAP_NS.

    Raises:
        TracelibError: The trace does not say when threads compute.
    """
    check_computing(trace)
    nodes = read_nodes(trace, _NOTED, poll_gap_ns)
    found = Dependences(len(nodes))
    limit = add_messages(found, trace, nodes, eager_limit)
    add_collectives(found, trace, nodes)
    add_one_sided(found, trace, nodes)
    add_joins(found, nodes)
    ends = nodes.exit[nodes.offsets[1:] - 1]
    graph = _Graph(nodes, found)
    slack = graph.latest(int(ends.max()))
    segments = graph.walk(int(np.argmax(ends)))
    for first, rows in nodes.pieces():
        slack.mapped()[first : first + len(rows)] -= rows["enter"]
        slack.forget()
    return CriticalPath(nodes, segments, slack, limit, found.contradictions + graph.ignored)


class _Graph:
    """The graph of nodes and dependences in the kernel (csrc/kernels/path/path.h)."""

    def __init__(self, nodes: NodeTimeline, found: Dependences) -> None:
        main = nodes.first_thread[nodes.rank].astype(np.int32)
        parent = np.where(main == np.arange(nodes.threads), -1, main).astype(np.int32)
        self._nodes, self._latest = nodes, _unlimited(len(nodes) + found.joins)
        self._kept = parent
        self._path = ffi.gc(
            lib.path_new(
                pointer(nodes.rows, "struct node *"), pointer(nodes.offsets, "int64_t *"),
                pointer(parent, "int32_t *"), nodes.threads, len(found.rows), found.joins,
                pointer(self._latest.mapped(), "int64_t *"),
            ),
            lib.path_free,
        )  # fmt: skip
        if self._path == ffi.NULL:
            raise MemoryError
        for _, rows in found.rows.pieces():
            lib.path_count(self._path, pointer(rows), len(rows))
        lib.path_counted(self._path)
        for _, rows in found.rows.pieces():
            lib.path_add(self._path, pointer(rows), len(rows))

    def _forget(self) -> None:
        self._nodes.forget()
        self._latest.forget()

    def latest(self, end: int) -> Rows:
        """Find the latest entry (ns) of each node, then of each join, with which the run still ends at `end`."""
        lib.path_begin(self._path, end)
        self._forget()
        while lib.path_latest(self._path, PIECE):
            self._forget()
        return self._latest

    @property
    def ignored(self) -> int:
        """Return the number of dependences that were ignored, because they cannot hold."""
        return int(lib.path_ignored(self._path))

    def walk(self, thread: int) -> np.ndarray:
        """Walk back from the end of a thread. Returns the stays of the path (SEGMENT) in order of time."""
        lib.path_start(self._path, thread)
        parts, rows = [], np.empty(PIECE, SEGMENT)
        while (count := lib.path_walk(self._path, pointer(rows, "struct path_segment *"), PIECE)) >= 0:
            parts.append(rows[:count].copy())
            self._forget()
        return np.concatenate(parts)[::-1]


def _unlimited(count: int) -> Rows:
    """Build a column with the largest int64, one row for each node and join."""
    rows = Rows(np.dtype("<i8"))
    for first in range(0, count, PIECE):
        rows.append(np.full(min(count - first, PIECE), np.iinfo(np.int64).max))
    return rows
