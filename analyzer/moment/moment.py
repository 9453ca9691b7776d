"""A rank at a moment: the state and the call of each thread, its regions, and the messages that are on their way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.moment.around import Calls, calls_around
from analyzer.trace import EVENT, MARK, MESSAGE, REQUEST, Mark, Regions, Trace
from tracelib.schema import STARTED, is_one_of


@dataclass(frozen=True)
class OfThread:
    """A thread at a moment. Times are ns of the trace."""

    thread: int
    state: int  # State; -1: nothing is recorded of the thread then
    begin_ns: int  # of the state
    end_ns: int
    inside: bool  # the last of `before` is a call that it is in
    before: Calls  # the calls that it entered until then, the last one last
    after: Calls  # those that it entered later
    regions: tuple[tuple[str, int], ...]  # those it is in, the outermost first: name and begin


@dataclass(frozen=True)
class Moment:
    """A rank at a moment."""

    rank: int
    time_ns: int
    span: tuple[int, int]  # of the rank: its process is not there, or says nothing, outside
    threads: tuple[OfThread, ...]
    messages: np.ndarray  # MESSAGE of this rank that were sent and not yet received, by time of sending
    requests: np.ndarray  # REQUEST of this rank that were posted and not yet complete, by time of posting
    events: np.ndarray  # EVENT of this rank while its threads are in their states, that the program asked for


def moment(trace: Trace, rank: int, time: int, around: int = 3, *, messages: bool = True) -> Moment:
    """What a rank did at a moment (ns), with so many calls before and after. messages: also those on their way, for
    which the messages of all ranks until then are looked through; requests and events with them."""
    before, after = calls_around(trace, rank, time, around)
    begins = [int(calls.rows["enter"][-1]) if len(calls.rows) else 0 for calls in before]
    states = trace.rank_states(min(begins, default=0), time + 1, range(rank, rank + 1))
    marks = trace.extra(Regions).marks(rank, 0, time + 1)
    names = trace.extra(Regions).names
    threads = []
    for thread, calls in enumerate(before):
        state, begin, end = _state_at(states[states["thread"] == thread], time)
        inside = bool(len(calls.rows)) and time < int(calls.rows["enter"][-1] + calls.rows["inside"][-1])
        open_ = open_regions(marks[marks["thread"] == thread])
        regions = tuple((names[row["number"] - 1], int(row["time"])) for row in open_)
        threads.append(OfThread(thread, state, begin, end, inside, calls, after[thread], regions))
    if not messages:
        nothing = np.zeros(0, MESSAGE), np.zeros(0, REQUEST), np.zeros(0, EVENT)
        return Moment(rank, time, trace.span(rank), tuple(threads), *nothing)
    known = [one for one in threads if one.state >= 0]
    begin, end = (min(one.begin_ns for one in known), max(one.end_ns for one in known)) if known else (time, time)
    return Moment(
        rank, time, trace.span(rank), tuple(threads), _on_their_way(trace, rank, time), _open(trace, rank, time),
        trace.extra(Regions).events(rank, begin, end),
    )  # fmt: skip


def _state_at(states: np.ndarray, time: int) -> tuple[int, int, int]:
    """State, begin and end of what is at a moment; -1 where nothing is."""
    here = np.flatnonzero((states["begin"] <= time) & (time < states["end"]))
    if not len(here):
        return -1, time, time
    row = states[here[-1]]
    return int(row["state"]), int(row["begin"]), int(row["end"])


def open_regions(marks: np.ndarray) -> np.ndarray:
    """The begins (MARK) of the regions of one thread that are open behind these marks of it, the outermost first."""
    edges = marks[np.isin(marks["what"], (Mark.BEGIN, Mark.END))]
    if not len(edges):
        return np.zeros(0, MARK)
    begins = edges["what"] == Mark.BEGIN
    depth = np.cumsum(np.where(begins, 1, -1))
    lowest_later = np.append(np.minimum.accumulate(depth[::-1])[::-1][1:], depth[-1])
    return edges[begins & (lowest_later >= depth)]


def _on_their_way(trace: Trace, rank: int, time: int) -> np.ndarray:
    """MESSAGE from or to a rank that are sent, and not yet received."""
    trace.match()
    found = []
    for begin, end in pairwise(trace.message_windows().tolist()):
        if begin > time:
            break
        rows = trace.messages(begin, min(end, time + 1))
        found.append(
            rows[((rows["source"] == rank) | (rows["destination"] == rank)) & (rows["physical_receive"] > time)]
        )
    return joined(found, MESSAGE)


def _open(trace: Trace, rank: int, time: int) -> np.ndarray:
    """REQUEST of a rank that are posted, and complete later."""
    found = []
    for rows in trace.requests(rank, time + 1):
        done = ~is_one_of(rows["what"], STARTED)
        found.append(rows[done & (rows["posted"] <= time) & (rows["completed"] > time)])
    rows = joined(found, REQUEST)
    return rows[np.argsort(rows["posted"], kind="stable")]
