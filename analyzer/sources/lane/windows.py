"""Cutting a run into windows of time that hold about the same number of calls each."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

import numpy as np

from analyzer.sources.lane.lane import Lane

_TABLES = ("calls", "polls", "events", "summaries")


def recorded(lane: Lane) -> int:
    """How many calls, polls and events a thread recorded."""
    return sum(len(lane.tables[name]) for name in _TABLES)


def cut(lanes: Iterable[Lane], records: int, stop: int) -> np.ndarray:
    """Times 0 = b_0 < b_1 < ... < b_n = stop (ns, int64): of equal size, with about `records` calls, polls and
    events at most.

    Between two sampled rows of a lane they count as evenly spread.
    """
    tables = [(lane, table) for lane in lanes for name in _TABLES if len(table := lane.tables[name])]
    if sum(len(table) for _, table in tables) <= records:
        return np.array([0, max(stop, 1)], np.int64)
    begins, ends, weights = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    for lane, table in tables:
        positions, keys = table.sampled
        times = np.array([lane.clock.ns(key) for key in keys], np.float64)
        begins.append(times)
        ends.append(np.maximum(np.append(times[1:], times[-1]), times + 1))
        weights.append(np.append(np.diff(positions), 1).astype(np.float64))
    begin, end, weight = (np.concatenate(parts) for parts in (begins, ends, weights))
    count = max(ceil(weight.sum() / max(records, 1)), 1)
    times, calls = _cumulated(begin, end, weight)
    inner = np.interp(np.arange(1, count) * (weight.sum() / count), calls, times).astype(np.int64)
    inner = inner[(inner > 0) & (inner < stop)]
    return np.unique(np.concatenate([[0], inner, [max(stop, 1)]]).astype(np.int64))


def _cumulated(begin: np.ndarray, end: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and the number of calls before each, for intervals [begin, end) of `weight` calls each."""
    if not len(begin):
        return np.zeros(1), np.zeros(1)
    times = np.concatenate([begin, end])
    rate = weight / np.maximum(end - begin, 1)
    rate = np.concatenate([rate, -rate])
    order = np.argsort(times, kind="stable")
    times, rate = times[order], np.cumsum(rate[order])
    calls = np.concatenate([[0.0], np.cumsum(np.maximum(rate[:-1], 0) * np.diff(times))])
    return times, calls
