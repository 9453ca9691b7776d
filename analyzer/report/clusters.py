"""Clusters of bursts as a table, in sentences, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from analyzer.burst_clusters.clustering import BurstKind, FoundClusters
from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.trace import ranks_named

MOST_KINDS = 30


def clusters_tables(found: FoundClusters) -> Iterator[Table | Text]:
    """Yield a table with a row for each cluster, for noise and for too short bursts, and then remarks."""
    counters = found.clusters.counters
    table = plain_table("cluster", "bursts", "time", "share", "mean", *counters, "ranks")
    rows = [(str(kind.number), kind) for kind in found.kinds[:MOST_KINDS]]
    rows += [("noise", found.noise), ("too short", found.short)]
    for name, kind in rows:
        if kind.count:
            table.add_row(*_row(name, kind, found.time_ns))
    yield table
    yield Text("\n".join(_lines(found)))


def _row(name: str, kind: BurstKind, whole_ns: float) -> list[str]:
    means = kind.values / kind.count
    return [
        name,
        units.count(kind.count),
        units.time(kind.time_ns),
        units.percent(kind.time_ns / whole_ns),
        units.time(means[0]),
        *(units.count(mean) for mean in means[1:]),
        str(np.count_nonzero(kind.by_rank)),
    ]


def _lines(found: FoundClusters) -> list[str]:
    if not found.kinds:
        return ["No bursts are so many and so alike that they are a kind."]
    first = found.kinds[0]
    said = [
        f"{units.plural(len(found.kinds), 'kind')} of bursts. Cluster {first.number} has "
        f"{units.percent(first.time_ns / found.time_ns)} of the computing time."
    ]
    if len(found.kinds) > MOST_KINDS:
        said.append(f"The table shows the first {MOST_KINDS}.")
    for kind in found.kinds[:MOST_KINDS]:
        without = np.flatnonzero(kind.by_rank == 0)
        if 0 < len(without) < len(kind.by_rank):
            there = np.flatnonzero(kind.by_rank)
            of = f"of {ranks_named(there.tolist())} only"
            if len(there) > len(without):
                of = f"of all ranks but {ranks_named(without.tolist())}"
            said.append(f"Cluster {kind.number} is {of}.")
    if found.short.count:
        said.append(f"Bursts shorter than {units.time(found.clusters.shortest_ns)} are of no cluster.")
    return said


def clusters_json(file: str, found: FoundClusters) -> dict[str, Any]:
    """Return the clusters for JSON. Times are in s."""
    clusters = found.clusters
    return {
        "file": file,
        "method": clusters.method,
        "counters": list(clusters.counters),
        "shortest_s": clusters.shortest_ns / 1e9,
        "computing_s": found.time_ns / 1e9,
        "clusters": [_kind_json(kind, clusters.counters) for kind in found.kinds],
        "noise": _kind_json(found.noise, clusters.counters),
        "too_short": _kind_json(found.short, clusters.counters),
    }


def _kind_json(kind: BurstKind, counters: tuple[str, ...]) -> dict[str, Any]:
    means = kind.values / max(kind.count, 1)
    return {
        "cluster": kind.number if kind.number > 0 else None,
        "bursts": kind.count,
        "time_s": kind.time_ns / 1e9,
        "mean_s": float(means[0]) / 1e9,
        "means": dict(zip(counters, means[1:].tolist(), strict=True)),
        "ranks": np.flatnonzero(kind.by_rank).tolist(),
    }
