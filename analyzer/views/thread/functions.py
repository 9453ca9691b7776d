"""All thread functions by name.

Also thread functions of constant properties, such as the number of a thread, which do not depend on its activity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analyzer.errors import TracelibError
from analyzer.views.function import Function
from analyzer.views.lanes import Level, ViewLanes
from analyzer.views.run import SelectedRecords
from analyzer.views.steps import RowSteps, starting
from analyzer.views.thread.events import EVENT_FUNCTIONS, of_last
from analyzer.views.thread.intervals import CALL_FUNCTIONS, STATE_FUNCTIONS, of_calls, of_states
from analyzer.views.thread.messages import MESSAGE_FUNCTIONS, of_ends

Values = Callable[[ViewLanes], np.ndarray]


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
"""Thread functions of constant properties by name: numbers that count from 1, and unit."""


def of_objects(selected: SelectedRecords, values: Values) -> Iterator[RowSteps]:
    """Yield steps with a constant value for each thread."""
    every = np.arange(len(selected.lanes))
    for number, _ in enumerate(selected.windows):
        some = every if not number else every[:0]
        yield RowSteps.from_columns(some, np.zeros(len(some)), values(selected.lanes)[some])


USER = ("states", "events", "calls", "sends", "receives")
"""Kinds of records that a user's function can get."""


def thread_functions() -> dict[str, str]:
    """Return the unit of each thread function, by name."""
    every = (STATE_FUNCTIONS, EVENT_FUNCTIONS, MESSAGE_FUNCTIONS, CALL_FUNCTIONS, OBJECT_FUNCTIONS)
    return {name: unit for functions in every for name, (_, unit) in functions.items()}


def thread_steps(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    """Yield the steps of all lanes for a thread function. In the first window each lane has a step at time 0.

    Raises:
        TracelibError: There is no such function, or its parameters are wrong.
    """
    first = True
    for steps in _steps(selected, function):
        yield starting(len(selected.lanes), steps) if first else steps
        first = False


def _steps(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    name = function.name
    if function.user:
        return _of_user(selected, function)
    if name in STATE_FUNCTIONS:
        return of_states(selected, STATE_FUNCTIONS[name][0](function))
    if name in EVENT_FUNCTIONS:
        return EVENT_FUNCTIONS[name][0](selected, function)
    if name in CALL_FUNCTIONS:
        return of_calls(selected, CALL_FUNCTIONS[name][0])
    if name in OBJECT_FUNCTIONS:
        return of_objects(selected, OBJECT_FUNCTIONS[name][0])
    return MESSAGE_FUNCTIONS[function.found({name: name for name in thread_functions()}, "thread function")][0](
        selected, function
    )


def _of_user(selected: SelectedRecords, function: Function) -> Iterator[RowSteps]:
    """Apply a user's function to records: states, events, calls, or messages at their send or receive."""
    of = function.values[0] if function.values else USER[0]
    if function.user is None or of not in USER:
        raise TracelibError(f"{of!r}: a function of threads is of {', '.join(USER)}", "", 2)

    def values(rows: np.ndarray) -> np.ndarray:
        found = np.asarray(function.user(rows), np.float64)  # type: ignore[misc]
        if found.shape != (len(rows),):
            raise TracelibError(f"{function.name} gave {found.shape} values for {len(rows)} {of}", "", 2)
        return found

    if of == "states":
        return of_states(selected, values)
    if of == "events":
        return of_last(selected, values)
    if of == "calls":
        return of_calls(selected, values)
    return of_ends(selected, values, "source" if of == "sends" else "destination").windows()
