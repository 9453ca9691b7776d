"""Fits clocks to the ranks of a run: rates from pairs of readings, offsets of nodes from readings of rank 0's clock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import pairwise
from math import ceil
from statistics import median_low
from typing import NamedTuple

from analyzer.recording.rank_file.clock import LATEST_NS, Clock, Pieces, piece
from analyzer.trace import NodeClock, Problem

PAIRS = 8
"""Number of (ticks, ns) pairs at the begin, and at the end, from which the rate of a clock is estimated."""

MOST_DRIFT = Fraction(1, 1000)
"""Largest relative drift between two clocks. Readings that show more are too close to each other to be used."""

MOST_BENT = Fraction(1, 10_000)
"""Largest relative error of a duration that errors of readings may cause.

It determines how far apart readings must be.
"""

FAR_NS = 10**15
"""Time (ns) by which a clock is extended before its first reading. No process waits longer for MPI_Init."""


class Reading(NamedTuple):
    """Simultaneous readings of CLOCK_MONOTONIC on this node and on rank 0's node."""

    local_ns: int
    reference_ns: int
    round_trip_ns: int = 0  # half of it bounds the error
    accuracy_ns: int = 0  # estimated standard error; 0: not estimated

    @property
    def ahead_ns(self) -> int:
        """Time by which this clock is ahead of rank 0's clock, in ns."""
        return self.local_ns - self.reference_ns

    @property
    def error_ns(self) -> Fraction:
        """Estimated error of the reading, ns: its accuracy if known, otherwise half of the round trip."""
        return Fraction(self.accuracy_ns) if self.accuracy_ns > 0 else Fraction(self.round_trip_ns, 2)


class ClockSource(NamedTuple):
    """Facts about the clock of one rank file."""

    rank: int
    boot_id: str
    time_namespace: int
    ticks_are_tsc: bool
    start_ticks: int
    start_realtime_ns: int
    last_ticks: Callable[[], int]  # returns the ticks of the latest record
    last_realtime_ns: int  # when the file was last written
    pairs: Sequence[tuple[int, int]]  # (ticks, CLOCK_MONOTONIC ns)
    readings: Sequence[Reading] = ()

    @property
    def timeline(self) -> tuple[str, int]:
        """Key of the node's CLOCK_MONOTONIC. Ranks with equal keys read the same clock."""
        return self.boot_id, self.time_namespace

    @property
    def counter(self) -> tuple[str, int, bool]:
        """Key of the counter of ticks. Ranks with equal keys read the same counter."""
        return self.boot_id, self.time_namespace, self.ticks_are_tsc


class Alignment(NamedTuple):
    """Clock of each rank, problems of the clocks, and the relation of each other node's clock to rank 0's clock."""

    clocks: dict[int, Clock]
    problems: list[Problem]
    nodes: tuple[NodeClock, ...]


def fit_clocks(sources: Sequence[ClockSource], others: Sequence[ClockSource] = ()) -> Alignment:
    """Fit a clock to each rank. Time 0 is the earliest start of a process.

    Ranks with the same counter share one map, so their order is exactly the order of ticks. A node is aligned by its
    readings of rank 0's clock, with straight lines from one reading to the next. A node without readings is aligned by
    the wall-clock time at which its processes started.

    Args:
        sources: Clocks of the ranks to read.
        others: Clocks of further ranks, whose readings are used but which get no clock.
    """
    problems: list[Problem] = []
    shown = {source.rank for source in sources}
    sources = _told_apart([*sources, *others], problems)
    members: dict[tuple[str, int, bool], list[ClockSource]] = {}
    for source in sources:
        members.setdefault(source.counter, []).append(source)
    counters = {counter: _fit(of_counter, problems) for counter, of_counter in members.items()}
    offsets, nodes = _align(sources, shown, counters, problems)
    sources = [source for source in sources if source.rank in shown]
    origin = min((counters[s.counter].ns(s.start_ticks) + offsets[s.timeline] for s in sources), default=0)
    timelines = {s.counter: s.timeline for s in sources}
    later = {t: max(-LATEST_NS, min(offset - origin, LATEST_NS)) for t, offset in offsets.items()}  # damaged: beyond
    of_counter = {c: counters[c].later(later[timeline]) for c, timeline in timelines.items()}
    return Alignment({s.rank: of_counter[s.counter] for s in sources}, problems, nodes)


def _told_apart(sources: Sequence[ClockSource], problems: list[Problem]) -> list[ClockSource]:
    """Give a timeline of its own to each rank whose readings show another clock than rank 0's, although the keys agree.

    Readings of ranks that do share rank 0's clock are dropped: they are zero but for noise.
    """
    reference = next((s.timeline for s in sources if s.rank == 0), None)
    found = []
    for source in sources:
        if source.timeline == reference and source.readings:
            if any(abs(r.ahead_ns) > r.round_trip_ns // 2 + 1 for r in source.readings):
                text = "its clock is not rank 0's, although it is of the same boot and time namespace"
                problems.append(Problem(source.rank, text))
                source = source._replace(boot_id=f"{source.boot_id} of rank {source.rank}")
            else:
                source = source._replace(readings=())
        found.append(source)
    return found


def _align(
    sources: Sequence[ClockSource],
    shown: AbstractSet[int],
    counters: dict[tuple[str, int, bool], Clock],
    problems: list[Problem],
) -> tuple[dict[tuple[str, int], int], tuple[NodeClock, ...]]:
    """Find the offset of each timeline, in ns to be added, and the relation of each node's clock to rank 0's clock.

    Clocks that have readings are replaced in `counters`.
    """
    timelines: dict[tuple[str, int], list[ClockSource]] = {}
    for source in sources:
        timelines.setdefault(source.timeline, []).append(source)
    reference = next((s.timeline for s in sources if s.rank == 0), None)
    offsets = {t: _wall_clock_offset(members, counters) for t, members in timelines.items()}
    nodes = []
    for timeline, members in timelines.items():
        if timeline == reference:
            continue
        ranks = tuple(s.rank for s in members if s.rank in shown)
        if not ranks:
            continue
        readings = useful_readings(sorted({r for s in members for r in s.readings}))
        if readings and reference is not None:
            for counter in {s.counter for s in members}:
                counters[counter] = _on_reference(counters[counter], readings)
            offsets[timeline] = offsets[reference]
            nodes.append(_describe(ranks, readings))
        else:
            ahead = offsets[reference] - offsets[timeline] if reference is not None else 0
            nodes.append(NodeClock(ranks, ahead, None, None, None, 0))
    by_wall_clock = sum(node.readings == 0 for node in nodes)
    of_shown = {s.timeline for s in sources if s.rank in shown}
    if len(of_shown) > 1 and by_wall_clock:
        text = f"{by_wall_clock} of {len(of_shown)} nodes are aligned by their wall clocks"
        problems.append(Problem(-1, f"{text}: times of different nodes are compared only as well as these agree"))
    return offsets, tuple(nodes)


def _describe(ranks: tuple[int, ...], readings: Sequence[Reading]) -> NodeClock:
    """Describe the relation of a node's clock to rank 0's clock by readings.

    Errors are taken from the worst reading.
    """
    first, last = readings[0], readings[-1]
    known = all(r.accuracy_ns > 0 for r in readings)
    return NodeClock(
        ranks=ranks,
        ahead_ns=first.ahead_ns,
        drift_ppm=float(1 / _slope(first, last) - 1) * 1e6 if len(readings) > 1 else None,
        accuracy_ns=max(r.accuracy_ns for r in readings) if known else None,
        bound_ns=-(-max(r.round_trip_ns for r in readings) // 2),
        readings=len(readings),
    )


def useful_readings(readings: Sequence[Reading]) -> list[Reading]:
    """Select the readings that make the clock better, in order of time.

    Readings are taken from the best to the worst. One is used if it is far enough from all used ones. A line between
    two readings with the errors e and f, at a distance d, has a slope that is wrong by at most (e + f) / d. If that is
    more than MOST_BENT, a clock without drift through the better reading is as good.
    """
    used: list[Reading] = []
    for reading in sorted(readings, key=lambda r: (r.error_ns, r.local_ns)):
        at = bisect_left(used, reading.local_ns, key=lambda r: r.local_ns)
        neighbours = [*used[max(at - 1, 0) : at], reading, *used[at : at + 1]]
        if all(_far_apart(a, b) for a, b in pairwise(neighbours)):
            used.insert(at, reading)
    return used


def _far_apart(earlier: Reading, later: Reading) -> bool:
    error = earlier.error_ns + later.error_ns
    rises = later.reference_ns > earlier.reference_ns
    return rises and (later.local_ns - earlier.local_ns) * MOST_BENT >= max(error, Fraction(1))


def _slope(earlier: Reading, later: Reading) -> Fraction:
    """Return ns of rank 0's clock per ns of this clock; 1 if the drift would exceed MOST_DRIFT."""
    elapsed = later.local_ns - earlier.local_ns
    slope = Fraction(later.reference_ns - earlier.reference_ns, elapsed) if elapsed > 0 else Fraction(1)
    return Fraction(1) if abs(slope - 1) > MOST_DRIFT else slope


def _wall_clock_offset(members: Sequence[ClockSource], counters: dict[tuple[str, int, bool], Clock]) -> int:
    """Return wall-clock time minus CLOCK_MONOTONIC on one timeline, in ns."""
    return median_low(s.start_realtime_ns - counters[s.counter].ns(s.start_ticks) for s in members)


def _on_reference(clock: Clock, readings: Sequence[Reading]) -> Clock:
    """Map a node's clock (one piece) to the timeline of rank 0's node.

    The map is straight from one reading to the next. Outside of the readings it has the mean slope from the first to
    the last.
    """
    rate, mean = clock.ns_per_tick, _slope(readings[0], readings[-1])
    knots = []
    for r in readings:
        ticks = clock.ticks(r.local_ns)
        knots.append((ticks, r.reference_ns + round((clock.ns(ticks) - r.local_ns) * mean)))
    if len(knots) < 3:
        return Clock(Pieces.of(piece(*knots[0], rate * mean)))
    first_ticks, first_ns = knots[0]
    back = min(int(FAR_NS / rate), first_ticks)
    rows = [piece(first_ticks - back, first_ns - ceil(back * rate * mean), rate * mean)]
    rows += [piece(*a, Fraction(b[1] - a[1], b[0] - a[0])) for a, b in pairwise(knots)]
    return Clock(Pieces.of(*rows, piece(*knots[-1], rate * mean)))


def _fit(sources: Sequence[ClockSource], problems: list[Problem]) -> Clock:
    """Fit the map from ticks to CLOCK_MONOTONIC for the ranks of one counter."""
    pairs = sorted({(int(t), int(ns)) for s in sources for t, ns in s.pairs})
    first = sources[0]
    if not first.ticks_are_tsc:
        near = min(first.start_ticks, LATEST_NS)  # a damaged file may say any number of 64 bits
        return Clock.through(near, near, Fraction(1))
    slope = _rate(pairs)
    if slope is None:
        slope = _guessed_rate(sources)
        text = "the rate of the clock is unknown (no two readings): estimated from the file's time"
        problems.append(Problem(first.rank, text))
    anchor = pairs[0] if pairs else (first.start_ticks, 0)
    return Clock.through(*anchor, slope)


def _rate(pairs: Sequence[tuple[int, int]]) -> Fraction | None:
    """Return ns per tick: the median slope of the lines from one of the first pairs to one of the last pairs.

    With the median, one late reading among them does no harm. None: there are too few pairs.
    """
    count = min(PAIRS, len(pairs) // 2)
    lines = (
        Fraction(late[1] - early[1], late[0] - early[0])
        for early in pairs[:count]
        for late in pairs[len(pairs) - count :]
        if late[0] > early[0]
    )
    slopes = [s for s in lines if s > 0]
    return median_low(slopes) if slopes else None


def _guessed_rate(sources: Iterable[ClockSource]) -> Fraction:
    """Estimate ns per tick from the wall-clock times of start and last write; 1 if these times cannot be right."""
    for source in sources:
        ticks = source.last_ticks() - source.start_ticks
        elapsed = source.last_realtime_ns - source.start_realtime_ns
        if ticks > 0 and 0.01 < elapsed / ticks < 1000:
            return Fraction(elapsed, ticks)
    return Fraction(1)
