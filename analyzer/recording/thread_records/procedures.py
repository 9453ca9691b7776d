"""MPI procedures that a rank file names, with the facts about each that the kernels need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from analyzer._kernels import lib
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.thread_records.burst_mode import SUMMED_PROCEDURE, kind_of
from analyzer.trace.paraver import event_table, state_table
from tracelib.schema.procedures import (
    CLOCKS,
    COLLECTIVES,
    ONE_SIDED_OPERATIONS,
    ROWS_THAT_RECEIVE,
    ROWS_THAT_SEND,
    base_name,
)

PROCEDURE = np.dtype([("value", "<i8"), ("type", "<u4"), ("state", "<i4"), ("index", "<i4"), ("role", "<i4")])
"""Facts about a procedure: `struct procedure` of the kernels."""

ProcedureTable = tuple[np.ndarray, np.ndarray]
"""Facts (PROCEDURE) and kind for burst mode of each row of a file's table `procedures`.

Two more rows follow: for summed calls, and for numbers without a name.
"""

UNKNOWN_PROCEDURE = "MPI_Unknown"
"""Name of the procedure of a call whose number is not in the file's table `procedures`."""


def role_of(name: str) -> int:
    """Return the role of a procedure for the kernels: ROLE_SEND, ROLE_RECEIVE, ROLE_ONE_SIDED, ..."""
    base = base_name(name)
    if base in ROWS_THAT_SEND:
        return lib.ROLE_SEND
    if base in ROWS_THAT_RECEIVE:
        return lib.ROLE_RECEIVE
    if base in ONE_SIDED_OPERATIONS:
        return lib.ROLE_ONE_SIDED
    if base in CLOCKS:
        return lib.ROLE_CLOCK
    return lib.ROLE_COLLECTIVE if base in COLLECTIVES else lib.ROLE_NONE


def merge_procedures(files: Sequence[RankFile]) -> tuple[str, ...]:
    """Return the names of the procedures in all files, each once, in order of appearance.

    The last name is UNKNOWN_PROCEDURE.
    """
    lists = {id(f.procedures): f.procedures for f in files}  # a few: files that say the same share one
    names = dict.fromkeys(name for own in lists.values() for name in own)
    summed = (SUMMED_PROCEDURE,) if any(f.lengths["summaries"] for f in files) else ()
    return (*names, *summed, UNKNOWN_PROCEDURE)


def procedure_tables(files: Sequence[RankFile], procedures: Sequence[str]) -> dict[int, ProcedureTable]:
    """Return the tables of procedures of all files, by `id` of the file's `procedures`, which many files share."""
    lists = {id(f.procedures): f.procedures for f in files}
    return {key: _procedure_table(own, tuple(procedures)) for key, own in lists.items()}


@lru_cache(maxsize=16)
def _procedure_table(own: tuple[str, ...], procedures: tuple[str, ...]) -> ProcedureTable:
    number = {name: k for k, name in enumerate(procedures)}
    summed = SUMMED_PROCEDURE if SUMMED_PROCEDURE in number else UNKNOWN_PROCEDURE
    names = (*own, summed, UNKNOWN_PROCEDURE)
    index = np.array([number[name] for name in names], np.int32)
    table = np.zeros(len(names), PROCEDURE)
    types, values = event_table(procedures)
    table["type"], table["value"] = types[index], values[index]
    table["state"] = state_table(procedures)[index]
    table["index"] = index
    table["role"] = [role_of(name) for name in names]
    return table, np.array([kind_of(name) for name in names])
