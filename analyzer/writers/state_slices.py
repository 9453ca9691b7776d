"""States and events of a trace without MPI calls as regions, so that other tools show them as slices.

A trace of OpenMP, tasks or an accelerator has no calls to export, but each thread has states, and events that begin
with a value and end with 0. Each type of these events becomes a layer of regions, and the states become the innermost
layer. Regions must nest, so the regions of inner layers end and begin again where an outer layer changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.sorted_runs import RankRuns
from analyzer.trace import EVENT, MARK, STATE, Mark, Regions, Trace
from analyzer.trace.annotated import Annotated
from analyzer.trace.paraver import STATE_LABELS, are_callers
from analyzer.trace.trace import Kind

_MOST_NAMES = 1 << 12
"""Largest number of different values of an event type whose values are names. With more, the type counts something."""
_COUNTERS = range(41999999, 49000000)
"""Event types of hardware counters in Extrae's numbering, and Extrae's other event types about counters."""
_EVER = 2**62

Layer = tuple[np.ndarray, np.ndarray]
"""Changes of the regions of a layer: times (int64 ns, ascending), and the number of each new region; 0: none."""


def with_slices(trace: Trace) -> Trace:
    """Return the trace with its states and events as regions if it has no MPI calls, otherwise the trace itself."""
    return _WithSlices(trace) if trace.origin.imported and not trace.procedures else trace


class _WithSlices(Annotated):
    """Trace whose regions are replaced by slices of states and events."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace, {}, lambda begin, end: np.zeros(0, EVENT))
        self._slices = _Slices(trace)
        self._regions = _SliceRegions(self._slices.names, slices=self._slices, own=trace.extra(Regions))

    def extra(self, kind: type[Kind]) -> Kind:
        return cast(Kind, self._regions) if kind is Regions else self._trace.extra(kind)

    def close(self) -> None:
        self._slices.close()
        self._trace.close()


@dataclass(frozen=True, kw_only=True)
class _SliceRegions(Regions):
    """Regions that are made of states and events."""

    slices: _Slices
    own: Regions

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        marks = self.slices.marks.read(rank, begin, _EVER if end is None else end)
        return marks[np.argsort(marks["thread"], kind="stable")]

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        rows = self.own.events(rank, begin, end)
        return rows[~np.isin(rows["type"], self.slices.types)]


class _Slices:
    """Regions made of states and events, for all ranks, in temporary files."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._states, self._events = RankRuns(STATE, "begin", trace.size), RankRuns(EVENT, "time", trace.size)
        pairs = [np.zeros((0, 2), np.int64)]
        for begin, end in pairwise(trace.windows().tolist()):
            states, events = trace.states(begin, end), trace.events(begin, end)
            events = events[_may_name(events["type"])]
            self._states.append(states, states["rank"])
            self._events.append(events, events["rank"])
            pairs.append(np.unique(np.stack((events["type"], events["value"]), axis=1).astype(np.int64), axis=0))
        self.types, named = _named(np.unique(np.concatenate(pairs), axis=0))
        kinds = np.unique(
            np.concatenate([states["state"] for states in self._every_state()] or [np.zeros(0, np.int32)])
        )
        self._state_number = {state: number for number, state in enumerate(kinds.tolist(), 1)}
        first = 1 + len(kinds)
        self._number = {pair: number for number, pair in enumerate(named, first)}
        self.names = (
            *(STATE_LABELS.get(state, f"state {state}") for state in kinds.tolist()),
            *(self._name(*pair) for pair in named),
        )
        self.marks = RankRuns(MARK, "time", trace.size)
        for rank in range(trace.size):
            marks = self._of_rank(rank)
            self.marks.append(marks, np.full(len(marks), rank))

    def _every_state(self) -> Iterator[np.ndarray]:
        return (self._states.read(rank, 0, _EVER) for rank in range(self._trace.size))

    def _name(self, type_: int, value: int) -> str:
        label, values = self._trace.event_labels.get(type_, (f"type {type_}", {}))
        return f"{label}: {values.get(value, value)}"

    def _of_rank(self, rank: int) -> np.ndarray:
        states, events = self._states.read(rank, 0, _EVER), self._events.read(rank, 0, _EVER)
        threads = np.unique(np.concatenate([states["thread"], events["thread"]])).tolist()
        found = [
            self._of_thread(thread, states[states["thread"] == thread], events[events["thread"] == thread])
            for thread in threads
        ]
        return joined(found, MARK)

    def _of_thread(self, thread: int, states: np.ndarray, events: np.ndarray) -> np.ndarray:
        layers = [self._of_type(events[events["type"] == type_]) for type_ in self.types]
        layers.append(self._of_states(states))
        end = int(max(states["end"].max(initial=0), events["time"].max(initial=0)))
        return _nested([layer for layer in layers if len(layer[0])], thread, end)

    def _of_type(self, events: np.ndarray) -> Layer:
        pairs = zip(events["type"].tolist(), events["value"].tolist(), strict=True)
        return _last_at_each_time(events["time"], np.array([self._number.get(pair, 0) for pair in pairs], np.int64))

    def _of_states(self, states: np.ndarray) -> Layer:
        """Make a layer of states. A state that overlaps the next state ends where the next state begins."""
        begin, end = states["begin"], np.minimum(states["end"], np.append(states["begin"][1:], _EVER))
        times = np.stack((begin, end), axis=1).ravel()
        number = np.array([self._state_number[state] for state in states["state"].tolist()], np.int64)
        return _last_at_each_time(times, np.stack((number, np.zeros_like(number)), axis=1).ravel())

    def close(self) -> None:
        """Remove the temporary files."""
        for table in (self._states, self._events, self.marks):
            table.close()


def _may_name(types: np.ndarray) -> np.ndarray:
    counts = (types >= _COUNTERS.start) & (types < _COUNTERS.stop)
    return ~counts & ~are_callers(types)


def _named(pairs: np.ndarray) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the event types that begin and end something, and each pair (type, value) that becomes a region."""
    types, count = np.unique(pairs[:, 0], return_counts=True)
    ends = np.isin(types, pairs[pairs[:, 1] == 0, 0])
    chosen = types[ends & (count > 1) & (count <= _MOST_NAMES)]
    named = pairs[np.isin(pairs[:, 0], chosen) & (pairs[:, 1] != 0)]
    return chosen.tolist(), [(type_, value) for type_, value in named.tolist()]


def _last_at_each_time(times: np.ndarray, numbers: np.ndarray) -> Layer:
    """Keep only the last of several changes at the same time."""
    order = np.argsort(times, kind="stable")
    times, numbers = times[order], numbers[order]
    last = np.append(times[1:] != times[:-1], True) if len(times) else np.zeros(0, bool)
    return times[last], numbers[last]


def _nested(layers: list[Layer], thread: int, end: int) -> np.ndarray:
    """Return the marks (MARK) of the regions of all layers; the outermost layer is first.

    Open regions end at `end` (ns).
    """
    cuts, rows = np.zeros(0, np.int64), []
    for depth, (times, numbers) in enumerate(layers):
        cuts = np.unique(np.concatenate([cuts, times]))
        at = np.searchsorted(times, cuts, "right") - 1
        number = np.where(at >= 0, numbers[at.clip(min=0)], 0)
        until = np.append(cuts[1:], max(end, int(cuts[-1])))
        inside = (number > 0) & (until > cuts)
        rows.append((depth, cuts[inside], until[inside], number[inside]))
    found, order = [np.zeros(0, MARK)], [np.zeros(0, np.int64)]
    for depth, begin, until, number in rows:
        for what, time, place in ((Mark.END, until, -depth), (Mark.BEGIN, begin, 1 + depth)):
            marks = np.zeros(len(time), MARK)
            marks["time"], marks["number"], marks["thread"], marks["what"] = time, number, thread, what
            found.append(marks)
            order.append(np.full(len(time), place))
    marks = np.concatenate(found)
    return marks[np.lexsort((np.concatenate(order), marks["time"]))]
