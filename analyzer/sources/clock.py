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

MOST_DRIFT = Fraction(1, 1000)
"""Two clocks do not drift apart faster; readings that say so are too close together to tell."""


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
    readings: Sequence[tuple[int, int]] = ()  # (CLOCK_MONOTONIC ns here, on rank 0's node) at one moment

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

    Ranks of one counter share one map, so the order between them is exactly that of the ticks. Nodes are aligned by
    the readings of rank 0's clock that they took at MPI_Init and MPI_Finalize, on the line through the first and
    the last; a node without any, by the wall-clock time of its processes' start.
    """
    problems: list[Problem] = []
    counters = {}
    for counter in dict.fromkeys(s.counter for s in sources):
        counters[counter] = _fit([s for s in sources if s.counter == counter], problems)
    offsets = _align(sources, counters, problems)
    aligned = {s.rank: counters[s.counter].later(offsets[s.timeline]) for s in sources}
    origin = min((aligned[s.rank].ns(s.start_ticks) for s in sources), default=0)
    return {rank: clock.later(-origin) for rank, clock in aligned.items()}, problems


def _align(
    sources: Sequence[ClockSource], counters: dict[tuple[str, int, bool], Clock], problems: list[Problem]
) -> dict[tuple[str, int], int]:
    """What to add to the times of each timeline; clocks with readings are replaced in `counters`."""
    timelines: dict[tuple[str, int], list[ClockSource]] = {}
    for source in sources:
        timelines.setdefault(source.timeline, []).append(source)
    reference = next((s.timeline for s in sources if s.rank == 0), None)
    offsets = {t: _wall_clock_offset(members, counters) for t, members in timelines.items()}
    by_wall_clock = 0
    for timeline, members in timelines.items():
        readings = sorted({r for s in members for r in s.readings})
        if readings and reference is not None:
            for counter in {s.counter for s in members}:
                counters[counter] = _on_reference(counters[counter], readings)
            offsets[timeline] = offsets[reference]
        elif timeline != reference:
            by_wall_clock += 1
    if len(timelines) > 1 and by_wall_clock:
        text = f"{by_wall_clock} of {len(timelines)} nodes are aligned by their wall clocks"
        problems.append(Problem(-1, f"{text}: times between them are only as good as those"))
    return offsets


def _wall_clock_offset(members: Sequence[ClockSource], counters: dict[tuple[str, int, bool], Clock]) -> int:
    """Wall-clock time less CLOCK_MONOTONIC on one timeline."""
    return median_low(s.start_realtime_ns - counters[s.counter].ns(s.start_ticks) for s in members)


def _on_reference(clock: Clock, readings: Sequence[tuple[int, int]]) -> Clock:
    """A node's clock on the timeline of rank 0's node, through its first and last reading of that one."""
    (local, reference), (last_local, last_reference) = readings[0], readings[-1]
    slope = Fraction(last_reference - reference, last_local - local) if last_local > local else Fraction(1)
    if abs(slope - 1) > MOST_DRIFT:
        slope = Fraction(1)
    ticks = clock.ticks(local)
    ns = reference + round((clock.ns(ticks) - local) * slope)
    return Clock.through(ticks, ns, Fraction(clock.multiplier, 1 << clock.shift) * slope)


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
