"""The run's windows and files, pieced together from what each rank knows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.rank_file.tables import text_of
from analyzer.trace import SharedObject
from tracelib.schema import ObjectKind

_KINDS: dict[int, str] = {ObjectKind.WINDOW: "window", ObjectKind.FILE: "file"}

_NONE = np.full(1, -1, np.int32)


def merge_objects(
    files: Sequence[RankFile], communicators: Mapping[int, np.ndarray]
) -> tuple[tuple[SharedObject, ...], dict[int, np.ndarray]]:
    """All windows and files, and for each rank the index in them of each row of its `objects` (-1: none).

    They stand in the order of each rank's creation, lower ranks first. Rows with one id are one object; those of
    unknown id (0) are each its own. `communicators`: for each rank the index of each row of its `communicators`. A
    file's name is that which its lowest rank gave.
    """
    merged: list[SharedObject] = []
    known: dict[int, int] = {}
    index = {file.rank: _NONE for file in files}
    for file in (f for f in files if len(f.objects) > 1):  # row 0 is none
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
