"""Rows that the processes of a team have, brought together on the first one, in order of the processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.columns.joined import joined
from analyzer.columns.rows import Rows
from analyzer.parallel import Team


def to_first(mine: np.ndarray, team: Team) -> np.ndarray:
    """Those of all members in memory; others than the first one get none. Collective."""
    if team.size == 1:
        return mine
    nothing = mine[:0]
    return joined(team.alltoall([mine, *[nothing] * (team.size - 1)]), mine.dtype)


def rows_to_first(mine: Rows, team: Team, change: Callable[[int, np.ndarray], np.ndarray] | None = None) -> Rows:
    """Those of all members in a temporary file, piece by piece; others than the first one get none. Collective.

    change(member, rows): what becomes of those of a member.
    """
    if team.size == 1:
        return mine
    found = Rows(mine.dtype)
    for member, piece in _in_order(mine, team):
        found.append(change(member, piece) if change else piece)
    return found


def _in_order(mine: Rows, team: Team) -> Iterator[tuple[int, np.ndarray]]:
    """The pieces of each member after those of the one before it."""
    counts = team.allgather(sum(1 for _ in mine.pieces()))
    nothing = np.zeros(0, mine.dtype)
    for member, count in enumerate(counts):
        own = mine.pieces() if member == team.rank else iter(())
        for _ in range(count):
            yield member, to_first(next(own, (0, nothing))[1], team)
