"""Messages as what calls may have waited for: each at the calls that completed its two halves."""

from __future__ import annotations

import numpy as np

from analyzer.metrics.requests import Posted
from analyzer.paraver import SEND_RECEIVES, SENDS, base_name
from analyzer.sources.spill import Spill
from analyzer.trace import REQUEST, Trace
from analyzer.waits.kinds import Kind
from analyzer.waits.lanes import Lanes, Sorted, lane_calls, window_of, window_pairs
from analyzer.waits.syncs import SYNC
from tracelib.schema import What

CANDIDATE = np.dtype(
    [("complete", "<i8"), ("until", "<i8"), ("first", "<i8"), ("lane", "<i4"), ("cause", "<i4"), ("kind", "<i4")]
)
"""The call of `lane` that returns at `complete` could not do so before `until`, when `cause` entered the other side's
call; `first` as in WAIT."""

PROBED = -1
"""`kind` of a message that MPI_Probe or MPI_Mprobe may have waited for. `complete` lies in the call that posts its
receive: MPI_Mprobe itself, or the call after MPI_Probe."""

PROBES = frozenset({"MPI_Probe", "MPI_Mprobe"})
NEVER = np.iinfo(np.int64).max


class Halves:
    """CANDIDATE of all messages by the window in which the call completed that may have waited, and SYNC of them.

    `sent_later[w, lane]` is when the earliest message was sent that the lane received in window w or later.
    """

    def __init__(self, trace: Trace, lanes: Lanes, windows: np.ndarray, syncs: Spill) -> None:
        self.spill = Spill(CANDIDATE)
        self.sent_later = np.full((len(windows), len(lanes)), NEVER, np.int64)
        self._lanes, self._windows, self._syncs = lanes, windows, syncs
        names = [base_name(p) for p in trace.procedures]
        self._blocks = np.array([n in (SENDS | SEND_RECEIVES) - {"MPI_Bsend"} for n in names], bool)
        self._probes = not PROBES.isdisjoint(names)
        self._buffers = np.array([n in ("MPI_Bsend", "MPI_Ibsend") for n in names], bool)
        done = [Posted(trace, rank, windows, (What.SEND_DONE,)) for rank in range(trace.size)]
        for index, (begin, end) in enumerate(window_pairs(windows)):
            messages = trace.messages(begin, end)
            source = lanes.of(messages["source"], messages["source_thread"])
            target = lanes.of(messages["destination"], messages["destination_thread"])
            other = source != target
            messages, source, target = messages[other], source[other], target[other]
            calls = lane_calls(trace, lanes, begin, end)
            self._receives(messages, source, target)
            at = Sorted(calls["lane"], calls["enter"]).exactly(source, messages["logical_send"])
            requests = [posted.window(index) for posted in done]
            complete = self._completions(messages, calls, at, requests)
            received = messages["logical_receive"]
            late = (received > messages["logical_send"]) & (received < complete)  # else MPI has buffered it
            self._add(complete[late], received[late], source[late], target[late], Kind.LATE_RECEIVER)
            left = np.where(at >= 0, calls["exit"][at], messages["logical_send"]) if len(calls) else received
            self._synchronize(source, left, target, messages["physical_receive"])
        self.sent_later = np.minimum.accumulate(self.sent_later[::-1])[::-1]

    def add(self, candidates: np.ndarray) -> None:
        """What calls that complete something else than messages may have waited for."""
        append_by_window(self.spill, candidates, candidates["complete"], self._windows)

    def put_off(self, candidates: np.ndarray, exit_: np.ndarray) -> None:
        """Give candidates back whose call returns in a later window."""
        candidates["complete"] = exit_
        self.add(candidates)

    def _receives(self, messages: np.ndarray, source: np.ndarray, target: np.ndarray) -> None:
        """What a receive waited for: the send. All are kept, since one may show that others came in the wrong order."""
        complete, until = messages["physical_receive"], messages["logical_send"]
        self._add(complete, until, target, source, Kind.LATE_SENDER)
        if self._probes:
            self._add(messages["logical_receive"] + 1, until, target, source, PROBED)
        np.minimum.at(self.sent_later, (window_of(self._windows, complete), target), until)

    def _add(self, complete: np.ndarray, until: np.ndarray, lane: np.ndarray, cause: np.ndarray, kind: int) -> None:
        rows = np.zeros(len(complete), CANDIDATE)
        columns = (
            ("complete", complete),
            ("until", until),
            ("first", until),
            ("lane", lane),
            ("cause", cause),
            ("kind", kind),
        )
        for column, values in columns:
            rows[column] = values
        self.add(rows)

    def _completions(
        self, messages: np.ndarray, calls: np.ndarray, at: np.ndarray, requests: list[np.ndarray]
    ) -> np.ndarray:
        """When the call returned that completed each send; 0: nobody can have waited there, or it is not known."""
        complete = np.zeros(len(messages), np.int64)
        if not len(calls) or not len(messages):
            return complete
        call = calls["call"][at]
        blocks = (at >= 0) & self._blocks[call]
        complete[blocks] = calls["exit"][at[blocks]]
        begun = np.flatnonzero((at >= 0) & ~blocks & ~self._buffers[call])
        complete[begun] = _joined(messages[begun], requests)
        return complete

    def _synchronize(self, a: np.ndarray, left: np.ndarray, b: np.ndarray, received: np.ndarray) -> None:
        rows = np.zeros(len(a), SYNC)
        rows["lane"], rows["other"], rows["time"], rows["other_time"] = a, b, left, received
        rows["key"] = np.maximum(left, received)
        append_by_window(self._syncs, rows, rows["key"], self._windows)


def _joined(messages: np.ndarray, requests: list[np.ndarray]) -> np.ndarray:
    """When the request of each message was completed (0: unknown): the k-th of a rank, time of posting, peer and tag is
    the k-th message."""
    rank = np.repeat(np.arange(len(requests)), [len(r) for r in requests])
    done = np.concatenate([np.zeros(0, REQUEST), *requests])
    columns = [
        np.concatenate([messages[m], values])
        for m, values in (("source", rank), ("logical_send", done["posted"]), ("destination", done["peer"]),
                          ("tag", done["tag"]))
    ]  # fmt: skip
    is_request = np.arange(len(columns[0])) >= len(messages)
    order = np.lexsort((is_request, *columns[::-1]))
    new = np.ones(len(order), bool)
    new[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    group = np.cumsum(new) - 1
    side = is_request[order]
    first = np.flatnonzero(new)
    sends = np.bincount(group, ~side).astype(np.int64) if len(group) else np.zeros(0, np.int64)
    place = np.arange(len(order)) - first[group]  # within the group: first its messages, then its requests
    complete = np.zeros(len(messages), np.int64)
    sizes = np.diff(np.append(first, len(order)))
    has = ~side & (place + sends[group] < sizes[group])
    partner = order[np.flatnonzero(has) + sends[group[has]]] - len(messages)
    complete[order[has]] = done["completed"][partner]
    return complete


def append_by_window(spill: Spill, rows: np.ndarray, times: np.ndarray, windows: np.ndarray) -> None:
    """Put rows aside under the number of the window that their time lies in."""
    window = window_of(windows, times)
    for one in np.unique(window).tolist():
        spill.append(one, rows[window == one])
