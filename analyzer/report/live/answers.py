"""Answers of the live view's server: the requests by name, and the data or bytes that answer each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.live.drawn_views import DrawnTile, DrawnViews, ViewChoice
from analyzer.live.interval_numbers import numbers
from analyzer.live.marks import edges_of
from analyzer.live.messages import MOST, MessageLines
from analyzer.live.rows import RowGrouping, RowSet
from analyzer.live.run import LiveRun
from analyzer.live.search import MarkedIntervals
from analyzer.live.selection import STATES, DrawRequest, Viewport, view_of
from analyzer.live.session import RunReading, RunSession
from analyzer.live.tiles import BINS, BLOCK, MOST_LEVELS, Tile
from analyzer.report.live.numbers import numbers_json
from analyzer.report.snapshot import moment_at
from analyzer.report.views.tables import plain
from analyzer.report.words import units
from analyzer.timeline import NAMES

Query = Mapping[str, str]

_MOST_STRIPS = 2000
"""Largest number of strips of a window in which messages and hits are counted."""
_LARGEST = 2**62
_OF_VIEWS = ("draw", "each")
"""Parameters of a request that concern the drawn view."""


class LiveAnswers:
    """Answers to all requests for one run. They are always from its newest reading."""

    def __init__(
        self,
        looked_at: RunSession,
        name: str,
        first: Viewport | None = None,
        views: ViewChoice | None = None,
        *,
        label: str = "",
    ) -> None:
        """Prepare answers for a run.

        Args:
            looked_at: The run.
            name: The file, as the user named it.
            first: The viewport to begin with. None: the whole run.
            views: Views that may be drawn. None: the views of the library.
            label: Name of the run on the page. "": the file name.
        """
        self._at, self._name, self._first = looked_at, name, first
        self._views, self._label = views or ViewChoice(), label or Path(name).name
        self._data: dict[str, Callable[[RunReading, Query], Any]] = {
            "about": self._about, "status": self._status, "rows": self._rows, "overview": self._overview,
            "sums": self._sums, "moment": self._moment, "messages": self._messages, "hits": self._hits,
            "step": self._step, "marks": self._marks, "drawn": self._drawn, "values": self._values,
            "value": self._value, "value_hits": self._value_hits, "value_step": self._value_step,
        }  # fmt: skip

    @property
    def now(self) -> RunReading:
        """Newest reading of the run."""
        return self._at.now

    def data(self, name: str, query: Query) -> Any:
        """Answer a request for JSON data.

        Args:
            name: Name of the request.
            query: Parameters of the request.

        Raises:
            KeyError: There is no such request.
            TracelibError: A parameter is wrong.
        """
        return self._data[name](self._at.now, query)

    def tile(self, query: Query) -> bytes:
        """Answer a request for a tile.

        Returns:
            States: bytes of uint8 of shape (rows, BINS, activities). Views: bytes as `DrawnViews` describes.

        Raises:
            TracelibError: A parameter is wrong.
        """
        level = _whole(query, "level", MOST_LEVELS)
        place = (
            level,
            _whole(query, "index", _LARGEST >> level >> (BINS.bit_length() - 1)),
            _whole(query, "block", 1 << 24),
        )
        if _is_view(query):
            return self._view_of(self._at.now, query).tile(DrawnTile(_ranks_wanted(query), *place))
        return self._at.now.tiles.cells(Tile(*_rows_wanted(query), *place))

    def toml(self, query: Query) -> str:
        """Return the viewport of a request as the text of a TOML file."""
        given = {key: value for key, value in query.items() if key != "draws"}
        return replace(self._view(self._at.now, given), draws=_draws(query)).toml(self._name)

    def _view(self, reading: RunReading, query: Query) -> Viewport:
        given = {key: value for key, value in query.items() if value != ""}
        duration = reading.run.trace.duration_ns
        return view_of(given, duration).within(duration)

    def _about(self, reading: RunReading, _: Query) -> dict[str, Any]:
        trace = reading.run.trace
        first = self._first or Viewport(0, trace.duration_ns)
        searched = {key: value for key, value in vars(first.search).items() if value not in ("", None)}
        return {
            "name": self._label,
            "command": trace.origin.command,
            "facts": [
                units.plural(trace.size, "rank"), units.plural(len(reading.run.lanes), "thread"),
                units.plural(len(trace.nodes.names), "node"), units.time(trace.duration_ns),
                units.plural(reading.run.calls, "MPI call"), units.plural(len(reading.run.messages), "message"),
            ],
            "doings": NAMES, "bins": BINS, "block": BLOCK, "most_messages": MOST,
            "ranks": trace.size, "threads": len(reading.run.lanes),
            "view": {
                "begin_ns": first.begin_ns, "end_ns": first.end_ns, "rows": first.by, "ranks": first.ranks, **searched,
                "whole": self._first is None,
            },
            "draws": [vars(draw) for draw in first.draws], "views": self._views.names,
            **self._status(reading, {}),
        }  # fmt: skip

    def _status(self, reading: RunReading, _: Query) -> dict[str, Any]:
        return {
            "generation": reading.generation, "duration_ns": reading.run.trace.duration_ns,
            "follows": self._at.follows, "iterations": reading.looked_for_iterations,
        }  # fmt: skip

    def _row_set(self, reading: RunReading, query: Query) -> RowSet:
        """Return the rows of states or of the drawn view."""
        if _is_view(query):
            return self._view_of(reading, query).chosen(_ranks_wanted(query)).rows
        return reading.run.rows(*_rows_wanted(query))

    def _rows(self, reading: RunReading, query: Query) -> dict[str, Any]:
        rows = self._row_set(reading, query)
        by_thread = (
            (query.get("rows") == RowGrouping.THREADS)
            if not _is_view(query)
            else self._view_of(reading, query).level == "thread"
        )
        return {
            "names": rows.names, "rank": rows.rank.tolist(), "of_rank": rows.of_rank.tolist(), "by_thread": by_thread
        }  # fmt: skip

    def _overview(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Return the shares of time of all rows together: (activities or colours, stretches of the whole run)."""
        if _is_view(query):
            return {"shares": self._view_of(reading, query).overview(_ranks_wanted(query)).tolist()}
        return {"shares": reading.tiles.overview(*_rows_wanted(query)).tolist()}

    def _sums(self, reading: RunReading, query: Query) -> dict[str, Any]:
        view = self._view(reading, query)
        return numbers_json(numbers(reading.run, view, reading.hits(view.search)), names=False)

    def _moment(self, reading: RunReading, query: Query) -> dict[str, Any]:
        rank = _whole(query, "rank", reading.run.trace.size - 1)
        return moment_at(reading.run, rank, _whole(query, "at", _LARGEST))

    def _messages(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Return the messages of rows from to to - 1 in a window, and their number in each strip."""
        begin, end = _stretch(query)
        lines = query.get("lines") or MessageLines.WHOLE
        if lines not in list(MessageLines):
            raise TracelibError(f"lines = {lines} is unknown", f"there are {', '.join(MessageLines)}")
        lines = MessageLines(lines)
        found = reading.run.messages.between(
            begin, end, _ranks(reading.run, _part(self._row_set(reading, query), query)), lines
        )
        counts = np.diff(reading.run.messages.until(_edges(query, begin, end))[0]).tolist()
        arrows = None
        if found.arrows is not None:
            columns = [found.arrows[name].tolist() for name in found.arrows.dtype.names or ()]
            arrows = list(zip(*columns, strict=True))
        return {"count": found.count, "bytes": found.size_bytes, "counts": counts, "arrows": arrows}

    def _hits(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Count the hits of rows from to to - 1 in each strip, and of all rows in the window and in the whole run."""
        view = self._view(reading, _without(query, "from", "to", "strips", *_OF_VIEWS))
        hits = reading.hits(view.search)
        if hits is None:
            return {"all": 0, "in_view": 0, "counts": []}
        return _counted(hits, self._row_set(reading, query), query, (view.begin_ns, view.end_ns), reading)

    def _step(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Return the next hit from (at, row) on or, with `back`, the last hit before. None: no further hit."""
        view = self._view(reading, _without(query, "at", "row", "back", *_OF_VIEWS))
        return _next(reading.hits(view.search), self._row_set(reading, query), query)

    def _marks(self, reading: RunReading, query: Query) -> dict[str, Any]:
        begin, end = _stretch(query)
        rank = _whole(query, "rank", reading.run.trace.size - 1)
        edges = edges_of(reading.iterations, rank, begin, end)
        regions = reading.marker.regions(rank, begin, end)
        return {
            "regions": [(one.name, one.begin_ns, one.end_ns) for one in regions],
            "flushes": reading.marker.flushes(self._row_set(reading, query), begin, end),
            "iterations": edges and {
                "rank": edges.rank, "first": edges.first, "every": edges.every, "edges_ns": edges.ns, "body": edges.body
            },
        }  # fmt: skip

    def _view_of(self, reading: RunReading, query: Query) -> DrawnViews:
        name, level = query["draw"], query.get("each", "")
        return reading.drawn((name, level), self._views.find(name, level))

    def _drawn(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Describe a drawn view: unit, level, colours, scale and number of bursts."""
        found = self._view_of(reading, query)
        scale = None if found.is_named else dict(zip(("least", "most", "peak"), found.scale, strict=True))
        return {
            "name": query["draw"], "unit": found.unit, "level": found.level, "colours": found.colours, "scale": scale,
            "levels": self._views.levels(query["draw"]), "bursts": len(found.course),
        }  # fmt: skip

    def _values(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Return the values of a drawn view in a window, for each of its rows."""
        found = self._view_of(reading, query)
        measured = found.measured(_ranks_wanted(query), *_stretch(query))
        numbers = {name: plain(getattr(measured, name)) for name in ("mean", "least", "most")}
        return {**numbers, "seconds": measured.seconds.tolist(), "colours": found.colours, "unit": found.unit}

    def _value(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Return the value of a drawn view in one row at a moment."""
        found = self._view_of(reading, query)
        rows, numbers = found.chosen(_ranks_wanted(query))
        if not len(rows):
            raise TracelibError("there are no rows")
        row = _whole(query, "row", len(rows) - 1)
        value, begin, end = found.course.value_at(int(numbers[row]), _whole(query, "at", _LARGEST))
        return {
            "row": rows.names[row], "level": found.level, "value": value if np.isfinite(value) else None,
            "name": found.value_name(value), "unit": found.unit, "begin_s": begin / 1e9, "end_s": end / 1e9,
        }  # fmt: skip

    def _value_hits(self, reading: RunReading, query: Query) -> dict[str, Any]:
        """Count the bursts of a drawn view whose value is searched for, as `_hits` counts calls."""
        rows, hits = self._value_search(reading, query)
        return _counted(hits, rows, query, _stretch(query), reading)

    def _value_step(self, reading: RunReading, query: Query) -> dict[str, Any]:
        return _next(*self._value_search(reading, query)[::-1], query)

    def _value_search(self, reading: RunReading, query: Query) -> tuple[RowSet, MarkedIntervals]:
        """Return the rows of a drawn view and the bursts that a search finds.

        The lanes of the rows are their numbers in the view.
        """
        found = self._view_of(reading, query)
        rows, numbers = found.chosen(_ranks_wanted(query))
        own = replace(rows, lanes=numbers, first=np.arange(len(rows) + 1))
        return own, found.hits(query.get("value", "").strip())


def _is_view(query: Query) -> bool:
    return query.get("draw", STATES) != STATES


def _without(query: Query, *names: str) -> dict[str, str]:
    return {key: value for key, value in query.items() if key not in names}


def _draws(query: Query) -> tuple[DrawRequest, ...]:
    """Parse the list of drawings from JSON."""
    try:
        given = json.loads(query.get("draws", "[{}]"))
    except ValueError:
        given = None
    if not isinstance(given, list):
        raise TracelibError("draws is no list")
    return tuple(map(DrawRequest.parse, given))


def _counted(
    hits: MarkedIntervals, rows: RowSet, query: Query, stretch: tuple[int, int], reading: RunReading
) -> dict[str, Any]:
    """Count the hits of rows from to to - 1 in each strip, and of all rows in the window and in the whole run."""
    part = _part(rows, query)
    counts = part.summed(hits.between(part.lanes, _edges(query, *stretch))[0])
    return {
        "all": int(hits.between(rows.lanes, np.array([0, reading.run.trace.duration_ns]))[0].sum()),
        "in_view": int(hits.between(rows.lanes, np.array(stretch))[0].sum()),
        "counts": counts.tolist(),
    }


def _next(hits: MarkedIntervals | None, rows: RowSet, query: Query) -> dict[str, Any]:
    at, row = _whole(query, "at", _LARGEST), _whole(query, "row", 1 << 30)
    found = hits.next(rows, at, row, forward="back" not in query) if hits else None
    return {"hit": found and {"at_ns": found[0], "row": found[1]}}


def _ranks_wanted(query: Query) -> str:
    return query.get("ranks", "").strip()


def _rows_wanted(query: Query) -> tuple[RowGrouping, str]:
    by = query.get("rows") or RowGrouping.RANKS
    if by not in list(RowGrouping):
        raise TracelibError(f"rows = {by} is unknown")
    return RowGrouping(by), _ranks_wanted(query)


def _part(rows: RowSet, query: Query) -> RowSet:
    return rows.part(_whole(query, "from", 1 << 30), _whole(query, "to", 1 << 30))


def _ranks(run: LiveRun, rows: RowSet) -> np.ndarray:
    """Return a mask of the ranks that these rows contain."""
    found = np.zeros(run.trace.size, bool)
    found[run.lanes.rank[rows.lanes]] = True
    return found


def _whole(query: Query, name: str, most: int) -> int:
    """Return a parameter as a whole number from 0 to `most`.

    Raises:
        TracelibError: It is no such number.
    """
    text = query.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) < 20) or int(text) > most:
        raise TracelibError(f"{name} = {text!r} is no number from 0 to {most}")
    return int(text)


def _stretch(query: Query) -> tuple[int, int]:
    begin, end = _whole(query, "begin", _LARGEST), _whole(query, "end", _LARGEST)
    if end <= begin:
        raise TracelibError("end is not after begin")
    return begin, end


def _edges(query: Query, begin: int, end: int) -> np.ndarray:
    """Divide a window into strips of about the same length, and return their edges in ns."""
    strips = _whole(query, "strips", _MOST_STRIPS)
    return begin + (np.arange(strips + 1) * (end - begin)) // max(strips, 1)
