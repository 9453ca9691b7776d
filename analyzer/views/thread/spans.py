"""Intervals of threads as steps: the value of an interval within it, 0 where there is none."""

from __future__ import annotations

import numpy as np

from analyzer.views.steps import Steps

_NONE = -1


class Spans:
    """Of intervals that come window by window, those of a lane in order of begin."""

    def __init__(self, lanes: int) -> None:
        self._open = np.full(lanes, _NONE, np.int64)  # when the last interval of each lane ends, if that is to come

    def feed(self, lane: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, until: int) -> Steps:
        """Steps before `until` of the intervals that begin in a window. Where they overlap, the later one counts."""
        value = value.astype(np.float64)
        keep = (value != 0) & (end > begin)
        if not keep.all():
            lane, begin, end, value = lane[keep], begin[keep], end[keep], value[keep]
        later = np.append(lane[1:] == lane[:-1], False)[: len(lane)]  # the next interval is of the same lane
        ends = ~later
        ends[:-1] |= later[:-1] & (begin[1:] > end[:-1])
        closed = self._closed(lane, begin, until)
        last = ~later & (end >= until)
        self._open[lane[last]] = end[last]
        ends &= ~last
        return _woven(lane, begin, end, value, ends, closed)

    def _closed(self, lane: np.ndarray, begin: np.ndarray, until: int) -> Steps:
        """The ends of the open intervals, unless another one goes on from there."""
        waiting = np.flatnonzero(self._open != _NONE)
        if not len(waiting):
            return Steps.of(waiting, waiting, waiting)
        at = np.searchsorted(lane, waiting)
        found = at < len(lane)
        found[found] = lane[at[found]] == waiting[found]
        next_begin = np.full(len(waiting), np.iinfo(np.int64).max)
        next_begin[found] = begin[at[found]]
        when = self._open[waiting]
        over = when < until
        self._open[waiting[over | found]] = _NONE
        chosen = over & (next_begin > when)
        return Steps.of(waiting[chosen], when[chosen], np.zeros(int(chosen.sum())))


def _woven(
    lane: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, ends: np.ndarray, closed: Steps
) -> Steps:
    """The begins, each followed by its end where it has one; before those of a lane what is `closed`."""
    before = np.searchsorted(closed.row, lane, side="right") if len(closed.row) else 0
    at = np.arange(len(lane)) + np.cumsum(ends) - ends + before
    count = len(lane) + int(ends.sum()) + len(closed.row)
    row, time, out = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count)
    row[at], time[at], out[at] = lane, begin, value
    row[at[ends] + 1], time[at[ends] + 1] = lane[ends], end[ends]
    if len(closed.row):
        upto = np.append(0, np.cumsum(1 + ends))[np.searchsorted(lane, closed.row)]
        place = upto + np.arange(len(closed.row))
        row[place], time[place] = closed.row, closed.time
    return Steps(row, time, out)
