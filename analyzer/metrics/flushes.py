"""What the tracer took for writing its buffers and measuring clocks. What it takes after each call: useful.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.columns.by_index import by_index
from analyzer.columns.joined import joined
from analyzer.parallel import Team
from analyzer.trace import FLUSH, State, Trace, TracerTime

AT_ONCE = 1024
"""So many ranks' flushes are in memory together."""


@dataclass(frozen=True)
class Flushes:
    """By rank, int64 of shape (ranks,)."""

    count: np.ndarray  # of buffers written
    time_ns: np.ndarray  # of all that is no computation of the program
    during: np.ndarray
    """The most flushes of one thread, less the one that closed the trace: that one no buffer, however large, avoids."""
    clocks_ns: np.ndarray  # the part of time_ns in which clocks were measured
    shared_ns: np.ndarray  # of time_ns what the thread that loses least has lost


def flushes(trace: Trace, team: Team) -> Flushes:
    """Number and duration of the flushes of each rank."""
    sums, ranks = np.zeros((5, trace.size), np.int64), trace.share(team)
    for first in range(ranks.start, ranks.stop, AT_ONCE):
        some = range(first, min(first + AT_ONCE, ranks.stop))
        sums[:, some.start : some.stop] = _of_ranks(trace, some)
    return Flushes(*team.total(sums))


def _of_ranks(trace: Trace, ranks: range) -> np.ndarray:
    """The columns of Flushes of some ranks, (5, ranks)."""
    tracer = trace.extra(TracerTime)
    parts = [tracer.flushes(rank) for rank in ranks]
    counts = list(map(len, parts))
    rows, n = joined([part for part in parts if len(part)], FLUSH), len(ranks)
    threads = trace.threads[ranks.start : ranks.stop].astype(np.int64)
    first_lane = np.cumsum(threads) - threads
    rank = np.repeat(np.arange(n), counts)
    lane, lanes = first_lane[rank] + rows["thread"], int(threads.sum())
    length, is_flush = rows["end"] - rows["begin"], rows["state"] != int(State.OTHERS)
    written, last = np.bincount(rank[is_flush], minlength=n), np.full(n, -1, np.int64)
    np.maximum.at(last, rank[is_flush], rows["end"][is_flush])
    # Where the process wrote its last rows when the trace was closed, so did each thread when it ended.
    closed = (written > 0) & (last == np.array([trace.span(rank)[1] for rank in ranks]))
    of_lanes = np.bincount(lane[is_flush], minlength=lanes)
    return np.array(
        [
            written,
            by_index(rank, length, n),
            np.maximum.reduceat(of_lanes, first_lane) - closed,
            by_index(rank[~is_flush], length[~is_flush], n),
            np.minimum.reduceat(by_index(lane, length, lanes), first_lane),
        ]
    )
