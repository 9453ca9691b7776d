"""Finds the kinds of bursts by DBSCAN or k-means on a sample, labels all bursts, and adds up each kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.burst_clusters.bursts import bursts
from analyzer.burst_clusters.learn import learn
from analyzer.burst_clusters.model import NOISE, SHORT, Clusters, coordinates
from analyzer.burst_clusters.sample import draw
from analyzer.parallel import Team
from analyzer.trace import Trace
from analyzer.trace.trace import check_computing

DBSCAN, KMEANS = "dbscan", "kmeans"
KINDS = 4
"""n_clusters of Casas' experiments, section 5.4.1."""
REACH = 0.1
_SEED = 0
_STARTS = 10
"""k-means depends on where it starts: the best of so many is taken."""


@dataclass(frozen=True)
class Kind:
    """Sums over all bursts of a kind; `values`: sums of duration (ns) and counters."""

    number: int
    count: int
    values: np.ndarray
    by_rank: np.ndarray  # number on each rank

    @property
    def time_ns(self) -> float:
        return float(self.values[0])


@dataclass(frozen=True)
class Found:
    """The clusters of a run, the longest in sum first, and what is of no kind."""

    clusters: Clusters
    kinds: tuple[Kind, ...]
    noise: Kind
    short: Kind
    sample: np.ndarray  # values of the bursts that were clustered, shape (n, 1 + counters)

    @property
    def time_ns(self) -> float:
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
) -> Found:
    """The kinds of a run's bursts.

    reach, least: DBSCAN's eps, in ln(duration) and ln(1 + count), and its min_samples in the sample (None: 0.5 % of
    it, 4 at least). kinds: how many k-means is to find. shortest_ns: shorter bursts are of no kind. stretches: only
    what lies in these is looked at (see `bursts`); the kinds can be told in the whole run. Two passes over the run, in
    bounded memory; collective over the team. Raises TracelibError where scikit-learn or a counter is not there, or
    it is not known what is computing.
    """
    check_computing(trace)
    sample = draw(trace, team, counters, shortest_ns, stretches)
    model = None
    if team.rank == 0:
        model = _clustered(trace, sample, method, (counters, shortest_ns), reach, least, kinds)
    model = team.bcast(model)
    found = _sums(trace, team, model, stretches)
    order = sorted(range(1, model.count + 1), key=lambda kind: -found[kind].time_ns)
    numbered = tuple(
        Kind(number, found[kind].count, found[kind].values, found[kind].by_rank) for number, kind in enumerate(order, 1)
    )
    return Found(model.renumbered(np.array(order, np.int64)), numbered, found[NOISE], found[SHORT], sample)


def _clustered(
    trace: Trace, sample: np.ndarray, method: str, common: tuple[tuple[str, ...], int], reach: float,
    least: int | None, kinds: int,
) -> Clusters:  # fmt: skip
    points = coordinates(sample)
    size = trace.size, trace.duration_ns
    if method == KMEANS:
        spread = points.std(axis=0) if len(points) else np.ones(points.shape[1])
        scale = np.where(spread > 0, spread, 1.0)
        centres = _centroids(points / scale, kinds)
        return Clusters(method, *common, np.inf, scale, centres, np.arange(1, len(centres) + 1), *size)
    least = max(4, round(0.005 * len(points))) if least is None else least
    cores, labels = _cores(points, reach, least)
    return Clusters(method, *common, reach, np.ones(points.shape[1]), cores, labels, *size)


def _cores(points: np.ndarray, reach: float, least: int) -> tuple[np.ndarray, np.ndarray]:
    """The core points of DBSCAN and the kind of each, from 1."""
    if not len(points):
        return points, np.zeros(0, np.int64)
    found = learn().cluster.DBSCAN(eps=reach, min_samples=least).fit(points)
    cores = found.core_sample_indices_
    return points[cores], found.labels_[cores].astype(np.int64) + 1


def _centroids(points: np.ndarray, kinds: int) -> np.ndarray:
    kinds = min(kinds, len(np.unique(points, axis=0)))
    if not kinds:
        return points[:0]
    found = learn().cluster.KMeans(kinds, n_init=_STARTS, random_state=_SEED).fit(points)
    return found.cluster_centers_


def _sums(trace: Trace, team: Team, model: Clusters, stretches: np.ndarray | None) -> dict[int, Kind]:
    """By label; the second pass."""
    labels = [NOISE, SHORT, *range(1, model.count + 1)]
    sums = np.zeros((len(labels), 1 + len(model.counters)))
    by_rank = np.zeros((len(labels), trace.size), np.int64)
    for found in bursts(trace, trace.share(team), model.counters, stretches):
        row = model.label(found.values) - NOISE
        np.add.at(sums, row, np.nan_to_num(found.values))
        np.add.at(by_rank, (row, found.states["rank"]), 1)
    sums = np.sum(team.allgather(sums), axis=0)
    by_rank = np.sum(team.allgather(by_rank), axis=0)
    return {label: Kind(label, int(by_rank[row].sum()), sums[row], by_rank[row]) for row, label in enumerate(labels)}
