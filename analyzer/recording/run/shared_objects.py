"""Merges communicators, RMA windows, files and labels of a run from the tables of each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.tables import text_of
from analyzer.trace import Communicator, SharedObject
from tracelib.schema import MEMBER, LabelKind, ObjectKind

WORLD_ROW, SELF_ROW = 1, 2

Group = range | bytes
"""World ranks of a group: a range, if they are a progression, otherwise the bytes of its rows in `members`."""


def merge_communicators(files: Sequence[RankFile], size: int) -> tuple[tuple[Communicator, ...], dict[int, np.ndarray]]:
    """Merge the communicators of all ranks.

    The order is: MPI_COMM_WORLD, the MPI_COMM_SELF of each rank, then the others by the id that their members agreed
    on. If ranks gave several names, the last name of the last rank counts. Rows of unknown id (0) have no index.
    Processes outside the run (of MPI_Comm_spawn) are counted, but are no members, because no table has a row for them.

    Args:
        files: The rank files.
        size: Number of ranks of the run.

    Returns:
        The communicators. For each rank, the index of each row of its table `communicators` (-1: none).
    """
    met = _Met()
    more = {file.rank: met.numbers(file) for file in files if len(file.communicators) > SELF_ROW + 1}
    names = _names(files, more)
    selves = {file.rank: 1 + k for k, file in enumerate(f for f in files if len(f.communicators) > SELF_ROW)}
    members = _Members(size)
    merged = [Communicator(1, members.of(range(size)), name="MPI_COMM_WORLD")]
    merged += [Communicator(1 + at, (rank,), name="MPI_COMM_SELF") for rank, at in selves.items()]
    place = np.full(len(met.communicators) + 1, -1, np.int32)  # the last entry stands for unknown ids
    for number in sorted(range(len(met.communicators)), key=lambda number: met.communicators[number][0]):
        groups = met.communicators[number][1:]
        first, second = sorted(map(members.of, groups), key=lambda group: (not group, min(group, default=0)))
        place[number] = len(merged)
        outside = sum(map(members.outside, groups))
        merged.append(Communicator(len(merged) + 1, first, second, names.get(number, ""), outside))
    index = _first_rows(files, selves)
    for rank, numbers in more.items():
        index[rank] = np.concatenate([index[rank], place[numbers]])
    return tuple(merged), index


class _Met:
    """Communicators of all ranks, each stored once. So a large communicator costs a rank no more than a small one."""

    def __init__(self) -> None:
        self.communicators: list[tuple[int, Group, Group]] = []
        self._known: dict[tuple[int, Group, Group], int] = {}

    def numbers(self, file: RankFile) -> list[int]:
        """Return for each of a rank's rows after MPI_COMM_SELF the index in `communicators`; -1: unknown id."""
        rows = file.communicators[SELF_ROW + 1 :]
        columns = (rows[name].tolist() for name in ("id", "members", "size", "remote", "remote_size"))
        return [
            self._number(id_, _group(file, members, size), _group(file, remote, remote_size)) if id_ else -1
            for id_, members, size, remote, remote_size in zip(*columns, strict=True)
        ]

    def _number(self, id_: int, local: Group, remote: Group) -> int:
        """Return the index of a communicator, which is added if it is new.

        On the other side of an intercommunicator the two groups are exchanged.
        """
        if (number := self._known.get((id_, local, remote))) is None:
            number = len(self.communicators)
            self.communicators.append((id_, local, remote))
            self._known[id_, local, remote] = self._known[id_, remote, local] = number
        return number


def _group(file: RankFile, said: int, size: int) -> Group:
    members = file.ranks_of(said, size)
    return members if isinstance(members, range) else members.tobytes()


class _Members:
    """Members of groups that are ranks of the run. Equal groups share one tuple."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._made: dict[Group, tuple[int, ...]] = {}

    def of(self, group: Group) -> tuple[int, ...]:
        if group not in self._made:
            ranks = group if isinstance(group, range) else np.frombuffer(group, np.uint32).tolist()
            self._made[group] = tuple(rank for rank in ranks if rank < self._size)
        return self._made[group]

    def outside(self, group: Group) -> int:
        """Return the number of processes of a group that are not in the run."""
        whole = len(group) if isinstance(group, range) else len(group) // MEMBER.itemsize
        return whole - len(self.of(group))


def _names(files: Sequence[RankFile], numbers: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """Return the names that MPI_Comm_set_name gave, by index in `_Met.communicators`.

    Args:
        files: The rank files.
        numbers: For each rank, the index of each row after MPI_COMM_SELF.
    """
    names = {}
    for file in (f for f in files if len(f.labels)):
        of_rank = numbers.get(file.rank, ())
        for label in file.labels[file.labels["kind"] == LabelKind.COMMUNICATOR]:
            row = int(label["value"]) - SELF_ROW - 1
            if 0 <= row < len(of_rank):
                names[of_rank[row]] = text_of(label["name"])
    return names


def _first_rows(files: Sequence[RankFile], selves: Mapping[int, int]) -> dict[int, np.ndarray]:
    """Return for each rank the index of its first rows, up to MPI_COMM_SELF."""
    table = np.full((len(files), SELF_ROW + 1), -1, np.int32)
    table[:, WORLD_ROW] = 0
    table[:, SELF_ROW] = [selves.get(file.rank, -1) for file in files]
    return {file.rank: row[: max(len(file.communicators), 1)] for file, row in zip(files, table, strict=True)}


_NO_NUMBERS = np.zeros(1, np.int32)


@dataclass(frozen=True)
class Labels:
    """Names of a run's regions, parameters and events. Regions and parameters are numbered from 1."""

    regions: tuple[str, ...]
    parameters: tuple[str, ...]
    events: dict[int, tuple[str, dict[int, str]]]  # by type: (label, labels by value)
    numbers: dict[
        int, tuple[np.ndarray, np.ndarray]
    ]  # by rank: number in the run of each region, parameter of the file


def merge_labels(files: Sequence[RankFile]) -> Labels:
    """Merge the names in all rank files.

    Each rank numbers its regions in the order in which it meets them. Equal names are one region. If an event has
    several names, the last name of the last rank counts.
    """
    regions: dict[str, int] = {}
    parameters: dict[str, int] = {}
    events: dict[int, tuple[str, dict[int, str]]] = {}
    numbers = {}
    for file in files:
        numbers[file.rank] = _number(file, LabelKind.REGION, regions), _number(file, LabelKind.PARAMETER, parameters)
        for row in file.labels:
            label, values = events.get(int(row["type"]), ("", {}))
            if row["kind"] == LabelKind.EVENT_TYPE:
                events[int(row["type"])] = text_of(row["name"]), values
            elif row["kind"] == LabelKind.EVENT_VALUE:
                values[int(row["value"])] = text_of(row["name"])
                events[int(row["type"])] = label, values
    named = {kind: (label or f"Event {kind}", values) for kind, (label, values) in events.items()}
    return Labels(tuple(regions), tuple(parameters), named, numbers)


def _number(file: RankFile, kind: LabelKind, known: dict[str, int]) -> np.ndarray:
    """Return the number in the run for each number in the file, int32; 0: there is no such number.

    New names are added to `known`.
    """
    if not len(file.labels):
        return _NO_NUMBERS
    rows = file.labels[(file.labels["kind"] == kind) & (file.labels["value"] > 0) & (file.labels["value"] <= 1 << 16)]
    numbers = np.zeros(int(rows["value"].max(initial=0)) + 1, np.int32)
    for row in rows:
        numbers[row["value"]] = known.setdefault(text_of(row["name"]), len(known) + 1)
    return numbers


_KINDS: dict[int, str] = {ObjectKind.WINDOW: "window", ObjectKind.FILE: "file"}

_NONE = np.full(1, -1, np.int32)


def merge_objects(
    files: Sequence[RankFile], communicators: Mapping[int, np.ndarray]
) -> tuple[tuple[SharedObject, ...], dict[int, np.ndarray]]:
    """Merge the RMA windows and files of all ranks.

    They are in the order in which ranks created them, lower ranks first. Rows with the same id are one object. Each row
    of unknown id (0) is an object of its own. A file has the name that its lowest rank gave.

    Args:
        files: The rank files.
        communicators: For each rank, the index of each row of its table `communicators`.

    Returns:
        The objects. For each rank, the index of each row of its table `objects` (-1: none).
    """
    merged: list[SharedObject] = []
    known: dict[int, int] = {}
    index = {file.rank: _NONE for file in files}
    for file in (f for f in files if len(f.objects) > 1):  # row 0 stands for no object
        index[file.rank] = np.full(len(file.objects), -1, np.int32)
        for number, row in enumerate(file.objects[1:], start=1):
            at = known.setdefault(int(row["id"]), len(merged)) if row["id"] else len(merged)
            if at == len(merged):
                merged.append(_object(row, communicators[file.rank]))
            else:
                merged[at] = replace(merged[at], bytes=merged[at].bytes + int(row["size"]))
            index[file.rank][number] = at
    return tuple(merged), index


def _object(row: np.void, communicators: np.ndarray) -> SharedObject:
    comm = int(communicators[row["comm"]]) if row["comm"] < len(communicators) else -1
    kind = _KINDS.get(int(row["kind"]), "")
    return SharedObject(kind, comm, int(row["size"]), int(row["flags"]), text_of(row["name"]))
