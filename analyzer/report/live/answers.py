"""What the server of the live view answers: names of requests, and plain data or bytes for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.live.looked_at import LookedAt, Reading
from analyzer.live.marks import edges_of
from analyzer.live.messages import MOST
from analyzer.live.numbers import numbers
from analyzer.live.rows import By, RowSet
from analyzer.live.run import Run
from analyzer.live.tiles import BINS, BLOCK, MOST_LEVELS, Tile
from analyzer.live.view import View, view_of
from analyzer.report.live.moments import moment_at
from analyzer.report.live.numbers import numbers_json
from analyzer.report.words import units
from analyzer.timeline.cells import NAMES

Query = Mapping[str, str]

_MOST_STRIPS = 2000
"""Stretches in which messages and hits are counted."""
_LARGEST = 2**62


class Answers:
    """All requests. Those for a reading that is there no more are answered from the newest."""

    def __init__(self, looked_at: LookedAt, name: str, first: View | None = None) -> None:
        """name: the file as the user gave it; first: the view to begin with; None: the whole run, as long as it is."""
        self._at, self._name, self._first = looked_at, name, first
        self._data: dict[str, Callable[[Reading, Query], Any]] = {
            "about": self._about, "status": self._status, "rows": self._rows, "overview": self._overview,
            "sums": self._sums, "moment": self._moment, "messages": self._messages, "hits": self._hits,
            "step": self._step, "marks": self._marks,
        }  # fmt: skip

    def data(self, name: str, query: Query) -> Any:
        """What is sent as JSON. Raises KeyError of a request that there is none, TracelibError of a bad one."""
        return self._data[name](self._at.now, query)

    def tile(self, query: Query) -> bytes:
        """uint8 of shape (rows, BINS, doings). Raises TracelibError."""
        by, ranks = _rows_wanted(query)
        level = _whole(query, "level", MOST_LEVELS)
        index = _whole(query, "index", _LARGEST >> level >> (BINS.bit_length() - 1))
        return self._at.now.tiles.cells(Tile(by, ranks, level, index, _whole(query, "block", 1 << 24)))

    def toml(self, query: Query) -> str:
        """A view as a file."""
        return self._view(self._at.now, query).toml(self._name)

    def _view(self, reading: Reading, query: Query) -> View:
        given = {key: value for key, value in query.items() if value != ""}
        duration = reading.run.trace.duration_ns
        return view_of(given, duration).within(duration)

    def _about(self, reading: Reading, _: Query) -> dict[str, Any]:
        trace = reading.run.trace
        first = self._first or View(0, trace.duration_ns)
        searched = {key: value for key, value in vars(first.search).items() if value not in ("", None)}
        return {
            "name": Path(self._name).name,
            "command": trace.origin.command,
            "facts": [
                units.plural(trace.size, "rank"), units.plural(len(reading.run.lanes), "thread"),
                units.plural(len(trace.nodes.names), "node"), units.time(trace.duration_ns),
                units.plural(reading.run.calls, "MPI call"), units.plural(len(reading.run.messages), "message"),
            ],
            "doings": NAMES, "bins": BINS, "block": BLOCK, "most_messages": MOST,
            "ranks": trace.size, "threads": len(reading.run.lanes),
            "view": {
                "begin_ns": first.begin_ns, "end_ns": first.end_ns, "rows": first.by, "ranks": first.ranks, **searched
            },
            **self._status(reading, {}),
        }  # fmt: skip

    def _status(self, reading: Reading, _: Query) -> dict[str, Any]:
        return {
            "generation": reading.generation, "duration_ns": reading.run.trace.duration_ns,
            "follows": self._at.follows, "iterations": reading.looked_for_iterations,
        }  # fmt: skip

    def _rows(self, reading: Reading, query: Query) -> dict[str, Any]:
        rows = _row_set(reading, query)
        return {"names": rows.names, "rank": rows.rank.tolist(), "of_rank": rows.of_rank.tolist()}

    def _overview(self, reading: Reading, query: Query) -> dict[str, Any]:
        """Shares of the time of all rows together, (doings, stretches of the whole run)."""
        return {"shares": reading.tiles.overview(*_rows_wanted(query)).tolist()}

    def _sums(self, reading: Reading, query: Query) -> dict[str, Any]:
        view = self._view(reading, query)
        return numbers_json(numbers(reading.run, view, reading.hits(view.search)), names=False)

    def _moment(self, reading: Reading, query: Query) -> dict[str, Any]:
        rank = _whole(query, "rank", reading.run.trace.size - 1)
        return moment_at(reading.run, rank, _whole(query, "at", _LARGEST))

    def _messages(self, reading: Reading, query: Query) -> dict[str, Any]:
        """Those of the rows [from, to)."""
        begin, end = _stretch(query)
        found = reading.run.messages.between(begin, end, _ranks(reading.run, _part(_row_set(reading, query), query)))
        counts = np.diff(reading.run.messages.until(_edges(query, begin, end))[0]).tolist()
        arrows = None
        if found.arrows is not None:
            columns = [found.arrows[name].tolist() for name in found.arrows.dtype.names or ()]
            arrows = list(zip(*columns, strict=True))
        return {"count": found.count, "bytes": found.size_bytes, "counts": counts, "arrows": arrows}

    def _hits(self, reading: Reading, query: Query) -> dict[str, Any]:
        """Of the rows [from, to) how many hits each stretch has; and of all rows in all."""
        view = self._view(reading, {key: value for key, value in query.items() if key not in ("from", "to", "strips")})
        hits = reading.hits(view.search)
        if hits is None:
            return {"all": 0, "in_view": 0, "counts": []}
        rows = reading.run.rows(view.by, view.ranks)
        part = _part(rows, query)
        counts = part.summed(hits.between(part.lanes, _edges(query, view.begin_ns, view.end_ns))[0])
        whole = hits.between(rows.lanes, np.array([0, reading.run.trace.duration_ns]))[0]
        return {
            "all": int(whole.sum()),
            "in_view": int(hits.between(rows.lanes, np.array([view.begin_ns, view.end_ns]))[0].sum()),
            "counts": counts.tolist(),
        }

    def _step(self, reading: Reading, query: Query) -> dict[str, Any]:
        """The next hit from (at, row), or the one before it; null: there is none."""
        own = ("at", "row", "back")
        view = self._view(reading, {key: value for key, value in query.items() if key not in own})
        hits = reading.hits(view.search)
        rows = reading.run.rows(view.by, view.ranks)
        at, row = _whole(query, "at", _LARGEST), _whole(query, "row", 1 << 30)
        found = hits.next(rows, at, row, forward="back" not in query) if hits else None
        return {"hit": found and {"at_ns": found[0], "row": found[1]}}

    def _marks(self, reading: Reading, query: Query) -> dict[str, Any]:
        begin, end = _stretch(query)
        rank = _whole(query, "rank", reading.run.trace.size - 1)
        edges = edges_of(reading.iterations, rank, begin, end)
        regions = reading.marker.regions(rank, begin, end)
        return {
            "regions": [(one.name, one.begin_ns, one.end_ns) for one in regions],
            "flushes": reading.marker.flushes(_row_set(reading, query), begin, end),
            "iterations": edges and {
                "rank": edges.rank, "first": edges.first, "every": edges.every, "edges_ns": edges.ns, "body": edges.body
            },
        }  # fmt: skip


def _rows_wanted(query: Query) -> tuple[By, str]:
    by = query.get("rows") or By.RANKS
    if by not in list(By):
        raise TracelibError(f"rows = {by} is unknown")
    return By(by), query.get("ranks", "").strip()


def _row_set(reading: Reading, query: Query) -> RowSet:
    return reading.run.rows(*_rows_wanted(query))


def _part(rows: RowSet, query: Query) -> RowSet:
    return rows.part(_whole(query, "from", 1 << 30), _whole(query, "to", 1 << 30))


def _ranks(run: Run, rows: RowSet) -> np.ndarray:
    """bool (ranks,): which ranks these rows stand for."""
    found = np.zeros(run.trace.size, bool)
    found[run.lanes.rank[rows.lanes]] = True
    return found


def _whole(query: Query, name: str, most: int) -> int:
    """A number of a request, from 0 to `most`."""
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
    """Of stretches about as long as each other."""
    strips = _whole(query, "strips", _MOST_STRIPS)
    return begin + (np.arange(strips + 1) * (end - begin)) // max(strips, 1)
