"""Small programs whose times follow from one rule, played forward: the second opinion on critical paths and slack.

A call ends at max(its entry, the entries that it waits for) + its cost; before it its rank computes. Steps are played
in an order in which whatever a call waits for has been entered before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from memory_trace import MemoryTrace

from analyzer.trace import MARK, MESSAGE, Mark, Regions

LARGE, SMALL = 1 << 20, 8
"""Bytes of messages that wait for their receive, and of those that do not."""


@dataclass
class Player:
    """Plays steps; `bursts` are all that was computed, in order: `more` ns are added to one of them."""

    ranks: int
    delayed: int = -1
    more: int = 0
    now: list[int] = field(default_factory=list)
    calls: list[list] = field(default_factory=list)
    messages: list[tuple] = field(default_factory=list)
    bursts: list[tuple[int, int]] = field(default_factory=list)  # rank, entry of the call after it
    posted: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    waiting: dict[int, list] = field(default_factory=dict)

    def __post_init__(self):
        self.now = [0] * self.ranks
        self.calls = [[] for _ in range(self.ranks)]

    def compute(self, rank, ns):
        """Let a rank compute before its next call; return the call's entry."""
        self.now[rank] += ns + (self.more if len(self.bursts) == self.delayed else 0)
        self.bursts.append((rank, self.now[rank]))
        return self.now[rank]

    def call(self, rank, name, enter, end, cost, **values):
        self.now[rank] = max(enter, end) + cost
        self.calls[rank].append((name, enter, self.now[rank], {"comm": 0, **values}))
        return self.now[rank]

    def message(self, source, destination, large, ahead, bursts, costs):
        """`ahead`: the receive is posted before with MPI_Irecv, and awaited with MPI_Wait; "polled": with MPI_Test."""
        posted = received = self.compute(destination, bursts[0])
        if ahead:
            self.call(destination, "MPI_Irecv", posted, 0, costs[0])
        sent = self.compute(source, bursts[1])
        self.call(source, "MPI_Send", sent, posted if large else 0, costs[1], peer=destination)
        if ahead:
            received = self.compute(destination, bursts[2])
        name = {False: "MPI_Recv", True: "MPI_Wait", "polled": "MPI_Test"}[ahead]
        done = self.call(destination, name, received, sent, costs[2], peer=source)
        if ahead == "polled":
            self.calls[destination][-1:] = polls(received, done, source)
        size = LARGE if large else SMALL
        self.messages.append((source, destination, size, sent, posted, done))

    def collective(self, name, root, bursts, costs):
        entered = [self.compute(rank, bursts[rank]) for rank in range(self.ranks)]
        for rank in range(self.ranks):
            sources = {
                "MPI_Bcast": [root], "MPI_Scan": range(rank), "MPI_Allreduce": range(self.ranks),
                "MPI_Reduce": range(self.ranks) if rank == root else [],
            }[name]  # fmt: skip
            latest = max((entered[k] for k in sources), default=0)
            gives = name in ("MPI_Allreduce", "MPI_Scan") or (name == "MPI_Bcast") == (rank == root)
            takes = name in ("MPI_Allreduce", "MPI_Scan") or (name == "MPI_Bcast") != (rank == root)
            sizes = {"sent": 8 * gives, "received": 8 * takes, "peer": root}
            self.call(rank, name, entered[rank], latest, costs[rank], **sizes)

    def end(self):
        """The length of the run."""
        return max(self.now)

    def trace(self, **attributes):
        return ProgramTrace(self.calls, messages=self.messages, spans=[(0, now) for now in self.now], **attributes)


def polls(enter, done, peer):
    """Two runs of failing polls from `enter` on, and the one that succeeds; as many as there is time for."""
    cuts = [enter, *sorted({enter + (done - enter) // 3, enter + (done - enter) // 2} - {enter, done})]
    failing = [("MPI_Test", a, b, {"count": 3}) for a, b in pairwise(cuts)]
    return [*failing, ("MPI_Test", cuts[-1], done, {"comm": 0, "peer": peer})]


class ProgramTrace(MemoryTrace):
    """Messages as (source, destination, size, sent, posted, received); `marks[rank]` as (time, region from 1 or 0)."""

    def __init__(self, calls, *, messages, marks=None, regions=(), **more):
        super().__init__(calls, **more)
        rows = np.zeros(len(messages), MESSAGE)
        for row, (source, destination, size, sent, posted, received) in zip(rows, messages, strict=True):
            row["source"], row["destination"], row["size"] = source, destination, size
            row["logical_send"] = row["physical_send"] = sent
            row["logical_receive"], row["physical_receive"] = posted, received
        self._messages = rows[np.argsort(rows["logical_send"], kind="stable")]
        of_rank = {rank: mark_array(rows) for rank, rows in (marks or {}).items()}
        self.put(Marked(tuple(regions), of_rank=of_rank))


@dataclass(frozen=True, kw_only=True)
class Marked(Regions):
    of_rank: dict[int, np.ndarray]

    def marks(self, rank, begin=0, end=None):
        rows = self.of_rank.get(rank, np.zeros(0, MARK))
        return rows[(rows["time"] >= begin) & (rows["time"] < (2**62 if end is None else end))]


def mark_array(rows):
    """(time, region) begins it; (time, -region) ends it."""
    found = np.zeros(len(rows), MARK)
    for row, (time, region) in zip(found, rows, strict=True):
        row["time"], row["number"], row["what"] = time, abs(region), Mark.BEGIN if region > 0 else Mark.END
    return found
