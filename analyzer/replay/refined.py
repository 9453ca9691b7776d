"""States of a predicted run that no call tells: latency, and waiting for links and for semaphores."""

from __future__ import annotations

import numpy as np

from analyzer.program.operation import Flag, Kind
from analyzer.trace import STATE, State

_OF_NO_CALL = (State.RUNNING, State.SCHEDULING, State.IDLE)
"""States that are not those of calls: nothing but a wait for a semaphore takes place there."""


def refined(states: np.ndarray, ops: np.ndarray, times: np.ndarray, transfers: np.ndarray) -> np.ndarray:
    """Divide the states of one thread where its operations do something else than their call says.

    states: STATE in order of time, none of which overlap. ops, times, transfers: OP, TIME and TRANSFER of its
    operations. The overhead of an operation is STARTUP_LATENCY, also where the thread was without a CPU for a part of
    it: that part keeps its state. A blocking send is WAITING_LINKS from when its receive was posted until the message
    starts. A wait for a semaphore is BLOCKED.
    """
    begin, acted, end = times["begin"], transfers["acted"], times["end"]
    sends = (ops["kind"] == Kind.SEND) & ((ops["flags"] & Flag.IMMEDIATE) == 0)
    posted = np.maximum(transfers["posted"], acted)
    latency = _Stretches.of(begin, acted, State.STARTUP_LATENCY)
    links = _Stretches.of(posted[sends], np.minimum(transfers["start"], end)[sends], State.WAITING_LINKS)
    semaphores = ops["kind"] == Kind.SEM_WAIT
    blocked = _Stretches.of(acted[semaphores], end[semaphores], State.BLOCKED)
    return _divided(_divided(_divided(states, latency), links), blocked, running=True)


class _Stretches:
    """Times from `begin` to `end` (ns), ascending and without overlap, in which a thread was in `state`."""

    def __init__(self, begin: np.ndarray, end: np.ndarray, state: State) -> None:
        self.begin, self.end, self.state = begin, end, state

    @classmethod
    def of(cls, begin: np.ndarray, end: np.ndarray, state: State) -> _Stretches:
        """Keep the operations that began and took time."""
        some = (begin >= 0) & (end > begin)
        return cls(begin[some], end[some], state)

    def cover(self, times: np.ndarray) -> np.ndarray:
        """Whether each time lies in one of them."""
        at = np.searchsorted(self.begin, times, "right") - 1
        return (at >= 0) & (times < np.append(self.end, 0)[at])


def _divided(states: np.ndarray, by: _Stretches, *, running: bool = False) -> np.ndarray:
    """The states with what lies in the stretches in their state. Only states of calls are divided, or (`running`) only
    running."""
    if not len(states) or not len(by.begin):
        return states
    points = np.unique(np.concatenate([states["begin"], states["end"], by.begin, by.end]))
    row = np.searchsorted(states["begin"], points[:-1], "right") - 1
    inside = (row >= 0) & (points[:-1] < states["end"][row])
    found = np.zeros(int(inside.sum()), STATE)
    found[:] = states[row[inside]]
    found["begin"], found["end"] = points[:-1][inside], points[1:][inside]
    divisible = found["state"] == State.RUNNING if running else ~np.isin(found["state"], _OF_NO_CALL)
    found["state"] = np.where(divisible & by.cover(found["begin"]), by.state, found["state"])
    return _joined(found, row[inside])


def _joined(pieces: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Neighbouring pieces of one row and of one state as one."""
    new = np.append(True, (row[1:] != row[:-1]) | (pieces["state"][1:] != pieces["state"][:-1]))
    first = np.flatnonzero(new)
    found = pieces[first].copy()
    found["end"] = pieces["end"][np.append(first[1:], len(pieces)) - 1]
    return found
