"""Python functions that compute profiles, bursts, measures and histograms of a trace by a view (docs/views.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.frames.blocks import NS, Block, Coded
from analyzer.frames.table import Table
from analyzer.trace import Trace
from analyzer.views import constant, measuring, over_time, tabulated
from analyzer.views.lanes import Level
from analyzer.views.measuring import USUAL, MeasureLimits, Measures
from analyzer.views.over_time import ViewProfile
from analyzer.views.run import ViewRun
from analyzer.views.tabulated import PARTNER, Columns, Histogram
from analyzer.views.value_names import value_names
from analyzer.views.view import Derived, View
from analyzer.views.view_file import ViewFile, find_view

_UP = {level.value: "maximum" for level in Level if level is not Level.THREAD}
Named = View | Derived | str
"""A view, the name of a library view, or the path of a TOML file with a view."""
Spans = tuple[float, float]


def run_of(of: Trace | ViewRun) -> ViewRun:
    """Return the ViewRun of a trace. A given ViewRun is returned as it is; it looks for iterations only once."""
    return of if isinstance(of, ViewRun) else ViewRun(of)


def view_named(view: Named) -> View | Derived:
    """Return the view itself, or find the view with this name or file.

    Raises:
        TracelibError: There is no such view, or its file is wrong.
    """
    return find_view(view).view if isinstance(view, str) else view  # type: ignore[no-any-return]


def measures(
    trace: Trace | ViewRun, view: Named, names: Iterable[Any] = USUAL, *, begin_s: float = 0.0,
    end_s: float | None = None, values: Spans | None = None, lengths_s: Spans | None = None,
) -> Measures:  # fmt: skip
    """Compute measures of each row of a view in the window [begin_s, end_s) of the run.

    Args:
        trace: The trace.
        view: The view, its name, or its file.
        names: Names of measures (analyzer.views.measuring.MEASURES), or user's functions of records.
        begin_s: Begin of the window in seconds.
        end_s: End of the window in seconds. None: end of the run.
        values: Least and largest value that counts for "time with value". None: all values.
        lengths_s: Least and largest length, in seconds, of bursts that count. None: all lengths.

    Raises:
        TracelibError: There is no such view or measure, or the window is empty.
    """
    lengths = (NS * lengths_s[0], NS * lengths_s[1]) if lengths_s else MeasureLimits.lengths
    limits = MeasureLimits(values or MeasureLimits.values, lengths)
    begin, end = _interval(begin_s, end_s)
    return measuring.measures(view_named(view), run_of(trace), names, begin_ns=begin, end_ns=end, limits=limits)


def profile(
    trace: Trace | ViewRun, view: Named, bins: int = 100, *, begin_s: float = 0.0, end_s: float | None = None
) -> ViewProfile:
    """Compute a view over time in at most `bins` equal bins of the window [begin_s, end_s). end_s None: end of the run.

    Raises:
        TracelibError: There is no such view, or rows times bins are too many.
    """
    begin, end = _interval(begin_s, end_s)
    return over_time.profile(view_named(view), run_of(trace), bins, begin_ns=begin, end_ns=end)


def histogram(
    trace: Trace | ViewRun, view: Named, statistic: str = "average value", *, by: Named | None = None,
    columns: Sequence[float] | None = None, plane: Named | None = None, planes: Sequence[float] | None = None,
    together: bool = False, joined: bool = True, begin_s: float = 0.0, end_s: float | None = None,
) -> Histogram:  # fmt: skip
    """Compute a statistic of a view, tabulated by the values of a control view.

    Args:
        trace: The trace.
        view: The view whose values are counted. A name or a file is allowed.
        statistic: Name of the statistic (analyzer.views.statistics).
        by: The control view, whose values choose the column. None: `view` itself. "partner": columns are the rows at
            the other side of messages. A view that is given by its name is taken on the level of `view`.
        columns: Minimum, maximum and width of columns. None: columns that fit all values.
        plane: A third view, whose values choose the plane. None: one plane.
        planes: Minimum, maximum and width of planes. None: planes that fit all values.
        together: True: one row for the whole run.
        joined: True: neighbouring pieces of time with the same values count as one.
        begin_s: Begin of the window in seconds.
        end_s: End of the window in seconds. None: end of the run.

    Raises:
        TracelibError: There is no such view or statistic, or the views do not fit together.
    """
    run, data = run_of(trace), view_named(view)
    control = None if by is None or by == PARTNER else _beside(by, data, run)
    begin, end = _interval(begin_s, end_s)
    return tabulated.histogram(
        data if control is None else control, run, data=None if control is None else data, statistic=statistic,
        columns=_columns(columns), plane=_beside(plane, data, run) if plane is not None else None,
        planes=_columns(planes), begin_ns=begin, end_ns=end, together=together, joined=joined, partners=by == PARTNER,
    )  # fmt: skip


def bursts(trace: Trace | ViewRun, view: Named, *, begin_s: float = 0.0, end_s: float | None = None) -> Table:
    """Return the bursts of a view in [begin_s, end_s) as a table, which is read piece by piece.

    A burst is a longest interval in which the value of a row stays the same.
    """
    run, found = run_of(trace), view_named(view)
    begin, end = _interval(begin_s, end_s)
    rows = found.rows(run)

    def blocks() -> Iterator[Block]:
        none = np.zeros(0, np.int64)
        yield _block(constant.ViewBursts(none, none, none, none.astype(float), none.astype(bool)), rows.names)
        for some in constant.bursts(found, run, begin, end):
            yield _block(some, rows.names)

    return Table(found.name, f"Every burst of each {rows.level.value}.", blocks)


def shown(run: ViewRun, file: ViewFile, begin_s: float = 0.0, end_s: float | None = None) -> Histogram:
    """Compute the histogram that a view file describes, in the window [begin_s, end_s). end_s None: end of the run.

    Raises:
        TracelibError: The views or the statistic do not fit together.
    """
    table, view = file.table, file.view
    begin, end = _interval(begin_s, end_s)
    return tabulated.histogram(
        view if table.control is None else _levelled(table.control, view, run), run,
        data=None if table.control is None else view, statistic=table.statistic, columns=table.columns,
        plane=None if table.plane is None else _levelled(table.plane, view, run), planes=table.planes,
        begin_ns=begin, end_ns=end, together=table.together, joined=table.joined, partners=table.partners,
    )  # fmt: skip


def shared_columns(
    runs: Sequence[ViewRun], file: ViewFile, spans: Sequence[tuple[float, float | None]]
) -> Columns | None:
    """Find common columns of a histogram that fit the values of its control view in several runs.

    Args:
        runs: The runs.
        file: The view file that describes the histogram.
        spans: The window [begin_s, end_s) of each run in seconds; end_s None: end of the run.

    Returns:
        Columns for all runs. None: the values have names, and the number of a name may differ between the runs.

    Raises:
        TracelibError: A run does not have the data that the view needs.
    """
    every = []
    for run, (begin_s, end_s) in zip(runs, spans, strict=True):
        control = file.view if file.table.control is None else _levelled(file.table.control, file.view, run)
        if value_names(control, run.trace):
            return None
        begin, end = _interval(begin_s, end_s)
        every.append(tabulated.usual_columns(control, run, begin, run.trace.duration_ns if end is None else end))
    return tabulated.together(every)


def _beside(view: Named, data: View | Derived, run: ViewRun) -> View | Derived:
    return _levelled(view_named(view), data, run) if isinstance(view, str) else view


def _levelled(view: View | Derived, data: View | Derived, run: ViewRun) -> View | Derived:
    """Take a view on the level of a view with fewer rows. A row has the largest value of its threads."""
    level = data.rows(run).level
    if not isinstance(view, View) or len(data.rows(run)) >= len(view.rows(run)):
        return view
    return replace(view, level=level, **_UP)  # type: ignore[arg-type]


def _columns(given: Sequence[float] | None) -> Columns | None:
    if given is None:
        return None
    if len(given) != 3:
        raise TracelibError("columns are a minimum, a maximum and a width", "", 2)
    return Columns(*map(float, given))


def _interval(begin_s: float, end_s: float | None) -> tuple[int, int | None]:
    return max(round(begin_s * NS), 0), None if end_s is None else round(end_s * NS)


def _block(some: constant.ViewBursts, names: tuple[str, ...]) -> Block:
    return {
        "row": Coded(some.row, names),
        "begin_s": some.begin / NS,
        "end_s": some.end / NS,
        "time_s": (some.end - some.begin) / NS,
        "value": some.value,
        "whole": some.whole,
    }
