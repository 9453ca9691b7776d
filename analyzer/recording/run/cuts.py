"""Cuts a run into windows of time that hold about the same number of calls, of one rank or of all ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from analyzer.parallel import Team
from analyzer.recording.rank_file.clock import LATEST_NS
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.thread_records.thread import RECORDED, ThreadRecords
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from tracelib import schema

_WINDOWS_A_MEMBER = 4
"""Smallest number of windows for each member of a team, where compressed rows call for longer windows."""
_FEW = 16
SAMPLES = 17
"""Number of rows that are sampled in a table with few rows, to know when they were recorded.

A few would not do: before the first exchange there may be a long start.
"""


class Spread(NamedTuple):
    """Distribution of records over time: `weight` records were recorded in each interval [begin, end) ns.

    Records are calls, polls, events and summed stretches. Arrays are float64. Intervals lie between sampled rows of a
    table, whose rows are taken as evenly distributed in between.
    """

    begin: np.ndarray
    end: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, lanes: Iterable[tuple[ThreadRecords, float]]) -> Spread:
        """Build the distribution of some threads. Each comes with the number of similar threads that it represents."""
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
        """Concatenate the intervals of several groups of threads."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def _times(lane: ThreadRecords, keys: np.ndarray) -> list[int]:
    """Convert ticks to ns. Few ticks, as most ranks of a large run have, are converted one by one, which is faster."""
    if len(keys) <= _FEW:
        return [lane.clock.ns(key) for key in keys.tolist()]
    times: list[int] = np.clip(lane.clock.times(keys), -LATEST_NS, LATEST_NS).tolist()
    return times


class Density:
    """Cumulated number of records of some threads over time."""

    def __init__(self, spread: Spread) -> None:
        self._times, self._calls = _cumulated(*spread)
        self._sum = float(spread.weight.sum())

    def cut(self, records: int, stop: int) -> np.ndarray:
        """Cut the time into windows with the same number of records.

        Args:
            records: Largest number of records of a window, approximately.
            stop: End of the last window, ns.

        Returns:
            Bounds 0 = b_0 < b_1 < ... < b_n = stop, int64 ns.
        """
        count = max(ceil(self._sum / max(records, 1)), 1)
        places = np.arange(1, count) * (self._sum / count)
        inner = np.interp(places, self._calls, self._times).astype(np.int64)
        inner = inner[(inner > 0) & (inner < stop)]
        return np.unique(np.concatenate([[0], inner, [max(stop, 1)]]).astype(np.int64))


def _cumulated(begin: np.ndarray, end: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times, and the number of records before each time, for intervals [begin, end) of `weight` records each."""
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
"""Threads of each rank that could be read, by rank."""

MOST_LOOKED_AT = 512
"""Largest number of groups of neighbouring ranks.

Of the ranks with few calls in a group, the rows of one are sampled.
"""

MOST_RANKS = 1024
"""Largest number of neighbouring ranks in a group of `Cuts.parts`, which are read together."""


class Cuts:
    """Windows of time of a run, and of each of its ranks. Each cut is computed once."""

    def __init__(
        self, lanes: Lanes, duration_ns: int, recorded: Mapping[int, int], own: range, inflated: int = 0,
        sizes: ReadSizes = DEFAULT_SIZES,
    ) -> None:  # fmt: skip
        """Prepare the cuts of a run.

        Args:
            lanes: Threads of each rank.
            duration_ns: Length of the run, ns.
            recorded: Number of records (calls, polls, events, summed stretches) of each rank.
            own: Ranks that this process opened.
            inflated: Number of calls that must be decompressed to read one call of each rank. 0: rows are not
                compressed.
            sizes: Numbers of calls of windows and blocks.
        """
        self._lanes, self._last, self._recorded, self._own = lanes, duration_ns + 1, recorded, own
        self._sizes = sizes
        self._least = min(inflated, sizes.inflated_calls)
        self._sum = sum(recorded.values())
        self._expected = False  # True after `expect_windows`
        self._known: dict[tuple[int, int], np.ndarray] = {}
        self._density: dict[int, Density] = {}  # by rank; -1: all ranks
        self._whole = np.array([0, max(self._last, 1)], np.int64)

    @property
    def is_long(self) -> bool:
        """True if the run has more records than a block, so that it is likely to be cut."""
        return self._sum > self._sizes.block_calls

    def spread_of_own(self) -> Spread:
        """Return the distribution of this process's own ranks."""
        return self._spread(self._own)

    def know(self, spreads: Sequence[Spread]) -> None:
        """Set the distribution of all ranks from those that all members of a team have found (`spread_of_own`)."""
        self._density[-1] = Density(Spread.joined(spreads))

    @cached_property
    def recorded(self) -> list[int]:
        """Number of records of each rank, plus 1 for the work of opening the rank."""
        size = max(self._lanes, default=-1) + 1
        return [1 + self._recorded.get(rank, 0) for rank in range(size)]

    def end(self, end: int | None) -> int:
        """Return `end`, or if it is None the time behind the last instant of the run, ns."""
        return self._last if end is None else int(end)

    def windows(self, records: int | None = None, rank: int = -1, least: int | None = None) -> np.ndarray:
        """Return the bounds of windows, int64 ns.

        Args:
            records: Number of calls that a window holds, approximately. None: `window_calls` of ReadSizes.
            rank: Rank whose calls are counted; -1: all ranks.
            least: Least number of calls for each rank, if there are more ranks than `few_ranks`. None: `rank_calls`.
        """
        sizes = self._sizes
        records = sizes.window_calls if records is None else records
        if rank < 0 and len(self._lanes) > sizes.few_ranks:
            records = max(records, (sizes.rank_calls if least is None else least) * len(self._lanes))
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
        """Return the distribution of some ranks, and of the ranks that they represent."""
        looked_at = self._looked_at
        return Spread.of((lane, looked_at[rank]) for rank in ranks if rank in looked_at for lane in self._lanes[rank])

    @cached_property
    def _looked_at(self) -> dict[int, float]:
        """Ranks whose rows are sampled, with the number of similar ranks' records per own record.

        Ranks with many calls are sampled themselves. Of neighbours with few calls, the one with most calls represents
        all.
        """
        ranks, found = sorted(self._lanes), dict[int, float]()
        step = -(-len(ranks) // MOST_LOOKED_AT)
        for neighbours in (ranks[k : k + step] for k in range(0, len(ranks), max(step, 1))):
            recorded = {rank: self._recorded.get(rank, 0) for rank in neighbours}
            few = {rank: count for rank, count in recorded.items() if count <= self._sizes.index_rows}
            found |= dict.fromkeys(recorded.keys() - few.keys(), 1.0)
            most = max(few, key=few.__getitem__, default=None)
            if most is not None:
                found[most] = sum(few.values()) / max(few[most], 1)
        return found

    def expect_windows(self) -> None:
        """Look up the begins of all windows in the tables of calls at once, so that each table is searched once.

        Only for runs of more than `few_ranks` ranks.
        """
        bounds = (
            self.windows()[1:-1].tolist() if len(self._lanes) > self._sizes.few_ranks and not self._expected else []
        )
        self._expected = True
        for lane in (lane for rank in self._own for lane in self._lanes.get(rank, ())) if bounds else ():
            before = [bound - 1 - lane.overhead for bound in bounds]  # as `states` reads
            lane.tables["calls"].expect([lane.clock.ticks(bound) for bound in [*bounds, *before]])

    def parts(self, ranks: range, records: int) -> Iterator[tuple[range, np.ndarray]]:
        """Yield groups of neighbouring ranks with the bounds of their windows (ns). Together they cover the whole run.

        Ranks with few calls share one window. A rank with more than `records` records is alone, and has several
        windows.
        """
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
        """Yield consecutive windows of [begin, end) ns that hold about `block_calls` calls (ReadSizes) of a rank."""
        stop = self.end(end)
        bounds = self.windows(self._sizes.block_calls, rank)
        if len(bounds) == 2:
            yield begin, stop
            return
        inner = bounds[(bounds > begin) & (bounds < stop)].tolist()
        edges = [begin, *inner, stop]
        yield from pairwise(edges)


def cut_run(
    lanes: Lanes, duration_ns: int, recorded: Mapping[int, int], files: Sequence[RankFile], own: range, team: Team,
    sizes: ReadSizes,
) -> Cuts:  # fmt: skip
    """Prepare the cuts of a run. Members of a team exchange the distributions of their own ranks.

    Args:
        lanes: Threads of each rank.
        duration_ns: Length of the run, ns.
        recorded: Number of records of each rank.
        files: Files of the ranks.
        own: Ranks that this process opened.
        team: Processes that open the run together; all must call this.
        sizes: Numbers of calls of windows and blocks.
    """
    cuts = Cuts(lanes, duration_ns, recorded, own, _inflated(files, team.size), sizes)
    if team.size > 1 and cuts.is_long:
        cuts.know(team.gather(cuts.spread_of_own))
    return cuts


def _inflated(files: Sequence[RankFile], members: int) -> int:
    """Return the number of calls that must be decompressed to read one call of each rank; 0: rows are not compressed.

    The longest file is taken as typical. The number is limited so that each member gets some windows.
    """
    longest = max(files, key=lambda file: file.lengths["calls"])
    chunks = longest.chunks.get("calls")
    if not longest.lengths["calls"] or (chunks is not None and chunks.deflated is None):
        return 0
    rows = chunks.rows if chunks is not None else schema.COMPRESSED_CHUNK_ROWS
    every = sum(file.lengths["calls"] for file in files)
    return min(rows * len(files), every if members == 1 else every // (_WINDOWS_A_MEMBER * members))
