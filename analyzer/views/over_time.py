"""Profile of a view: its values in equal bins of time, for pictures and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.views.constant import ViewBursts, bursts
from analyzer.views.lanes import names_of
from analyzer.views.run import ViewRun
from analyzer.views.value_names import value_names

if TYPE_CHECKING:
    import pandas

_MOST_CELLS = 1 << 26
NS = 1e9


@dataclass(frozen=True)
class ViewProfile:
    """Values of each row of a view in bins of time. The last bin may be shorter.

    Attributes:
        mean, maximum, minimum, longest: float64 of shape (rows, bins); NaN: no value. `longest` is the value that holds
            longest without change in the bin.
    """

    view: str
    unit: str
    level: str
    rows: tuple[str, ...]
    edges: np.ndarray  # int64 (bins + 1,), ns
    mean: np.ndarray  # weighted by time
    maximum: np.ndarray
    minimum: np.ndarray
    longest: np.ndarray  # value of the burst that covers most of the bin
    names: dict[int, str]  # names of values; empty: values are numbers

    def only(self, shown: np.ndarray) -> ViewProfile:
        """Return the profile with only the rows that a bool mask of shape (rows,) chooses."""
        values = {name: getattr(self, name)[shown] for name in ("mean", "maximum", "minimum", "longest")}
        return replace(self, rows=names_of(self.rows, shown), **values)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of the means.

        Its rows are bins, by their begin in seconds; its columns are rows of the view.
        """
        import pandas

        return pandas.DataFrame(
            self.mean.T, pandas.Index(self.edges[:-1] / NS, name="begin_s"), pandas.Index(self.rows, name=self.level)
        )

    def _repr_html_(self) -> str:
        unit = f" ({self.unit})" if self.unit else ""
        return f"<p>{self.view}{unit}</p>" + str(self.to_pandas().to_html(border=0, max_rows=20))


def profile(
    view: Any,
    run: ViewRun,
    bins: int = 100,
    *,
    begin_ns: int = 0,
    end_ns: int | None = None,
    width_ns: int | None = None,
) -> ViewProfile:
    """Compute a view over [begin_ns, end_ns) of the run in equal bins.

    Args:
        view: A View or a Derived.
        run: The run.
        bins: Largest number of bins.
        begin_ns: Begin of the window in ns.
        end_ns: End of the window in ns. None: end of the run.
        width_ns: Width of a bin in ns. None: by the number of bins.

    Raises:
        TracelibError: Rows times bins are too many (more than _MOST_CELLS).
    """
    end = run.trace.duration_ns if end_ns is None else min(end_ns, run.trace.duration_ns)
    rows = view.rows(run)
    width = width_ns or max(-(-(end - begin_ns) // max(bins, 1)), 1)
    count = max(-(-(end - begin_ns) // width), 1)
    if len(rows) * count > _MOST_CELLS:
        raise TracelibError(
            f"{len(rows)} rows in {count} bins are too many", "ask for fewer bins, or a coarser level", 2
        )
    edges = np.minimum(begin_ns + np.arange(count + 1) * width, max(end, begin_ns))
    table = _Table(len(rows), edges, width)
    for some in bursts(view, run, begin_ns, end):
        table.add(some)
    shape = (len(rows), count)
    filled = table.time > 0
    mean = np.where(filled, table.integral / np.maximum(table.time, 1), np.nan)
    highest, lowest = (np.where(filled, of, np.nan) for of in (table.highest, table.lowest))
    longest = np.where(filled, table.longest, np.nan)
    return ViewProfile(
        view.name, view.unit_of(), rows.level.value, rows.names, edges, mean.reshape(shape), highest.reshape(shape),
        lowest.reshape(shape), longest.reshape(shape), value_names(view, run.trace),
    )  # fmt: skip


class _Table:
    """Sums over the cells of rows and bins, stored row after row."""

    def __init__(self, rows: int, edges: np.ndarray, width: int) -> None:
        self._edges, self._width, self._bins = edges, width, len(edges) - 1
        size = rows * self._bins
        self.time, self.integral, self.longest, self._length = np.zeros((4, size))
        self.highest, self.lowest = np.full(size, -inf), np.full(size, inf)

    def add(self, some: ViewBursts) -> None:
        """Add bursts, each cut at the edges of bins."""
        first = (some.begin - self._edges[0]) // self._width
        count = (some.end - 1 - self._edges[0]) // self._width - first + 1
        of = np.repeat(np.arange(len(count)), count)
        number = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + first[of]
        length = np.minimum(some.end[of], self._edges[number + 1]) - np.maximum(some.begin[of], self._edges[number])
        at, value = some.row[of] * self._bins + number, some.value[of]
        low = int(at.min(initial=0))  # bursts come in order of time, so they fill few cells
        size = int(at.max(initial=0)) - low + 1
        here, near = slice(low, low + size), at - low
        self.time[here] += np.bincount(near, length, size)
        self.integral[here] += np.bincount(near, length * value, size)
        np.maximum.at(self.highest, at, value)
        np.minimum.at(self.lowest, at, value)
        self._longest(at, length, value)

    def _longest(self, at: np.ndarray, length: np.ndarray, value: np.ndarray) -> None:
        longer = length > self._length[at]
        at, length, value = at[longer], length[longer], value[longer]
        order = np.argsort(length, kind="stable")
        self.longest[at[order]], self._length[at[order]] = value[order], length[order]
