"""Clusters of bursts as a file beside the run, from which any command can label each burst again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.trace import Trace

FORMAT = "tracelib-clusters"
SHORT, NOISE = 0, -1
"""Labels of bursts in no cluster. SHORT: shorter than `shortest_ns`. NOISE: near no cluster. Clusters count from 1."""
ENDING = ".clusters.json"
"""Ending of the name of a file of clusters."""


@dataclass(frozen=True)
class BurstClusters:
    """Clusters of bursts in the space of ln(duration) and ln(1 + count) of each counter, the features.

    A burst is in the cluster of the nearest of `points`, if the distance is at most `reach`. The points are the core
    points of DBSCAN, or the centroids of k-means with an infinite reach.

    method: "dbscan" or "kmeans". counters: names. shortest_ns: shorter bursts are in no cluster.
    scale: (features,) divisors of the coordinates. points: (n, features), scaled. kinds: (n,) cluster of each point.
    ranks, duration_ns: size and length of the run, by which the file is known to belong to it.
    """

    method: str
    counters: tuple[str, ...]
    shortest_ns: int
    reach: float
    scale: np.ndarray
    points: np.ndarray
    kinds: np.ndarray
    ranks: int
    duration_ns: int

    @property
    def count(self) -> int:
        """Number of clusters."""
        return int(self.kinds.max(initial=0))

    def label(self, values: np.ndarray) -> np.ndarray:
        """Return the cluster of each burst, or SHORT or NOISE.

        Args:
            values: Duration (ns) and counters of each burst, of shape (n, 1 + counters), as in `BurstTable`.

        Returns:
            int64 of shape (n,).
        """
        found = np.full(len(values), NOISE, np.int64)
        found[values[:, 0] < self.shortest_ns] = SHORT
        wanted = np.flatnonzero((found == NOISE) & ~np.isnan(values).any(axis=1))
        if len(self.points) and len(wanted):
            distance, nearest = self._tree.query(coordinates(values[wanted]) / self.scale)
            near = distance <= self.reach
            found[wanted[near]] = self.kinds[nearest[near]]
        return found

    def renumbered(self, order: np.ndarray) -> BurstClusters:
        """Return the same clusters with new numbers: cluster order[k] becomes k + 1."""
        number = np.zeros(self.count + 1, np.int64)
        number[order] = np.arange(1, self.count + 1)
        return BurstClusters(**(self._fields() | {"kinds": number[self.kinds]}))

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def coordinates(values: np.ndarray) -> np.ndarray:
    """Return ln(duration) and ln(1 + count) of each burst, shape (n, 1 + counters).

    A distance of 0.1 is a difference of about a tenth.
    """
    return np.concatenate([np.log(values[:, :1]), np.log1p(values[:, 1:])], axis=1)


def write_clusters(clusters: BurstClusters, path: Path) -> None:
    """Write the clusters as JSON. Raises TracelibError if the file cannot be written."""
    arrays = {name: getattr(clusters, name).tolist() for name in ("scale", "points", "kinds")}
    reach = None if np.isinf(clusters.reach) else clusters.reach
    data = {"format": FORMAT, **asdict(clusters), **arrays, "reach": reach}
    with whole_file(path) as file:
        file.write((json.dumps(data, indent=2) + "\n").encode())


def read_clusters(path: Path, trace: Trace) -> BurstClusters:
    """Read the clusters of a trace's bursts from a file.

    Raises:
        TracelibError: The file does not exist, has no clusters, or has the clusters of another run.
    """
    try:
        data = json.loads(path.read_text())
        if data["format"] != FORMAT:
            raise ValueError
        arrays: dict[str, Any] = {
            "scale": np.array(data["scale"], float),
            "points": np.array(data["points"], float).reshape(-1, len(data["scale"])),
            "kinds": np.array(data["kinds"], np.int64),
        }
        reach = np.inf if data["reach"] is None else float(data["reach"])
        names = ("method", "shortest_ns", "ranks", "duration_ns")
        plain: dict[str, Any] = {name: data[name] for name in names}
        found = BurstClusters(**plain, **arrays, counters=tuple(data["counters"]), reach=reach)
        if len(found.points) != len(found.kinds) or len(found.scale) != 1 + len(found.counters):
            raise ValueError
    except FileNotFoundError as error:
        hint = f"analyze clusters {trace.path} finds them"
        raise TracelibError(f"the clusters of {trace.path} are not known: there is no {path}", hint) from error
    except (ValueError, KeyError, TypeError) as error:
        raise TracelibError(f"{path} does not hold clusters of bursts", f"analyze clusters {trace.path}") from error
    if (found.ranks, found.duration_ns) != (trace.size, trace.duration_ns):
        raise TracelibError(f"{path} is of another run than {trace.path}", f"analyze clusters {trace.path}")
    return found
