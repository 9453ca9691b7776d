"""A trace with its critical path as events, for Paraver.

Source: "Dimemas specification", sections 1.11 and 1.16.1 (thesis, Table 7): events of type 90, 1 enters the path, 0
leaves it.
"""

from __future__ import annotations

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.critical.path import CriticalPath
from analyzer.trace import EVENT, Trace
from analyzer.trace.annotated import Annotated

PATH_TYPE = 90
_LABELS = {PATH_TYPE: ("Critical path", {0: "Not on the critical path", 1: "On the critical path"})}


class WithPath(Annotated):
    """The same trace with more events (EVENT, in order of time): those of its path."""

    def __init__(self, trace: Trace, added: np.ndarray) -> None:
        super().__init__(trace, _LABELS, lambda begin, end: added[slice(*np.searchsorted(added["time"], (begin, end)))])


def path_events(trace: Trace, path: CriticalPath) -> np.ndarray:
    """EVENT in order of time: 1 where the path comes to a thread, 0 where it leaves it; stays without length and the
    time before a process began have none."""
    nodes = path.nodes
    stays = path.segments[path.segments["end"] > path.segments["begin"]]
    goes_on = stays["thread"][1:] == stays["thread"][:-1]
    first, last = np.append(True, ~goes_on)[: len(stays)], np.append(~goes_on, True)[: len(stays)]
    found = np.zeros((int(first.sum()), 2), EVENT)
    thread = stays["thread"][first]
    found["time"][:, 0] = np.maximum(stays["begin"][first], nodes.enter[nodes.offsets[thread]])
    found["time"][:, 1] = stays["end"][last]
    found["value"][:, 0] = 1
    found["type"] = PATH_TYPE
    cpus = _cpus(trace, path)
    for column, values in (("rank", nodes.rank[thread]), ("thread", nodes.thread[thread]), ("cpu", cpus[thread])):
        found[column] = values[:, None]
    return sort_rows(found.ravel(), "time", "rank", "thread")


def _cpus(trace: Trace, path: CriticalPath) -> np.ndarray:
    """The CPU that each thread is first seen on; 0: unknown."""
    found = np.zeros(path.nodes.threads, np.int64)
    begin, end = trace.windows()[:2].tolist()
    states = trace.states(begin, end)[::-1]
    found[path.nodes.first_thread[states["rank"]] + states["thread"]] = states["cpu"]
    return found
