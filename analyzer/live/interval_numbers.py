"""The numbers beside a live view: what its rows do, its messages, and the calls that a search finds."""

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
    """Sums over the calls that a search finds in the window, by row. int64 of shape (rows,) each.

    Attributes:
        count: Number of calls.
        inside_ns: Time of these calls in MPI in ns.
        size_bytes: Bytes that these calls send or receive.
    """

    count: np.ndarray
    inside_ns: np.ndarray
    size_bytes: np.ndarray


@dataclass(frozen=True)
class IntervalNumbers:
    """Sums of the rows of a viewport over its window of time.

    Attributes:
        ns: Time of all threads of a row by ActivityKind, int64 of shape (activities, rows).
        messages, message_bytes: Number and bytes of the messages that all ranks send in the window.
        found: None if the view searches for nothing.
    """

    view: Viewport
    rows: RowSet
    ns: np.ndarray  # int64 (activities, rows)
    messages: int  # number of messages that all ranks send in the window
    message_bytes: int
    found: FoundNumbers | None  # None: nothing is searched for

    @property
    def whole_ns(self) -> np.ndarray:
        """Time of all threads of each row in the window in ns, int64 of shape (rows,)."""
        return self.rows.threads * (self.view.end_ns - self.view.begin_ns)


@dataclass(frozen=True)
class DrawnNumbers:
    """Values of one drawn view in the window of the viewport."""

    name: str
    unit: str
    level: str
    rows: tuple[str, ...]
    colours: tuple[str, ...] | None  # names of the values that occur; None: a view of numbers
    measured: DrawnMeasure


def drawn_numbers(reading: RunReading, view: Viewport, views: ViewChoice) -> list[DrawnNumbers]:
    """Measure each view that a viewport draws, in the window of the viewport.

    Raises:
        TracelibError: The run does not have the data that a view needs.
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
    """Sum up activities, messages and hits in the window of a viewport.

    Args:
        run: The run.
        view: The viewport: window and rows.
        hits: The calls that the search of the viewport finds. None: the viewport searches for nothing.
    """
    rows = run.rows(view.by, view.ranks)
    edges = np.array([view.begin_ns, view.end_ns])
    ns = np.stack([rows.summed(of_lanes) for of_lanes in run.times(rows.lanes, edges)[:, :, 0]])
    sent, size = run.messages.until(edges)
    found = None
    if hits is not None:
        found = FoundNumbers(*(rows.summed(of_lanes) for of_lanes in hits.between(rows.lanes, edges)[:, :, 0]))
    return IntervalNumbers(view, rows, ns, int(sent[1] - sent[0]), int(size[1] - size[0]), found)
