"""Functions of the MPI calls of threads; 0 outside of the calls that a filter leaves.

A row that stands for several cheap calls lasts as long as these were in MPI (docs/computing.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.trace import Trace
from analyzer.views.run import Selected
from analyzer.views.steps import Steps
from analyzer.views.thread.spans import Spans

Values = Callable[[np.ndarray], np.ndarray]

CALL_FUNCTIONS: dict[str, tuple[Values, str]] = {
    "in call": (lambda rows: np.ones(len(rows)), ""),
    "call": (lambda rows: rows["call"] + 1, "call"),
    "call duration": (lambda rows: rows["inside"] / 1000, "us"),
    "call bytes": (lambda rows: rows["sent"] + rows["received"], "bytes"),
    "call sent bytes": (lambda rows: rows["sent"], "bytes"),
    "call received bytes": (lambda rows: rows["received"], "bytes"),
    "call peer": (lambda rows: np.maximum(rows["peer"], -1) + 1, "rank from 1"),
}
"""By name: a number of each CALL, and its unit."""


def of_calls(selected: Selected, values: Values) -> Iterator[Steps]:
    """The value of the call that each thread is in."""
    spans = Spans(len(selected.lanes))
    for (_, until), (lane, rows) in zip(selected.windows, selected.calls(), strict=True):
        yield spans.feed(lane, rows["enter"], rows["enter"] + rows["inside"], np.asarray(values(rows)), until)


def call_names(trace: Trace) -> dict[int, str]:
    """What the values of "call" stand for."""
    return {number + 1: name for number, name in enumerate(trace.procedures)}
