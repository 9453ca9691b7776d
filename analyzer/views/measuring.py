"""Measures of each row of a view over a window of time, as Paraver's analyzer computes them.

Source: "Dimemas specification", section 1.16.2, "Analyzer"; F23 to F26. Two formulas are corrected: the standard
deviation (F25; the printed formula lacks 1/n), and the average message size, which is divided by the number of
messages, not by time.

Records count as in that section: a state has two records (in the second, begin and end are exchanged), an event one, a
message four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.views.constant import ViewBursts, bursts
from analyzer.views.filters import Filter
from analyzer.views.function import Function
from analyzer.views.lanes import ViewRows, names_of
from analyzer.views.run import SelectedRecords, ViewRun
from analyzer.views.thread.messages import DESTINATION, SOURCE, lane_of

if TYPE_CHECKING:
    import pandas


ENDS = (
    ("logical send", SOURCE), ("physical send", SOURCE),
    ("logical receive", DESTINATION), ("physical receive", DESTINATION),
)  # fmt: skip
"""Kinds of the four records of a message, and the side (source or destination) to which each belongs."""


def message_records(selected: SelectedRecords, begin: int, end: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield kind, lanes and messages (MESSAGE) of the records of messages in [begin, end) ns.

    The kinds are the names in ENDS. In addition "send" and "receive" are whole messages at the times that the filter
    chooses.
    """
    for rows in selected.messages():
        sent, received = selected.message_times(rows)
        for kind, side, time in (
            *((kind, side, rows[kind.replace(" ", "_")]) for kind, side in ENDS),
            ("send", SOURCE, sent), ("receive", DESTINATION, received),
        ):  # fmt: skip
            lane = lane_of(selected, rows, side)
            keep = (lane >= 0) & (time >= begin) & (time < end)
            yield kind, lane[keep], rows.compress(keep)


def message_sums(selected: SelectedRecords, rows: ViewRows, begin: int, end: int) -> dict[str, np.ndarray]:
    """Sum up all measures of OF_MESSAGES in [begin, end) ns.

    Returns:
        float64 of shape (rows,) by name of the measure.
    """
    kinds = (*(kind for kind, _ in ENDS), "send", "receive")
    number, size = ({kind: np.zeros(len(rows)) for kind in kinds} for _ in range(2))
    for kind, lane, messages in message_records(selected, begin, end):
        row = rows.of_lane[lane]
        number[kind] += np.bincount(row, minlength=len(rows))
        size[kind] += np.bincount(row, messages["size"], len(rows))
    events = np.zeros(len(rows))
    for lane, found in selected.events():
        inside = (found["time"] >= begin) & (found["time"] < end)
        events += np.bincount(rows.of_lane[lane[inside]], minlength=len(rows))
    sends = number["logical send"]
    average = np.where(sends > 0, size["logical send"] / np.maximum(sends, 1), np.nan)
    return {
        "average message size": average,
        "bytes sent": size["send"],
        "bytes received": size["receive"],
        "sends": number["send"],
        "receives": number["receive"],
        "send records": number["logical send"] + number["physical send"],
        "receive records": number["logical receive"] + number["physical receive"],
        "events": events,
    }


def user_sums(
    selected: SelectedRecords, rows: ViewRows, function: Callable[[str, np.ndarray], Any], begin: int, end: int
) -> np.ndarray:
    """Sum up a user's function of records for each row, in [begin, end) ns.

    Args:
        selected: The records.
        rows: Rows of the view.
        function: Gets a kind ("state begin", "state end", "event", "logical send", ...) and records of this kind
            (STATE, EVENT, MESSAGE). It returns a number for each record.
        begin: Begin of the window in ns.
        end: End of the window in ns.

    Returns:
        float64 of shape (rows,).
    """
    found = np.zeros(len(rows))

    def add(kind: str, lane: np.ndarray, records: np.ndarray) -> None:
        if len(records):
            values = np.broadcast_to(np.asarray(function(kind, records), np.float64), (len(records),))
            found[:] += np.bincount(rows.of_lane[lane], values, len(rows))

    for lane, states in selected.states():
        exchanged = states.copy()
        exchanged["begin"], exchanged["end"] = states["end"], states["begin"]
        for kind, records in (("state begin", states), ("state end", exchanged)):
            inside = (records["begin"] >= begin) & (records["begin"] < end + (kind == "state end"))
            add(kind, lane[inside], records.compress(inside))
    for lane, events in selected.events():
        inside = (events["time"] >= begin) & (events["time"] < end)
        add("event", lane[inside], events.compress(inside))
    for kind, lane, messages in message_records(selected, begin, end):
        if kind in dict(ENDS):
            add(kind, lane, messages)
    return found


NS = 1e9


@dataclass(frozen=True)
class MeasureLimits:
    """Limits of the bursts that count, both ends included: their values, and their lengths in ns."""

    values: tuple[float, float] = (-inf, inf)
    lengths: tuple[float, float] = (0, inf)


class MeasureSums:
    """Sums over the bursts of each row, from which OF_BURSTS computes measures."""

    def __init__(self, rows: int, limits: MeasureLimits) -> None:
        self._limits = limits
        self.time, self.integral, self.ranged = np.zeros((3, rows))
        self.count, self.mean, self.squares = np.zeros((3, rows))  # lengths of whole bursts above 0
        self.highest, self.lowest = np.full(rows, -inf), np.full(rows, inf)

    def add(self, some: ViewBursts) -> None:
        """Add bursts to the sums of their rows."""
        rows, length = len(self.time), (some.end - some.begin).astype(np.float64)
        self.time += np.bincount(some.row, length, rows)
        self.integral += np.bincount(some.row, length * some.value, rows)
        (low, high), (short, long) = self._limits.values, self._limits.lengths
        fits = (length >= short) & (length <= long)
        inside = fits & (some.value >= low) & (some.value <= high)
        self.ranged += np.bincount(some.row[inside], length[inside], rows)
        np.maximum.at(self.highest, some.row, some.value)
        np.minimum.at(self.lowest, some.row, some.value)
        counted = fits & some.whole & (some.value > 0)
        self._spread(some.row[counted], length[counted])

    def _spread(self, row: np.ndarray, length: np.ndarray) -> None:
        """Update number, mean and sum of squared deviations of lengths with new bursts (Chan et al. 1979)."""
        rows = len(self.time)
        count = np.bincount(row, minlength=rows)
        mean = np.bincount(row, length, rows) / np.maximum(count, 1)
        squares = np.bincount(row, (length - mean[row]) ** 2, rows)
        both = self.count + count
        apart = mean - self.mean
        share = count / np.maximum(both, 1)
        self.squares += np.where(count > 0, squares + apart**2 * self.count * share, 0.0)
        self.mean += np.where(count > 0, apart * share, 0.0)
        self.count = both


def _where(counted: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.where(counted > 0, values, np.nan)


OF_BURSTS: dict[str, tuple[Callable[[MeasureSums], np.ndarray], str]] = {
    "average value": (lambda sums: _where(sums.time, sums.integral / np.maximum(sums.time, 1)), "value"),
    "time with value": (lambda sums: sums.ranged / NS, "s"),
    "integral": (lambda sums: sums.integral / NS, "value s"),
    "maximum": (lambda sums: _where(sums.time, sums.highest), "value"),
    "minimum": (lambda sums: _where(sums.time, sums.lowest), "value"),
    "bursts": (lambda sums: sums.count, ""),
    "average burst": (lambda sums: _where(sums.count, sums.mean / NS), "s"),
    "deviation of bursts": (
        lambda sums: _where(sums.count, np.sqrt(sums.squares / np.maximum(sums.count, 1)) / NS), "s",
    ),
}  # fmt: skip
"""Measures of bursts by name: function of MeasureSums, and unit; "value" stands for the unit of the view.

The numbers of bursts, and their lengths, cover only whole bursts with values above 0 and lengths within
`MeasureLimits.lengths`, which drops outliers.
"""

OF_MESSAGES: dict[str, str] = {
    "average message size": "bytes",
    "bytes sent": "bytes",
    "bytes received": "bytes",
    "sends": "",
    "receives": "",
    "send records": "",
    "receive records": "",
    "events": "",
}
"""Units of the measures of messages, by name.

"sends" and "receives" are messages, at the times that the filter chooses. "send records" and "receive records" count
the logical and the physical record of each message, as Paraver does.
"""

USUAL = ("average value", "maximum", "minimum", "bursts", "average burst")
MEASURES = (*OF_BURSTS, *OF_MESSAGES)


@dataclass(frozen=True)
class Measures:
    """Table of measures: a row for each row of a view, a column for each measure."""

    view: str
    level: str
    rows: tuple[str, ...]
    columns: dict[str, np.ndarray]  # float64 (rows,); NaN: not defined
    units: dict[str, str]
    begin_ns: int
    end_ns: int

    def only(self, shown: np.ndarray) -> Measures:
        """Return the table with only the rows that a bool mask of shape (rows,) chooses."""
        columns = {name: values[shown] for name, values in self.columns.items()}
        return replace(self, rows=names_of(self.rows, shown), columns=columns)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame. The names of columns contain the units."""
        import pandas

        return pandas.DataFrame(self.named(), index=pandas.Index(self.rows, name=self.level))

    def named(self) -> dict[str, np.ndarray]:
        """Return the columns by name and unit, such as "average burst (s)"."""
        return {
            f"{name} ({self.units[name]})" if self.units[name] else name: column
            for name, column in self.columns.items()
        }

    def _repr_html_(self) -> str:
        return str(self.to_pandas().to_html(border=0))


def measures(
    view: Any, run: ViewRun, names: Iterable[Any] = USUAL, *, begin_ns: int = 0, end_ns: int | None = None,
    limits: MeasureLimits | None = None,
) -> Measures:  # fmt: skip
    """Compute measures of each row of a view in [begin_ns, end_ns) of the run.

    Args:
        view: A View or a Derived.
        run: The run.
        names: Names from MEASURES, or user's functions of records, whose values are summed up (see `user_sums`).
        begin_ns: Begin of the window in ns.
        end_ns: End of the window in ns. None: end of the run.
        limits: Bursts that count. None: all.

    Raises:
        TracelibError: There is no such measure, or the window is empty.
    """
    wanted = [Function.parse(name) for name in names]
    end = run.trace.duration_ns if end_ns is None else min(end_ns, run.trace.duration_ns)
    for one in wanted:
        if not one.user:
            one.found({name: name for name in MEASURES}, "measure")
    if begin_ns >= end and run.trace.duration_ns:
        raise TracelibError(f"{run.trace.path}: nothing lies from {begin_ns} ns to {end} ns", "", 2)
    rows = view.rows(run)
    columns, units = dict[str, np.ndarray](), dict[str, str]()
    selected = SelectedRecords(run, getattr(view, "filter", Filter()))
    if any(one.name in OF_BURSTS and not one.user for one in wanted):
        sums = MeasureSums(len(rows), limits or MeasureLimits())
        for some in bursts(view, run, begin_ns, end):
            sums.add(some)
    counted = None
    for one in wanted:
        if one.user:
            columns[one.name], units[one.name] = user_sums(selected, rows, one.user, begin_ns, end), ""
        elif one.name in OF_BURSTS:
            compute, unit = OF_BURSTS[one.name]
            columns[one.name], units[one.name] = compute(sums), unit.replace("value", view.unit_of()).strip()
        else:
            counted = counted or message_sums(selected, rows, begin_ns, end)
            columns[one.name], units[one.name] = counted[one.name], OF_MESSAGES[one.name]
    return Measures(view.name, rows.level.value, rows.names, columns, units, begin_ns, end)
