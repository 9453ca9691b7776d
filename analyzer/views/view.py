"""A view: a filter of records, and the functions that make one value per row of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.views import function as names
from analyzer.views.compose import composed
from analyzer.views.filters import Filter
from analyzer.views.function import Function, functions_of
from analyzer.views.lanes import CHAINS, Level, ViewRows
from analyzer.views.levels import combined
from analyzer.views.run import SelectedRecords, ViewRun
from analyzer.views.steps import MOST_MERGED, RowSteps, StepMerger
from analyzer.views.thread.functions import thread_functions, thread_steps

_NOTHING: Mapping[int, str] = {}


@dataclass(frozen=True)
class View:
    """A value of each row at each time:

        compose1(compose2(application(task(thread(filtered records)))))

    A function is given by its name, as a sequence of name and parameters, or as a function of numpy columns. `composes`
    has the compose functions that follow the function of a level, by the name of the level.

    Source: "Dimemas specification", section 1.16.2.
    """

    thread: Any = "useful"
    level: Level | str = Level.THREAD
    filter: Filter = field(default_factory=Filter)
    task: Any = "adding"
    application: Any = "adding"
    cpu: Any = "adding"
    node: Any = "adding"
    system: Any = "adding"
    composes: Mapping[str, Any] = field(default_factory=dict)
    compose2: Any = ()
    compose1: Any = ()
    name: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        level = str(getattr(self.level, "value", self.level))
        level = names.ROWS.get(level.lower(), level)
        if level not in [one.value for one in Level]:
            raise TracelibError(f"there is no level {level!r}", f"there are {', '.join(one.value for one in Level)}", 2)
        object.__setattr__(self, "level", Level(level))
        for name in ("thread", *(one.value for one in Level if one is not Level.THREAD)):
            object.__setattr__(self, name, Function.parse(getattr(self, name)))
        for name in ("compose2", "compose1"):
            object.__setattr__(self, name, functions_of(getattr(self, name)))
        composes = {str(getattr(key, "value", key)): functions_of(value) for key, value in self.composes.items()}
        if unknown := [name for name in composes if name not in [one.value for one in Level]]:
            raise TracelibError(f"composes: there is no level {unknown[0]!r}", "", 2)
        object.__setattr__(self, "composes", composes)
        if not self.name:
            object.__setattr__(self, "name", self.thread.name)

    def rows(self, run: ViewRun) -> ViewRows:
        """Return the rows for which the view has values."""
        return run.lanes.rows(Level(self.level))

    def steps(self, run: ViewRun) -> Iterator[RowSteps]:
        """Yield the steps of all rows, window by window.

        Raises:
            TracelibError: A function is not known, or its parameters are wrong.
        """
        found = thread_steps(SelectedRecords(run, self.filter), self.thread)
        found = self._composed(found, run, self.composes.get(Level.THREAD.value, ()), len(run.lanes))
        below = run.lanes.rows(Level.THREAD)
        for level in CHAINS[Level(self.level)]:
            rows = run.lanes.rows(level)
            found = combined(found, getattr(self, level.value), below.parents(rows), len(rows))
            found = self._composed(found, run, self.composes.get(level.value, ()), len(rows))
            below = rows
        return self._composed(found, run, (*self.compose2, *self.compose1), len(below))

    def unit_of(self) -> str:
        """Return the unit of the view's values. "": it is not known, or compose functions change it."""
        if self.unit or self.compose1 or self.compose2 or self.composes:
            return self.unit
        return thread_functions().get(self.thread.name, "")

    def _composed(
        self, found: Iterator[RowSteps], run: ViewRun, functions: Sequence[Function], rows: int
    ) -> Iterator[RowSteps]:
        for function in functions:
            found = composed(found, function, rows, run.bounds, run.trace.duration_ns)
        return found


def _divided(values: np.ndarray) -> np.ndarray:
    first, second = values[:, 0], values[:, 1]
    return np.where(second != 0, first / np.where(second != 0, second, 1.0), 0.0)


OPERATIONS = {
    "add": lambda values: values.sum(axis=1),
    "subtract": lambda values: values[:, 0] - values[:, 1:].sum(axis=1),
    "product": lambda values: values.prod(axis=1),
    "divide": _divided,
    "maximum": lambda values: values.max(axis=1),
    "minimum": lambda values: values.min(axis=1),
    "different": lambda values: values[:, 0] != values[:, 1],
    "controlled": lambda values: np.where(values[:, 1] != 0, values[:, 0], 0.0),
}
"""Operations of derived views by name, on values of shape (steps, views).

"controlled" is the first view where the second view is not 0, and 0 elsewhere. A value divided by 0 is 0.
"""


@dataclass(frozen=True)
class Derived:
    """A view that is computed from other views, by an operation on their values at each time.

    Its rows are the rows of the finest view. The value of a coarser view counts for each finer row in it.
    """

    operation: Any
    of: tuple[Any, ...]  # View or Derived
    factors: tuple[float, ...] = ()  # multiply the values of each view first; 1 unless given
    compose2: Any = ()
    compose1: Any = ()
    name: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(self.of))
        object.__setattr__(self, "operation", Function.parse(self.operation))
        if not 2 <= len(self.of) <= MOST_MERGED:
            raise TracelibError(f"a derived view is made of 2 to {MOST_MERGED} views", "", 2)
        if not self.operation.user:
            self.operation.found(OPERATIONS, "operation")
        for name in ("compose2", "compose1"):
            object.__setattr__(self, name, functions_of(getattr(self, name)))
        if not self.name:
            object.__setattr__(self, "name", self.operation.name)

    def rows(self, run: ViewRun) -> ViewRows:
        """Return the rows of the finest view."""
        return max((one.rows(run) for one in self.of), key=len)

    def steps(self, run: ViewRun) -> Iterator[RowSteps]:
        """Yield the steps of all rows, window by window."""
        found = self._made(run)
        for function in (*self.compose2, *self.compose1):
            found = composed(found, function, len(self.rows(run)), run.bounds, run.trace.duration_ns)
        return found

    def unit_of(self) -> str:
        """Return the unit of the values, as given."""
        return self.unit

    def _made(self, run: ViewRun) -> Iterator[RowSteps]:
        function = self.operation.user or OPERATIONS[self.operation.name]
        factors = np.array([*self.factors, *[1.0] * len(self.of)][: len(self.of)])
        for row, time, values in side_by_side(self.of, run, self.rows(run)):
            yield RowSteps(row, time, np.asarray(function(values * factors), np.float64))


def side_by_side(
    views: Sequence[Any], run: ViewRun, rows: ViewRows
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield, window by window, the steps at which any view changes, with the values of all views.

    Returns:
        Row and time of each step, and values of shape (steps, views).
    """
    merge = StepMerger(len(views), len(rows))
    for every in zip(*(_on_rows(view, run, rows) for view in views), strict=True):
        yield merge.feed(every)


def _on_rows(view: Any, run: ViewRun, rows: ViewRows) -> Iterator[RowSteps]:
    """Yield the steps of a view for the given rows. The steps of a coarser view are repeated for each row in it."""
    own = view.rows(run)
    if own.level == rows.level:
        yield from view.steps(run)
        return
    parents = rows.parents(own)
    if (own.of_lane != parents[rows.of_lane]).any():
        raise TracelibError(f"a {rows.level} is not in one {own.level}", "give views of levels that fit", 2)
    for steps in view.steps(run):
        first = steps.first(len(own))
        counts = np.diff(first)[parents]
        starts = np.cumsum(counts) - counts
        at = np.arange(counts.sum()) + np.repeat(first[:-1][parents] - starts, counts)
        yield RowSteps(np.repeat(np.arange(len(rows)), counts), steps.time[at], steps.value[at])
