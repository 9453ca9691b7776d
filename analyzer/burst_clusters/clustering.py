"""Finds clusters of bursts by DBSCAN or k-means on a sample, labels all bursts, and sums up each cluster.

The sample fits into memory. It is the same for any number of processes. scikit-learn is imported only where it is used:
the import takes a second, and the package need not be installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analyzer.burst_clusters.bursts import BurstTable, bursts
from analyzer.burst_clusters.model import NOISE, SHORT, BurstClusters, coordinates
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.trace import Trace
from analyzer.trace.trace import check_computing

SIZE = 10_000
"""Number of bursts in the sample. Half are drawn with equal chances, half by length, to include rare long bursts."""


@dataclass
class _Lowest:
    """The SIZE / 2 rows with the lowest keys so far."""

    keys: np.ndarray = field(default_factory=lambda: np.zeros(0))
    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    values: np.ndarray | None = None

    def add(self, keys: np.ndarray, ids: np.ndarray, values: np.ndarray) -> None:
        if self.values is None:
            self.values = np.zeros((0, values.shape[1]))
        keys, ids = np.concatenate([self.keys, keys]), np.concatenate([self.ids, ids])
        values = np.concatenate([self.values, values])
        kept = np.lexsort((ids, keys))[: SIZE // 2]
        self.keys, self.ids, self.values = keys[kept], ids[kept], values[kept]


def draw_sample(
    trace: Trace, team: Team, counters: tuple[str, ...] = (), shortest_ns: int = 0, stretches: np.ndarray | None = None
) -> np.ndarray:
    """Draw a sample of at most SIZE bursts in one pass over the run, in bounded memory.

    All members of the team must call this function, and all get the same sample.

    Args:
        trace: The trace.
        team: Processes that share the ranks.
        counters: Names of the counters. Bursts in which one was not read are left out.
        shortest_ns: Shorter bursts are left out.
        stretches: Stretch of time of each rank, as in `bursts`.

    Returns:
        Durations and counts, float64 of shape (n, 1 + counters), as in `BurstTable`.
    """
    alike, by_length = _Lowest(), _Lowest()
    for found in bursts(trace, trace.share(team), counters, stretches):
        duration = found.values[:, 0]
        wanted = ~np.isnan(found.values).any(axis=1) & (duration >= shortest_ns)
        ids = _ids(found, int(trace.threads.max()))[wanted]
        chance = -np.log((ids >> np.uint64(11)).astype(float) * 2.0**-53 + 2.0**-54)
        alike.add(chance, ids, found.values[wanted])
        by_length.add(chance / duration[wanted], ids, found.values[wanted])
    parts = [_merged(team, part, 1 + len(counters)) for part in (alike, by_length)]
    ids, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return values[np.unique(ids, return_index=True)[1]]


def _merged(team: Team, mine: _Lowest, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and values of the SIZE / 2 rows with the lowest keys of all members."""
    every = team.allgather((mine.keys, mine.ids, np.zeros((0, columns)) if mine.values is None else mine.values))
    keys, ids, values = (np.concatenate(part) for part in zip(*every, strict=True))
    kept = np.lexsort((ids, keys))[: SIZE // 2]
    return ids[kept], values[kept]


def _ids(found: BurstTable, most_threads: int) -> np.ndarray:
    """Return a pseudo-random number for each burst that depends only on its rank, thread and begin (splitmix64)."""
    lane = found.states["rank"].astype(np.uint64) * np.uint64(most_threads) + found.states["thread"].astype(np.uint64)
    x = found.states["begin"].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + lane * np.uint64(0xD1B54A32D192ED03)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def import_sklearn() -> Any:
    """Import scikit-learn with its module `cluster`. Raises TracelibError if it is not installed."""
    try:
        import sklearn.cluster
    except ImportError as error:
        raise TracelibError("scikit-learn is not installed", "pip install 'tracelib[clusters]'") from error
    return sklearn


DBSCAN, KMEANS = "dbscan", "kmeans"
KINDS = 4
"""Default number of clusters of k-means: n_clusters in the experiments of Casas, section 5.4.1."""
REACH = 0.1
_SEED = 0
_STARTS = 10
"""Number of starts of k-means. The result depends on the start; the best of these is taken."""


@dataclass(frozen=True)
class BurstKind:
    """One cluster of bursts, or the bursts in no cluster (NOISE, SHORT): number of bursts and sums over them.

    number: label of the cluster. count: number of bursts. values: sums of durations (ns) and of counters, shape (1 +
    counters,).
    """

    number: int
    count: int
    values: np.ndarray
    by_rank: np.ndarray  # int64 (ranks,): number of bursts on each rank

    @property
    def time_ns(self) -> float:
        """Sum of the durations of all bursts of the cluster, ns."""
        return float(self.values[0])


@dataclass(frozen=True)
class FoundClusters:
    """Clusters of a run's bursts, and sums of the bursts in no cluster.

    kinds: the clusters, that with the longest sum of durations first. noise, short: bursts in no cluster.
    """

    clusters: BurstClusters
    kinds: tuple[BurstKind, ...]
    noise: BurstKind
    short: BurstKind
    sample: np.ndarray  # values of the bursts that were clustered, shape (n, 1 + counters)

    @property
    def time_ns(self) -> float:
        """Sum of the durations of all bursts, in clusters or not, ns."""
        return sum(kind.time_ns for kind in (*self.kinds, self.noise, self.short))


def find_clusters(
    trace: Trace,
    team: Team,
    *,
    method: str = DBSCAN,
    counters: tuple[str, ...] = (),
    reach: float = REACH,
    least: int | None = None,
    kinds: int = KINDS,
    shortest_ns: int = 0,
    stretches: np.ndarray | None = None,
) -> FoundClusters:
    """Find clusters of a run's bursts, in two passes over the run and in bounded memory.

    All members of the team must call this function.

    Args:
        trace: The trace.
        team: Processes that share the ranks.
        method: DBSCAN or KMEANS.
        counters: Names of the counters that, with the duration, describe a burst.
        reach: DBSCAN's eps, the largest distance of neighbours in ln(duration) and ln(1 + count).
        least: DBSCAN's min_samples, a number of bursts in the sample. None: 0.5 % of the sample, at least 4.
        kinds: Number of clusters of k-means.
        shortest_ns: Shorter bursts are in no cluster.
        stretches: Stretch of time of each rank in which bursts are read, as in `bursts`. The clusters can be used to
            label bursts of the whole run.

    Raises:
        TracelibError: scikit-learn is not installed, the trace lacks a counter, or it does not tell which thread is
            computing.
    """
    check_computing(trace)
    sample = draw_sample(trace, team, counters, shortest_ns, stretches)
    model = None
    if team.rank == 0:
        model = _clustered(trace, sample, method, (counters, shortest_ns), reach, least, kinds)
    model = team.bcast(model)
    found = _sums(trace, team, model, stretches)
    order = sorted(range(1, model.count + 1), key=lambda kind: -found[kind].time_ns)
    numbered = tuple(
        BurstKind(number, found[kind].count, found[kind].values, found[kind].by_rank)
        for number, kind in enumerate(order, 1)
    )
    return FoundClusters(model.renumbered(np.array(order, np.int64)), numbered, found[NOISE], found[SHORT], sample)


def _clustered(
    trace: Trace, sample: np.ndarray, method: str, common: tuple[tuple[str, ...], int], reach: float,
    least: int | None, kinds: int,
) -> BurstClusters:  # fmt: skip
    points = coordinates(sample)
    size = trace.size, trace.duration_ns
    if method == KMEANS:
        spread = points.std(axis=0) if len(points) else np.ones(points.shape[1])
        scale = np.where(spread > 0, spread, 1.0)
        centres = _centroids(points / scale, kinds)
        return BurstClusters(method, *common, np.inf, scale, centres, np.arange(1, len(centres) + 1), *size)
    least = max(4, round(0.005 * len(points))) if least is None else least
    cores, labels = _cores(points, reach, least)
    return BurstClusters(method, *common, reach, np.ones(points.shape[1]), cores, labels, *size)


def _cores(points: np.ndarray, reach: float, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the core points of DBSCAN, and the cluster of each core point, from 1."""
    if not len(points):
        return points, np.zeros(0, np.int64)
    found = import_sklearn().cluster.DBSCAN(eps=reach, min_samples=least).fit(points)
    cores = found.core_sample_indices_
    return points[cores], found.labels_[cores].astype(np.int64) + 1


def _centroids(points: np.ndarray, kinds: int) -> np.ndarray:
    kinds = min(kinds, len(np.unique(points, axis=0)))
    if not kinds:
        return points[:0]
    found = import_sklearn().cluster.KMeans(kinds, n_init=_STARTS, random_state=_SEED).fit(points)
    return found.cluster_centers_


def _sums(trace: Trace, team: Team, model: BurstClusters, stretches: np.ndarray | None) -> dict[int, BurstKind]:
    """Sum up all bursts by label, in the second pass over the run."""
    labels = [NOISE, SHORT, *range(1, model.count + 1)]
    sums = np.zeros((len(labels), 1 + len(model.counters)))
    by_rank = np.zeros((len(labels), trace.size), np.int64)
    for found in bursts(trace, trace.share(team), model.counters, stretches):
        row = model.label(found.values) - NOISE
        np.add.at(sums, row, np.nan_to_num(found.values))
        np.add.at(by_rank, (row, found.states["rank"]), 1)
    sums = np.sum(team.allgather(sums), axis=0)
    by_rank = np.sum(team.allgather(by_rank), axis=0)
    return {
        label: BurstKind(label, int(by_rank[row].sum()), sums[row], by_rank[row]) for row, label in enumerate(labels)
    }
