"""What ranks compute and spend in MPI between times of their own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.metrics.regions import lost_times
from analyzer.pairing.requests import window_calls, windows_of_rank
from analyzer.trace import State, Trace


def spent(trace: Trace, rank: int, times: np.ndarray) -> np.ndarray:
    """int64 (3, times): what a rank has computed, spent in MPI and lost to the tracer before each of these times, which
    are in order; the mean of its threads."""
    lost = lost_times(trace, rank)
    sums = np.stack([*np.zeros((2, len(times)), np.int64), time_before(lost["begin"], lost["end"], times)])
    tracer_times = trace.origin.tracer_times
    for begin, end in pairwise(windows_of_rank(trace, rank).tolist()):
        states = trace.states(begin, end, range(rank, rank + 1))
        running = states[states["state"] == State.RUNNING]
        calls = window_calls(trace, rank, begin, end)
        sums[0] += time_before(running["begin"], running["end"], times)
        if tracer_times:
            tracer = states[states["state"] == State.TRACER]
            sums[2] += time_before(tracer["begin"], tracer["end"], times)
        sums[1] += time_before(calls["enter"], calls["enter"] + calls["inside"], times)
    return sums // max(int(trace.threads[rank]), 1)


def time_before(begin: np.ndarray, end: np.ndarray, times: np.ndarray) -> np.ndarray:
    """For each time how much of all intervals together lies before it (int64), of all threads at once.

    That is the time since all begins before it, less the time since all ends before it. Products may overflow: int64
    is exact modulo 2**64, and the result is small.
    """
    return _time_since(begin, times) - _time_since(end, times)


def _time_since(points: np.ndarray, times: np.ndarray) -> np.ndarray:
    ordered = np.sort(points.astype(np.int64))
    count = np.searchsorted(ordered, times, "right").astype(np.int64)
    return count * times - np.concatenate([np.zeros(1, np.int64), np.cumsum(ordered)])[count]
