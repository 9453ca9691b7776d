"""Level functions, which combine the values of several rows: threads to ranks, nodes or the application.

Source: "Dimemas specification", section 1.16.2, "CPU functions", "TASK functions", "PTASK functions".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.views.function import Function
from analyzer.views.steps import RowSteps

_OPERATIONS = {
    "adding": lib.LEVEL_SUM,
    "adding sign": lib.LEVEL_SUM,
    "average": lib.LEVEL_SUM,
    "maximum": lib.LEVEL_MAXIMUM,
    "minimum": lib.LEVEL_MINIMUM,
}
_CHANGED = "changed value"
LEVEL_FUNCTIONS = (*_OPERATIONS, _CHANGED, "thread N")
_THREAD = re.compile(r"thread (\d{1,9})")
_MOST_CELLS = 1 << 20
"""Largest number of values of child rows that a user's function gets in one call."""


def combined(every: Iterator[RowSteps], function: Function, parents: np.ndarray, rows: int) -> Iterator[RowSteps]:
    """Combine the rows of a finer level to rows of a coarser level.

    Args:
        every: Steps of the finer rows (children), window by window.
        function: The level function.
        parents: The coarser row that contains each finer row, of shape (finer rows,).
        rows: Number of coarser rows.

    Raises:
        TracelibError: There is no such function, or its parameter is wrong.
    """
    if function.user:
        return _user(every, function.user, parents, rows)
    name = "thread N" if _THREAD.fullmatch(function.name) else function.name
    Function(name).found({name: name for name in LEVEL_FUNCTIONS}, "function of a level")
    if name == _CHANGED:
        return _last_changed(every, parents)
    if name == "thread N":
        return _one_child(every, function, parents, rows)
    return _tree(every, name, parents, rows)


def _tree(every: Iterator[RowSteps], name: str, parents: np.ndarray, rows: int) -> Iterator[RowSteps]:
    parents = np.ascontiguousarray(parents, np.int64)
    tree = ffi.gc(lib.level_new(len(parents), pointer(parents, "int64_t *"), rows, _OPERATIONS[name]), lib.level_free)
    if tree == ffi.NULL:
        raise MemoryError
    children = np.maximum(np.bincount(parents, minlength=rows), 1)
    for steps in every:
        first, count = steps.first(len(parents)), len(steps.row)
        times, values = np.ascontiguousarray(steps.time), np.ascontiguousarray(steps.value)
        row, time, value = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
        written = lib.level_feed(
            tree, pointer(first, "int64_t *"), pointer(times, "int64_t *"),
            pointer(values, "double *"), pointer(row, "int64_t *"),
            pointer(time, "int64_t *"), pointer(value, "double *"),
        )  # fmt: skip
        row, time, value = row[:written], time[:written], value[:written]
        if name == "average":
            value = value / children[row]
        elif name == "adding sign":
            value = (value > 0).astype(np.float64)
        yield RowSteps(row, time, value)


def _one_child(every: Iterator[RowSteps], function: Function, parents: np.ndarray, rows: int) -> Iterator[RowSteps]:
    """Yield the value of one child of each row, by the child's number from 1; 0 if the row has no such child."""
    found = _THREAD.fullmatch(function.name)
    number = int(found[1]) if found else int(function.number(0, 1))
    if number < 1:
        raise TracelibError(f"{function.name!r}: threads count from 1", "", 2)
    order = np.argsort(parents, kind="stable")
    place = np.empty(len(parents), np.int64)
    place[order] = np.arange(len(parents)) - np.searchsorted(parents[order], parents[order])
    chosen = place == number - 1
    without = np.setdiff1d(np.arange(rows), parents[chosen])
    for steps in every:
        mine = steps.select(chosen[steps.row])
        zeros = RowSteps.from_columns(without, np.zeros(len(without)), np.zeros(len(without)))
        without = without[:0]
        both = (np.concatenate(pair) for pair in zip(mine._replace(row=parents[mine.row]), zeros, strict=True))
        yield RowSteps(*both).by_row()


def _last_changed(every: Iterator[RowSteps], parents: np.ndarray) -> Iterator[RowSteps]:
    """Yield the value of the child that changed last. At the begin it is the first child.

    If several children change at the same time, the child whose previous value began last wins, as in Paraver's kernel;
    if these began at the same time too, the child with the highest number wins.
    """
    children = len(parents)
    since = np.full(children, -1)
    for steps in every:
        first = np.append(True, steps.row[1:] != steps.row[:-1])[: len(steps.row)]
        before = np.append(-1, steps.time[:-1])[: len(steps.row)]
        before[first] = since[steps.row[first]]
        last = np.append(first[1:], True)[: len(steps.row)]
        since[steps.row[last]] = steps.time[last]
        number = np.where(before < 0, children - steps.row, steps.row)
        order = np.lexsort((number, before, steps.time, parents[steps.row]))
        yield RowSteps(parents[steps.row[order]], steps.time[order], steps.value[order])


def _user(
    every: Iterator[RowSteps], function: Callable[[np.ndarray], Any], parents: np.ndarray, rows: int
) -> Iterator[RowSteps]:
    """Apply a user's function to the values of the children at each step, float64 of shape (steps, children)."""
    children = [np.flatnonzero(parents == row) for row in range(rows)]
    now = np.zeros(len(parents))
    for steps in every:
        found = [RowSteps.from_columns(*np.zeros((3, 0)))]
        first = steps.first(len(parents))
        for row, mine in enumerate(children):
            times = np.unique(np.concatenate([steps.time[first[c] : first[c + 1]] for c in mine]))
            for some in np.array_split(times, 1 + len(times) * len(mine) // _MOST_CELLS):
                values = np.empty((len(some), len(mine)))
                for column, c in enumerate(mine.tolist()):
                    own = slice(first[c], first[c + 1])
                    at = np.searchsorted(steps.time[own], some, side="right")
                    values[:, column] = np.append(now[c], steps.value[own])[at]
                value = np.asarray(function(values), np.float64)
                if value.shape != (len(some),):
                    raise TracelibError(f"a function of a level gave {value.shape} values for {len(some)} steps", "", 2)
                found.append(RowSteps.from_columns(np.full(len(some), row), some, value))
        last = np.flatnonzero(np.diff(first))
        now[last] = steps.value[first[last + 1] - 1]
        yield RowSteps(*(np.concatenate(column) for column in zip(*found, strict=True)))
