"""Compose functions, which are applied one after the other to the value of a row.

Source: "Dimemas specification", section 1.16.2, "Compose functions"; and those that Paraver has in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.views.function import Function
from analyzer.views.steps import RowSteps, StepSorter

_LARGEST = 2**31 - 1
_US = 1000.0
Map = Callable[[np.ndarray], np.ndarray]


def _divisor(function: Function, default: float) -> float:
    value = function.number(0, default)
    if not value:
        raise TracelibError(f"{function.name!r}: nothing is divided by 0", "", 2)
    return value


def _mod(function: Function, more: float = 0.0) -> Map:
    divisor = _divisor(function, _LARGEST)
    return lambda values: np.mod(values, divisor) + more


def _divide(function: Function) -> Map:
    divisor = _divisor(function, 1)
    return lambda values: values / divisor


def _in_range(function: Function, *, ends: bool = True) -> Map:
    low, high = function.number(0, 0), function.number(1, _LARGEST if len(function.values) < 2 else inf)
    return lambda values: (values >= low) & ((values <= high) if ends else (values < high))


def _select(function: Function, *, ends: bool = True) -> Map:
    inside = _in_range(function, ends=ends)
    return lambda values: np.where(inside(values), values, 0.0)


def _equal(function: Function, *, sign: bool) -> Map:
    wanted = [function.number(index, 0) for index in range(max(len(function.values), 1))]
    return lambda values: np.isin(values, wanted) if sign else np.where(np.isin(values, wanted), values, 0.0)


MAPS: dict[str, Callable[[Function], Map]] = {
    "as is": lambda _: lambda values: values,
    "sign": lambda _: lambda values: values > 0,
    "1-sign": lambda _: lambda values: values <= 0,
    "module": _mod,
    "module+1": lambda function: _mod(function, 1.0),
    "divide": _divide,
    "product": lambda function: lambda values: values * function.number(0, 1),
    "add": lambda function: lambda values: values + function.number(0, 0),
    "subtract": lambda function: lambda values: values - function.number(0, 0),
    "select range": _select,
    "is in range": _in_range,
    "select range [)": lambda function: _select(function, ends=False),
    "is in range [)": lambda function: _in_range(function, ends=False),
    "is equal": lambda function: _equal(function, sign=False),
    "is equal (sign)": lambda function: _equal(function, sign=True),
    "absolute": lambda _: np.abs,
    "floor": lambda _: np.floor,
    "ceil": lambda _: np.ceil,
    "round": lambda _: np.rint,
}
"""Compose functions that depend on the value alone, by name: each makes a map of values from its parameters."""

_STACKED, _NESTING, _DELTA, _JOIN = "stacked value", "nesting level", "delta", "join bursts"
_BURST_TIME, _INTERVAL_TIME = "burst time", "interval time"
_SUMS: dict[str, Map] = {"enumerate": lambda values: values != 0, "accumulate": lambda values: values}
"""Compose functions that sum up over time, by name: the value that each step adds to the sum of its row."""
COMPOSE_FUNCTIONS = (*MAPS, *_SUMS, _STACKED, _NESTING, _DELTA, _BURST_TIME, _INTERVAL_TIME, _JOIN)


def composed(
    every: Iterator[RowSteps], function: Function, rows: int, bounds: np.ndarray, end: int
) -> Iterator[RowSteps]:
    """Apply a compose function to the steps of a view.

    Args:
        every: Steps, window by window.
        function: The compose function with its parameters.
        rows: Number of rows of the view.
        bounds: Edges of the windows in ns.
        end: End of the run in ns.

    Raises:
        TracelibError: There is no such function, or its parameters are wrong.
    """
    name = function.name
    if function.user:
        return _mapped(every, _checked(function))
    Function(name).found({name: name for name in COMPOSE_FUNCTIONS}, "compose function")
    if name in MAPS:
        return _mapped(every, MAPS[name](function)) if name != "as is" else every
    if name in (_STACKED, _NESTING):
        return _stacked(every, rows, depth=name == _NESTING)
    if name == _JOIN:
        changes = ChangesOnly(rows)
        return (changes.feed(steps)[0] for steps in every)
    if name in _SUMS:
        return _summed(every, rows, _SUMS[name])
    if name == _INTERVAL_TIME:
        return _interval_time(every, rows, bounds, end)
    return _delta(every, rows) if name == _DELTA else _burst_time(every, rows, bounds, end)


def _mapped(every: Iterator[RowSteps], function: Map) -> Iterator[RowSteps]:
    return (steps._replace(value=np.asarray(function(steps.value), np.float64)) for steps in every)


def _checked(function: Function) -> Map:
    def values(given: np.ndarray) -> np.ndarray:
        found = np.asarray(function.user(given), np.float64)  # type: ignore[misc]
        if found.shape != given.shape:
            raise TracelibError(f"{function.name} gave {found.shape} values for {len(given)}", "", 2)
        return found

    return values


def _stacked(every: Iterator[RowSteps], rows: int, *, depth: bool) -> Iterator[RowSteps]:
    stacks = ffi.gc(lib.stacks_new(rows), lib.stacks_free)
    if stacks == ffi.NULL:
        raise MemoryError
    for steps in every:
        top, level = np.empty(len(steps.row)), np.empty(len(steps.row))
        row, value = np.ascontiguousarray(steps.row), np.ascontiguousarray(steps.value)
        if lib.stacks_feed(
            stacks, len(row), pointer(row, "int64_t *"), pointer(value, "double *"), pointer(top, "double *"),
            pointer(level, "double *"),
        ):  # fmt: skip
            raise MemoryError
        yield steps._replace(value=level if depth else top)


class ChangesOnly:
    """Filter that drops steps which last no time or do not change the value. Each step left begins a burst."""

    def __init__(self, rows: int) -> None:
        self.now = np.full(rows, np.nan)  # value of each row's last burst; NaN: none so far

    def feed(self, steps: RowSteps) -> tuple[RowSteps, np.ndarray]:
        """Return the steps of a window that change a value, and the value before each of them.

        NaN: the step is the first one of its row.
        """
        steps = steps.last_of_each_time()
        if not len(steps.row):
            return steps, steps.value
        first = np.append(True, steps.row[1:] != steps.row[:-1])
        before = np.append(np.nan, steps.value[:-1])
        before[first] = self.now[steps.row[first]]
        changes = steps.value != before
        last = np.append(first[1:], True)
        self.now[steps.row[last]] = steps.value[last]
        return (steps, before) if changes.all() else (steps.select(changes), before[changes])


def _delta(every: Iterator[RowSteps], rows: int) -> Iterator[RowSteps]:
    """Yield the difference between the value of each burst and the value of the burst before; 0 for the first burst."""
    changes = ChangesOnly(rows)
    for steps in every:
        some, before = changes.feed(steps)
        yield some._replace(value=np.where(np.isnan(before), 0.0, some.value - before))


def _burst_time(every: Iterator[RowSteps], rows: int, bounds: np.ndarray, end: int) -> Iterator[RowSteps]:
    """Yield the length in us of each burst whose value is not 0, and 0 for the other bursts."""
    changes, later = ChangesOnly(rows), StepSorter(bounds)
    begin, value = np.zeros(rows, np.int64), np.zeros(rows)
    for steps in every:
        some, before = changes.feed(steps)
        if not len(some.row):
            continue
        first = np.append(True, some.row[1:] != some.row[:-1])
        since = np.append(0, some.time[:-1])
        since[first] = begin[some.row[first]]
        known = ~np.isnan(before)
        length = np.where(before != 0, (some.time - since) / _US, 0.0)
        later.put(some.row[known], since[known], length[known])
        last = np.append(first[1:], True)
        begin[some.row[last]], value[some.row[last]] = some.time[last], some.value[last]
    every_row = np.arange(rows)
    later.put(every_row, begin, np.where(value != 0, (end - begin) / _US, 0.0))
    yield from later.windows()


def _summed(every: Iterator[RowSteps], rows: int, added: Map) -> Iterator[RowSteps]:
    """Yield the running sum of each row: the sum of all its steps up to each step."""
    now = np.zeros(rows)
    for steps in every:
        some = steps.last_of_each_time()
        if not len(some.row):
            yield some
            continue
        value = np.asarray(added(some.value), np.float64)
        first = np.flatnonzero(np.append(True, some.row[1:] != some.row[:-1]))
        value[first] += now[some.row[first]]
        total = np.cumsum(value)
        before = np.append(0.0, total)[first]
        total -= np.repeat(before, np.diff(np.append(first, len(total))))
        last = np.append(first[1:], len(total)) - 1
        now[some.row[first]] = total[last]
        yield some._replace(value=total)


def _interval_time(every: Iterator[RowSteps], rows: int, bounds: np.ndarray, end: int) -> Iterator[RowSteps]:
    """Yield the length in us of each interval between steps.

    Unlike a burst, it ends at each step, even if the value stays.
    """
    later, begin = StepSorter(bounds), np.full(rows, -1)
    for steps in every:
        some = steps.last_of_each_time()
        if not len(some.row):
            continue
        first = np.append(True, some.row[1:] != some.row[:-1])
        since = np.append(0, some.time[:-1])
        since[first] = begin[some.row[first]]
        known = since >= 0
        later.put(some.row[known], since[known], (some.time - since)[known] / _US)
        last = np.append(first[1:], True)
        begin[some.row[last]] = some.time[last]
    begun = np.flatnonzero(begin >= 0)
    later.put(begun, begin[begun], (end - begin[begun]) / _US)
    yield from later.windows()
