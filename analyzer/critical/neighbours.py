"""Neighbourhood collectives: who exchanges data with whom is not recorded, but who does not shows."""

from __future__ import annotations

import numpy as np

MOST_PAIRS = 32
"""Possible neighbours of a member, on average, up to which each is told from the others."""

_COMPARED = 1 << 24


def possible_pairs(enter: np.ndarray, exit_: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Members, and members that they may take data from: a member that ever left before another had entered is no
    neighbour of it. None: too many are possible.

    enter, exit_: (collectives, members) of one communicator; exit 0: not known.
    """
    members = enter.shape[1]
    possible = ~np.eye(members, dtype=bool)
    step = max(_COMPARED // members**2, 1)
    for first in range(0, len(enter), step):
        chosen = slice(first, first + step)
        left = np.where(exit_[chosen] > 0, exit_[chosen], np.iinfo(np.int64).max)
        possible &= ~(left[:, :, None] < enter[chosen][:, None, :]).any(axis=0)
    if possible.sum() > MOST_PAIRS * members:
        return None
    taking, giving = np.nonzero(possible)
    return taking, giving
