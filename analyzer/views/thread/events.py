"""Thread functions of events. A value holds from an event to the next event of the same thread.

Source: "Dimemas specification", section 1.16.2, "Thread functions, event group". Before its first event a thread's
value is 0. A function of the next event holds for the time before that event. So the value of the first event holds
from the begin of the thread, where counters begin to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from analyzer.trace import EVENT
from analyzer.views.function import Function
from analyzer.views.labels import value_numbers
from analyzer.views.run import SelectedRecords
from analyzer.views.steps import RowSteps, StepSorter

_US = 1000.0
_FACTOR = 1000.0
"""Default factor, which converts values per us to values per ms."""

Values = Callable[[np.ndarray], np.ndarray]
"""Function that returns a number for each event record (EVENT)."""


def of_last(selected: SelectedRecords, values: Values) -> Iterator[RowSteps]:
    """Yield for each thread the value of its last event. `values` maps events to numbers."""
    for lane, rows in selected.events():
        yield RowSteps.from_columns(lane, rows["time"], np.asarray(values(rows)))


class EventPairs(NamedTuple):
    """Each event with the event before it on the same lane.

    For the first event of a lane, `known` is False and `before` is an empty event at time 0.
    """

    lane: np.ndarray
    known: np.ndarray
    before: np.ndarray  # EVENT
    after: np.ndarray  # EVENT


def of_next(selected: SelectedRecords, values: Callable[[EventPairs], np.ndarray]) -> Iterator[RowSteps]:
    """Yield values that depend on an event and the next event, from the first one's time on; 0 after the last event."""
    later, lanes = StepSorter(selected.run.bounds), len(selected.lanes)
    kept, known = np.zeros(lanes, EVENT), np.zeros(lanes, bool)
    for lane, rows in selected.events():
        if not len(rows):
            continue
        first = np.append(True, lane[1:] != lane[:-1])
        ends = np.flatnonzero(np.append(first[1:], True))
        before = rows.take(np.maximum(np.arange(len(rows)) - 1, 0))
        before[first] = kept[lane[first]]
        pairs = EventPairs(lane, ~first | known[lane], before, rows)
        found = np.nan_to_num(np.asarray(values(pairs), np.float64), posinf=0.0, neginf=0.0)
        later.put(lane, before["time"], found)
        kept[lane[ends]], known[lane[ends]] = rows.take(ends), True
    every = np.flatnonzero(known)
    later.put(every, kept["time"][every], np.zeros(len(every)))
    yield from later.windows()


def _length_us(pairs: EventPairs) -> np.ndarray:
    return (pairs.after["time"] - pairs.before["time"]) / _US


def _chosen_values(selected: SelectedRecords, function: Function) -> Values:
    """Return a function that is 1 for events whose value is among the function's parameters (numbers or names)."""
    names = tuple(str(value) for value in function.values if isinstance(value, str))
    named = value_numbers(selected.run.trace, None, names) if names else None
    numbers = np.array([value for value in function.values if not isinstance(value, str)], np.float64)

    def chosen(rows: np.ndarray) -> np.ndarray:
        found = np.isin(rows["value"], numbers)
        return found | named(rows) if named else found

    return chosen


def _average(pairs: EventPairs, value: np.ndarray, factor: float) -> np.ndarray:
    length = _length_us(pairs)
    return np.where(length > 0, value * factor / np.where(length > 0, length, 1.0), 0.0)


def _last_value(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    return of_last(selected, lambda rows: rows["value"])


def _last_type(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    return of_last(selected, lambda rows: rows["type"])


def _next_value(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    return of_next(selected, lambda pairs: pairs.after["value"])


def _next_type(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    return of_next(selected, lambda pairs: pairs.after["type"])


def _average_next(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    factor = function.number(0, _FACTOR)
    return of_next(selected, lambda pairs: _average(pairs, pairs.after["value"], factor))


def _average_last(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    factor = function.number(0, _FACTOR)
    return of_next(selected, lambda pairs: _average(pairs, np.where(pairs.known, pairs.before["value"], 0), factor))


def _given(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    chosen = _chosen_values(selected, function)
    return of_last(selected, lambda rows: np.where(chosen(rows), rows["value"], 0))


def _in(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    return of_last(selected, _chosen_values(selected, function))


def _not_in(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    chosen = _chosen_values(selected, function)
    return of_last(selected, lambda rows: ~chosen(rows))


def _between(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    return of_next(selected, lambda pairs: np.where(pairs.known, _length_us(pairs), 0.0))


EVENT_FUNCTIONS: dict[str, tuple[Callable[[SelectedRecords, Function], Iterator[RowSteps]], str]] = {
    "last event value": (_last_value, ""),
    "last event type": (_last_type, ""),
    "next event value": (_next_value, ""),
    "next event type": (_next_type, ""),
    "average next event value": (_average_next, "per ms"),
    "average last event value": (_average_last, "per ms"),
    "given event value": (_given, ""),
    "in event value": (_in, ""),
    "not in event value": (_not_in, ""),
    "interval between events": (_between, "us"),
}
"""Thread functions of events by name: function that yields their steps, and unit."""
