"""The values of a view over time, for lookups at any time, and of mean and extremes in any window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from analyzer.columns.rows import PIECE, Rows
from analyzer.columns.spill import Spill
from analyzer.live.axis import Axis
from analyzer.views.constant import ViewBursts

_BURST = np.dtype([("begin", "<i8"), ("end", "<i8"), ("value", "<f8")])
_TOGETHER = 16
"""Number of values that one entry of the next level of extremes summarizes."""


class StretchValues(NamedTuple):
    """Mean, least and largest value of rows in windows of time.

    Each is float64 of shape (rows, windows). NaN: no value is known in that window.
    """

    mean: np.ndarray
    least: np.ndarray
    most: np.ndarray


class BurstCourse:
    """Values over time of all rows of a view, in temporary files: 32 bytes per burst, one row after the other."""

    def __init__(self, every: Iterable[ViewBursts], rows: int, duration_ns: int) -> None:
        """Store the values of all rows of a view.

        Args:
            every: All values of a view, as bursts. The bursts of one row come in order of time.
            rows: Number of rows of the view.
            duration_ns: Length of the run in ns.
        """
        self.rows, self.duration_ns = rows, duration_ns
        aside = Spill(_BURST)
        for some in every:
            records = np.empty(len(some.row), _BURST)
            records["begin"], records["end"], records["value"] = some.begin, some.end, some.value
            aside.append_each(some.row, records)
        self._axis = Axis(duration_ns + 1)
        self._values, self._sums = Rows(np.dtype(np.float64)), Rows(np.dtype(np.float64))
        self._append(np.array([np.nan]))  # of the interval before all others that an axis has
        for row in range(rows):
            self._put(row, aside.read(row))
        aside.close()
        self._axis.close()
        self._extremes = [_levels(self._values, of) for of in (np.fmin, np.fmax)]

    def _append(self, values: np.ndarray, lengths: np.ndarray | int = 0) -> None:
        """Append values and, for each, the sum of value times length before it. The sums begin anew in each row.

        A sum over all rows would lose digits.
        """
        areas = np.nan_to_num(values) * lengths
        self._values.append(values)
        self._sums.append(np.append(0.0, np.cumsum(areas))[: len(areas)])

    def _put(self, row: int, found: np.ndarray) -> None:
        """Append the bursts of a row. A gap, where no value is known, becomes a NaN of length 0."""
        ends = np.append(0, found["end"])
        gaps = np.flatnonzero(np.append(found["begin"], self.duration_ns) > ends)
        begin = np.insert(found["begin"], gaps, ends[gaps])
        value = np.insert(found["value"], gaps, np.nan)
        length = np.insert(found["end"] - found["begin"], gaps, 0)
        self._axis.append(np.full(len(begin), row), begin, length)
        self._append(value, length)

    def __len__(self) -> int:
        return len(self._axis)

    def stretches(self, rows: np.ndarray, edges: np.ndarray) -> StretchValues:
        """Return mean, least and largest value of rows in each window between neighbouring edges.

        A mean covers only the time in which a value is known.

        Args:
            rows: Numbers of rows, of shape (rows,).
            edges: Increasing times in ns, of shape (edges,).
        """
        edges = np.clip(edges, 0, self.duration_ns)
        places = self._axis.places(rows, edges)
        first, last = self._axis.index_at(places[:, :-1]), self._axis.index_at(places[:, 1:] - 1)
        known, empty = self._axis.times(rows, edges), np.diff(edges) < 1
        areas = self._area(first, places[:, :-1]), self._area(last, places[:, 1:])
        inner = last > first  # more than one burst; else the mean is the value, to its last digit
        least, most = (self._extreme(k, first, np.maximum(first, last)) for k in (0, 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.clip((areas[1] - areas[0]) / known, least, most)
        mean = np.where(inner, mean, self._values.mapped()[first])
        return StretchValues(*(np.where(empty | (known == 0), np.nan, of) for of in (mean, least, most)))

    def _area(self, at: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the integral of the value (value times ns) from the begin of the row to each place."""
        return self._sums.mapped()[at] + np.nan_to_num(self._values.mapped()[at]) * (places - self._axis.begins[at])

    def _extreme(self, which: int, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the least (which = 0) or the largest (which = 1) of the values first to last.

        Values at the edges, which do not fill a group, are read on this level. The full groups between are read on the
        level above, where one entry summarizes a group.
        """
        of, levels = (np.fmin, np.fmax)[which], self._extremes[which]
        low, high = first.ravel(), last.ravel() + 1
        found = np.full(len(low), np.nan)
        for number, level in enumerate(levels):
            values, top = level.mapped(), number == len(levels) - 1
            if top or (high - low).max(initial=0) <= _TOGETHER:
                found = of(found, _reduced(of, values, low, high))
                break
            up_low, up_high = -(-low // _TOGETHER), high // _TOGETHER
            inside = up_low < up_high
            found = of(found, _reduced(of, values, low, np.where(inside, up_low * _TOGETHER, low)))
            found = of(found, _reduced(of, values, np.where(inside, up_high * _TOGETHER, high), high))
            between = np.flatnonzero(~inside & (high > low))
            found[between] = of(found[between], _reduced(of, values, low[between], high[between]))
            low, high = np.where(inside, up_low, 0), np.where(inside, up_high, 0)
        return found.reshape(first.shape)

    def value_at(self, row: int, time: int) -> tuple[float, int, int]:
        """Return the value of a row at a time (ns), and begin and end in ns of the burst that has this value."""
        begins = self._axis.begins
        at = int(self._axis.index_at(np.array([row * self._axis.length_ns + min(time, self.duration_ns - 1)]))[0])
        here = row * self._axis.length_ns
        end = int(begins[at + 1]) - here if at + 1 < len(begins) else self.duration_ns
        return float(self._values.mapped()[at]), int(begins[at]) - here, min(end, self.duration_ns)

    def pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield row, begin (ns), length (ns) and value of the bursts, ordered by row and begin.

        Each of the four is an array of shape (bursts,) for a piece of at most PIECE bursts.
        """
        begins, before, values = self._axis.begins, self._axis.before, self._values.mapped()
        for low, high in pairwise([*range(1, len(self) + 1, PIECE), len(self) + 1]):
            row = begins[low:high] // self._axis.length_ns
            length = np.diff(before[low : high + 1])
            yield row, begins[low:high] - row * self._axis.length_ns, length, values[low:high]


def _levels(values: Rows, of: np.ufunc) -> list[Rows]:
    """Build the levels of extremes.

    Level 0 is the values; each next level has the extreme of each _TOGETHER entries.
    """
    found = [values]
    while len(found[-1]) > _TOGETHER:
        below = found[-1].mapped()
        found.append(Rows.from_array(of.reduceat(below, np.arange(0, len(below), _TOGETHER))))
    return found


def _reduced(of: np.ufunc, values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Reduce the values [low, high) of each range with `of`. NaN: the range is empty.

    A range has fewer than 2 * _TOGETHER values.
    """
    steps = np.arange(min(int((high - low).max(initial=0)), 2 * _TOGETHER))
    if not len(steps):
        return np.full(len(low), np.nan)
    index = np.minimum(low[:, None] + steps, np.maximum(high - 1, 0)[:, None])
    return np.where(high > low, of.reduce(values[index], axis=1), np.nan)
