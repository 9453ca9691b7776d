"""Cutting a run into windows of time that hold about the same number of calls each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

import numpy as np

from analyzer.sources.lane.lane import RECORDED, Lane


class Density:
    """How many calls, polls and events some threads recorded up to each time, as far as every STEP-th row of a table
    tells: between two of these they count as evenly spread."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        begins: list[int] = []
        ends: list[int] = []
        weights: list[int] = []
        for lane, table in ((lane, lane.tables[name]) for lane in lanes for name in RECORDED):
            if not len(table):
                continue
            positions, keys = (column.tolist() for column in table.sampled)
            times = [lane.clock.ns(key) for key in keys]
            begins += times
            ends += [max(after, time + 1) for time, after in zip(times, [*times[1:], times[-1]], strict=True)]
            weights += [after - position for position, after in pairwise(positions)]
            weights.append(1)
        begin, end, weight = (np.array(column, np.float64) for column in (begins, ends, weights))
        self._times, self._calls = _cumulated(begin, end, weight)
        self._sum = float(weight.sum())

    def cut(self, records: int, stop: int) -> np.ndarray:
        """Times 0 = b_0 < b_1 < ... < b_n = stop (ns, int64): of equal size, with about `records` of them at most."""
        count = max(ceil(self._sum / max(records, 1)), 1)
        places = np.arange(1, count) * (self._sum / count)
        inner = np.interp(places, self._calls, self._times).astype(np.int64)
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
