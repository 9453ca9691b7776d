"""A trace with its critical path as events, for Paraver.

Source: "Dimemas specification", sections 1.11 and 1.16.1 (thesis, Table 7): events of type 90, 1 enters the path, 0
leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.critical.path import CriticalPath
from analyzer.sources.paraver_runs import sort_rows
from analyzer.trace import EVENT, Trace, Unmatched

PATH_TYPE = 90
_LABELS = {PATH_TYPE: ("Critical path", {0: "Not on the critical path", 1: "On the critical path"})}


class WithPath(Trace):
    """The same trace with more events (EVENT, in order of time): those of its path."""

    def __init__(self, trace: Trace, added: np.ndarray) -> None:
        for name in Trace.__annotations__:
            if hasattr(trace, name):
                setattr(self, name, getattr(trace, name))
        self._trace = trace
        self._added = added
        self.event_labels = trace.event_labels | _LABELS

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        recorded = self._trace.events(begin, end, ranks)
        first, last = np.searchsorted(self._added["time"], (begin, self.duration_ns + 1 if end is None else end))
        added = self._added[first:last]
        if ranks is not None:
            added = added[(added["rank"] >= ranks.start) & (added["rank"] < ranks.stop)]
        return sort_rows(np.concatenate([recorded, added]), "time", "rank", "thread") if len(added) else recorded

    def span(self, rank: int) -> tuple[int, int]:
        return self._trace.span(rank)

    def windows(self, records: int = 262144) -> np.ndarray:
        return self._trace.windows(records)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._trace.calls(rank, begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        return self._trace.requests(rank, begin, end)

    def flushes(self, rank: int) -> np.ndarray:
        return self._trace.flushes(rank)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return self._trace.states(begin, end, ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._trace.messages(begin, end)

    def unmatched(self) -> list[Unmatched]:
        return self._trace.unmatched()


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
