"""Kinds of time into which a table can divide runs, by their names for `--by`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from analyzer.burst_clusters.clustering import find_clusters
from analyzer.burst_clusters.model import BurstClusters
from analyzer.experiments.kinds import CLUSTER_KIND, by_call, by_place, by_region, kinds_frame, row_of_kind
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import State, Trace

if TYPE_CHECKING:
    import pandas


def by_cluster(trace: Trace, team: Team) -> pandas.DataFrame:
    """Build a table of times by cluster of bursts, as `analyze clusters` finds them. Collective over the team.

    A cluster is named after the procedure before which most of its time is spent, if there is one. If several clusters
    have the same procedure, the cluster with the longest bursts has number 1.

    Raises:
        TracelibError: scikit-learn is not installed.
    """
    clusters = find_clusters(trace, team).clusters
    time, count, before = _added(trace, team, clusters)
    longest = np.argsort(-(time.sum(1) / np.maximum(count.sum(1), 1)), kind="stable")
    taken: dict[str, int] = {}
    rows = []
    for cluster in longest:
        if not count[cluster].any():
            continue
        call = trace.procedures[int(before[cluster].argmax())] if before[cluster].any() else ""
        taken[call] = number = taken.get(call, 0) + 1
        there = count[cluster] > 0
        name = f"cluster {number} before {call}" if call else f"cluster {number}"
        rows.append(row_of_kind(CLUSTER_KIND, name, count[cluster, there], time[cluster, there]))
    return kinds_frame(trace, rows)


def _added(trace: Trace, team: Team, clusters: BurstClusters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum up for each cluster: time in ns and number of bursts by rank, and time by the procedure after the burst."""
    time, count = (np.zeros((clusters.count, trace.size), np.int64) for _ in range(2))
    before = np.zeros((clusters.count, len(trace.procedures)), np.int64)
    for rank in trace.share(team):
        for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
            states = trace.states(begin, end, range(rank, rank + 1))
            states = states[(states["state"] == State.RUNNING) & (states["end"] > states["begin"])]
            length = states["end"] - states["begin"]
            label = clusters.label(length[:, None].astype(float)) - 1
            known = label >= 0
            np.add.at(time[:, rank], label[known], length[known])
            np.add.at(count[:, rank], label[known], 1)
            procedure = _next_call(states, window_calls(trace, rank, begin, end))
            known &= procedure >= 0
            np.add.at(before, (label[known], procedure[known]), length[known])
    return tuple(np.sum(team.allgather(part), axis=0) for part in (time, count, before))  # type: ignore[return-value]


def _next_call(states: np.ndarray, calls: np.ndarray) -> np.ndarray:
    """Return the procedure of the first call after each burst on its thread. -1: there is none in this window."""
    found = np.full(len(states), -1, np.int64)
    for thread in np.unique(states["thread"]):
        own, of_thread = states["thread"] == thread, calls[calls["thread"] == thread]
        at = np.searchsorted(of_thread["enter"], states["end"][own])
        there = at < len(of_thread)
        found[np.flatnonzero(own)[there]] = of_thread["call"][at[there]]
    return found


KINDS: dict[str, Callable[[Trace, Team], pandas.DataFrame]] = {
    "call": by_call,
    "region": by_region,
    "place": by_place,
    "cluster": by_cluster,
}
"""Functions by the name for `--by`. Each takes trace and team, and returns a table with a row for each kind of time."""
