"""Targets of one-sided operations in RMA windows whose processes gave different displacement units.

MPI multiplies a displacement by the unit of the target. The origin does not know this unit: its rows use its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.recording.rank_file.file import RankFile
from tracelib.schema import ObjectKind

_DYNAMIC = 3
"""`flags` of an RMA window of MPI_Win_create_dynamic."""


@dataclass(frozen=True)
class Units:
    """Displacement units of an RMA window, as one of its processes needs them."""

    own: int
    of_target: np.ndarray  # by rank in the RMA window's communicator; 0: unknown


def uneven_windows(files: Sequence[RankFile]) -> dict[int, dict[int, Units]]:
    """Find the RMA windows whose processes gave different units, for each rank by row of its `objects`; usually none.

    RMA windows of unknown id are left out, and dynamic ones, where a displacement is an address.
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
    """Return raw `accesses` of a thread with `offset` in the target's unit instead of the origin's, where it is known.

    Args:
        accesses: Raw rows of `accesses`.
        calls: Raw rows of `calls` of the thread, with the calls of the accesses, in order of enter.
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
