"""Communicators and their members, as a rank file has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracelib import schema
from tracelib.schema.groups import said_of

SELF_ID = 3


@dataclass(frozen=True)
class Split:
    """Communicators that MPI_Comm_split made of MPI_COMM_WORLD, one for each row of `groups` (groups, members)."""

    groups: np.ndarray  # world ranks
    first_id: int
    created: np.ndarray  # ns, of each rank


class Communicators:
    """Communicators of all ranks: MPI_COMM_WORLD, MPI_COMM_SELF, then the communicators of `splits`."""

    def __init__(self, ranks: int, splits: list[Split]) -> None:
        self._ranks = ranks
        self._splits = splits
        self._places = [_places(split.groups) for split in splits]

    def tables(self, rank: int, ticks_a_ns: int) -> dict[str, np.ndarray]:
        """Return tables `communicators` and `members` of a rank."""
        rows = [
            (0, 0, 0, 0, 0, 0, -1, 0),
            (1, 0, said_of(range(self._ranks)), 0, self._ranks, 0, rank, 0),
            (SELF_ID, 0, said_of(range(rank, rank + 1)), 0, 1, 0, 0, 0),
        ]
        for split, (group_of, place_in) in zip(self._splits, self._places, strict=True):
            group = split.groups[group_of[rank]]
            first, step = int(group[0]), int(group[1] - group[0])
            at = said_of(range(first, first + step * len(group), step))
            created = int(split.created[rank]) * ticks_a_ns
            rows.append((split.first_id + int(group_of[rank]), created, at, 0, len(group), 0, int(place_in[rank]), 0))
        return {
            "communicators": np.array(rows, schema.COMMUNICATOR),
            "members": np.zeros(0, schema.MEMBER),  # groups are progressions
        }


def _places(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each rank, and its rank in the group."""
    group_of, place_in = np.empty(groups.size, np.int64), np.empty(groups.size, np.int64)
    group_of[groups] = np.arange(groups.shape[0])[:, None]
    place_in[groups] = np.arange(groups.shape[1])
    return group_of, place_in
