"""Thread functions of states and calls, whose intervals become steps: 0 outside the intervals.

Functions of states, source: "Dimemas specification", section 1.16.2, "Thread functions, state group".

Functions of MPI calls: only the calls that the filter chooses have a value. A row that stands for several cheap calls
lasts as long as these were in MPI (docs/computing.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.trace import State, Trace
from analyzer.views.function import Function
from analyzer.views.labels import state_numbers
from analyzer.views.run import SelectedRecords
from analyzer.views.steps import RowSteps

_NONE = -1


class IntervalSteps:
    """Converter of intervals to steps. Intervals come window by window, sorted by lane and begin."""

    def __init__(self, lanes: int) -> None:
        self._open = np.full(lanes, _NONE, np.int64)  # end of each lane's last interval, if it is in a later window

    def feed(self, lane: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, until: int) -> RowSteps:
        """Return the steps before `until` of the intervals that begin in a window.

        Of overlapping intervals the later one counts.

        Args:
            lane: Lane of each interval.
            begin: Begin of each interval in ns.
            end: End of each interval in ns.
            value: Value of each interval. Intervals with value 0 are dropped.
            until: End of the window in ns.
        """
        value = value.astype(np.float64)
        keep = (value != 0) & (end > begin)
        if not keep.all():
            lane, begin, end, value = lane[keep], begin[keep], end[keep], value[keep]
        later = np.append(lane[1:] == lane[:-1], False)[: len(lane)]  # the next interval is of the same lane
        ends = ~later
        ends[:-1] |= later[:-1] & (begin[1:] > end[:-1])
        closed = self._closed(lane, begin, until)
        last = ~later & (end >= until)
        self._open[lane[last]] = end[last]
        ends &= ~last
        return _woven(lane, begin, end, value, ends, closed)

    def _closed(self, lane: np.ndarray, begin: np.ndarray, until: int) -> RowSteps:
        """Return the ends of open intervals, unless the next interval of the lane begins there or before."""
        waiting = np.flatnonzero(self._open != _NONE)
        if not len(waiting):
            return RowSteps.from_columns(waiting, waiting, waiting)
        at = np.searchsorted(lane, waiting)
        found = at < len(lane)
        found[found] = lane[at[found]] == waiting[found]
        next_begin = np.full(len(waiting), np.iinfo(np.int64).max)
        next_begin[found] = begin[at[found]]
        when = self._open[waiting]
        over = when < until
        self._open[waiting[over | found]] = _NONE
        chosen = over & (next_begin > when)
        return RowSteps.from_columns(waiting[chosen], when[chosen], np.zeros(int(chosen.sum())))


def _woven(
    lane: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, ends: np.ndarray, closed: RowSteps
) -> RowSteps:
    """Merge the begin of each interval, its end where `ends` is True, and in front of each lane the steps `closed`."""
    before = np.searchsorted(closed.row, lane, side="right") if len(closed.row) else 0
    at = np.arange(len(lane)) + np.cumsum(ends) - ends + before
    count = len(lane) + int(ends.sum()) + len(closed.row)
    row, time, out = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count)
    row[at], time[at], out[at] = lane, begin, value
    row[at[ends] + 1], time[at[ends] + 1] = lane[ends], end[ends]
    if len(closed.row):
        upto = np.append(0, np.cumsum(1 + ends))[np.searchsorted(lane, closed.row)]
        place = upto + np.arange(len(closed.row))
        row[place], time[place] = closed.row, closed.time
    return RowSteps(row, time, out)


_US = 1000.0
Values = Callable[[np.ndarray], np.ndarray]
"""Function that returns a number for each state record (STATE)."""


def _useful(_: Function) -> Values:
    return lambda rows: rows["state"] == State.RUNNING


def _sign(_: Function) -> Values:
    return lambda rows: rows["state"] != State.IDLE


def _as_is(_: Function) -> Values:
    return lambda rows: rows["state"]


def _given(function: Function) -> Values:
    chosen = state_numbers(function.values)
    return lambda rows: np.where(np.isin(rows["state"], chosen), rows["state"], 0)


def _in(function: Function) -> Values:
    chosen = state_numbers(function.values)
    return lambda rows: np.isin(rows["state"], chosen)


def _not_in(function: Function) -> Values:
    chosen = state_numbers(function.values)
    return lambda rows: ~np.isin(rows["state"], chosen)


def _duration(function: Function) -> Values:
    """Return a function that gives the length in us of the chosen states; without parameters, of all states."""
    chosen = state_numbers(function.values)
    length: Values = lambda rows: (rows["end"] - rows["begin"]) / _US  # noqa: E731
    return (lambda rows: np.where(np.isin(rows["state"], chosen), length(rows), 0)) if len(chosen) else length


STATE_FUNCTIONS: dict[str, tuple[Callable[[Function], Values], str]] = {
    "useful": (_useful, ""),
    "state sign": (_sign, ""),
    "state as is": (_as_is, "state"),
    "given state": (_given, "state"),
    "in state": (_in, ""),
    "not in state": (_not_in, ""),
    "state record duration": (_duration, "us"),
}
"""Thread functions of states by name: function that makes the values from parameters, and unit."""


def of_states(selected: SelectedRecords, values: Values) -> Iterator[RowSteps]:
    """Yield for each thread the value of the state that it is in; 0: in none."""
    spans = IntervalSteps(len(selected.lanes))
    for (_, until), (lane, rows) in zip(selected.windows, selected.states(), strict=True):
        yield spans.feed(lane, rows["begin"], rows["end"], np.asarray(values(rows)), until)


CallValues = Callable[[np.ndarray], np.ndarray]

CALL_FUNCTIONS: dict[str, tuple[CallValues, str]] = {
    "in call": (lambda rows: np.ones(len(rows)), ""),
    "call": (lambda rows: rows["call"] + 1, "call"),
    "call duration": (lambda rows: rows["inside"] / 1000, "us"),
    "call bytes": (lambda rows: rows["sent"] + rows["received"], "bytes"),
    "call sent bytes": (lambda rows: rows["sent"], "bytes"),
    "call received bytes": (lambda rows: rows["received"], "bytes"),
    "call peer": (lambda rows: np.maximum(rows["peer"], -1) + 1, "rank from 1"),
}
"""Thread functions of calls by name: function of call records (CALL), and unit."""


def of_calls(selected: SelectedRecords, values: CallValues) -> Iterator[RowSteps]:
    """Yield for each thread the value of the call that it is in; 0: in none."""
    spans = IntervalSteps(len(selected.lanes))
    for (_, until), (lane, rows) in zip(selected.windows, selected.calls(), strict=True):
        yield spans.feed(lane, rows["enter"], rows["enter"] + rows["inside"], np.asarray(values(rows)), until)


def call_names(trace: Trace) -> dict[int, str]:
    """Return the procedure that each value of the function "call" stands for."""
    return {number + 1: name for number, name in enumerate(trace.procedures)}
