"""The critical path: the activities that determine the run's length, and the slack of all others.

The path is walked back from the last event (S. Girona, "Performance Prediction and Evaluation Tools", 2003, section
3.7.1): through computing and calls. Where a call waited, the walk goes on at the thread that the call waited for, at
the time when that came. The time of a call after that, its transfer, stays with the call. So the parts of the path
follow each other without a gap from the begin of the run to its end.

Slack is what classical network planning calls total float. A call ends at max(its entry, the entries that it depends
on) + its time after that; computing lasts as long as it did. Each activity may be longer by its slack before the run
is longer. The path has no slack.
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
"""A stay of the path on one thread (index in NodeTimeline.rank); times in ns."""


@dataclass(frozen=True)
class CriticalPath:
    """The critical path and the slack of one run; times in ns."""

    nodes: NodeTimeline
    segments: np.ndarray  # (stays,) SEGMENT in order of time: each begins where the one before ends
    slack_file: Rows  # int64, of the nodes, then of the joins
    eager_limit: int  # bytes up to which senders are taken not to wait for their receivers
    contradictions: int  # effects that ended before their causes began, by the clocks

    @property
    def slack(self) -> np.ndarray:
        """Return the ns by which each node may be entered later without a longer run: (nodes,) int64, mapped."""
        return self.slack_file.mapped()[: len(self.nodes)]

    @cached_property
    def stays(self) -> dict[int, np.ndarray]:
        """Return the segments of each thread that has any, in order of time."""
        order = np.argsort(self.segments["thread"], kind="stable")
        rows = self.segments.take(order)
        cuts = np.flatnonzero(np.diff(rows["thread"])) + 1
        return {int(of_thread["thread"][0]): of_thread for of_thread in np.split(rows, cuts) if len(of_thread)}

    def forget(self) -> None:
        """Release the memory of the nodes and slacks that were read."""
        self.nodes.forget()
        self.slack_file.forget()

    @property
    def length_ns(self) -> int:
        """Return the sum of all stays: the run's length in ns."""
        return int((self.segments["end"] - self.segments["begin"]).sum())

    @property
    def hops(self) -> int:
        """Return the number of times that the path changes the thread."""
        return max(len(self.segments) - 1, 0)


_NOTED = PROBES | HANDED_OVER | ARRIVED | WHOLE_CALLS | NEEDED


def critical_path(trace: Trace, eager_limit: int | None = None, poll_gap_ns: int = POLL_GAP_NS) -> CriticalPath:
    """Find the critical path of a measured, imported or predicted run.

    Needs memory of about 12 bytes for each call, and 72 for each call that is noted (NodeTimeline.noted). The rest is
    in temporary files.

    Args:
        trace: The trace.
        eager_limit: Bytes up to which a sender does not wait for its receiver. None: taken from the run, as the largest
            message whose sending call ended before its receive was posted, at least 1024.
        poll_gap_ns: See POLL_GAP_NS.

    Raises:
        TracelibError: It is not known which time is computing.
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
        """Find the latest time (ns) at which each node, then each join, may be entered for the run to end at `end`."""
        lib.path_begin(self._path, end)
        self._forget()
        while lib.path_latest(self._path, PIECE):
            self._forget()
        return self._latest

    @property
    def ignored(self) -> int:
        """Return the number of dependences that cannot hold, and were ignored."""
        return int(lib.path_ignored(self._path))

    def walk(self, thread: int) -> np.ndarray:
        """Walk the path (SEGMENT, in order of time) to the end of a thread."""
        lib.path_start(self._path, thread)
        parts, rows = [], np.empty(PIECE, SEGMENT)
        while (count := lib.path_walk(self._path, pointer(rows, "struct path_segment *"), PIECE)) >= 0:
            parts.append(rows[:count].copy())
            self._forget()
        return np.concatenate(parts)[::-1]


def _unlimited(count: int) -> Rows:
    """Build a column of the latest time that there is, for each node and join."""
    rows = Rows(np.dtype("<i8"))
    for first in range(0, count, PIECE):
        rows.append(np.full(min(count - first, PIECE), np.iinfo(np.int64).max))
    return rows
