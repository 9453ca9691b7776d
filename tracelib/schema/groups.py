"""How a row of `communicators` says who is in a group.

A group whose world ranks are first, first + stride, ... takes one number and no rows of `members`: with MPI_COMM_WORLD
in its `members`, each rank's file would have as many rows as there are ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracelib.schema import MEMBER, PROGRESSION_BIT, PROGRESSION_STRIDE_SHIFT

IS_PROGRESSION = 1 << PROGRESSION_BIT
_FIRST = (1 << PROGRESSION_STRIDE_SHIFT) - 1
_STRIDE = (IS_PROGRESSION - 1) >> PROGRESSION_STRIDE_SHIFT
_MOST = (1 << 31) - 1
"""No world rank is larger: MPI counts in int."""


def progression(members: Sequence[int]) -> range | None:
    """Return a group with a constant stride of at least 1 and without processes outside the world.

    A group of one rank has stride 1. None: it is no such progression, nor is a group without members.
    """
    if not len(members):
        return None
    first = int(members[0])
    stride = int(members[1]) - first if len(members) > 1 else 1
    if stride < 1 or first < 0 or first + (len(members) - 1) * stride > _MOST:
        return None
    found = range(first, first + len(members) * stride, stride)
    same = members == found if isinstance(members, range) else np.array_equal(members, found)
    return found if same else None


def said_of(ranks: range) -> int:
    """Encode a progression as the row of `communicators` holds it."""
    return IS_PROGRESSION | ranks.step << PROGRESSION_STRIDE_SHIFT | ranks.start


def is_progression(said: int) -> bool:
    """Return True if what a row says of a group is all that there is of it."""
    return bool(said & IS_PROGRESSION)


def ranks_of(said: int, size: int, ranks: int) -> range:
    """Return the world ranks of a progression of `size`.

    There are none if it leaves a world of `ranks`, as in a damaged file, or if its stride is 0: not known.
    """
    first, stride = said & _FIRST, said >> PROGRESSION_STRIDE_SHIFT & _STRIDE
    if not stride or first + (size - 1) * stride >= ranks:
        return range(0)
    return range(first, first + size * stride, stride)


class MemberTable:
    """`members` of a rank as its groups are named, one after the other."""

    def __init__(self) -> None:
        self._rows: list[int] = []

    def add(self, members: Sequence[int]) -> int:
        """Add a group, and return its code for the row of `communicators`; 0 if it has no members."""
        if not len(members):
            return 0
        if ranks := progression(members):
            return said_of(ranks)
        self._rows += members
        return len(self._rows) - len(members)

    @property
    def rows(self) -> np.ndarray:
        """MEMBER."""
        return np.array(self._rows, MEMBER)
