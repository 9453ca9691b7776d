"""Views of a run (analyzer.views) at any zoom.

A view of numbers is drawn by mean and extremes, a view of names by shares of time. The user's views and the library's
views may be drawn, each by its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from analyzer.errors import TracelibError
from analyzer.live.axis import Axis
from analyzer.live.course import BurstCourse
from analyzer.live.rows import RowSet, present_ranks
from analyzer.live.search import MarkedIntervals
from analyzer.live.tiles import BINS, BLOCK, STEPS, TileCache
from analyzer.views.constant import bursts
from analyzer.views.filters import Numbers
from analyzer.views.lanes import Level
from analyzer.views.run import ViewRun
from analyzer.views.value_names import value_names
from analyzer.views.view import View
from analyzer.views.view_file import ViewFile, find_view, library
from analyzer.waits.threads import Lanes

MOST_COLOURS = 14
"""Number of named values that get a colour of their own. All other values share one colour, OTHERS."""
OTHERS = "others"
_STRETCHES = 400
_CHOICES = 8
_ROWS = 64


class DrawnTile(NamedTuple):
    """Key of a tile of a drawn view.

    Attributes:
        ranks: The ranks whose rows are drawn, as text such as "0-63,1000".
        level, stretch, block: Zoom level, number of the stretch of time and number of the block of rows, as in
            analyzer.live.tiles.
    """

    ranks: str
    level: int
    stretch: int
    block: int


class ChosenRows(NamedTuple):
    """Rows of a view that show some of the ranks.

    Attributes:
        rows: The threads of each row.
        numbers: The number of each row in the view, int64 of shape (rows,).
    """

    rows: RowSet
    numbers: np.ndarray  # int64 (rows,)


class DrawnMeasure(NamedTuple):
    """Values of a view in one window of time.

    Attributes:
        mean, least, most: float64 of shape (rows,); NaN: no value is known.
        seconds: Time in seconds in which a row has each coloured value, float64 of shape (rows, colours); 0 colours for
            a view of numbers.
    """

    mean: np.ndarray
    least: np.ndarray
    most: np.ndarray
    seconds: (
        np.ndarray
    )  # float64 (rows, colours): that a row has each of the values with a colour; (rows, 0) of numbers


class DrawnViews:
    """One view of one run, ready to be drawn at any zoom. Its values are in temporary files."""

    def __init__(self, file: ViewFile, run: ViewRun, lanes: Lanes) -> None:
        """Compute the bursts of the view for the rows that are shown.

        Args:
            file: The view, and which of its rows are shown.
            run: The run as views read it.
            lanes: Lanes of the live view.

        Raises:
            TracelibError: The run does not have what the view looks at.
        """
        view = file.view
        rows = view.rows(run)
        self._shown = np.ones(len(rows), bool) if file.objects is None else file.objects.shown(run.lanes, rows.level)
        if not self._shown.any():
            raise TracelibError(f"{view.name}: its window selects no {rows.level} of this run")
        self.name, self.unit, self.level = view.name, view.unit_of(), rows.level.value
        self._trace = run.trace
        self._rows = _row_set(rows.names, rows.of_lane, lanes.lane_numbers(run.lanes.rank, run.lanes.thread), lanes)
        self.course = BurstCourse(bursts(view, run), len(rows), run.trace.duration_ns)
        self._names = value_names(view, run.trace)
        self.is_named = bool(self._names)  # values stand for something: calls, states, regions
        self.colours = self._colours() if self.is_named else ()
        self.chosen = lru_cache(_CHOICES)(self._chosen)
        self.hits = lru_cache(_CHOICES)(self._hits)
        self.tile = TileCache(self._tile).get

    def _colours(self) -> tuple[str, ...]:
        """Choose the named values that take most time, store their intervals, and return their names.

        The MOST_COLOURS longest get a colour each, the rest share OTHERS. The value 0 stands for nothing and gets no
        colour.
        """
        values, times = self._times_of_values()
        order = np.argsort(-times, kind="stable")
        order = order[(values[order] != 0) & (times[order] > 0)]
        own, rest = values[order[:MOST_COLOURS]], values[order[MOST_COLOURS:]]
        self._axes = [Axis(self.course.duration_ns + 1) for _ in range(len(own) + bool(len(rest)))]
        for row, begin, length, value in self.course.pieces():
            for k, axis in enumerate(self._axes):
                here = (value == own[k]) if k < len(own) else np.isin(value, rest)
                axis.append(row[here], begin[here], length[here])
        for axis in self._axes:
            axis.close()
        named = [
            self._names.get(int(value), f"{value:g}") if value == int(value) else f"{value:g}" for value in own.tolist()
        ]
        return (*named, *([OTHERS] if len(rest) else []))

    def _times_of_values(self) -> tuple[np.ndarray, np.ndarray]:
        values: np.ndarray = np.zeros(0)
        times: np.ndarray = np.zeros(0)
        for _, _, length, value in self.course.pieces():
            known = ~np.isnan(value)
            every = np.concatenate([values, value[known]])
            values, which = np.unique(every, return_inverse=True)
            times = np.bincount(which, np.concatenate([times, length[known]]), len(values))
        return values, times

    def _chosen(self, ranks: str) -> ChosenRows:
        """Return the rows that contain at least one of the ranks `ranks` ("0-63,1000"; "": all ranks).

        Raises:
            TracelibError: `ranks` is not a list of ranks.
        """
        wanted = np.zeros(self._trace.size, bool)
        wanted[present_ranks(self._trace, ranks)] = True
        of_row = np.repeat(np.arange(len(self._rows)), self._rows.threads)
        numbers = np.unique(of_row[wanted[self._lane_rank]])
        numbers = numbers[self._shown[numbers]]
        parts = [self._rows.lanes[self._rows.first[row] : self._rows.first[row + 1]] for row in numbers.tolist()]
        lanes = np.concatenate([np.zeros(0, np.int64), *parts])
        first = np.append(0, np.cumsum([len(part) for part in parts])).astype(np.int64)
        place = np.full(len(self._rows) + 1, -1, np.int64)
        place[numbers] = np.arange(len(numbers))
        names = tuple(self._rows.names[row] for row in numbers.tolist())
        return ChosenRows(RowSet(names, lanes, first, self._rows.rank[numbers], place[self._rows.of_rank]), numbers)

    @cached_property
    def _lane_rank(self) -> np.ndarray:
        return np.repeat(np.arange(self._trace.size), self._trace.threads)[self._rows.lanes]

    def _hits(self, wanted: str) -> MarkedIntervals:
        """Find the bursts whose value matches `wanted`; the lanes of the result are numbers of rows of the view.

        `wanted` is a regular expression for names, or ranges of numbers for a view of numbers.

        Raises:
            TracelibError: `wanted` is neither.
        """
        matches = self._matching(wanted)
        found = MarkedIntervals(self.course.duration_ns)
        for row, begin, length, value in self.course.pieces():
            here = matches(value) & (length > 0)
            found.append(row[here], begin[here], length[here], np.zeros(int(here.sum()), np.int64))
        found.close()
        return found

    def _matching(self, wanted: str) -> Any:
        if not self.is_named:
            return Numbers.parse(wanted).matches
        try:
            pattern = re.compile(wanted, re.IGNORECASE)
        except re.error as error:
            raise TracelibError(f"{wanted!r} is not a regular expression: {error}") from None
        fits = np.array([value for value, name in self._names.items() if pattern.search(name)], np.float64)
        return lambda values: np.isin(values, fits)

    def value_name(self, value: float) -> str:
        """Return the name that a value stands for. "": the value is a plain number."""
        return self._names.get(int(value), "") if value.is_integer() else ""

    def measured(self, ranks: str, begin: int, end: int) -> DrawnMeasure:
        """Measure the window [begin, end) ns for the rows that contain at least one of `ranks` ("": all ranks)."""
        numbers, edges = self.chosen(ranks).numbers, np.array([begin, end])
        found = self.course.stretches(numbers, edges)
        seconds = [axis.times(numbers, edges)[:, 0] / 1e9 for axis in self._axes] if self.is_named else []
        table = np.stack(seconds, axis=1) if seconds else np.zeros((len(numbers), 0))
        return DrawnMeasure(found.mean[:, 0], found.least[:, 0], found.most[:, 0], table)

    def overview(self, ranks: str) -> np.ndarray:
        """Summarize all rows that contain at least one of `ranks` in _STRETCHES equal stretches of the run.

        Returns:
            For a view of numbers the mean over the rows, float64 of shape (1, stretches). For a view of names the share
            of time of each coloured value, float64 of shape (colours, stretches).
        """
        edges = np.linspace(0, self.course.duration_ns, _STRETCHES + 1).astype(np.int64)
        numbers = self.chosen(ranks).numbers
        sums = np.zeros((len(self.colours) or 1, _STRETCHES))
        for first in range(0, len(numbers), _ROWS):
            some = numbers[first : first + _ROWS]
            if self.is_named:
                for k, axis in enumerate(self._axes):
                    sums[k] += axis.times(some, edges).sum(axis=0)
            else:
                sums[0] += np.nan_to_num(self.course.stretches(some, edges).mean).sum(axis=0)
        whole = np.maximum(np.diff(edges), 1) if self.is_named else 1
        return sums / (max(len(numbers), 1) * whole)

    @cached_property
    def scale(self) -> tuple[float, float, float]:
        """Range of a view of numbers: least value, largest value, and the largest mean of a row in a stretch.

        The run is cut into _STRETCHES equal stretches. All are 0 if no value is known.
        """
        least, most, peak = np.inf, -np.inf, -np.inf
        edges = np.linspace(0, self.course.duration_ns, _STRETCHES + 1).astype(np.int64)
        rows = np.flatnonzero(self._shown)
        for first in range(0, len(rows), _ROWS):
            found = self.course.stretches(rows[first : first + _ROWS], edges)
            known = np.isfinite(found.mean)
            least = min(least, float(found.least[known].min(initial=np.inf)))
            most = max(most, float(found.most[known].max(initial=-np.inf)))
            peak = max(peak, float(found.mean[known].max(initial=-np.inf)))
        return (least, most, peak) if most >= least else (0.0, 0.0, 0.0)

    def _tile(self, tile: DrawnTile) -> bytes:
        """Compute the cells of a tile and return them as bytes.

        A view of numbers: mean, least and largest value, float32 of shape (rows, BINS, 3); NaN: no value is known. A
        view of names: shares of time in steps of 1 / STEPS, uint8 of shape (rows, BINS, colours).
        """
        numbers = self.chosen(tile.ranks).numbers[tile.block * BLOCK : (tile.block + 1) * BLOCK]
        edges = (np.arange(BINS + 1, dtype=np.int64) + tile.stretch * BINS) << tile.level
        if not self.is_named:
            return np.stack(self.course.stretches(numbers, edges), axis=-1).astype("<f4").tobytes()
        if not self._axes:
            return b""
        lengths = np.diff(edges.clip(max=self.course.duration_ns)).clip(1)
        below = np.cumsum([axis.times(numbers, edges) for axis in self._axes], axis=0) / lengths
        steps = np.rint(np.minimum(below, 1.0) * STEPS).astype(np.int64)  # of sums: rounding does not add up
        cells = np.diff(steps, axis=0, prepend=0).astype(np.uint8)
        return np.ascontiguousarray(np.moveaxis(cells, 0, -1)).tobytes()


def _row_set(names: tuple[str, ...], of_lane: np.ndarray, lane: np.ndarray, lanes: Lanes) -> RowSet:
    """Build a set of rows from threads of the run: lane `lane[k]` belongs to row `of_lane[k]`."""
    order = np.argsort(of_lane, kind="stable")
    first = np.searchsorted(of_lane[order], np.arange(len(names) + 1)).astype(np.int64)
    every = lane[order]
    of_rank = np.full(int(lanes.rank.max(initial=-1)) + 1, -1, np.int64)
    of_rank[lanes.rank[lane][::-1]] = of_lane[::-1]  # of several rows the first
    return RowSet(names, every, first, lanes.rank[every[first[:-1]]], of_rank)


def listed_name(name: str) -> str:
    """Return the name under which a view is listed. Names of library views may be given with hyphens for blanks."""
    spaced = name.lower().replace("-", " ")
    return spaced if spaced in library() else name


class ViewChoice:
    """The views that a page may draw, by name.

    A page can only name a view, so it cannot make the server read a file.
    """

    def __init__(self, given: Mapping[str, ViewFile] | None = None) -> None:
        """Offer the library's views and the given views. A given view hides the library view of the same name."""
        self._given = dict(given or {})
        self._library = library()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all views; the given views come first."""
        return (*self._given, *(name for name in self._library if name not in self._given))

    def find(self, name: str, level: str = "") -> ViewFile:
        """Find a view by name.

        Args:
            name: One of `names`.
            level: The level of the rows, such as "node". "": the view's own level.

        Raises:
            TracelibError: There is no such view, or its level cannot be chosen.
        """
        if name not in self.names:
            raise TracelibError(f"there is no view {name!r} here", f"there are {', '.join(self.names)}", 2)
        found = self._given[name] if name in self._given else find_view(name)
        if not level:
            return found
        if not isinstance(found.view, View):
            raise TracelibError(f"{name}: its level is that of the views that it is made of", "", 2)
        return replace(found, view=replace(found.view, level=level))

    def levels(self, name: str) -> tuple[str, ...]:
        """Return the levels on which a view may be drawn.

        Empty: the view is composed of others, which fix the level.
        """
        return tuple(level.value for level in Level) if isinstance(self.find(name).view, View) else ()
