"""Histograms: tables of a view by the values of another view, as in Paraver.

At each time, the control view chooses the column, the data view gives the value to count, and an optional third view
chooses the plane. The rows are the rows of the view with the finest level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.views.constant import bursts
from analyzer.views.filters import Filter
from analyzer.views.function import OURS
from analyzer.views.lanes import names_of
from analyzer.views.pieces import CachedView, pieces
from analyzer.views.run import SelectedRecords, ViewRun
from analyzer.views.statistics import STATISTICS, MessageEnds, StatisticCells, statistic_of
from analyzer.views.value_names import value_names

if TYPE_CHECKING:
    import pandas

PARTNER = "partner"
"""Name of the control view if columns are the rows at the other side of messages."""
_MOST = 10_000
_MOST_CELLS = 1 << 25
_USUAL = 20
_MOST_WHOLE = 512


@dataclass(frozen=True)
class Columns:
    """Columns of equal width: [minimum, minimum + width), and so on. The maximum belongs to the last column."""

    minimum: float
    maximum: float
    width: float

    def __post_init__(self) -> None:
        if not (all(map(isfinite, (self.minimum, self.maximum, self.width))) and self.width > 0):
            raise TracelibError("columns need a finite minimum and maximum and a width above 0", "", 2)
        if not 0 < self.count <= _MOST:
            raise TracelibError(f"{self.count} columns are not between 1 and {_MOST}", "give another width", 2)

    @property
    def count(self) -> int:
        """Number of columns from the minimum to the column that contains the maximum."""
        return floor((self.maximum - self.minimum) / self.width) + 1

    @property
    def edges(self) -> np.ndarray:
        """Lower edges of the columns, float64 of shape (count,)."""
        return self.minimum + self.width * np.arange(self.count)

    def column_numbers(self, values: np.ndarray) -> np.ndarray:
        """Return the number of the column that contains each value; -1: no column."""
        inside = (values >= self.minimum) & (values <= self.maximum)
        found = np.floor((np.where(inside, values, self.minimum) - self.minimum) / self.width).astype(np.int64)
        return np.where(inside, np.minimum(found, self.count - 1), -1)

    def labels(self, names: dict[int, str]) -> tuple[str, ...]:
        """Return a label for each column: the name of its value, its only value, or its range."""
        if self.width == 1 and float(self.minimum).is_integer():
            return tuple(names.get(int(edge), f"{int(edge)}") for edge in self.edges)
        return tuple(f"{edge:.5g} to {edge + self.width:.5g}" for edge in self.edges)


@dataclass(frozen=True)
class Histogram:
    """A statistic by plane, row and column.

    Attributes:
        values: float64 of shape (planes, rows, columns); NaN: not defined in this cell.
        edges: Lower edges of the columns.
        planes: Labels of the planes; one empty label if there is no third view.
    """

    statistic: str
    unit: str
    control: str
    data: str
    level: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    edges: np.ndarray
    planes: tuple[str, ...]  # one empty label if there is no third view
    values: np.ndarray

    def plane(self, number: int = 0) -> pandas.DataFrame:
        """Return one plane as a data frame of rows and columns."""
        import pandas

        index = pandas.Index(self.rows, name=self.level)
        return pandas.DataFrame(self.values[number], index, pandas.Index(self.columns, name=self.control))

    def only(self, shown: np.ndarray) -> Histogram:
        """Return the histogram with only the rows that a bool mask of shape (rows,) chooses."""
        return replace(self, rows=names_of(self.rows, shown), values=self.values[:, shown])

    def to_pandas(self) -> pandas.DataFrame:
        """Return all planes as one data frame. With several planes, the plane is the first level of the index."""
        import pandas

        if len(self.planes) == 1:
            return self.plane()
        frames = {name: self.plane(number) for number, name in enumerate(self.planes)}
        return pandas.concat(frames, names=["plane", self.level])

    def filled(self) -> Histogram:
        """Return the histogram without columns that are 0 or NaN everywhere.

        If values stand for names, most columns are.
        """
        used = ((self.values != 0) & ~np.isnan(self.values)).any(axis=(0, 1))
        kept = tuple(name for name, is_used in zip(self.columns, used.tolist(), strict=True) if is_used)
        return Histogram(
            self.statistic, self.unit, self.control, self.data, self.level, self.rows, kept, self.edges[used],
            self.planes, self.values[:, :, used],
        )  # fmt: skip

    def summary(self) -> dict[str, np.ndarray]:
        """Compute Paraver's summary of each plane and column, over the rows whose value is not 0.

        Returns:
            total, average, maximum, minimum, standard deviation and average / maximum, float64 of shape (planes,
            columns).
        """
        filled = np.where(np.isnan(self.values) | (self.values == 0), np.nan, self.values)
        count = (~np.isnan(filled)).sum(axis=1)
        total = np.nansum(filled, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = total / count
            spread = np.sqrt(np.nansum((filled - mean[:, None, :]) ** 2, axis=1) / count)
            highest = np.where(count, np.nanmax(np.where(np.isnan(filled), -inf, filled), axis=1), np.nan)
            lowest = np.where(count, np.nanmin(np.where(np.isnan(filled), inf, filled), axis=1), np.nan)
            return {
                "total": np.where(count, total, np.nan), "average": mean, "maximum": highest, "minimum": lowest,
                "standard deviation": spread, "average / maximum": mean / highest,
            }  # fmt: skip

    def _repr_html_(self) -> str:
        return f"<p>{self.statistic} of {self.data}</p>" + str(self.filled().to_pandas().to_html(border=0))


def histogram(
    control: Any, run: ViewRun, *, data: Any = None, statistic: str = "time", columns: Columns | None = None,
    plane: Any = None, planes: Columns | None = None, begin_ns: int = 0, end_ns: int | None = None,
    together: bool = False, joined: bool = True, partners: bool = False, lengths: tuple[float, float] = (0, inf),
    data_range: tuple[float, float] = (-inf, inf),
) -> Histogram:  # fmt: skip
    """Compute the histogram of a statistic over [begin_ns, end_ns) of the run.

    Args:
        control: The view whose values choose the column.
        run: The run.
        data: The view whose values are counted. None: the control view.
        statistic: Name of the statistic (analyzer.views.statistics.STATISTICS).
        columns: The columns. None: columns that fit all values.
        plane: The view whose values choose the plane. None: one plane.
        planes: The planes. None: planes that fit all values.
        begin_ns: Begin of the window in ns.
        end_ns: End of the window in ns. None: end of the run.
        together: True: one row for the whole run.
        joined: True: neighbouring pieces of a row with the same values are joined into one.
        partners: True: columns are the rows at the other side of messages, which count while the control view is in
            `columns`.
        lengths: Least and largest length in ns of a piece that counts.
        data_range: Least and largest value of the data view for a piece that counts.

    Raises:
        TracelibError: The views or the statistic do not fit together, or there are too many cells.
    """
    statistic = OURS.get(statistic, statistic)
    of_messages = statistic_of(statistic).messages
    if partners and not of_messages:
        raise TracelibError(f"{statistic!r} is no number of messages, which alone have partners", "", 2)
    end = run.trace.duration_ns if end_ns is None else min(end_ns, run.trace.duration_ns)
    control_steps = control if columns else CachedView(control)
    plane_steps = plane if planes or not plane else CachedView(plane)
    columns = columns or usual_columns(control_steps, run, begin_ns, end)
    planes = planes or (usual_columns(plane_steps, run, begin_ns, end) if plane else Columns(0, 0, 1))
    views = [control_steps, *([data] if data else []), *([plane_steps] if plane else [])]
    rows = max((view.rows(run) for view in views), key=len)
    of_row = np.zeros(len(rows), np.int64) if together else np.arange(len(rows))
    shown = len(rows) if partners else columns.count
    shape = planes.count, int(of_row.max(initial=0)) + 1, shown
    if shape[0] * shape[1] * shape[2] > _MOST_CELLS:
        said = f"{shape[0]} planes of {shape[1]} rows and {shape[2]} columns are too many"
        raise TracelibError(said, "give wider columns, a coarser level, or one row for all", 2)
    cells = StatisticCells(shape, end - begin_ns, of_messages=of_messages)
    ends = None
    if of_messages:
        wanted = getattr(data or control, "filter", None) or Filter()
        ends = MessageEnds(SelectedRecords(run, wanted), rows, begin_ns, end)
    for window, (found, points) in enumerate(pieces(views, run, rows, begin_ns, end, joined=joined)):
        value = found.values[:, 1 if data else 0]
        fits = (found.length >= lengths[0]) & (found.length <= lengths[1])
        fits &= (value >= data_range[0]) & (value <= data_range[1])
        where = _cell(found.values, columns, planes, plane=plane is not None)
        if not of_messages:
            cells.add(
                where[0][fits], of_row[found.row[fits]], where[1][fits], found.length[fits], found.values[fits, 0],
                value[fits],
            )  # fmt: skip
        elif ends and window < len(run.windows):
            for some in ends.of_next_window():
                at = _cell(points.values_at(some.row, some.time), columns, planes, plane=plane is not None)
                column = np.where(at[1] >= 0, some.partner, -1) if partners else at[1]
                cells.add_messages(at[0], of_row[some.row], column, some.size, is_send=some.is_send)
    names = value_names(control, run.trace)
    label = planes.labels(value_names(plane, run.trace)) if plane else ("",)
    unit = STATISTICS[statistic].unit.replace("value", (data or control).unit_of()).strip()
    return Histogram(
        statistic, unit, PARTNER if partners else control.name, (data or control).name, rows.level.value,
        ("all",) if together else rows.names, rows.names if partners else columns.labels(names),
        np.arange(shown) if partners else columns.edges, label, cells.values(statistic),
    )  # fmt: skip


def _cell(values: np.ndarray, columns: Columns, planes: Columns, *, plane: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return plane and column of each row of values; -1: none."""
    plane_numbers = planes.column_numbers(values[:, -1]) if plane else np.zeros(len(values), np.int64)
    return plane_numbers, columns.column_numbers(values[:, 0])


def usual_columns(view: Any, run: ViewRun, begin_ns: int, end_ns: int) -> Columns:
    """Return columns for all values of a view in [begin_ns, end_ns).

    If all values are whole numbers within a range below _MOST_WHOLE, each number has a column. Otherwise there are
    about _USUAL columns of a round width.
    """
    low, high, whole = inf, -inf, True
    for some in bursts(view, run, begin_ns, end_ns):
        if len(some.value):
            low, high = min(low, float(some.value.min())), max(high, float(some.value.max()))
            whole = whole and bool((some.value == np.rint(some.value)).all())
    if high < low:
        return Columns(0, 0, 1)
    if whole and high - low < _MOST_WHOLE:
        return Columns(low, high, 1)
    if high <= low:
        return Columns(low, high, 1)
    width = _round((high - low) / _USUAL)
    return Columns(floor(low / width) * width, high, width)


def together(every: Sequence[Columns]) -> Columns:
    """Return columns that cover all the given columns. The width is the largest of theirs, or larger."""
    low, high = min(one.minimum for one in every), max(one.maximum for one in every)
    width = max(one.width for one in every)
    if all(one.width == 1 for one in every) and high - low < _MOST_WHOLE:
        return Columns(low, high, 1)
    width = max(width, _round((high - low) / _USUAL)) if high > low else width
    return Columns(floor(low / width) * width, high, width)


def _round(width: float) -> float:
    """Round a width up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width)
