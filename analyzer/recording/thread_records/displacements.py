"""Offsets of one-sided operations in RMA windows whose processes use different displacement units.

MPI multiplies a displacement by the unit of the target. The origin does not know this unit, so its rows use its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.recording.rank_file.file import RankFile
from tracelib.schema import ObjectKind

_DYNAMIC = 3
"""Value of `flags` for an RMA window of MPI_Win_create_dynamic."""


@dataclass(frozen=True)
class Units:
    """Displacement units of an RMA window in bytes: of one process, and of all possible targets."""

    own: int
    of_target: np.ndarray  # by rank in the RMA window's communicator; 0: unknown


def uneven_windows(files: Sequence[RankFile]) -> dict[int, dict[int, Units]]:
    """Find the RMA windows whose processes use different displacement units; usually there are none.

    RMA windows of unknown id are left out, and dynamic ones, in which a displacement is an address.

    Returns:
        For each rank the units by row of the file's table `objects`.
    """
    units: dict[int, dict[int, int]] = {}
    for file in (f for f in files if len(f.objects) > 1):  # row 0 stands for no object
        rows = file.objects[_has_unit(file.objects)]
        for id_, unit in zip(rows["id"].tolist(), rows["unit"].tolist(), strict=True):
            units.setdefault(id_, {})[file.rank] = unit
    uneven = {id_: of_rank for id_, of_rank in units.items() if len(set(of_rank.values())) > 1}
    tables: dict[int, np.ndarray] = {}
    found: dict[int, dict[int, Units]] = {file.rank: {} for file in files}
    for file in files if uneven else ():
        for number in np.flatnonzero(_has_unit(file.objects)).tolist():
            row = file.objects[number]
            id_ = int(row["id"])
            if id_ in uneven:
                if id_ not in tables:
                    tables[id_] = np.array([uneven[id_].get(rank, 0) for rank in _members(file, row)], np.int64)
                found[file.rank][number] = Units(int(row["unit"]), tables[id_])
    return found


def _has_unit(objects: np.ndarray) -> np.ndarray:
    window = (objects["kind"] == ObjectKind.WINDOW) & (objects["flags"] != _DYNAMIC)
    return window & (objects["id"] != 0) & (objects["unit"] != 0)


def _members(file: RankFile, row: np.void) -> Sequence[int]:
    """Return the world ranks of an RMA window's processes."""
    if row["comm"] >= len(file.communicators):
        return ()
    comm = file.communicators[row["comm"]]
    members = file.ranks_of(int(comm["members"]), int(comm["size"]))
    return members if isinstance(members, range) else members.tolist()


def in_target_units(accesses: np.ndarray, calls: np.ndarray, windows: Mapping[int, Units]) -> np.ndarray:
    """Return raw `accesses` with offsets in the target's displacement unit. An offset stays if the unit is not known.

    Args:
        accesses: Raw rows of `accesses` of a thread.
        calls: Raw rows of `calls` of the thread, which contain the calls of the accesses, in order of enter.
        windows: Displacement units by row of `objects`.
    """
    rows = accesses.copy()
    for number in distinct(rows["object"]).tolist():
        if number not in windows or not len(calls):
            continue
        units = windows[number]
        at = np.flatnonzero((rows["object"] == number) & (rows["offset"] > 0))
        call = calls[np.searchsorted(calls["enter"], rows["enter"][at]).clip(max=len(calls) - 1)]
        known = (call["enter"] == rows["enter"][at]) & (call["peer"] >= 0) & (call["peer"] < len(units.of_target))
        at, unit = at[known], units.of_target[call["peer"][known]]
        rows["offset"][at] = np.where(unit > 0, rows["offset"][at] // units.own * unit, rows["offset"][at])
    return rows
