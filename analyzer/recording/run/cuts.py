"""Time cut so that a stretch of it holds about so many calls, of one rank or of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from analyzer.recording.rank_file.clock import LATEST_NS
from analyzer.recording.rank_file.index import STEP
from analyzer.recording.thread_records.thread import RECORDED, ThreadRecords

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
    def of(cls, lanes: Iterable[tuple[ThreadRecords, float]]) -> Spread:
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


def _times(lane: ThreadRecords, keys: np.ndarray) -> list[int]:
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


Lanes = Mapping[int, list[ThreadRecords]]
"""Those of each rank that could be read."""

RECORDS = 262144
"""About how many calls a window holds."""

FEW_RANKS = 512
RECORDS_A_RANK = 32
"""A window of more than FEW_RANKS ranks holds at least as many calls for each: else most of the work would be to look
at ranks that did little in it."""

MOST_RECORDS = 1 << 19
"""Where chunks of rows are inflated as a whole, a window is as long as one of each rank, but has no more calls."""

MOST_LOOKED_AT = 512
"""Where in time ranks that recorded few calls did so, this many of them tell, spread over all."""

CALLS_A_BLOCK = 65536
"""About how many calls a block holds."""

MOST_RANKS = 1024
"""How many ranks are looked at together."""


class Cuts:
    """The cuts of a run that lasts `duration_ns`, each made once."""

    def __init__(
        self, lanes: Lanes, duration_ns: int, recorded: Mapping[int, int], own: range, inflated: int = 0
    ) -> None:
        """`recorded`: how many calls, polls and events each rank recorded; `own`: ranks that this process opened;
        `inflated`: calls of all ranks that are inflated to read one of each, 0: they are there as they are."""
        self._lanes, self._last, self._recorded, self._own = lanes, duration_ns + 1, recorded, own
        self._least = min(inflated, MOST_RECORDS)
        self._sum = sum(recorded.values())
        self._expected = False  # whether threads know where windows begin
        self._known: dict[tuple[int, int], np.ndarray] = {}
        self._density: dict[int, Density] = {}  # of a rank, or (-1) of all
        self._whole = np.array([0, max(self._last, 1)], np.int64)

    @property
    def is_long(self) -> bool:
        """Whether the run is likely to be cut."""
        return self._sum > CALLS_A_BLOCK

    def spread_of_own(self) -> Spread:
        """Where in time this process' own ranks recorded what they did."""
        return self._spread(self._own)

    def know(self, spreads: Sequence[Spread]) -> None:
        """Of the members of a team, which have opened all ranks in their order."""
        self._density[-1] = Density(Spread.joined(spreads))

    @cached_property
    def recorded(self) -> list[int]:
        """How many calls, polls and events each rank recorded, one more for looking at it."""
        size = max(self._lanes, default=-1) + 1
        return [1 + self._recorded.get(rank, 0) for rank in range(size)]

    def end(self, end: int | None) -> int:
        """`end`, or for None one behind the last instant."""
        return self._last if end is None else int(end)

    def windows(self, records: int = RECORDS, rank: int = -1, least: int = RECORDS_A_RANK) -> np.ndarray:
        """Windows of one rank, or (-1) of all. Those of many ranks hold `least` calls for each at least."""
        if rank < 0 and len(self._lanes) > FEW_RANKS:
            records = max(records, least * len(self._lanes))
        if rank < 0:
            records = max(records, self._least)
        if (rank, records) in self._known:
            return self._known[rank, records]
        if (self._sum if rank < 0 else self._recorded.get(rank, 0)) <= records:
            return self._whole
        if rank not in self._density:
            self._density[rank] = Density(self._spread(sorted(self._lanes)) if rank < 0 else self._alone(rank))
        self._known[rank, records] = self._density[rank].cut(records, self._last)
        return self._known[rank, records]

    def _alone(self, rank: int) -> Spread:
        return Spread.of((lane, 1.0) for lane in self._lanes.get(rank, ()))

    def _spread(self, ranks: Iterable[int]) -> Spread:
        """Where in time some ranks, and those that they stand for, recorded what they did."""
        looked_at = self._looked_at
        return Spread.of((lane, looked_at[rank]) for rank in ranks if rank in looked_at for lane in self._lanes[rank])

    @cached_property
    def _looked_at(self) -> dict[int, float]:
        """Ranks that tell when calls were recorded, and how many times its own ones each stands for: of some neighbours
        that recorded few the one that recorded most."""
        ranks, found = sorted(self._lanes), dict[int, float]()
        step = -(-len(ranks) // MOST_LOOKED_AT)
        for neighbours in (ranks[k : k + step] for k in range(0, len(ranks), max(step, 1))):
            recorded = {rank: self._recorded.get(rank, 0) for rank in neighbours}
            few = {rank: count for rank, count in recorded.items() if count <= STEP}
            found |= dict.fromkeys(recorded.keys() - few.keys(), 1.0)
            most = max(few, key=few.__getitem__, default=None)
            if most is not None:
                found[most] = sum(few.values()) / max(few[most], 1)
        return found

    def expect_windows(self) -> None:
        """Have the calls of many ranks know where the windows of all begin: each looks once, not in each window."""
        bounds = self.windows()[1:-1].tolist() if len(self._lanes) > FEW_RANKS and not self._expected else []
        self._expected = True
        for lane in (lane for rank in self._own for lane in self._lanes.get(rank, ())) if bounds else ():
            before = [bound - 1 - lane.overhead for bound in bounds]  # as `states` reads
            lane.tables["calls"].expect([lane.clock.ticks(bound) for bound in [*bounds, *before]])

    def parts(self, ranks: range, records: int) -> Iterator[tuple[range, np.ndarray]]:
        """All that some ranks did: neighbours that made few calls together, with one window; (ranks, bounds)."""
        first, held = ranks.start, 0
        for rank in ranks:
            count = self._recorded.get(rank, 0)
            if rank > first and (held + count > records or rank - first == MOST_RANKS):
                yield range(first, rank), self._whole
                first, held = rank, 0
            held += count
            if held > records:  # this rank alone
                yield range(rank, rank + 1), self.windows(records, rank)
                first, held = rank + 1, 0
        if first < ranks.stop:
            yield range(first, ranks.stop), self._whole

    def blocks(self, rank: int, begin: int, end: int | None) -> Iterator[tuple[int, int]]:
        """[begin, end) in parts of about CALLS_A_BLOCK calls of a rank."""
        stop = self.end(end)
        bounds = self.windows(CALLS_A_BLOCK, rank)
        if len(bounds) == 2:
            yield begin, stop
            return
        inner = bounds[(bounds > begin) & (bounds < stop)].tolist()
        edges = [begin, *inner, stop]
        yield from pairwise(edges)
