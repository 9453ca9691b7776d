"""Functions of what a thread is, and not of what it does: constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.views.lanes import Lanes, Level
from analyzer.views.run import Selected
from analyzer.views.steps import Steps

Values = Callable[[Lanes], np.ndarray]


def _of(level: Level) -> Values:
    return lambda lanes: lanes.rows(level).of_lane + 1


OBJECT_FUNCTIONS: dict[str, tuple[Values, str]] = {
    "thread id": (lambda lanes: lanes.thread + 1, ""),
    "thread number": (lambda lanes: lanes.in_run + 1, ""),
    "task id": (lambda lanes: lanes.rank + 1, ""),
    "application id": (_of(Level.APPLICATION), ""),
    "cpu id": (_of(Level.CPU), ""),
    "node id": (_of(Level.NODE), ""),
}
"""Numbers from 1, by name, and their unit."""


def of_objects(selected: Selected, values: Values) -> Iterator[Steps]:
    """The same value at all times."""
    every = np.arange(len(selected.lanes))
    for number, _ in enumerate(selected.windows):
        some = every if not number else every[:0]
        yield Steps.of(some, np.zeros(len(some)), values(selected.lanes)[some])
