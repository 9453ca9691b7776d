"""Calls, regions and messages of one thread, from its events in an OTF2 archive, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import lib
from analyzer.columns.arrays import joined
from analyzer.errors import TracelibError
from analyzer.otf2_library import EVENT, NOBODY
from analyzer.sources.otf2.definitions import Otf2Names
from analyzer.trace.records import CALL, MARK, Mark
from tracelib.schema import Peer

HALF = np.dtype(
    [("logical", "<i8"), ("physical", "<i8"), ("size", "<i8"), ("comm", "<i4"), ("peer", "<i4"), ("tag", "<i8"),
     ("rank", "<i4"), ("thread", "<i4"), ("order", "<i8"), ("done", "<i8")]
)  # fmt: skip
"""Send or receive of a message.

`logical`: when its call was entered. `physical`: when the message was sent or received. `done`: when its request was
completed; 0: the call blocks. Times are in ns.
"""

_REQUEST = np.dtype([("request", "<i8"), ("order", "<i8"), ("logical", "<i8")])
"""Posted receive. `order`: the event's number in its location. `logical`: when its call was entered, ns."""

Entered = Callable[[np.ndarray], np.ndarray]
"""Function that returns for each index of an event when the call around the event was entered, ns."""


class ThreadSends:
    """Sends of one thread. A nonblocking send waits here until an event completes it."""

    def __init__(self, rank: int, thread: int) -> None:
        self._rank, self._thread = rank, thread
        self._pending, self._requests = np.zeros(0, HALF), np.zeros(0, np.int64)

    def take(
        self,
        rows: np.ndarray,
        order: np.ndarray,
        kinds: tuple[int, int],
        entered: Entered,
        names: Otf2Names,
        *,
        last: bool,
    ) -> np.ndarray:
        """Return the sends (HALF) that are complete with the next events.

        Args:
            rows: The events.
            order: Number of each event in its location.
            kinds: Kinds of events of blocking and of nonblocking sends.
            entered: Returns when the call around an event was entered.
            names: Regions and communicators.
            last: These are the last events: return all waiting sends.
        """
        at = np.flatnonzero(np.isin(rows["kind"], kinds))
        made = _halves(rows, at, names, self._rank, self._thread)
        made["logical"], made["order"] = entered(at), order[at]
        immediate = rows["kind"][at] == kinds[1]
        waiting = joined([self._pending, made[immediate]], HALF)
        requests = np.concatenate([self._requests, rows["request"][at[immediate]]])
        done = np.flatnonzero(rows["kind"] == lib.ARCHIVE_ISEND_DONE)
        partner = _nearest(requests, waiting["order"], rows["request"][done], order[done], later=True)
        complete = partner >= 0
        waiting["done"][complete] = rows["time"][done[partner[complete]]]
        settled = complete | last
        self._pending, self._requests = waiting[~settled], requests[~settled]
        return joined([made[~immediate], waiting[settled]], HALF)


class ThreadReceives:
    """Receives of one thread. A nonblocking receive was posted in an earlier event, which is remembered here."""

    def __init__(self, rank: int, thread: int) -> None:
        self._rank, self._thread = rank, thread
        self._posted = np.zeros(0, _REQUEST)

    def take(
        self, rows: np.ndarray, order: np.ndarray, kinds: tuple[int, int], entered: Entered, names: Otf2Names
    ) -> np.ndarray:
        """Return the receives (HALF) that the next events complete. Arguments are as in `ThreadSends.take`."""
        at = np.flatnonzero(np.isin(rows["kind"], kinds))
        found = _halves(rows, at, names, self._rank, self._thread)
        found["logical"], found["order"] = entered(at), order[at]
        new = np.flatnonzero(rows["kind"] == lib.ARCHIVE_RECV_POSTED)
        posted = np.zeros(len(new), _REQUEST)
        posted["request"], posted["order"], posted["logical"] = rows["request"][new], order[new], entered(new)
        posted = joined([self._posted, posted], _REQUEST)
        mine = np.flatnonzero(rows["kind"][at] == kinds[1])
        of = rows["request"][at[mine]]
        partner = _nearest(of, found["order"][mine], posted["request"], posted["order"], later=False)
        mine, partner = mine[partner >= 0], partner[partner >= 0]
        found["done"][mine] = rows["time"][at[mine]]
        found["logical"][mine], found["order"][mine] = posted["logical"][partner], posted["order"][partner]
        self._posted = np.delete(posted, partner)
        return found


def _halves(rows: np.ndarray, at: np.ndarray, names: Otf2Names, rank: int, thread: int) -> np.ndarray:
    found = np.zeros(len(at), HALF)
    found["physical"], found["size"] = rows["time"][at], rows["length"][at]
    found["comm"] = names.comm_rows(rows["comm"][at])
    found["peer"] = names.world_rank(found["comm"], rows["what"][at])
    found["tag"] = rows["tag"][at].view(np.int32)
    found["rank"], found["thread"] = rank, thread
    return found


def _nearest(
    request: np.ndarray, order: np.ndarray, other_request: np.ndarray, other_order: np.ndarray, *, later: bool
) -> np.ndarray:
    """Return for each row the index of the nearest other row with the same request; -1: there is none.

    Args:
        request: Requests of the rows.
        order: Numbers of the rows in their location.
        other_request: Requests of the other rows.
        other_order: Numbers of the other rows.
        later: Only other rows with larger numbers. False: with smaller numbers.
    """
    requests, orders = np.concatenate([request, other_request]), np.concatenate([order, other_order])
    is_other = np.repeat([False, True], [len(request), len(other_request)])
    by = np.lexsort((orders, requests))
    if later:
        by = by[::-1]
    last = np.maximum.accumulate(np.where(is_other[by], np.arange(len(by)), -1))
    near = by[last.clip(min=0)]
    same = (last >= 0) & (requests[near] == requests[by])
    found = np.full(len(by), -1)
    found[by] = np.where(same, near - len(request), -1)
    return found[: len(request)]


_SENDS = (lib.ARCHIVE_SEND, lib.ARCHIVE_ISEND)
_RECEIVES = (lib.ARCHIVE_RECV, lib.ARCHIVE_IRECV)
_NOTHING = np.zeros(0, EVENT)


@dataclass(frozen=True)
class LocationActivity:
    """Calls, marks of regions, and messages of one thread in a stretch of its time."""

    calls: np.ndarray  # CALL, in order of time
    marks: np.ndarray  # MARK, in order of time
    sends: np.ndarray  # HALF: sends that are complete, or that nothing completes
    receives: np.ndarray  # HALF: completed receives


@dataclass(frozen=True)
class _Visits:
    """Visits of regions in order of begin, as indices of the events that begin and end them.

    An end behind the last event means that the visit is still open.
    """

    begin: np.ndarray
    end: np.ndarray
    procedure: np.ndarray  # index of the procedure; -1: a region of the program
    region: np.ndarray  # number of the region

    def before(self, row: int) -> _Visits:
        count = int(np.searchsorted(self.begin, row))
        return _Visits(self.begin[:count], self.end[:count], self.procedure[:count], self.region[:count])


class LocationTranslator:
    """Translator of one location's events into calls, regions and messages.

    Calls are the outermost visits of MPI procedures. All visits of other regions are regions. Between two pieces it
    keeps the open regions, the events of an open call, and the requests that are not complete.
    """

    def __init__(self, names: Otf2Names, rank: int, thread: int, path: str) -> None:
        self._names, self._thread, self._path = names, thread, path
        self._open, self._held = _NOTHING, _NOTHING
        self._done = 0  # number of events before the held ones
        self._sends, self._receives = ThreadSends(rank, thread), ThreadReceives(rank, thread)
        self.begin: int | None = None  # time of the first event, which is ProgramBegin where the location has one
        self.end = 0  # time of the last event

    def take(self, events: np.ndarray, *, last: bool = False) -> LocationActivity:
        """Translate the next events.

        Args:
            events: The events (EVENT) with times in ns.
            last: These are the last events: regions that are still open end with them.

        Raises:
            TracelibError: The events are not in order of time, or contradict each other.
        """
        self._check(events)
        rows = joined([self._open, self._held, events], EVENT)
        if last:
            rows = self._closed(rows)
        visits, known = self._visits(rows), len(self._open)
        open_call = np.flatnonzero((visits.procedure >= 0) & (visits.end >= len(rows)))
        cut = int(visits.begin[open_call[0]]) if len(open_call) else len(rows)
        order = np.arange(cut) + (self._done - known)
        rows, self._held = rows[:cut], rows[cut:].copy()
        visits = visits.before(cut)
        self._done += cut - known
        found = self._did(rows, visits, known, order, last=last)
        self._open = rows[visits.begin[visits.end >= cut]]
        return found

    def _check(self, events: np.ndarray) -> None:
        times = np.append(self.end, events["time"]) if self._done or len(self._held) else events["time"]
        if (times[1:] < times[:-1]).any():
            raise TracelibError(f"{self._path}: events of a location are not in order of time")
        if len(events):
            self.begin = int(events["time"][0]) if self.begin is None else self.begin
            self.end = int(events["time"][-1])

    def _closed(self, rows: np.ndarray) -> np.ndarray:
        """Append events that leave the open regions at the end of the location."""
        steps = _steps(rows)
        rest = np.zeros(max(int(steps.sum()), 0), EVENT)
        rest["kind"], rest["time"] = lib.ARCHIVE_LEAVE, self.end
        return joined([rows, rest], EVENT)

    def _visits(self, rows: np.ndarray) -> _Visits:
        steps = _steps(rows)
        depth = np.cumsum(steps)
        if (depth < 0).any():
            raise TracelibError(f"{self._path}: a location leaves a region that it did not enter")
        ends = int(depth[-1]) if len(depth) else 0
        at = np.append(np.flatnonzero(steps), len(rows) + np.arange(ends))  # an end of its own for each open visit
        steps = np.append(steps[steps != 0], np.full(ends, -1))
        level = np.cumsum(steps) - (steps > 0)
        order = at[np.argsort(level, kind="stable")]
        begin, end = order[::2], order[1::2]
        by_begin = np.argsort(begin)
        begin, end = begin[by_begin], end[by_begin]
        kind = self._names.region_rows(rows["what"][begin])
        if (kind < 0).any():
            raise TracelibError(f"{self._path}: an event names a region that is not defined")
        return _Visits(begin, end, self._names.procedure[kind], self._names.region[kind])

    def _did(self, rows: np.ndarray, visits: _Visits, known: int, order: np.ndarray, *, last: bool) -> LocationActivity:
        """Translate events whose visits are known. `known`: number of visits that were open before these events."""
        calls = np.flatnonzero(visits.procedure >= 0)
        ends = visits.end[calls]
        outer = calls[ends > np.maximum.accumulate(np.append(-1, ends[:-1]))] if len(calls) else calls
        begin, end = visits.begin[outer], visits.end[outer]
        return LocationActivity(
            self._calls(rows, begin, end, visits.procedure[outer]),
            self._marks(rows, visits, known),
            self._sends.take(rows, order, _SENDS, lambda at: _entered(rows, at, begin, end), self._names, last=last),
            self._receives.take(rows, order, _RECEIVES, lambda at: _entered(rows, at, begin, end), self._names),
        )

    def _calls(self, rows: np.ndarray, begin: np.ndarray, end: np.ndarray, procedure: np.ndarray) -> np.ndarray:
        """Return the calls (CALL).

        Partner, tag and communicator come from the call's first message, or from its collective.
        """
        found = np.zeros(len(begin), CALL)
        found["enter"], found["exit"] = rows["time"][begin], rows["time"][end]
        found["inside"] = found["exit"] - found["enter"]
        found["call"], found["thread"], found["count"] = procedure, self._thread, 1
        found["comm"] = found["tag"] = -1
        found["peer"] = Peer.NONE
        for kinds, sent, received in ((_SENDS, 1, 0), (_RECEIVES, 0, 1), ((lib.ARCHIVE_COLLECTIVE_END,), 1, 1)):
            at = np.flatnonzero(np.isin(rows["kind"], kinds))
            call = _inside(at, begin, end)
            at, call = at[call >= 0], call[call >= 0]
            together = lib.ARCHIVE_COLLECTIVE_END in kinds
            np.add.at(found["sent"], call, sent * rows["length"][at])
            np.add.at(found["received"], call, received * rows["request" if together else "length"][at])
            at, call = at[::-1], call[::-1]  # the first is written last
            comm = self._names.comm_rows(rows["comm"][at])
            found["comm"][call] = comm
            partner = rows["tag" if together else "what"][at].astype(np.int64)
            partner[partner == NOBODY] = np.iinfo(np.int64).max
            found["peer"][call] = self._names.world_rank(comm, partner)
            if not together:
                found["tag"][call] = rows["tag"][at].view(np.int32)
        return found

    def _marks(self, rows: np.ndarray, visits: _Visits, known: int) -> np.ndarray:
        """Return the begins and ends (MARK) of regions in these events, in order of time."""
        own = visits.procedure < 0
        begins, ends = own & (visits.begin >= known), own & (visits.end < len(rows))
        at = np.concatenate([visits.begin[begins], visits.end[ends]])
        order = np.argsort(at)
        found = np.zeros(len(at), MARK)
        found["time"], found["thread"] = rows["time"][at], self._thread
        found["number"] = np.concatenate([visits.region[begins], visits.region[ends]])
        found["what"] = np.repeat([Mark.BEGIN, Mark.END], [begins.sum(), ends.sum()])
        return found[order]


def _steps(rows: np.ndarray) -> np.ndarray:
    return (rows["kind"] == lib.ARCHIVE_ENTER).astype(np.int64) - (rows["kind"] == lib.ARCHIVE_LEAVE)


def _inside(at: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return for each row the index of the visit that it lies in; -1: none. The visits must not overlap."""
    found = np.searchsorted(begin, at) - 1
    if not len(begin):
        return found
    return np.where((found >= 0) & (at < end[found]), found, -1)


def _entered(rows: np.ndarray, at: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return when the call around each row was entered, ns. A row outside of calls has its own time."""
    call = _inside(at, begin, end)
    return np.where(call >= 0, rows["time"][begin[call]] if len(begin) else 0, rows["time"][at])
