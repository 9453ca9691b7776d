"""Rank files of earlier versions of the format, read as if the present one had written them.

Later versions added tables, columns and attributes, and changed none: what a file lacks is empty, or zero. Until
version 4 all groups were rows of `members`, as those that are no progressions are today.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tracelib import schema

_NEW_ATTRIBUTES = {
    2: {"overhead_ticks", "overhead_cpu_ns", "limit_bytes"},
    3: {"cpus"},
    4: {"abort_ticks", "abort_code", "abort_comm", "parent_size", "job"},
}
"""Attributes that earlier versions did not have."""

_TABLES_1 = frozenset({"calls", "requests", "polls", "events", "blocks", "clock", "sync", "communicators", "members"})


def has_table(version: int, table: str) -> bool:
    """Whether files of this version have the table."""
    return version >= 2 or table in _TABLES_1


@cache
def lacks(version: int) -> set[str]:
    """Attributes that files of this version do not have."""
    return set().union(*(names for since, names in _NEW_ATTRIBUTES.items() if version < since))


def dtype_of(version: int, table: str) -> np.dtype:
    """The rows of a table in files of this version."""
    if version == 1 and table == "blocks":
        return np.dtype([("first", "<u8", (4,)), ("count", "<u4", (4,)), ("thread", "<u4"), ("flags", "<u4")])
    if version == 1 and table == "sync":
        return np.dtype([(name, "<i8") for name in ("local_ns", "reference_ns", "round_trip_ns")])
    return schema.TABLES[table]


def upgraded(table: str, rows: np.ndarray) -> np.ndarray:
    """Rows in the table's present dtype. New columns, and columns' new elements, are zero."""
    dtype = schema.TABLES[table]
    if rows.dtype == dtype:
        return rows
    new = np.zeros(len(rows), dtype)
    for name in rows.dtype.names or ():
        old = rows[name]
        if old.ndim == 2:
            new[name][:, : old.shape[1]] = old
        else:
            new[name] = old
    return new
