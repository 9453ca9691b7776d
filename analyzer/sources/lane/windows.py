"""Cutting a run into windows of time that hold about the same number of calls each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from analyzer.sources.lane.lane import RECORDED, Lane
from analyzer.sources.rank_file.clock import LATEST_NS

_FEW = 16
SAMPLES = 17
"""Of a table of few rows so many tell when they were recorded: before the first exchange there may be a long start."""


class Spread(NamedTuple):
    """Intervals of time [begin, end) in which `weight` calls, polls and events were recorded, as far as some rows of a
    table tell: between two of these they count as evenly spread. float64."""

    begin: np.ndarray
    end: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, lanes: Iterable[tuple[Lane, float]]) -> Spread:
        """That of some threads, each of which stands for so many like it."""
        begins: list[int] = []
        ends: list[int] = []
        weights: list[float] = []
        for lane, like_it, table in (
            (lane, like_it, lane.tables[name]) for lane, like_it in lanes for name in RECORDED
        ):
            if not len(table):
                continue
            positions, keys = table.sampled_finely(SAMPLES)
            positions, times = positions.tolist(), _times(lane, keys)
            begins += times
            ends += [max(after, time + 1) for time, after in zip(times, [*times[1:], times[-1]], strict=True)]
            weights += [like_it * (after - position) for position, after in pairwise(positions)]
            weights.append(like_it)
        return cls(*(np.array(column, np.float64) for column in (begins, ends, weights)))

    @classmethod
    def joined(cls, parts: Sequence[Spread]) -> Spread:
        """That of all threads of which some have these."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def _times(lane: Lane, keys: np.ndarray) -> list[int]:
    """Times (ns) of ticks: of few, as most ranks of a large run have, one by one, which is faster."""
    if len(keys) <= _FEW:
        return [lane.clock.ns(key) for key in keys.tolist()]
    times: list[int] = np.clip(lane.clock.times(keys), -LATEST_NS, LATEST_NS).tolist()
    return times


class Density:
    """How many calls, polls and events some threads recorded up to each time."""

    def __init__(self, spread: Spread) -> None:
        self._times, self._calls = _cumulated(*spread)
        self._sum = float(spread.weight.sum())

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
