"""Dependences: the end of a call of one thread needs the entry of a call of another thread.

* A message: the call that completes the receive cannot end before the call that sends is entered (late sender).
* A message that waits for its receive: the call that completes the send cannot end before the receive is posted (late
  receiver). These are synchronous sends, and messages larger than any that was sent before its receive was posted.
* A collective: a member cannot end before the members that give it data enter. In a barrier, an Allreduce and an
  Alltoall these are all others, in a Bcast or Scatter the root, in a Gather or Reduce the others for the root, in a
  Scan the members before. In a prediction of our simulator all members wait for the last.
* MPI_Init and MPI_Finalize: nobody ends before the last rank enters, where the times agree with that.
* Threads that end while the main thread of their rank makes no call: the main thread waited for them (pthread_join, the
  end of a parallel part).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analyzer.columns.rows import Rows
from analyzer.critical.thread_nodes import JOINED, NodeTimeline

DEPENDENCE = np.dtype([("sink", "<u4"), ("source", "<u4")])
"""The end of node `sink` needs the entry of node `source`.

A join is an additional point that is reached when all its sources are. Joins are numbered after the nodes.
"""


@dataclass
class Dependences:
    """All dependences between different threads (DEPENDENCE), in a temporary file.

    `nodes` and `joins` are the numbers of nodes and joins.
    """

    nodes: int
    joins: int = 0
    contradictions: int = 0  # number of effects that ended before their causes began; they are left out
    rows: Rows = field(default_factory=lambda: Rows(DEPENDENCE))

    def add(self, sink: np.ndarray, source: np.ndarray) -> None:
        """Add dependences from arrays of sinks and sources (int64).

        Pairs with a -1, or of a node with itself, are left out.
        """
        known = (sink >= 0) & (source >= 0) & (sink != source)
        rows = np.zeros(int(known.sum()), DEPENDENCE)
        rows["sink"], rows["source"] = sink[known], source[known]
        self.rows.append(rows)

    def new_joins(self, count: int) -> np.ndarray:
        """Create `count` joins and return their numbers."""
        first = self.nodes + self.joins
        self.joins += count
        return np.arange(first, first + count)


STAY = np.dtype([("begin", "<i8"), ("end", "<i8")])
"""Stretch of a thread's time, from begin to end in ns."""


def join_stays(busy: np.ndarray, lives: np.ndarray) -> np.ndarray:
    """Find when a main thread waited for other threads to end (STAY).

    A wait begins when the first of these threads was seen, or when the main thread had finished its previous activity.

    Args:
        busy: Times in which the main thread did something (STAY, by time).
        lives: Time from the first to the last call of each other thread (STAY).
    """
    after = np.searchsorted(busy["begin"], lives["end"], "right")
    free = (after > 0) & (after < len(busy))
    free[free] &= busy["end"][after[free] - 1] <= lives["end"][free]
    lives, after = lives[free], after[free]
    found = np.zeros(len(np.unique(after)), STAY)
    for row, burst in zip(found, np.unique(after).tolist(), strict=True):
        mine = lives[after == burst]
        row["begin"] = max(int(busy["end"][burst - 1]), int(mine["begin"].min()))
        row["end"] = mine["end"].max()
    return found


def add_joins(found: Dependences, nodes: NodeTimeline) -> None:
    """Add the dependences of main threads that waited for other threads on the last of these threads to end.

    A thread that began while the main thread waited depends on the begin of that wait.
    """
    threads = np.flatnonzero(nodes.joined)
    if not len(threads):
        return
    points = np.concatenate([first + np.flatnonzero(rows["call"] == JOINED) for first, rows in nodes.pieces()])
    owner = np.searchsorted(nodes.offsets, points, "right") - 1
    for thread in threads.tolist():
        begin, end = int(nodes.offsets[thread]), int(nodes.offsets[thread + 1]) - 1
        mine = points[owner == nodes.first_thread[nodes.rank[thread]]]
        at = int(np.searchsorted(nodes.exit[mine], nodes.exit[end]))
        if at < len(mine) and nodes.enter[mine[at]] <= nodes.exit[end]:
            found.add(mine[at : at + 1], np.array([end]))
            if nodes.enter[mine[at]] <= nodes.enter[begin]:
                found.add(np.array([begin]), mine[at : at + 1])
