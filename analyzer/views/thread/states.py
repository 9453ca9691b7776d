"""Functions of the states of threads. Where a thread is in no state they are 0.

Source: "Dimemas specification", section 1.16.2, "Thread functions, state group".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.trace import State
from analyzer.views.function import Function
from analyzer.views.labels import state_numbers
from analyzer.views.run import Selected
from analyzer.views.steps import Steps
from analyzer.views.thread.spans import Spans

_US = 1000.0
Values = Callable[[np.ndarray], np.ndarray]
"""A number of each STATE."""


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
    """Of the states given; of all where none is."""
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
"""By name: what makes the values of a function's parameters, and their unit."""


def of_states(selected: Selected, values: Values) -> Iterator[Steps]:
    """The value of the state that each thread is in."""
    spans = Spans(len(selected.lanes))
    for (_, until), (lane, rows) in zip(selected.windows, selected.states(), strict=True):
        yield spans.feed(lane, rows["begin"], rows["end"], np.asarray(values(rows)), until)
