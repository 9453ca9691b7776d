"""The events of one thread in the order of an OTF2 archive, window by window.

At one time, a call is left before another one is entered, and regions change in between; events of a call lie inside
it. So events are sorted by time and by a place: 4 k + 1 for the begin of call k, 4 k + 2 inside it, 4 k + 3 for its
end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer._kernels import lib
from analyzer.columns.arrays import joined
from analyzer.otf2_library import EVENT, NOBODY
from analyzer.trace import MESSAGE, Mark

_EVER = np.iinfo(np.int64).max
_KEPT = 2
"""Number of earlier calls that times of a window may lie in: the last call, and the call before, which may end then."""
Placed = tuple[np.ndarray, np.ndarray]
"""Events (EVENT of the archive) and their places."""


@dataclass(frozen=True)
class Otf2References:
    """References of OTF2 definitions, by procedure, region and communicator of a trace."""

    mpi: np.ndarray  # uint32 (procedures,): region of the procedure
    own: np.ndarray  # uint32 (regions,)
    is_collective: np.ndarray  # bool (procedures,): blocking collective
    operation: np.ndarray  # uint32 (procedures,): operation of a collective
    program: int  # string with the name of the program
    comm: Sequence[int]  # by communicator
    rank_in: Sequence[np.ndarray]  # by communicator: uint32 (world ranks,), rank in it

    def in_comm(self, comm: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the reference of each communicator, and the rank in it of each world rank.

        An unknown communicator (-1) is replaced by the first one, which has all ranks.
        """
        refs, inside = np.full(len(comm), self.comm[0], np.uint32), np.full(len(comm), NOBODY, np.uint32)
        for one in np.unique(comm).tolist():
            mine, number = comm == one, max(one, 0)
            refs[mine] = self.comm[number]
            known = mine & (ranks >= 0)
            inside[known] = self.rank_in[number][ranks[known]]
        return refs, inside


@dataclass(frozen=True)
class _Calls:
    """Some consecutive calls of a thread, which do not overlap."""

    first: int  # number of the first one among all calls of the thread
    enter: np.ndarray
    end: np.ndarray

    def then(self, enter: np.ndarray, end: np.ndarray) -> _Calls:
        """Return the last _KEPT of these calls, followed by more calls."""
        kept = min(len(self.enter), _KEPT)
        both = (np.concatenate([old[len(old) - kept :], new]) for old, new in ((self.enter, enter), (self.end, end)))
        return _Calls(self.first + len(self.enter) - kept, *both)

    def entered(self, time: np.ndarray) -> np.ndarray:
        """Return the number of the last call that is entered at each time or before; -1: none."""
        return self.first + np.searchsorted(self.enter, time, "right") - 1

    def left(self, time: np.ndarray) -> np.ndarray:
        """Return the number of the first call that ends at each time or later."""
        return self.first + np.searchsorted(self.end, time)

    def end_of(self, number: np.ndarray) -> np.ndarray:
        """Return the end time of calls by number; -1, which is before all times, for a call that is not stored."""
        known = (number >= self.first) & (number < self.first + len(self.end))
        found = np.full(len(number), -1)
        found[known] = self.end[number[known] - self.first]
        return found


class ThreadEvents:
    """Events of a thread up to the current window.

    Events that come later are held back: ends of calls, data of receives.
    """

    def __init__(self, references: Otf2References, span: tuple[int, int] | None = None) -> None:
        """Start with a thread.

        `span` is begin and end of the program in ns for the main thread, None for other threads.
        """
        self._references, self._span = references, span
        nothing = np.zeros(0, np.int64)
        self._calls = _Calls(0, nothing, nothing)
        self._open = np.zeros(0, np.uint32)  # regions, the innermost last
        self._posted, self._request, self._requests = np.zeros(0, MESSAGE), nothing, 0
        self._last = 0  # time of the last event given
        self._later: Placed = (np.zeros(0, EVENT), nothing)
        if span:
            self._later = _rows(lib.ARCHIVE_PROGRAM_BEGIN, np.array(span[:1]), references.program), np.array([-1])

    def of_window(
        self, until: int, calls: np.ndarray, marks: np.ndarray, sent: np.ndarray, received: np.ndarray
    ) -> np.ndarray:
        """Return the events (EVENT) before `until` that were not returned yet, in order.

        Args:
            until: End of the window in ns.
            calls: Calls of the thread in the window, which follows the previous window.
            marks: Begins and ends of regions in the window.
            sent: Messages with logical_send in the window.
            received: Messages with logical_receive in the window.
        """
        end = np.where(calls["count"] > 1, calls["enter"] + calls["inside"], calls["exit"])
        self._calls = self._calls.then(calls["enter"], end)
        found = [
            self._later, *self._of_calls(calls, end), self._sends(sent), *self._receives(received, until),
            self._marks(marks),
        ]  # fmt: skip
        events, place = joined([events for events, _ in found], EVENT), np.concatenate([place for _, place in found])
        order = np.lexsort((place, events["time"]))
        events, place = events.take(order), place[order]
        ready = int(np.searchsorted(events["time"], until))
        self._later = events[ready:].copy(), place[ready:].copy()
        self._last = int(events["time"][ready - 1]) if ready else self._last
        return np.ascontiguousarray(events[:ready])

    def rest(self, calls: np.ndarray, marks: np.ndarray) -> np.ndarray:
        """Return all events that were held back, after the last window. `calls` and `marks` must be empty."""
        events = self.of_window(_EVER, calls, marks, np.zeros(0, MESSAGE), np.zeros(0, MESSAGE))
        if not self._span:
            return events
        last = max(self._span[1], self._last, int(events["time"][-1]) if len(events) else 0)
        return joined([events, _rows(lib.ARCHIVE_PROGRAM_END, np.array([last]), 0)], EVENT)

    def _of_calls(self, calls: np.ndarray, end: np.ndarray) -> list[Placed]:
        refs = self._references
        number = self._calls.first + len(self._calls.enter) - len(calls) + np.arange(len(calls))
        region = refs.mpi[calls["call"]]
        at = np.flatnonzero(refs.is_collective[calls["call"]] & (calls["comm"] >= 0))
        some, place = calls.take(at), 4 * number[at] + 2
        ends = _rows(lib.ARCHIVE_COLLECTIVE_END, end[at], refs.operation[some["call"]])
        ends["length"], ends["request"] = some["sent"], some["received"]
        ends["comm"], ends["tag"] = refs.in_comm(some["comm"], some["peer"])
        return [
            (_rows(lib.ARCHIVE_ENTER, calls["enter"], region), 4 * number + 1),
            (_rows(lib.ARCHIVE_LEAVE, end, region), 4 * number + 3),
            (_rows(lib.ARCHIVE_COLLECTIVE, some["enter"], 0), place),
            (ends, place),
        ]

    def _sends(self, sent: np.ndarray) -> Placed:
        """Place sends in the call that is entered at their time.

        A physical send after the end of this call would lie in another call, so it gets the logical time.
        """
        number = self._calls.entered(sent["logical_send"])
        rows = self._message(lib.ARCHIVE_SEND, "physical_send", sent, "destination")
        inside = rows["time"] <= self._calls.end_of(number)
        rows["time"] = np.where(inside, rows["time"], sent["logical_send"])
        return rows, 4 * number + 2

    def _receives(self, received: np.ndarray, until: int) -> list[Placed]:
        """Place receives: one event if the data arrive in the call that posts the receive, otherwise two events.

        The second event lies in the first call that ends when the data have arrived, or later.
        """
        number = self._calls.entered(received["logical_receive"])
        arrives = received["physical_receive"]
        at_once = (arrives <= self._calls.end_of(number)) & (arrives > self._calls.end_of(number - 1))
        whole = self._message(lib.ARCHIVE_RECV, "physical_receive", received.compress(at_once), "source")
        posted = _rows(lib.ARCHIVE_RECV_POSTED, received["logical_receive"][~at_once], 0)
        posted["request"] = self._requests + 1 + np.arange(len(posted))
        self._requests += len(posted)
        waiting = joined([self._posted, received.compress(~at_once)], MESSAGE)
        request = np.concatenate([self._request, posted["request"]])
        now = waiting["physical_receive"] < until
        done = self._message(lib.ARCHIVE_IRECV, "physical_receive", waiting.compress(now), "source")
        done["request"] = request[now]
        self._posted, self._request = waiting.compress(~now), request[~now]
        return [
            (whole, 4 * number[at_once] + 2),
            (done, 4 * self._calls.left(done["time"]) + 2),
            (posted, 4 * number[~at_once] + 2),
        ]

    def _marks(self, marks: np.ndarray) -> Placed:
        begins = marks["what"] == Mark.BEGIN
        regions = self._references.own[marks["number"] - 1] if len(marks) else np.zeros(0, np.uint32)
        rows = _rows(lib.ARCHIVE_LEAVE, marks["time"], self._closed(begins, regions))
        rows["kind"][begins] = lib.ARCHIVE_ENTER
        before = self._calls.first + np.searchsorted(self._calls.enter, marks["time"])
        inside = self._calls.end_of(before - 1) > marks["time"]
        return rows, np.where(inside, 4 * before - 2, 4 * before)

    def _closed(self, begins: np.ndarray, regions: np.ndarray) -> np.ndarray:
        """Return the region of each mark. An end closes the last open region of its depth.

        A region that is open before these marks is treated as if it began with them; one that stays open, as if it
        ended.
        """
        before = len(self._open)
        behind = max(before + int(np.where(begins, 1, -1).sum()), 0)
        begins = np.concatenate([np.ones(before, bool), begins, np.zeros(behind, bool)])
        found = np.concatenate([self._open, regions, np.zeros(behind, np.uint32)])
        depth = np.cumsum(np.where(begins, 1, -1)) - begins
        order = np.argsort(depth, kind="stable")
        found[order[1::2]] = found[order[::2]][: len(order) // 2]
        self._open = found[len(found) - behind :][::-1].copy()
        return found[before : len(found) - behind]

    def _message(self, kind: int, time: str, rows: np.ndarray, other: str) -> np.ndarray:
        found = _rows(kind, rows[time], 0)
        found["length"], found["tag"] = rows["size"], rows["tag"].astype(np.uint32)
        found["comm"], found["what"] = self._references.in_comm(rows["comm"], rows[other])
        return found


def _rows(kind: int, time: np.ndarray, what: Any) -> np.ndarray:
    rows = np.zeros(len(time), EVENT)
    rows["kind"], rows["time"], rows["what"] = kind, time, what
    return rows
