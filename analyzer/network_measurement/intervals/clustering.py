"""Intervals of sizes with similar times, by agglomerative clustering (Rodriguez 2011, section 3.3.2, "clustering").

Each row becomes a pattern of six numbers: overhead and gap, and for each of them start and slope of the line through
the row's neighbourhood. Clusters are joined until the centres of all clusters are far enough apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from analyzer.network_measurement.neighbourhood import neighbours

SATURATION = 2.0
"""Standard deviations from the mean at which starts and slopes are cut off: at a jump they are arbitrary."""
MOST_ROWS = 4000
"""Largest number of clustered rows, as memory and time grow with its square.

Of more rows, equally many of each size are used.
"""
MOST_CLUSTERS = 64
_VARIABLES = 6


@dataclass(frozen=True)
class SizeClusters:
    """Clusters of rows.

    Attributes:
        size: Size of each row, bytes.
        tree: How clusters were joined, as scipy's linkage: two clusters, their distance, number of rows.
        labels: Cluster of each row, from 0.
    """

    size: np.ndarray
    tree: np.ndarray
    labels: np.ndarray

    @property
    def ends(self) -> set[int]:
        """Sizes (bytes) after which another cluster begins."""
        sizes, first = np.unique(self.size, return_index=True)
        by_size = np.array([np.bincount(self.labels[self.size == s]).argmax() for s in sizes])
        return {int(self.size[first[place - 1]]) for place in _borders(by_size)}


def clustered(
    size: np.ndarray, times_s: tuple[np.ndarray, np.ndarray], window: float, kind: str, method: str, metric: str,
    threshold: float,
) -> SizeClusters | None:  # fmt: skip
    """Cluster the rows of a measurement.

    Args:
        size: Size of each row, bytes.
        times_s: Overhead and gap of each row.
        window: Share of all rows that are in a neighbourhood.
        kind: Distance by which rows are neighbours, see `NEIGHBOURS`.
        method: How clusters are joined, see `METHODS`.
        metric: Distance of patterns, see `METRICS`.
        threshold: Least distance of cluster centres, as a share of the largest possible distance.

    Returns:
        The clusters. None: all rows have the same size.
    """
    chosen = _thinned(size)
    size, times_s = size[chosen], (times_s[0][chosen], times_s[1][chosen])
    if len(size) < 2 or len(np.unique(size)) < 2:
        return None
    pattern = np.column_stack([p for time_s in times_s for p in _patterns(size, time_s, window, kind)])
    tree = linkage(pdist(pattern, {"manhattan": "cityblock", "euclidean": "euclidean"}[metric]), method)
    farthest = _VARIABLES if metric == "manhattan" else np.sqrt(_VARIABLES)
    return SizeClusters(size, tree, _cut(tree, pattern, metric, threshold * farthest))


def _thinned(size: np.ndarray) -> np.ndarray:
    """Return the indices of at most `MOST_ROWS` rows, but of at least one row of each size."""
    if len(size) <= MOST_ROWS:
        return np.arange(len(size))
    each = max(1, MOST_ROWS // len(np.unique(size)))
    order = np.argsort(size, kind="stable")
    number = np.arange(len(size)) - np.searchsorted(size[order], size[order])
    return np.sort(order[number < each])


def _patterns(size: np.ndarray, time_s: np.ndarray, window: float, kind: str) -> tuple[np.ndarray, ...]:
    """Return time, local start and local slope of each row, scaled to 0..1."""
    near = neighbours(size, time_s, window, kind)
    x, y = size[near].astype(float) - 1, time_s[near]
    dx = x - x.mean(axis=1, keepdims=True)
    across = (dx**2).sum(axis=1)
    slope = (dx * y).sum(axis=1) / np.where(across > 0, across, 1.0)
    start = y.mean(axis=1) - slope * x.mean(axis=1)
    return _unit(time_s, time_s.min(), time_s.max()), _saturated(start), _saturated(slope)


def _saturated(values: np.ndarray) -> np.ndarray:
    aside = SATURATION * values.std()
    return _unit(values, max(values.min(), values.mean() - aside), min(values.max(), values.mean() + aside))


def _unit(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)


def _cut(tree: np.ndarray, pattern: np.ndarray, metric: str, apart: float) -> np.ndarray:
    """Return the cluster of each row, from 0: as many clusters as have centres at least `apart` from each other."""
    labels = np.zeros(len(pattern), np.int64)
    for number in range(2, min(MOST_CLUSTERS, len(pattern)) + 1):
        more = fcluster(tree, number, "maxclust") - 1
        centres = np.stack([pattern[more == c].mean(axis=0) for c in range(more.max() + 1)])
        if len(centres) < 2 or pdist(centres, {"manhattan": "cityblock"}.get(metric, metric)).min() < apart:
            break
        labels = more
    return labels


def _borders(labels: np.ndarray) -> list[int]:
    """Return the indices of sizes at which another cluster begins.

    Sizes at which two or more clusters overlap count as a cluster of their own.
    """
    spans = [np.flatnonzero(labels == c)[[0, -1]] for c in np.unique(labels)]
    over = np.zeros(len(labels), np.int64)
    for first, last in spans:
        over[first : last + 1] += 1
    own = np.where(over > 1, -1, labels)
    return [place + 1 for place, (a, b) in enumerate(pairwise(own.tolist())) if a != b]
