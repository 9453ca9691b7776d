"""Parameters that a program gives to visits of its regions, and the names of their columns in tables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from analyzer.trace import Mark, Regions, Trace
from tracelib.schema.asking import asked_driver

PARAMETER_PREFIX = "parameter_"
"""Prefix for the column of a parameter whose name another column already has."""


def parameter_column(name: str, taken: Iterable[str]) -> str:
    """Return the column name of a parameter: its own name, or with PARAMETER_PREFIX if the name is in `taken`."""
    return PARAMETER_PREFIX + name if name in taken else name


def parents(visits: np.ndarray) -> np.ndarray:
    """Return for each visit the row of the visit immediately around it; -1: none.

    It is the last visit before whose depth is less by one.

    Args:
        visits: Visits of a rank (VISIT), by thread and begin, an outer visit before those inside.
    """
    found = np.full(len(visits), -1, np.int64)
    rows = np.arange(len(visits))
    for depth in range(1, int(visits["depth"].max(initial=0)) + 1):
        outer, inner = rows[visits["depth"] == depth - 1], rows[visits["depth"] == depth]
        found[inner] = outer[np.searchsorted(outer, inner) - 1]
    return found


def parameters(trace: Trace, rank: int, visits: np.ndarray) -> dict[str, np.ndarray]:
    """Return the parameters of each visit, by name: int64 if all visits have an integer, else float64 (NaN: no value).

    A visit without a value has the value of the visit around it. So the values that a driver gives to the region that
    it measures are known in the regions inside (Rodriguez 2011, section 5.3: the network's alpha and beta by NWS).

    Args:
        trace: The trace.
        rank: World rank.
        visits: Visits of the rank (VISIT), as from `region_visits`.
    """
    names = trace.extra(Regions).parameters
    marks = trace.extra(Regions).marks(rank)
    said, visit = _said(marks, visits)
    parent = parents(visits)
    found = {}
    for number in np.unique(said["number"]).tolist():
        of_name = said["number"] == number
        rows, at = said[of_name], visit[of_name]
        last = np.full(len(visits), -1, np.int64)
        last[at] = np.arange(len(rows))
        name = names[number - 1] if number <= len(names) else f"parameter {number}"
        if not asked_driver(name):  # the time of asking belongs only to the region that asked
            from_around(last, visits, parent)
        real = rows["what"] == Mark.REAL
        if not real.any() and (last >= 0).all():
            column = rows["value"][last].astype(np.int64)
        else:
            values = np.where(real, np.ascontiguousarray(rows["value"]).view(np.float64), rows["value"])
            column = np.where(last >= 0, values[last], np.nan)
        found[name] = column
    return found


def from_around(last: np.ndarray, visits: np.ndarray, parent: np.ndarray) -> None:
    """Set `last` of each visit without a value (-1) to the value of the nearest visit around it that has one."""
    rows = np.arange(len(visits))
    for depth in range(1, int(visits["depth"].max(initial=0)) + 1):
        inner = rows[(visits["depth"] == depth) & (last < 0)]
        last[inner] = last[parent[inner]]


def _said(marks: np.ndarray, visits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the marks of parameters, and for each the row of the innermost visit that its thread was in."""
    begin, end = marks["what"] == Mark.BEGIN, marks["what"] == Mark.END
    said = np.flatnonzero((marks["what"] == Mark.INTEGER) | (marks["what"] == Mark.REAL))
    around = (np.cumsum(begin.astype(np.int64)) - np.cumsum(end))[said] - 1
    said, around = said[around >= 0], around[around >= 0]
    begins = np.flatnonzero(begin)  # in the order of visits
    found = np.zeros(len(said), np.int64)
    for depth in np.unique(around).tolist():
        of_depth = np.flatnonzero(visits["depth"] == depth)
        chosen = around == depth
        found[chosen] = of_depth[np.searchsorted(begins[of_depth], said[chosen]) - 1]
    return marks[said], found
