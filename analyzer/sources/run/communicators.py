"""The run's communicators, pieced together from what each rank knows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.rank_file.tables import text_of
from analyzer.trace import Communicator
from tracelib.schema import LabelKind

WORLD_ROW, SELF_ROW = 1, 2

Groups = tuple[bytes, bytes]
"""Members and remote members as raw uint32, the group with the smallest world rank first."""


def merge_communicators(files: Sequence[RankFile], size: int) -> tuple[tuple[Communicator, ...], dict[int, np.ndarray]]:
    """All communicators of a run, and for each rank the index in them of each row of its `communicators` (-1: none).

    MPI_COMM_WORLD is the first, then the ranks' MPI_COMM_SELF in their order, then the others in order of the
    id that their members agreed on. Names are those that the program gave; of several that of the last rank that gave
    one, and of those the last. Rows of unknown id (0) have no index. Processes outside the run (of
    MPI_Comm_spawn) are no members: no table has a row for them. They are counted.
    """
    found: dict[tuple[int, Groups], int] = {}
    more = [file for file in files if len(file.communicators) > SELF_ROW + 1]
    for file in more:
        for row in file.communicators[SELF_ROW + 1 :]:
            if row["id"]:
                found[int(row["id"]), _groups(file, row)] = -1
    selves = {file.rank: 1 + k for k, file in enumerate(f for f in files if len(f.communicators) > SELF_ROW)}
    merged = [Communicator(1, tuple(range(size)), name="MPI_COMM_WORLD")]
    merged += [Communicator(1 + at, (rank,), name="MPI_COMM_SELF") for rank, at in selves.items()]
    names = _names(files)
    for key in sorted(found):
        found[key] = len(merged)
        groups = [np.frombuffer(group, np.uint32) for group in key[1]]
        members, remote = (_of_run(group, size) for group in groups)
        outside = sum(map(len, groups)) - len(members) - len(remote)
        merged.append(Communicator(len(merged) + 1, members, remote, names.get(key, ""), outside))
    index = _first_rows(files, selves) | {file.rank: _rows(file, selves, found) for file in more}
    return tuple(merged), index


def _names(files: Sequence[RankFile]) -> dict[tuple[int, Groups], str]:
    """By id and members of communicators the names of MPI_Comm_set_name."""
    names = {}
    for file in (f for f in files if len(f.labels)):
        for label in file.labels[file.labels["kind"] == LabelKind.COMMUNICATOR]:
            if SELF_ROW < label["value"] < len(file.communicators):
                row = file.communicators[int(label["value"])]
                names[int(row["id"]), _groups(file, row)] = text_of(label["name"])
    return names


def _of_run(group: np.ndarray, size: int) -> tuple[int, ...]:
    return tuple(group[group < size].tolist())


def _first_rows(files: Sequence[RankFile], selves: Mapping[int, int]) -> dict[int, np.ndarray]:
    """The index of each rank's rows up to that of its MPI_COMM_SELF."""
    table = np.full((len(files), SELF_ROW + 1), -1, np.int32)
    table[:, WORLD_ROW] = 0
    table[:, SELF_ROW] = [selves.get(file.rank, -1) for file in files]
    return {file.rank: row[: max(len(file.communicators), 1)] for file, row in zip(files, table, strict=True)}


def _rows(file: RankFile, selves: Mapping[int, int], found: Mapping[tuple[int, Groups], int]) -> np.ndarray:
    """That of all rows of a rank that has more."""
    index = np.full(len(file.communicators), -1, np.int32)
    index[WORLD_ROW], index[SELF_ROW] = 0, selves[file.rank]
    for number, row in enumerate(file.communicators[SELF_ROW + 1 :], start=SELF_ROW + 1):
        if row["id"]:
            index[number] = found[int(row["id"]), _groups(file, row)]
    return index


def _groups(file: RankFile, row: np.void) -> Groups:
    members = file.members[int(row["members"]) : int(row["members"]) + int(row["size"])]
    remote = file.members[int(row["remote"]) : int(row["remote"]) + int(row["remote_size"])]
    if len(remote) and remote.min() < members.min(initial=np.iinfo(np.uint32).max):
        members, remote = remote, members
    return members.tobytes(), remote.tobytes()
