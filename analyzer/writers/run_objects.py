"""Windows and files of a trace, and what its calls did to them, as the tables of rank files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from analyzer.trace import Objects, Trace
from tracelib import schema
from tracelib.schema import ObjectKind

_KINDS = {"window": ObjectKind.WINDOW, "file": ObjectKind.FILE}


class ObjectRows:
    """The windows and files of all ranks; what is written of them has the numbers of Objects.known as `id`, from 1."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._written: set[int] = set()
        self._of_rank: dict[int, list[int]] = {}
        for number, one in enumerate(trace.extra(Objects).known):
            members = trace.communicators[one.comm].members if one.comm >= 0 else ()
            for rank in members:
                self._of_rank.setdefault(rank, []).append(number)

    def of(
        self, rank: int, accesses: np.ndarray, comm_row: Callable[[int], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """`objects` of one rank, and the row in it of each of its `accesses` (ACCESS).

        comm_row: of `communicators` of this rank, of an index in Trace.communicators. A rank has what its communicators
        share and what it used. Of a window's bytes only the sum over the ranks is known: the first written has it.
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
    """ACCESS as the rows of a file whose windows all have the displacement unit 1.

    group_rows: rows of `communicators` of the groups that `accesses` name.
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
