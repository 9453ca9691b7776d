"""Encoding of a group's members in a row of `communicators`.

A group whose world ranks are first, first + stride, ... is encoded as one number, and has no rows in `members`.
Otherwise the file of each rank would have as many rows for MPI_COMM_WORLD as there are ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracelib.schema import MEMBER, PROGRESSION_BIT, PROGRESSION_STRIDE_SHIFT

IS_PROGRESSION = 1 << PROGRESSION_BIT
"""Bit of the number that marks a progression."""
_FIRST = (1 << PROGRESSION_STRIDE_SHIFT) - 1
_STRIDE = (IS_PROGRESSION - 1) >> PROGRESSION_STRIDE_SHIFT
_MOST = (1 << 31) - 1
"""Largest possible world rank, because MPI counts in int."""


def progression(members: Sequence[int]) -> range | None:
    """Return the world ranks of a group as a range, if they have a constant stride of at least 1.

    A single rank has stride 1. None: there is no such stride, a member is outside of the world, or the group is
    empty.
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
    """Encode a progression as the number for a row of `communicators`."""
    return IS_PROGRESSION | ranks.step << PROGRESSION_STRIDE_SHIFT | ranks.start


def is_progression(said: int) -> bool:
    """Return True if the number in a row of `communicators` encodes a progression.

    Then `members` has no rows for the group.
    """
    return bool(said & IS_PROGRESSION)


def ranks_of(said: int, size: int, ranks: int) -> range:
    """Decode the world ranks of a progression.

    Args:
        said: Number in the row of `communicators`.
        size: Number of members.
        ranks: Number of ranks of the world.

    Returns:
        The ranks. Empty: they exceed the world, as in a damaged file, or the stride is 0, which means not known.
    """
    first, stride = said & _FIRST, said >> PROGRESSION_STRIDE_SHIFT & _STRIDE
    if not stride or first + (size - 1) * stride >= ranks:
        return range(0)
    return range(first, first + size * stride, stride)


class MemberTable:
    """Contents of the table `members` of a rank file, to which groups are appended."""

    def __init__(self) -> None:
        self._rows: list[int] = []

    def add(self, members: Sequence[int]) -> int:
        """Add a group, and return the number for its row of `communicators`. 0: the group has no members."""
        if not len(members):
            return 0
        if ranks := progression(members):
            return said_of(ranks)
        self._rows += members
        return len(self._rows) - len(members)

    @property
    def rows(self) -> np.ndarray:
        """All rows, a structured array of type MEMBER."""
        return np.array(self._rows, MEMBER)
