"""Converts rank files of earlier versions of the format to the present version.

Later versions added tables, columns and attributes, and changed none: what a file lacks is empty, or zero. Until
version 4 all groups were rows of `members`; today only groups that are no progressions are.
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
"""Attributes that each version of the format added."""

_NEW_TABLES = {
    2: {"accesses", "summaries", "counts", "objects", "labels", "counters", "skipped"},
    6: {"call_paths", "poll_paths", "paths", "modules", "functions"},
    7: {"samples"},
    8: {"tasks"},
}
"""Tables that each version of the format added."""


def has_table(version: int, table: str) -> bool:
    """Return True if files of this version of the format have the table."""
    return not any(version < since and table in tables for since, tables in _NEW_TABLES.items())


@cache
def lacks(version: int) -> set[str]:
    """Return the names of the attributes that files of this version do not have."""
    return set().union(*(names for since, names in _NEW_ATTRIBUTES.items() if version < since))


def dtype_of(version: int, table: str) -> np.dtype:
    """Return the dtype of a table's rows in files of this version of the format."""
    if version < 6 and table == "blocks":
        tables, columns = (4, ()) if version == 1 else (7, ("set",))
        named = [("first", "<u8", (tables,)), ("count", "<u4", (tables,))]
        return np.dtype(named + [(name, "<u4") for name in ("thread", "flags", *columns)])
    if version == 1 and table == "sync":
        return np.dtype([(name, "<i8") for name in ("local_ns", "reference_ns", "round_trip_ns")])
    return schema.TABLES[table]


def upgraded(table: str, rows: np.ndarray) -> np.ndarray:
    """Convert rows to the table's present dtype. New columns, and new elements of array columns, are zero."""
    return _as(schema.TABLES[table], rows)


def upgraded_inside(rows: np.ndarray | None) -> np.ndarray:
    """Convert the rows of the attribute `inside` to the present dtype. None: the file has no such attribute."""
    return np.zeros(0, schema.INSIDE) if rows is None else _as(schema.INSIDE, np.asarray(rows))


def _as(dtype: np.dtype, rows: np.ndarray) -> np.ndarray:
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
