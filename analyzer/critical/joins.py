"""Threads that end while the main thread of their rank makes no call: it waited for them (pthread_join, the end of a
parallel part)."""

from __future__ import annotations

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.timeline import JOINED, Timeline

STAY = np.dtype([("begin", "<i8"), ("end", "<i8")])


def join_stays(busy: np.ndarray, lives: np.ndarray) -> np.ndarray:
    """When a main thread waited (STAY) for others, from when the first of them was seen, or what it did last before.

    busy: what the main thread did (STAY, by time); lives: the others, from their first call to their last (STAY).
    """
    after = np.searchsorted(busy["begin"], lives["end"], "right")
    free = (after > 0) & (after < len(busy))
    free[free] &= busy["end"][after[free] - 1] <= lives["end"][free]
    lives, after = lives[free], after[free]
    found = np.zeros(len(np.unique(after)), STAY)
    for row, burst in zip(found, np.unique(after).tolist(), strict=True):
        mine = lives[after == burst]
        row["begin"] = max(int(busy["end"][burst - 1]), int(mine["begin"].min()))
        row["end"] = mine["end"].max()
    return found


def add_joins(found: Dependences, nodes: Timeline) -> None:
    """The main thread goes on when the last of those that it waits for has ended, which begin after it began to."""
    threads = np.flatnonzero(nodes.joined)
    if not len(threads):
        return
    points = np.concatenate([first + np.flatnonzero(rows["call"] == JOINED) for first, rows in nodes.pieces()])
    owner = np.searchsorted(nodes.offsets, points, "right") - 1
    for thread in threads.tolist():
        begin, end = int(nodes.offsets[thread]), int(nodes.offsets[thread + 1]) - 1
        mine = points[owner == nodes.first_thread[nodes.rank[thread]]]
        at = int(np.searchsorted(nodes.exit[mine], nodes.exit[end]))
        if at < len(mine) and nodes.enter[mine[at]] <= nodes.exit[end]:
            found.add(mine[at : at + 1], np.array([end]))
            if nodes.enter[mine[at]] <= nodes.enter[begin]:
                found.add(np.array([begin]), mine[at : at + 1])
