"""Views of a trace by its clusters of bursts: each burst's cluster as an event, or only one cluster computing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from analyzer.burst_clusters.bursts import BurstTable, bursts, counter_types, measured
from analyzer.burst_clusters.model import ENDING, NOISE, SHORT, BurstClusters, read_clusters
from analyzer.columns.sorted_runs import SortedRuns
from analyzer.errors import TracelibError
from analyzer.trace import EVENT, Chosen, State, Trace
from analyzer.trace.annotated import Annotated
from analyzer.trace.event_types import EventType
from analyzer.trace.trace import Kind

_WRONG = 2
"""Exit code for a wrong command line, the same as click's."""
_VALUES = {SHORT: 2, NOISE: 5}
_FIRST = 5
"""Offset of the event values: cluster k has the value k + 5.

2 is "duration filtered", 5 noise, 0 the end, as BSC's cluster tools number them.
"""


def labels_of(clusters: BurstClusters) -> dict[int, tuple[str, dict[int, str]]]:
    """Return the event type of clusters and the names of its values, as the .pcf needs them."""
    names = {0: "End", _VALUES[SHORT]: "Duration Filtered", _VALUES[NOISE]: "Noise"}
    names |= {kind + _FIRST: f"Cluster {kind}" for kind in range(1, clusters.count + 1)}
    return {int(EventType.CLUSTER): ("Cluster ID", names)}


class WithClusters(Annotated):
    """The same trace with additional events: the burst's cluster at its begin, and 0 at its end.

    The events lie in a temporary file.
    """

    def __init__(self, trace: Trace, clusters: BurstClusters) -> None:
        self._runs = SortedRuns(EVENT, "time", "rank", "thread")
        for found in bursts(trace, range(trace.size), clusters.counters):
            self._runs.append(_events(found, clusters))
        super().__init__(trace, labels_of(clusters), self._runs.read)


def _events(found: BurstTable, clusters: BurstClusters) -> np.ndarray:
    rows = np.zeros((len(found.states), 2), EVENT)
    rows["time"][:, 0], rows["time"][:, 1] = found.states["begin"], found.states["end"]
    rows["value"][:, 0] = values_of(clusters.label(found.values))
    rows["type"] = EventType.CLUSTER
    for column in ("rank", "thread", "cpu"):
        rows[column] = found.states[column][:, None]
    return rows.ravel()


def values_of(kinds: np.ndarray) -> np.ndarray:
    """Return the event value of each cluster number, SHORT or NOISE."""
    special = np.select([kinds == SHORT, kinds == NOISE], [_VALUES[SHORT], _VALUES[NOISE]])
    return np.where(kinds > 0, kinds + _FIRST, special)


class OnlyCluster(Annotated):
    """The same trace in which only the bursts of one cluster compute. In other bursts threads are idle."""

    def __init__(self, trace: Trace, clusters: BurstClusters, kind: int) -> None:
        super().__init__(trace, {}, lambda begin, end: np.zeros(0, EVENT))
        self._clusters, self._kind = clusters, kind
        self._types = counter_types(trace, clusters.counters)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        states = self._trace.states(begin, end, ranks).copy()
        running = np.flatnonzero((states["state"] == State.RUNNING) & (states["end"] > states["begin"]))
        values = measured(self._trace, states[running], self._types, ranks).values
        states["state"][running[self._clusters.label(values) != self._kind]] = State.IDLE
        return states

    def extra(self, kind: type[Kind]) -> Kind:
        found = self._trace.extra(kind)
        return replace(found, cluster=self._kind) if isinstance(found, Chosen) else found

    def match(self) -> None:
        self._trace.match()

    def close(self) -> None:
        self._trace.close()


def only_cluster(trace: Trace, kind: int) -> Trace:
    """Return the trace in which only the bursts of one cluster compute.

    The clusters are read from the file beside the trace (`clusters_path`).

    Args:
        trace: The trace.
        kind: Number of the cluster, from 1.

    Raises:
        TracelibError: There is no file of clusters, or no such cluster.
    """
    clusters = read_clusters(clusters_path(Path(trace.path)), trace)
    if kind > clusters.count:
        there = f"clusters are 1 to {clusters.count}" if clusters.count else "there are none"
        raise TracelibError(f"--cluster {kind}: {trace.path} has no cluster {kind}", there, _WRONG)
    return OnlyCluster(trace, clusters, kind)


def clusters_path(path: Path) -> Path:
    """Return the path of the file that holds the clusters of a trace: `run.h5` -> `run.clusters.json`."""
    name = path.name.removesuffix(".gz")
    for ending in (".h5", ".prv", ".ranks", ".dim"):
        name = name.removesuffix(ending)
    return path.with_name(name + ENDING)
