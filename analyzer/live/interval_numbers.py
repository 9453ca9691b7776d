"""The numbers of a view: what its rows do, the messages and the calls in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.live.drawn_views import DrawnMeasure, ViewChoice
from analyzer.live.rows import RowSet
from analyzer.live.run import LiveRun
from analyzer.live.search import SearchHits
from analyzer.live.selection import STATES, Viewport
from analyzer.live.session import RunReading


@dataclass(frozen=True)
class FoundNumbers:
    """Calls that were searched for, in a view; int64 of shape (rows,)."""

    count: np.ndarray
    inside_ns: np.ndarray
    size_bytes: np.ndarray


@dataclass(frozen=True)
class IntervalNumbers:
    """Numbers of the stretch and the rows that a view shows."""

    view: Viewport
    rows: RowSet
    ns: np.ndarray  # int64 (doings, rows): of all threads of a row
    messages: int  # that are sent in it, by all ranks
    message_bytes: int
    found: FoundNumbers | None  # None: nothing is searched for

    @property
    def whole_ns(self) -> np.ndarray:
        """The time of all threads of each row, int64 (rows,)."""
        return self.rows.threads * (self.view.end_ns - self.view.begin_ns)


@dataclass(frozen=True)
class DrawnNumbers:
    """Numbers of one drawn view, in the stretch that is looked at."""

    name: str
    unit: str
    level: str
    rows: tuple[str, ...]
    colours: tuple[str, ...] | None  # names of values that last any time; None: the values are numbers
    measured: DrawnMeasure


def drawn_numbers(reading: RunReading, view: Viewport, views: ViewChoice) -> list[DrawnNumbers]:
    """Measure each view that is drawn, in the stretch of `view`.

    Raises:
        TracelibError: The run does not have what a view looks at.
    """
    found = []
    for draw in view.draws:
        if draw.view != STATES:
            drawn = reading.drawn((draw.view, draw.level), views.find(draw.view, draw.level))
            measured = drawn.measured(view.ranks, view.begin_ns, view.end_ns)
            names = drawn.chosen(view.ranks).rows.names
            colours = drawn.colours if drawn.is_named else None
            found.append(DrawnNumbers(draw.view, drawn.unit, drawn.level, names, colours, measured))
    return found


def numbers(run: LiveRun, view: Viewport, hits: SearchHits | None) -> IntervalNumbers:
    """Add up states, messages and hits in the stretch of `view`.

    hits: calls that the view's search finds; None: the view searches for nothing.
    """
    rows = run.rows(view.by, view.ranks)
    edges = np.array([view.begin_ns, view.end_ns])
    ns = np.stack([rows.summed(of_lanes) for of_lanes in run.times(rows.lanes, edges)[:, :, 0]])
    sent, size = run.messages.until(edges)
    found = None
    if hits is not None:
        found = FoundNumbers(*(rows.summed(of_lanes) for of_lanes in hits.between(rows.lanes, edges)[:, :, 0]))
    return IntervalNumbers(view, rows, ns, int(sent[1] - sent[0]), int(size[1] - size[0]), found)
