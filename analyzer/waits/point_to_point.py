"""Wait states of point-to-point messages: what each call that completes messages waited for last."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.paraver import base_name
from analyzer.trace import Trace
from analyzer.waits.kinds import WAIT, Kind
from analyzer.waits.lanes import LANE_CALL, Lanes, Sorted, lane_calls, window_pairs
from analyzer.waits.messages import NEVER, PROBED, Halves


def message_waits(trace: Trace, lanes: Lanes, windows: np.ndarray, halves: Halves) -> Iterator[np.ndarray]:
    """WAIT of calls that waited for messages, by the windows in which these calls return.

    A receive (or the call that completes it) waits until the send is entered, a send until the receive is posted, if
    it has not returned before: a message that MPI buffers delays no sender. Of a call that completes several messages
    the wait that ended last counts; so no call waits longer than it lasts.
    """
    open_ = np.zeros(0, LANE_CALL)
    names = [base_name(p) for p in trace.procedures]
    probes = _Probes(np.array([n == "MPI_Probe" for n in names]), np.array([n == "MPI_Mprobe" for n in names]), lanes)
    last = len(windows) - 2
    for index, (begin, end) in enumerate(window_pairs(windows)):
        calls = lane_calls(trace, lanes, begin, end)
        calls = np.concatenate([open_, calls[calls["count"] == 1]])
        calls = calls[np.argsort(calls["lane"], kind="stable")]
        candidates = halves.spill.read(index)
        at = _calls_of(candidates, calls)
        if index < last:
            open_ = calls[(calls["exit"] >= end) | _last_of_lanes(calls["lane"])]
            waiting = (at >= 0) & (candidates["kind"] != PROBED)
            waiting[waiting] = calls["exit"][at[waiting]] >= end
            halves.put_off(candidates[waiting], calls["exit"][at[waiting]])
            candidates, at = candidates[~waiting], at[~waiting]
        at = probes.calls_of(candidates, calls, at)
        yield _latest(calls, candidates, at, halves.sent_later[index + 1])


def _calls_of(candidates: np.ndarray, calls: np.ndarray) -> np.ndarray:
    """The call of each candidate; -1: unknown."""
    at = Sorted(calls["lane"], calls["exit"]).at_or_after(candidates["lane"], candidates["complete"])
    known = at >= 0
    known[known] = calls["enter"][at[known]] < candidates["complete"][known]
    return np.where(known, at, -1)


def _last_of_lanes(lane: np.ndarray) -> np.ndarray:
    """Whether each row is the last one of its lane."""
    return np.append(np.diff(lane) != 0, np.ones(min(len(lane), 1), bool))


class _Probes:
    """Which calls waited for a message before its receive was posted; by procedure."""

    def __init__(self, before: np.ndarray, itself: np.ndarray, lanes: Lanes) -> None:
        self._before, self._itself, self._rank = before, itself, lanes.rank

    def calls_of(self, candidates: np.ndarray, calls: np.ndarray, at: np.ndarray) -> np.ndarray:
        """`at`, the calls of the candidates, where those that are PROBED have their probe, or -1."""
        probed = np.flatnonzero(candidates["kind"] == PROBED)
        if not len(probed):
            return at
        posts, source = at[probed], self._rank[candidates["cause"][probed]]
        earlier = np.maximum(posts - 1, 0)
        before = (posts > 0) & (calls["lane"][earlier] == calls["lane"][posts])
        before &= self._before[calls["call"][earlier]] & (calls["peer"][earlier] == source)
        itself = (posts >= 0) & self._itself[calls["call"][posts]]
        at[probed] = np.where(itself, posts, np.where(before, earlier, -1))
        candidates["kind"][probed] = Kind.LATE_SENDER
        return at


def _latest(calls: np.ndarray, candidates: np.ndarray, at: np.ndarray, sent_later: np.ndarray) -> np.ndarray:
    """The wait of each call, from what it may have waited for."""
    late = at >= 0
    late[late] = candidates["until"][late] > calls["enter"][at[late]]
    every, candidates, of_call = candidates, candidates[late], calls[at[late]]
    waits = np.zeros(len(candidates), WAIT)
    for column in ("enter", "exit", "call"):
        waits[column] = of_call[column]
    for column in ("lane", "cause", "kind"):
        waits[column] = candidates[column]
    waits["cause_enter"] = candidates["until"]
    waits["end"] = np.minimum(candidates["until"], waits["exit"])
    waits["first"] = candidates["first"].clip(waits["enter"], waits["end"])
    wrong = _sent_of_later(every, waits, sent_later) < candidates["until"]
    waits["kind"][wrong & (waits["kind"] == Kind.LATE_SENDER)] = Kind.WRONG_ORDER
    waits = waits[np.lexsort((-waits["kind"], waits["end"], waits["enter"], waits["lane"]))]
    is_last = np.ones(len(waits), bool)
    is_last[:-1] = (np.diff(waits["lane"]) != 0) | (np.diff(waits["enter"]) != 0)
    return waits[is_last]


def _sent_of_later(candidates: np.ndarray, waits: np.ndarray, sent_later: np.ndarray) -> np.ndarray:
    """For each of `waits` when the earliest message was sent that its lane received after this call, if it was one of
    `candidates` or in a later window."""
    found = sent_later[waits["lane"]]
    receives = candidates[candidates["kind"] == Kind.LATE_SENDER]
    if not len(waits) or not len(receives):
        return found
    receives = receives[np.argsort(receives["complete"], kind="stable")]
    receives = receives[np.argsort(receives["lane"], kind="stable")]
    at = Sorted(receives["lane"], receives["complete"]).at_or_after(waits["lane"], waits["exit"] + 1)
    earliest = _least_from_here(receives["lane"], receives["until"])
    return np.minimum(found, np.where(at >= 0, earliest[at], NEVER))


def _least_from_here(lane: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For each row the least value of it and those after it in its lane; rows are sorted by lane."""
    edges = np.flatnonzero(np.diff(lane)) + 1
    parts = np.split(values, edges)
    return np.concatenate([np.minimum.accumulate(part[::-1])[::-1] for part in parts])
