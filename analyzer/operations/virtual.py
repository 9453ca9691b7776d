"""Virtual threads: regions that stand for several threads, among which their computation is shared.

Source: "Dimemas specification", section 3.4.1 (virtual threads).
"""

from __future__ import annotations

import numpy as np

from analyzer.metrics.regions import region_visits
from analyzer.operations.region_events import are_of_regions
from analyzer.program.operation import OP, OperationKind
from analyzer.trace import Mark, Regions, Trace

_ALONE = np.ones(1, np.int64)


class VirtualThreads:
    """Virtual threads of one rank's main thread. Its operations must come in order, block by block.

    A region inside a region of n threads has n threads, too, unless it has a number of its own.
    """

    def __init__(self, trace: Trace, rank: int) -> None:
        marks = trace.extra(Regions).marks(rank)
        self._after = _ALONE
        self._passed = 0
        if not len(marks):
            return
        marks = marks[marks["thread"] == 0]
        if (marks["what"] == Mark.PARALLEL).any():
            visits = region_visits(trace, rank)
            edges = marks["what"][marks["what"] <= Mark.END] == Mark.BEGIN
            self._after = _threads_after(edges, visits[visits["thread"] == 0])

    @property
    def are_any(self) -> bool:
        """True if there are regions that stand for several threads."""
        return len(self._after) > 1

    def share_out(self, ops: np.ndarray) -> np.ndarray:
        """Turn bursts in regions that stand for several threads into operations OperationKind.PARALLEL.

        Return all operations.
        """
        if not self.are_any:
            return ops
        is_edge = are_of_regions(ops)
        passed = self._passed + np.cumsum(is_edge)
        self._passed = int(passed[-1]) if len(ops) else self._passed
        threads = self._after[(passed - is_edge).clip(max=len(self._after) - 1)]
        at = np.flatnonzero((threads > 1) & (ops["burst"] > 0))
        blocks = np.zeros(len(at), OP)
        blocks["kind"], blocks["other"] = OperationKind.PARALLEL, threads[at]
        blocks["burst"], blocks["block"] = ops["burst"][at], ops["block"][at]
        blocks["peer"] = blocks["request"] = -1
        rest = ops.copy()
        rest["burst"][at] = 0
        return np.insert(rest, at, blocks)


def _threads_after(begins: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """Return the number of threads of the innermost open region before the first edge and after each edge.

    Args:
        begins: bool mask of the edges (begins and ends of regions) that are begins.
        visits: Visits of regions (VISIT), one for each begin, in the same order.

    Returns:
        int64 of shape (edges + 1,); 1 outside all regions.
    """
    after = np.ones(len(begins) + 1, np.int64)
    depth_after = np.cumsum(np.where(begins, 1, -1))
    edges, threads = np.flatnonzero(begins), visits["parallel"].astype(np.int64)
    around = np.zeros(0, np.int64)
    for depth in range(int(visits["depth"].max(initial=-1)) + 1):
        mine = np.flatnonzero(visits["depth"] == depth)
        if depth:
            outer = around[np.searchsorted(edges[around], edges[mine]) - 1]
            threads[mine] = np.where(threads[mine] > 1, threads[mine], threads[outer])
        inside = np.flatnonzero(depth_after == depth + 1)
        after[inside + 1] = threads[mine[np.searchsorted(edges[mine], inside, "right") - 1]]
        around = mine
    return after
