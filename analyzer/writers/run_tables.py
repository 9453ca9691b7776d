"""Communicators, RMA windows and files of a trace, and the accesses of its calls, as tables of rank files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.trace import Communicator, Objects, Trace
from tracelib import schema
from tracelib.schema import ObjectKind
from tracelib.schema.groups import MemberTable, progression

_NONE, _WORLD, _SELF, _FIRST = 0, 1, 2, 3
"""First rows of the table `communicators`: none, MPI_COMM_WORLD, MPI_COMM_SELF, and the first other one."""


class _Group:
    """Group of ranks for many lookups of the place of a world rank."""

    def __init__(self, members: Sequence[int]) -> None:
        self.members = progression(members) or tuple(members)

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """World ranks in increasing order, and the place of each in the group."""
        order = np.argsort(self.members, kind="stable")
        return np.array(self.members, np.int64)[order], order

    def places(self, ranks: np.ndarray) -> np.ndarray:
        """Return the place of each world rank in the group; Peer.NONE: it is not a member."""
        if isinstance(self.members, range):
            place, rest = np.divmod(ranks.astype(np.int64) - self.members.start, self.members.step)
            inside = (rest == 0) & (place >= 0) & (place < len(self.members))
        else:
            known, order = self._sorted
            at = np.searchsorted(known, ranks, "right") - 1
            inside = (at >= 0) & (known[at] == ranks) if len(known) else np.zeros(len(ranks), bool)
            place = order[at] if len(known) else at
        return np.where(inside, place, schema.Peer.NONE).astype(np.int32)

    def place(self, rank: int) -> int:
        return int(self.places(np.array([rank]))[0])


_NOBODY = _Group(())


@dataclass(frozen=True)
class RankCommunicators:
    """Communicators of one rank as tables of its rank file."""

    table: np.ndarray
    members: np.ndarray
    _peers: tuple[_Group, ...]  # group in which `peer` is a rank, by row
    _indices: np.ndarray  # ascending indices in Trace.communicators that have a row, after a first -1
    _rows: np.ndarray  # row of each index

    def row_of(self, indices: np.ndarray | int) -> np.ndarray:
        """Return the row of each index in Trace.communicators.

        If the rank is not a member, it is 1 (MPI_COMM_WORLD).
        """
        at = np.searchsorted(self._indices, indices, "right") - 1
        return np.where(self._indices[at] == indices, self._rows[at], _WORLD)

    def rows_and_peers(self, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns `comm` and `peer` of a rank file for records with communicator indices and world ranks."""
        named = (records["comm"] >= 0) | (records["peer"] >= 0)
        rows = np.where(named, self.row_of(records["comm"]), _NONE)
        peers = records["peer"].copy()
        for row in np.unique(rows[peers >= 0]).tolist():
            mine = (rows == row) & (peers >= 0)
            peers[mine] = self._peers[row].places(peers[mine])
        return rows, peers


class CommunicatorRows:
    """Communicators of all ranks as tables. The memberships of each rank are found once, for fast lookups."""

    def __init__(self, trace: Trace) -> None:
        self._world = _Group(range(trace.size))
        self._groups: dict[int, tuple[_Group, _Group]] = {}  # by index in Trace.communicators
        self._of_rank: dict[int, list[int]] = {}
        self._selves: dict[int, list[int]] = {}
        for index, communicator in enumerate(trace.communicators):
            if index == 0 and _is_whole(communicator, trace.size):
                continue
            if len(communicator.members) == 1 and communicator.name == "MPI_COMM_SELF":
                self._selves.setdefault(communicator.members[0], []).append(index)
                continue
            self._groups[index] = _Group(communicator.members), _Group(communicator.remote)
            for rank in {*communicator.members, *communicator.remote}:
                self._of_rank.setdefault(rank, []).append(index)

    def rank_communicators(self, rank: int, named: Sequence[np.ndarray] = ()) -> RankCommunicators:
        """Return the communicators of a rank as tables.

        Args:
            rank: The rank.
            named: World ranks of each group that calls on RMA windows have named. These groups get the last rows.
        """
        mine, selves = self._of_rank.get(rank, []), self._selves.get(rank, [])
        pairs = [(_NOBODY, _NOBODY), (self._world, _NOBODY), (_Group((rank,)), _NOBODY)]
        for local, remote in (self._groups[index] for index in mine):
            pairs.append((local, remote) if local.place(rank) >= 0 else (remote, local))
        pairs += [(_Group(group.tolist()), _NOBODY) for group in named]
        table, members = np.zeros(len(pairs), schema.COMMUNICATOR), MemberTable()
        for row, (local, remote) in zip(table, pairs, strict=True):
            row["members"], row["size"] = members.add(local.members), len(local.members)
            row["remote"], row["remote_size"] = members.add(remote.members), len(remote.members)
            row["rank"] = local.place(rank)
        table["id"][: _FIRST + len(mine)] = _NONE, _WORLD, _SELF, *(_FIRST + index for index in mine)
        table["rank"][_FIRST + len(mine) :] = -1
        table["flags"][_FIRST + len(mine) :] = schema.COMMUNICATOR_IS_GROUP
        row_of = {-1: _WORLD} | dict.fromkeys(selves, _SELF) | {index: _FIRST + k for k, index in enumerate(mine)}
        indices = np.array(sorted(row_of), np.int64)
        rows = np.array([row_of[index] for index in indices.tolist()], np.int64)
        peers = tuple(remote if len(remote.members) else local for local, remote in pairs)
        return RankCommunicators(table, members.rows, peers, indices, rows)


def _is_whole(communicator: Communicator, size: int) -> bool:
    return progression(communicator.members) == range(size) and not communicator.remote


_KINDS = {"window": ObjectKind.WINDOW, "file": ObjectKind.FILE}


class ObjectRows:
    """RMA windows and files of all ranks as tables. Their `id` is their index in Objects.known plus 1."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._written: set[int] = set()
        self._of_rank: dict[int, list[int]] = {}
        for number, one in enumerate(trace.extra(Objects).known):
            members = trace.communicators[one.comm].members if one.comm >= 0 else ()
            for rank in members:
                self._of_rank.setdefault(rank, []).append(number)

    def rank_objects(
        self, rank: int, accesses: np.ndarray, comm_row: Callable[[int], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the table `objects` of one rank, and the row in it of each access.

        A rank has the objects of its communicators and the objects that it used. Only the sum of a window's bytes over
        all ranks is known, so the first rank that is written gets the whole sum.

        Args:
            rank: The rank.
            accesses: Accesses of the rank (ACCESS).
            comm_row: Function that returns this rank's row in `communicators` for an index in Trace.communicators.
        """
        used = np.unique(accesses["object"][accesses["object"] >= 0]).tolist()
        mine = sorted({*self._of_rank.get(rank, ()), *used})
        table = np.zeros(1 + len(mine), schema.OBJECT)
        row_of = np.zeros(len(self._trace.extra(Objects).known) + 1, np.uint32)  # one more: unknown
        for row, number in enumerate(mine, start=1):
            one = self._trace.extra(Objects).known[number]
            row_of[number] = row
            into = table[row]
            into["id"], into["kind"], into["flags"] = number + 1, _KINDS.get(one.kind, 0), one.flags
            into["comm"] = comm_row(one.comm) if one.comm >= 0 else 0
            into["size"] = 0 if number in self._written else one.bytes
            into["unit"], into["name"] = one.kind == "window", one.name.encode()[-schema.OBJECT["name"].itemsize :]
        self._written.update(mine)
        return table, row_of[accesses["object"]]


def access_rows(accesses: np.ndarray, object_rows: np.ndarray, group_rows: Mapping[int, int]) -> np.ndarray:
    """Return accesses as rows of a rank file whose RMA windows all have the displacement unit 1.

    Args:
        accesses: Accesses of the rank (ACCESS).
        object_rows: Row in `objects` of each access.
        group_rows: Row in `communicators` of each group that the accesses name.
    """
    found = np.zeros(len(accesses), schema.ACCESS)
    for column in ("enter", "offset", "detail", "thread"):
        found[column] = accesses[column]
    found["object"] = object_rows
    for group, row in group_rows.items():
        mine = accesses["group"] == group
        found["offset"][mine] = row
        found["detail"][mine] |= schema.ACCESS_HAS_GROUP
    return found
