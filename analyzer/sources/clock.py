"""Raw ticks to nanoseconds of the trace: one exact integer map for all ranks that share a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median_low

import numpy as np

from analyzer.trace import Problem

PAIRS = 8
"""How many of the earliest and of the latest (ticks, ns) pairs the rate is taken from."""


@dataclass(frozen=True)
class Clock:
    """ns = ((ticks - ticks_origin) * multiplier >> shift) + ns_origin, in integers: monotonic, and no digit is lost.

    `multiplier` keeps 62 significant bits, so 10^18 ticks are off by less than a nanosecond.
    """

    ticks_origin: int
    ns_origin: int
    multiplier: int
    shift: int

    @classmethod
    def through(cls, ticks: int, ns: int, ns_per_tick: Fraction) -> Clock:
        """The line through (ticks, ns) with this slope (positive)."""
        shift = 62 - max(int(ns_per_tick).bit_length(), 0)
        return cls(ticks, ns, max(round(ns_per_tick * (1 << shift)), 1), shift)

    def later(self, ns: int) -> Clock:
        """The same clock with every time `ns` later."""
        return Clock(self.ticks_origin, self.ns_origin + ns, self.multiplier, self.shift)

    def ns(self, ticks: int) -> int:
        """Time of a number of ticks, in ns."""
        return ((int(ticks) - self.ticks_origin) * self.multiplier >> self.shift) + self.ns_origin

    def ticks(self, ns: int) -> int:
        """The first tick whose time is `ns` or later, within the range of a uint64."""
        first = -((self.ns_origin - int(ns) << self.shift) // self.multiplier) + self.ticks_origin
        return min(max(first, 0), 2**64 - 1)

    @property
    def numbers(self) -> np.ndarray:
        """The four numbers as the kernels take them (`struct clock`), int64 (ticks_origin modulo 2^64)."""
        origin = np.uint64(self.ticks_origin % 2**64).astype(np.int64)
        return np.array([origin, self.ns_origin, self.multiplier, self.shift], np.int64)


@dataclass(frozen=True)
class ClockSource:
    """What one rank file says about its clock."""

    rank: int
    boot_id: str
    time_namespace: int
    ticks_are_tsc: bool
    start_ticks: int
    start_realtime_ns: int
    last_ticks: int
    last_realtime_ns: int  # when the file was last written
    pairs: Sequence[tuple[int, int]]  # (ticks, CLOCK_MONOTONIC ns)

    @property
    def timeline(self) -> tuple[str, int]:
        """Ranks with the same timeline see the same CLOCK_MONOTONIC."""
        return self.boot_id, self.time_namespace

    @property
    def counter(self) -> tuple[str, int, bool]:
        """Ranks with the same counter read the same ticks."""
        return self.boot_id, self.time_namespace, self.ticks_are_tsc


def fit_clocks(sources: Sequence[ClockSource]) -> tuple[dict[int, Clock], list[Problem]]:
    """A clock for each rank, time 0 being the earliest process start; and what is doubtful about them.

    Ranks of one counter share one map, so the order between them is exactly that of the ticks. Nodes are
    aligned by the wall-clock time of their processes' start.
    """
    problems: list[Problem] = []
    counters = {}
    for counter in dict.fromkeys(s.counter for s in sources):
        counters[counter] = _fit([s for s in sources if s.counter == counter], problems)
    timelines = {}
    for timeline in dict.fromkeys(s.timeline for s in sources):
        members = [s for s in sources if s.timeline == timeline]
        timelines[timeline] = median_low(s.start_realtime_ns - counters[s.counter].ns(s.start_ticks) for s in members)
    if len(timelines) > 1:
        text = f"{len(timelines)} nodes are aligned by their wall clocks: times between them are only as good as those"
        problems.append(Problem(-1, text))
    aligned = {s.rank: counters[s.counter].later(timelines[s.timeline]) for s in sources}
    origin = min((aligned[s.rank].ns(s.start_ticks) for s in sources), default=0)
    return {rank: clock.later(-origin) for rank, clock in aligned.items()}, problems


def _fit(sources: Sequence[ClockSource], problems: list[Problem]) -> Clock:
    """Ticks to CLOCK_MONOTONIC for the ranks of one counter."""
    pairs = sorted({(int(t), int(ns)) for s in sources for t, ns in s.pairs})
    first = sources[0]
    if not first.ticks_are_tsc:
        return Clock.through(first.start_ticks, first.start_ticks, Fraction(1))
    slope = _slope(pairs)
    if slope is None:
        slope = _guessed_slope(sources)
        text = "the rate of the clock is unknown (no two readings): estimated from the file's time"
        problems.append(Problem(first.rank, text))
    anchor = pairs[0] if pairs else (first.start_ticks, 0)
    return Clock.through(*anchor, slope)


def _slope(pairs: Sequence[tuple[int, int]]) -> Fraction | None:
    """ns per tick: the median over lines from one of the earliest to one of the latest pairs, so that one late
    reading among them does no harm."""
    count = min(PAIRS, len(pairs) // 2)
    lines = (
        Fraction(late[1] - early[1], late[0] - early[0])
        for early in pairs[:count]
        for late in pairs[len(pairs) - count :]
        if late[0] > early[0]
    )
    slopes = [s for s in lines if s > 0]
    return median_low(slopes) if slopes else None


def _guessed_slope(sources: Iterable[ClockSource]) -> Fraction:
    """ns per tick from the wall-clock times of start and last write; 1 where those cannot be right."""
    for source in sources:
        ticks = source.last_ticks - source.start_ticks
        elapsed = source.last_realtime_ns - source.start_realtime_ns
        if ticks > 0 and 0.01 < elapsed / ticks < 1000:
            return Fraction(elapsed, ticks)
    return Fraction(1)
