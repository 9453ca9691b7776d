"""The critical path: what determines the run's length, and the slack of everything else.

Walked back from the last event (S. Girona, "Performance Prediction and Evaluation Tools", 2003, section 3.7.1): through
computation and calls, and where a call waited, on to the thread that it waited for, at the time when that came. What a
call does after the one that it waited for has come, its transfer, stays with it. So the parts of the path follow each
other without a gap from the begin of the run to its end.

Slack is what classical network planning calls total float: a call ends at max(its entry, the entries that it depends
on) + what it takes after that, computation lasts as long as it did, and each activity may be longer by its slack before
the run is. The path has none.
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
"""A stay of the path on one thread (index in Timeline.rank), ns."""


@dataclass(frozen=True)
class CriticalPath:
    """The path and the slack of one run; times in ns."""

    nodes: NodeTimeline
    segments: np.ndarray  # (stays,) SEGMENT in order of time: each begins where the one before ends
    slack_file: Rows  # int64, of the nodes, and more
    eager_limit: int  # bytes up to which senders were taken not to wait for their receivers
    contradictions: int  # effects that ended before their causes began, by the clocks

    @property
    def slack(self) -> np.ndarray:
        """(nodes,) int64, ns by which each node may be entered later without making the run longer; mapped."""
        return self.slack_file.mapped()[: len(self.nodes)]

    @cached_property
    def stays(self) -> dict[int, np.ndarray]:
        """The segments on each thread that has any, in order of time."""
        order = np.argsort(self.segments["thread"], kind="stable")
        rows = self.segments.take(order)
        cuts = np.flatnonzero(np.diff(rows["thread"])) + 1
        return {int(of_thread["thread"][0]): of_thread for of_thread in np.split(rows, cuts) if len(of_thread)}

    def forget(self) -> None:
        """What was looked at of nodes and slack need not stay in memory."""
        self.nodes.forget()
        self.slack_file.forget()

    @property
    def length_ns(self) -> int:
        """The sum of all stays: the run's length."""
        return int((self.segments["end"] - self.segments["begin"]).sum())

    @property
    def hops(self) -> int:
        """How often the path changes the thread."""
        return max(len(self.segments) - 1, 0)


_NOTED = PROBES | HANDED_OVER | ARRIVED | WHOLE_CALLS | NEEDED


def critical_path(trace: Trace, eager_limit: int | None = None, poll_gap_ns: int = POLL_GAP_NS) -> CriticalPath:
    """The critical path of a measured, imported or predicted run.

    In memory are some 12 bytes a call, and 72 for each that is noted (Timeline.noted); the rest is in temporary files.

    eager_limit: bytes up to which a sender does not wait for its receiver; None: as the run shows it (the largest
    message whose sending call ended before its receive was posted, at least 1024). poll_gap_ns: see POLL_GAP_NS.
    Raises TracelibError where it is not known what is computing.
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
    """csrc/kernels/path/path.h."""

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
        """The latest time (ns) at which each node may be entered so that the run ends at `end`; joins after them."""
        lib.path_begin(self._path, end)
        self._forget()
        while lib.path_latest(self._path, PIECE):
            self._forget()
        return self._latest

    @property
    def ignored(self) -> int:
        """Of the dependences, those that cannot be."""
        return int(lib.path_ignored(self._path))

    def walk(self, thread: int) -> np.ndarray:
        """The path (SEGMENT, in order of time) to the end of a thread."""
        lib.path_start(self._path, thread)
        parts, rows = [], np.empty(PIECE, SEGMENT)
        while (count := lib.path_walk(self._path, pointer(rows, "struct path_segment *"), PIECE)) >= 0:
            parts.append(rows[:count].copy())
            self._forget()
        return np.concatenate(parts)[::-1]


def _unlimited(count: int) -> Rows:
    """The latest time at all for each."""
    rows = Rows(np.dtype("<i8"))
    for first in range(0, count, PIECE):
        rows.append(np.full(min(count - first, PIECE), np.iinfo(np.int64).max))
    return rows
