"""Table of all executions of regions: place, time and parameters of each execution.

TIA's instrumentation writes such a table of an experiment, one row for each execution (Rodriguez 2011, sections 2.3 and
2.4).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from analyzer.experiments.columns import FIXED, REGION, RUN
from analyzer.experiments.readings import counted_between, sampled_between
from analyzer.metrics.region_parameters import parameter_column, parameters, parents
from analyzer.metrics.regions import AccumulatedWeights, region_visits
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import Regions, State, Trace, TracerTime

if TYPE_CHECKING:
    import pandas

_NS = 1e9


def executions(trace: Trace, team: Team) -> pandas.DataFrame:
    """Build a table with a row for each execution of a region, by region, rank, thread and begin.

    Collective over the team. Columns are `FIXED`, then:

    * counters that were read at begins and ends of regions: counts in between, NaN where they are not known;
    * `node_...`: samples of the rank's node, means over the execution;
    * parameters, from the region or the nearest region around it that gives them: the last value, NaN if there is none.

    `time` is the wall-clock time from begin to end, including inner regions, less the tracer's time for flushes and
    after calls. `exclusive` is `time` without inner regions. `computing` is the useful part of `time`
    (docs/computing.md), `mpi` the part inside MPI. `execution` counts the executions of a region on a thread, from 1.
    """
    import pandas

    parts = [_of_rank(trace, rank) for rank in trace.share(team)] if trace.extra(Regions).names else []
    everybody = [part for of_member in team.allgather(parts) for part in of_member if len(part)]
    if not everybody:
        return pandas.DataFrame({name: [] for name in FIXED})
    frame = pandas.concat(everybody, ignore_index=True)
    frame[RUN] = trace.path
    order = np.lexsort([frame["begin"], frame["thread"], frame["rank"], frame[REGION]])
    frame = frame.iloc[order].reset_index(drop=True)
    rest = [name for name in frame.columns if name not in FIXED]
    return frame[[*FIXED, *rest]]


def _of_rank(trace: Trace, rank: int) -> pandas.DataFrame:
    """Build the rows of one rank."""
    import pandas

    visits = region_visits(trace, rank)
    names = np.array(trace.extra(Regions).names, dtype=object)
    node = int(trace.nodes.of_rank[rank])
    times = _times(trace, rank, visits)
    columns: dict[str, object] = {
        "region": names[visits["region"]],
        "run": trace.path,
        "node": trace.nodes.names[node],
        "rank": rank,
        "thread": visits["thread"],
        "execution": _number(visits),
        "ranks": trace.size,
        "threads": int(trace.threads.max()),
        "nodes": len(trace.nodes.names),
        "begin": visits["begin"] / _NS,
        **{name: values / _NS for name, values in times.items()},
        **counted_between(trace, rank, visits),
        **sampled_between(trace, node, visits),
    }
    for name, values in parameters(trace, rank, visits).items():
        columns[parameter_column(name, columns)] = values
    return pandas.DataFrame(columns, index=range(len(visits)))


def _number(visits: np.ndarray) -> np.ndarray:
    """Number the visits of each thread and region from 1. Visits are in order of thread and begin."""
    order = np.lexsort((visits["region"], visits["thread"]))
    new = np.ones(len(visits), bool)
    new[1:] = np.any([np.diff(visits[name][order]) != 0 for name in ("thread", "region")], axis=0)
    first = np.flatnonzero(new)
    number = np.empty(len(visits), np.int64)
    number[order] = np.arange(len(visits)) - np.repeat(first, np.diff(first, append=len(visits))) + 1
    return number


def _times(trace: Trace, rank: int, visits: np.ndarray) -> dict[str, np.ndarray]:
    """Compute inclusive, exclusive, computing and MPI time of each visit, in ns."""
    threads = [_Thread(trace, rank, number, visits) for number in np.unique(visits["thread"]).tolist()]
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        calls = window_calls(trace, rank, begin, end)
        for thread in threads:
            thread.add(begin, end, states, calls)
    sums = np.zeros((3, len(visits)))
    for thread in threads:
        sums[:, thread.of] = thread.spent(visits[thread.of])
    computing, inside, tracer = sums
    time = (visits["end"] - visits["begin"]) - tracer
    parent = parents(visits)
    children = np.bincount(parent[parent >= 0], weights=time[parent >= 0], minlength=len(visits))
    return {"time": time, "exclusive": time - children, "computing": computing, "mpi": inside}


class _Thread:
    """Sums of one thread's computing, MPI and tracer time in ns, up to each begin and end of its visits."""

    def __init__(self, trace: Trace, rank: int, number: int, visits: np.ndarray) -> None:
        self._number, self.of = number, visits["thread"] == number
        self._edges = np.unique([visits["begin"][self.of], visits["end"][self.of]])
        self._until = np.zeros((4, len(self._edges)), np.int64)
        self._sums = [AccumulatedWeights() for _ in range(4)]  # computing, MPI, tracer after calls, flushes
        if trace.origin.tracer_times:
            flushes = trace.extra(TracerTime).flushes(rank)
            own = flushes[flushes["thread"] == number]
            self._sums[3].append(own["begin"], own["end"], own["end"] - own["begin"])

    def add(self, begin: int, end: int, states: np.ndarray, calls: np.ndarray) -> None:
        """Add the rank's states and calls of the next window."""
        states, calls = (rows[rows["thread"] == self._number] for rows in (states, calls))
        for total, state in ((self._sums[0], State.RUNNING), (self._sums[2], State.TRACER)):
            rows = states[states["state"] == state]
            total.append(rows["begin"], rows["end"], rows["end"] - rows["begin"])
        self._sums[1].append(calls["enter"], calls["enter"] + calls["inside"], calls["inside"])
        first, last = np.searchsorted(self._edges, (begin, end))
        self._until[:, first:last] = [total.until(self._edges[first:last]) for total in self._sums]

    def spent(self, visits: np.ndarray) -> np.ndarray:
        """Return computing, MPI and tracer time in ns in each visit of the thread, shape (3, visits)."""
        begins, ends = (np.searchsorted(self._edges, visits[name]) for name in ("begin", "end"))
        computing, inside, after_calls, flushes = (self._until[:, ends] - self._until[:, begins]).astype(float)
        return np.array([computing, inside, after_calls + flushes])
