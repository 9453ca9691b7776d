"""Iterations as events of a trace, for Paraver: the number of an iteration where it begins, 0 where the last one ends;
and read back from these."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.sorted_runs import sort_rows
from analyzer.parallel import Team
from analyzer.structure.iterations import IterationEvidence, Iterations
from analyzer.trace import EVENT, Losses, Trace
from analyzer.trace.annotated import Annotated
from analyzer.trace.event_types import EventType

_TYPE = int(EventType.ITERATION)
LABELS = {_TYPE: ("Iteration", {0: "End"})}


class WithIterations(Annotated):
    """Trace with iterations as events of each rank's first thread, where their edges are known."""

    def __init__(self, trace: Trace, iterations: Iterations) -> None:
        rows = np.flatnonzero(iterations.known)
        edges = iterations.edges[rows]
        order = np.argsort(edges, axis=None, kind="stable")
        self._times, self._at, self._ranks = edges.ravel()[order], order, rows
        self._count = iterations.count
        self._cpu = _cpus(trace)
        super().__init__(trace, LABELS, self._between)

    def iteration_events(self, begin: int, end: int) -> np.ndarray:
        """Read the events of iterations in [begin, end) alone."""
        return sort_rows(self._between(begin, end), "time", "rank", "thread")

    def _between(self, begin: int, end: int) -> np.ndarray:
        some = slice(*np.searchsorted(self._times, (begin, end)))
        row, number = np.divmod(self._at[some], self._count + 1)
        found = np.zeros(len(row), EVENT)
        found["time"], found["type"], found["rank"] = self._times[some], _TYPE, self._ranks[row]
        found["value"] = np.where(number < self._count, number + 1, 0)
        found["cpu"] = self._cpu[self._ranks[row]]
        return found


def _cpus(trace: Trace) -> np.ndarray:
    """Return the CPU that the first thread of each rank is first seen on; 0: unknown."""
    found = np.zeros(trace.size, np.int64)
    begin, end = trace.windows()[:2].tolist()
    states = trace.states(begin, end)[::-1]
    states = states[states["thread"] == 0]
    found[states["rank"]] = states["cpu"]
    return found


def recorded(trace: Trace, team: Team) -> Iterations | None:
    """Return the iterations that stand in a trace as events; None: there are none. A rank whose numbers do not go from
    1 to the last one is left out. Collective over the team."""
    if _TYPE not in trace.event_labels:
        return None
    missing = set(trace.extra(Losses).missing)
    mine = {rank: found for rank in trace.share(team) if rank not in missing and len(found := _of_rank(trace, rank))}
    every = {rank: found for part in team.allgather(mine) for rank, found in part.items()}
    if not every:
        return None
    counts = [len(found) for found in every.values()]
    usual = int(np.bincount(counts).argmax())
    edges = np.full((trace.size, usual), -1, np.int64)
    for rank, found in every.items():
        if len(found) == usual:
            edges[rank] = found
    lengths = np.diff(edges[edges[:, 0] >= 0], axis=1).mean(axis=0)
    return Iterations(1, edges, round(float(np.median(lengths))), "as the trace says", IterationEvidence.EVENTS)


def _of_rank(trace: Trace, rank: int) -> np.ndarray:
    """Return the edges, int64 (count + 1,); none if the numbers are not 1, 2, ..., 0."""
    blocks = []
    for begin, end in pairwise(trace.windows().tolist()):
        events = trace.events(begin, end, range(rank, rank + 1))
        blocks.append(events[events["type"] == _TYPE])
    rows = joined(blocks, EVENT)
    numbers = np.append(np.arange(1, len(rows)), 0)
    return (
        rows["time"].astype(np.int64) if len(rows) > 1 and (rows["value"] == numbers).all() else np.zeros(0, np.int64)
    )
