"""Groups of ranks that behave alike, and the few ranks that behave like no other.

Each rank is a point. A coordinate is asinh(4 v / s): v is a measured value of the rank, s the typical value of its unit
over the ranks (a median). This is logarithmic for values near s and above, and about linear for small values. So a
difference of 10 % counts for a large value, and not for a tiny one. Points in one cell of a grid are treated as one.
The fullest cell takes all points within a radius (in each coordinate), then the fullest of the remaining cells, and so
on (leader clustering, Hartigan 1975, chapter 3). The radius is doubled until there are few groups (at most
MOST_GROUPS). The result depends on values alone: neither the unit nor the order of the ranks changes a group. The time
is linear in the number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_GROUPS = 6
"""Largest number of groups."""
MOST_ALONE = 8
"""Largest number of ranks that are outliers rather than a group.

At most this number of outliers, or 1 %, is accepted.
"""
_RADIUS = 0.1
"""Smallest radius: values near the typical value that differ by up to 10 % are alike."""
_CELLS = 2
"""Number of cells of the grid in a radius."""
_SHIFT = 0.37
"""Shift of the grid in cells, so that neither 0 nor the typical value lies on the edge of a cell."""
_SMALL = 4.0
_SHARE_ALONE = 0.01
_MEDOID_DIGITS = 9


@dataclass(frozen=True)
class RankMeasure:
    """Measured value of each rank, 0 or more. Measures with the same unit are scaled together."""

    name: str
    values: np.ndarray  # (ranks,)
    unit: str = "time"


@dataclass(frozen=True)
class RankCluster:
    """Group of ranks that behave alike."""

    ranks: np.ndarray  # numbers of the ranks, ascending
    typical: int  # the rank nearest to the mean of the group
    means: tuple[float, ...]  # mean of each measure over the ranks of the group


@dataclass(frozen=True)
class Outlier:
    """A rank that is in no group, with the measure in which it differs most from the nearest group."""

    rank: int
    group: int  # the nearest group, index in RankClusters.groups
    column: int
    value: float
    of_group: float  # mean of the measure in that group
    distance: float  # distance to the group in this coordinate, which is the largest


@dataclass(frozen=True)
class RankClusters:
    """Groups of ranks, the largest first, and outliers, the furthest from its group first."""

    columns: tuple[str, ...]
    groups: list[RankCluster]
    outliers: list[Outlier]


def groups_of(ranks: np.ndarray, columns: Sequence[RankMeasure]) -> RankClusters:
    """Divide ranks into groups that behave alike, and outliers.

    Args:
        ranks: Numbers of the ranks, int64 of shape (n,).
        columns: Measured values of these ranks, in the same order.
    """
    names = tuple(column.name for column in columns)
    if not len(ranks):
        return RankClusters(names, [], [])
    points = _points(columns)
    radius = _RADIUS
    while (label := _labels(points, radius)) is None:
        radius *= 2
    order = np.argsort(ranks, kind="stable")
    found = [order[label[order] == number] for number in range(int(label.max()) + 1)]
    values = np.stack([np.asarray(column.values, float) for column in columns], axis=1)
    groups = [_group(ranks, values, points, members) for members in found]
    groups_order = sorted(range(len(groups)), key=lambda g: (-len(groups[g].ranks), int(groups[g].ranks[0])))
    groups, found = [groups[g] for g in groups_order], [found[g] for g in groups_order]
    centres = np.array([points[members].mean(axis=0) for members in found])
    alone = order[label[order] < 0]
    outliers = [_outlier(int(ranks[k]), values[k], points[k], centres, groups) for k in alone.tolist()]
    return RankClusters(names, groups, sorted(outliers, key=lambda one: (-one.distance, one.rank)))


def _points(columns: Sequence[RankMeasure]) -> np.ndarray:
    """Return the coordinates of the ranks, float64 of shape (ranks, columns)."""
    scale = {}
    for unit in dict.fromkeys(column.unit for column in columns):
        largest = np.max([np.asarray(c.values, float) for c in columns if c.unit == unit], axis=0)
        scale[unit] = float(np.median(largest[largest > 0])) if (largest > 0).any() else 1.0
    return np.stack([np.arcsinh(_SMALL * np.maximum(c.values, 0) / scale[c.unit]) for c in columns], axis=1)


def _labels(points: np.ndarray, radius: float) -> np.ndarray | None:
    """Return the group of each point; -1: outlier. None: there are too many groups or outliers with this radius."""
    code, cells = _cells(np.floor(points * (_CELLS / radius) + _SHIFT).astype(np.int64))
    count = np.bincount(code, minlength=len(cells))
    of_cell = np.full(len(cells), -1, np.int64)
    left = np.lexsort((*cells.T[::-1], -count))  # fullest first, then by place
    alone, limit = 0, max(MOST_ALONE, round(_SHARE_ALONE * len(points)))
    leaders: list[int] = []
    while len(left):
        leader = left[0]
        near = np.abs(cells[left] - cells[leader]).max(axis=1) <= _CELLS
        members, left = left[near], left[~near]
        size = int(count[members].sum())
        if size > MOST_ALONE or not leaders:
            of_cell[members] = len(leaders)
            leaders.append(int(leader))
        else:
            home = _near_leader(cells, leader, leaders)
            of_cell[members] = home
            alone += size if home < 0 else 0
        if len(leaders) > MOST_GROUPS or alone > limit:
            return None
    return of_cell[code]


def _near_leader(cells: np.ndarray, cell: int, leaders: Sequence[int]) -> int:
    """Return the group whose edge a cell lies near, since so small a difference is noise. -1: none."""
    away = np.abs(cells[leaders] - cells[cell]).max(axis=1)
    nearest = int(away.argmin())
    return nearest if away[nearest] <= 2 * _CELLS else -1


def _cells(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each point's cell, and the place of each cell in the grid, in order of place."""
    code = np.zeros(len(places), np.int64)
    for column in places.T:
        low = column.min()
        _, code = np.unique(code * (column.max() - low + 1) + (column - low), return_inverse=True)
    first = np.zeros(int(code.max()) + 1, np.int64)
    first[code] = np.arange(len(code))
    return code, places[first]


def _group(ranks: np.ndarray, values: np.ndarray, points: np.ndarray, members: np.ndarray) -> RankCluster:
    own = points[members]
    away = np.round(np.square(own - own.mean(axis=0)).sum(axis=1), _MEDOID_DIGITS)
    means = tuple(float(mean) for mean in values[members].mean(axis=0))
    return RankCluster(ranks[members], int(ranks[members[int(away.argmin())]]), means)


def _outlier(
    rank: int, values: np.ndarray, point: np.ndarray, centres: np.ndarray, groups: Sequence[RankCluster]
) -> Outlier:
    off = np.abs(centres - point)
    group = int(off.max(axis=1).argmin())
    column = int(off[group].argmax())
    mean = groups[group].means[column]
    return Outlier(rank, group, column, float(values[column]), mean, float(off[group, column]))
