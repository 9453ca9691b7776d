"""What ranks compute and spend in MPI between times of their own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.metrics.regions import Accumulated, lost_times
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.trace import State, Trace


def spent(trace: Trace, rank: int, times: np.ndarray) -> np.ndarray:
    """int64 (3, times): what a rank has computed, spent in MPI and lost to the tracer before each of these times, which
    are in order; the mean of its threads."""
    sums = np.zeros((3, len(times)), np.int64)
    lost = lost_times(trace, rank)
    threads = int(trace.threads[rank])
    for thread in range(threads):
        sums += _of_thread(trace, rank, thread, times, lost[lost["thread"] == thread])
    return sums // max(threads, 1)


def _of_thread(trace: Trace, rank: int, thread: int, times: np.ndarray, lost: np.ndarray) -> np.ndarray:
    running, inside, hidden = Accumulated(), Accumulated(), Accumulated()
    hidden.append(lost["begin"], lost["end"], lost["end"] - lost["begin"])
    parts = [np.zeros((2, 0), np.int64)]
    bounds = windows_of_rank(trace, rank).tolist()
    for begin, end in pairwise(bounds):
        states = trace.states(begin, end, range(rank, rank + 1))
        states = states[(states["thread"] == thread) & (states["state"] == State.RUNNING)]
        running.append(states["begin"], states["end"], states["end"] - states["begin"])
        calls = window_calls(trace, rank, begin, end)
        calls = calls[calls["thread"] == thread]
        inside.append(calls["enter"], calls["enter"] + calls["inside"], calls["inside"])
        low, high = np.searchsorted(times, (begin, end))
        some = times[low:high]
        parts.append(np.stack([running.until(some), inside.until(some)]))
    done = np.concatenate(parts, axis=1)
    rest = times[done.shape[1] :]
    last = np.stack([running.until(rest), inside.until(rest)])
    return np.vstack([np.concatenate([done, last], axis=1), hidden.until(times)])
