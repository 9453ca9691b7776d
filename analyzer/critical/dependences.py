"""What had to wait for what: the end of a call of one thread for the entry of a call of another.

* A message: the call that completes the receive cannot end before the call that sends is entered (late sender).
* A message that waits for its receive: the call that completes the send cannot end before the receive is posted (late
  receiver). Those are synchronous sends, and messages larger than any that was sent before its receive was posted.
* A collective: nobody ends before those enter who give him data; in a barrier, an Allreduce, an Alltoall all others, in
  a Bcast or Scatter the root, in a Gather or Reduce the others for the root, in a Scan those before. In a prediction of
  our simulator all members wait for the last.
* MPI_Init and MPI_Finalize: nobody ends before the last enters, where that is so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analyzer.columns.rows import Rows

DEPENDENCE = np.dtype([("sink", "<u4"), ("source", "<u4")])
"""A node that ends, and a node that must have been entered before. Joins, which come when all their sources have come,
count on after the nodes."""


@dataclass
class Dependences:
    """All dependences between different threads, in a temporary file."""

    nodes: int
    joins: int = 0
    contradictions: int = 0  # effects that ended before their causes began, by the clocks: not among the dependences
    rows: Rows = field(default_factory=lambda: Rows(DEPENDENCE))

    def add(self, sink: np.ndarray, source: np.ndarray) -> None:
        """Sinks and their sources; where one of both is -1 there is none."""
        known = (sink >= 0) & (source >= 0) & (sink != source)
        rows = np.zeros(int(known.sum()), DEPENDENCE)
        rows["sink"], rows["source"] = sink[known], source[known]
        self.rows.append(rows)

    def new_joins(self, count: int) -> np.ndarray:
        """Numbers of so many new joins."""
        first = self.nodes + self.joins
        self.joins += count
        return np.arange(first, first + count)
