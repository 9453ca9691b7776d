"""Timelines: the time that each line of ranks spends in each state in each bin of time, window by window.

A line is a rank, or, of many ranks, a group that behaves alike.

Marks of a timeline are the outermost regions of a rank, flushes, and the edges of iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.metrics.clusters import RankMeasure, groups_of
from analyzer.metrics.profile import Profile
from analyzer.metrics.sums import Sums, add_all
from analyzer.metrics.useful import UsefulTime
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.structure.iterations import Iterations
from analyzer.trace import Losses, Mark, Regions, State, Trace, TracerTime
from analyzer.trace.description import ranks_text
from analyzer.waits.analysis import Waits
from analyzer.waits.wait_states import WaitSearch

MOST_RANKS = 128
"""Largest number of ranks for which each rank has a line of its own. With more ranks, a line is a group of ranks."""
_LONGEST = 24


@dataclass(frozen=True)
class TimelineLines:
    """Lines of a timeline. A line is a rank, or a group of ranks that behave alike.

    Attributes:
        names: Name of each line: a rank, or the ranks of a group and their number.
        of_rank: Line of each rank, int64 of shape (ranks,). -1: the rank is in no line.
        threads: Number of threads of all ranks of each line, int64 of shape (lines,).
        typical: A typical rank of each line, int64 of shape (lines,).
    """

    names: tuple[str, ...]
    of_rank: np.ndarray  # int64 (ranks,): the line that each rank is in; -1: in none
    threads: np.ndarray  # int64 (lines,): number of threads of all ranks of a line
    typical: np.ndarray  # int64 (lines,): a rank that stands for each line

    @property
    def grouped(self) -> bool:
        """Return True if at least one line stands for several ranks."""
        return bool(np.bincount(self.of_rank[self.of_rank >= 0]).max(initial=0) > 1)


def lines_of(trace: Trace, calls: Profile, computed: UsefulTime, waited: Waits) -> TimelineLines:
    """Make the lines of a timeline: one for each rank that could be read, or groups above MOST_RANKS (128) such ranks.

    Ranks form a group if their times of computing, in MPI and waiting are alike. A rank in no group has its own line.

    Args:
        trace: The trace.
        calls: Profile of the trace.
        computed: Useful time of the trace.
        waited: Wait states of the trace.
    """
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    if len(present) <= MOST_RANKS:
        return _lines(trace, [(str(rank), np.array([rank]), rank) for rank in present.tolist()])
    sums = computed.by_rank(), calls.mpi_ns(), waited.time_ns.sum(axis=1)
    return line_groups(trace, present, *(of_rank[present] for of_rank in sums))


def line_groups(
    trace: Trace, present: np.ndarray, computing: np.ndarray, in_mpi: np.ndarray, waiting: np.ndarray
) -> TimelineLines:
    """Make a line for each group of ranks whose times of computing, in MPI and waiting are alike.

    Args:
        trace: The trace.
        present: Numbers of the ranks to be grouped, shape (n,).
        computing: Time that each of these ranks computes, ns, shape (n,).
        in_mpi: Time that each of these ranks spends in MPI, ns, shape (n,).
        waiting: Time that each of these ranks waits for others, ns, shape (n,).
    """
    columns = RankMeasure("computing", computing), RankMeasure("in MPI", in_mpi), RankMeasure("waiting", waiting)
    found = groups_of(present, columns)
    members = [(_named(group.ranks), group.ranks, group.typical) for group in found.groups]
    alone = sorted(one.rank for one in found.outliers)
    return _lines(trace, [*members, *((str(rank), np.array([rank]), rank) for rank in alone)])


def _named(ranks: np.ndarray) -> str:
    """Return the name of a group: its ranks, shortened to 24 characters, and their number."""
    text = ranks_text(ranks.tolist())
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3].rpartition(",")[0] + ",..."
    return f"{text} ({len(ranks)})"


def _lines(trace: Trace, members: list[tuple[str, np.ndarray, int]]) -> TimelineLines:
    of_rank = np.full(trace.size, -1, np.int64)
    for line, (_, ranks, _) in enumerate(members):
        of_rank[ranks] = line
    threads = [int(np.asarray(trace.threads)[ranks].sum()) for _, ranks, _ in members]
    names = tuple(name for name, _, _ in members)
    return TimelineLines(names, of_rank, np.array(threads, np.int64), np.array([one for *_, one in members], np.int64))


class ActivityKind(IntEnum):
    """Kind of activity of a thread. Without any of them the activity is unknown, or there is no thread."""

    COMPUTING = 0
    WAITING = 1  # in MPI, for others
    IN_MPI = 2  # in MPI, but not waiting for others
    TRACER = 3  # its own time after calls, writing buffers, measuring clocks


NAMES = ("computing", "waiting for others", "rest of MPI", "the tracer")
"""Text for each `ActivityKind`, in their order."""


@dataclass(frozen=True)
class Timeline:
    """Time that each line spends in each activity, in bins of equal width over [begin, end) of a run.

    Attributes:
        begin_ns: Begin of the first bin, ns since the begin of the run.
        end_ns: End of the last bin, which may be shorter than the others.
        width_ns: Width of a bin.
        lines: The lines.
        ns: Time by `ActivityKind`, line and bin, summed over the threads of a line; int64 (kinds, lines, bins).
    """

    begin_ns: int
    end_ns: int
    width_ns: int
    lines: TimelineLines
    ns: np.ndarray  # int64 (states, lines, bins): sum of all threads of a line

    @property
    def bins(self) -> int:
        """Number of bins."""
        return int(self.ns.shape[2])

    @property
    def edges(self) -> np.ndarray:
        """Begin of each bin, and the end of the last bin, ns, int64 of shape (bins + 1,)."""
        return np.minimum(self.begin_ns + np.arange(self.bins + 1, dtype=np.int64) * self.width_ns, self.end_ns)

    @property
    def shares(self) -> np.ndarray:
        """Share of each activity in the time of all threads of a line, float64 of shape (kinds, lines, bins).

        The shares of a line in a bin add up to at most 1.
        """
        whole = np.maximum(self.lines.threads, 1)[:, None] * np.maximum(np.diff(self.edges), 1)[None, :]
        shares = self.ns / whole
        return shares / np.maximum(shares.sum(axis=0), 1.0)

    def coarser(self, together: int) -> Timeline:
        """Return a timeline whose bins each join `together` neighbouring bins of this timeline."""
        firsts = np.arange(0, self.bins, together)
        sums = np.add.reduceat(self.ns, firsts, axis=2)
        return Timeline(self.begin_ns, self.end_ns, self.width_ns * together, self.lines, sums)


def timeline(
    trace: Trace,
    team: Team,
    calls: Profile,
    lines: TimelineLines,
    bins: int,
    *,
    begin_ns: int = 0,
    end_ns: int | None = None,
) -> Timeline:
    """Sum the activities of the ranks of each line in [begin, end) of the run. Collective.

    Waiting is the time of the wait states of `analyze waits`, as far as it lies in MPI.

    Args:
        trace: The trace.
        team: Processes that share the work.
        calls: Profile of the run.
        lines: Lines of the timeline.
        bins: Largest number of bins.
        begin_ns: Begin, ns since the begin of the run.
        end_ns: End. None: the end of the run.
    """
    end_ns = trace.duration_ns if end_ns is None else end_ns
    width = max(-(-(end_ns - begin_ns) // bins), 1)
    count = max(-(-(end_ns - begin_ns) // width), 1)
    table = [_Filled(begin_ns, width, count, len(lines.names)) for _ in ActivityKind]
    add_all(trace, team, _Calls(table, lines))
    _flushes(trace, team, table[ActivityKind.TRACER], lines)
    search = WaitSearch(trace, team, used=calls.called)
    for waits in search.parts():
        table[ActivityKind.WAITING].add(lines.of_rank[search.lanes.rank[waits["lane"]]], waits["enter"], waits["end"])
    ns = team.total(np.stack([one.ns() for one in table]))
    ns[ActivityKind.WAITING] = np.minimum(ns[ActivityKind.WAITING], ns[ActivityKind.IN_MPI])
    ns[ActivityKind.IN_MPI] -= ns[ActivityKind.WAITING]
    return Timeline(begin_ns, end_ns, width, lines, ns)


class _Filled:
    """Sums of intervals in bins of equal width. Only the changes at both ends of an interval are stored."""

    def __init__(self, begin_ns: int, width_ns: int, bins: int, lines: int) -> None:
        self._begin, self._width, self._bins = begin_ns, width_ns, bins
        self._change, self._area = np.zeros((2, lines * (bins + 1)), np.int64)

    def add(self, line: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        """Add intervals.

        Args:
            line: Line of each interval. Intervals of line -1 do not count.
            begin: Begin of each interval, ns.
            end: End of each interval, ns.
        """
        known = (line >= 0) & (end > begin)
        line = line[known].astype(np.int64) * (self._bins + 1)
        last = self._bins * self._width
        for times, sign in ((begin[known], 1), (end[known], -1)):
            since = np.clip(times - self._begin, 0, last)
            at = since // self._width
            self._put(line + at, sign, sign * ((at + 1) * self._width - since))

    def _put(self, key: np.ndarray, sign: int, area: np.ndarray) -> None:
        if not len(key):
            return
        low = int(key.min())
        length = int(key.max()) - low + 1
        here = slice(low, low + length)
        self._change[here] += sign * np.bincount(key - low, minlength=length)
        self._area[here] += by_index(key - low, area, length)

    def ns(self) -> np.ndarray:
        """Return the time in each bin, int64 (lines, bins)."""
        change, area = (table.reshape(-1, self._bins + 1) for table in (self._change, self._area))
        before = np.cumsum(change, axis=1) - change
        return (before * self._width + area)[:, : self._bins]


class _Calls(Sums[None]):
    """Sums of the times of computing, of calls, and of the tracer after calls."""

    def __init__(self, table: list[_Filled], lines: TimelineLines) -> None:
        self._table, self._lines = table, lines

    def add(self, part: Part) -> None:
        states = part.states
        for doing, state in ((ActivityKind.COMPUTING, State.RUNNING), (ActivityKind.TRACER, State.TRACER)):
            rows = states.compress(states["state"] == state)
            self._table[doing].add(self._lines.of_rank[rows["rank"]], rows["begin"], rows["end"])
        rank, calls = part.calls
        self._table[ActivityKind.IN_MPI].add(
            self._lines.of_rank[rank], calls["enter"], calls["enter"] + calls["inside"]
        )

    def total(self, team: Team) -> None:
        """Return nothing. `timeline` adds up the tables of all members later, together with flushes and wait states."""


def _flushes(trace: Trace, team: Team, table: _Filled, lines: TimelineLines) -> None:
    """Add the flushes of the ranks of this process to the tracer's time."""
    if not trace.origin.tracer_times:
        return
    for rank in trace.share(team):
        rows = trace.extra(TracerTime).flushes(rank)
        table.add(np.full(len(rows), lines.of_rank[rank]), rows["begin"], rows["end"])


MOST_FLUSHES, MOST_EDGES = 400, 200
_SLOTS = 1000
"""Number of slots of equal length into which a run is divided. A region shorter than a slot may be missed."""


@dataclass(frozen=True)
class TimelineSpan:
    """Visit of a region: its name, begin and end in ns."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class TimelineMarks:
    """Marks of a timeline. All times are ns.

    Attributes:
        regions: Visits of the outermost regions of `rank`, in order of time.
        rank: Rank whose regions are shown. -1: none.
        flushes: Line and begin of the longest flushes.
        edges: Times between iterations.
        every: Only one of `every` edges is in `edges`.
        edges_rank: Rank whose iterations have these edges. -1: none.
    """

    regions: tuple[TimelineSpan, ...] = ()  # of `rank`, outermost ones, in order
    rank: int = -1
    flushes: tuple[tuple[int, int], ...] = ()  # (line, begin), the longest ones
    edges: tuple[int, ...] = ()  # between iterations
    every: int = 1  # only one edge in `every` is kept
    edges_rank: int = -1


def regions_of(trace: Trace, rank: int) -> tuple[TimelineSpan, ...]:
    """Find the outermost regions of a rank's first thread over the run.

    The region is looked up in the middle of 1000 slots of equal length; neighbouring slots of one region are joined.
    """
    known = trace.extra(Regions)
    rows = known.marks(rank)
    rows = rows[(rows["thread"] == 0) & ((rows["what"] == Mark.BEGIN) | (rows["what"] == Mark.END))]
    if not len(rows):
        return ()
    step = np.where(rows["what"] == Mark.BEGIN, 1, -1)
    depth = np.cumsum(step)
    outer = ((step == 1) & (depth == 1)) | ((step == -1) & (depth == 0))
    rows = rows[outer]
    inside = np.where(rows["what"] == Mark.BEGIN, rows["number"], 0)
    slots = (np.arange(_SLOTS) + 0.5) * trace.duration_ns / _SLOTS
    at = np.searchsorted(rows["time"], slots, side="right") - 1
    number = np.where(at >= 0, inside[np.maximum(at, 0)], 0)
    cuts = np.flatnonzero(np.diff(number, prepend=-1, append=-1))
    edges = np.round(cuts * trace.duration_ns / _SLOTS).astype(np.int64).tolist()
    return tuple(
        TimelineSpan(known.names[number[cut] - 1], begin, end)
        for cut, begin, end in zip(cuts[:-1].tolist(), edges[:-1], edges[1:], strict=True)
        if 0 < number[cut] <= len(known.names)
    )


def flushes_of(trace: Trace, of_rank: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Find the longest flushes, at most MOST_FLUSHES (400).

    Args:
        trace: The trace.
        of_rank: Line of each rank, -1 for none, shape (ranks,).

    Returns:
        Line and begin (ns) of each flush, sorted by line, then by time.
    """
    found: list[tuple[int, int, int]] = []
    for rank in np.flatnonzero(of_rank >= 0).tolist():
        rows = trace.extra(TracerTime).flushes(rank)
        longest = rows[np.argsort(rows["begin"] - rows["end"], kind="stable")[:MOST_FLUSHES]]
        length = (longest["end"] - longest["begin"]).tolist()
        found += zip(length, longest["begin"].tolist(), [int(of_rank[rank])] * len(longest), strict=True)
        found = sorted(found, reverse=True)[:MOST_FLUSHES]
    return tuple(sorted((line, begin) for _, begin, line in found))


def marks_of(trace: Trace, of_rank: np.ndarray, rank: int, iterations: Iterations | None) -> TimelineMarks:
    """Collect the marks of a timeline.

    Args:
        trace: The trace.
        of_rank: Line of each rank, -1 for none, shape (ranks,).
        rank: Rank whose regions are shown.
        iterations: Iterations whose edges are shown: of the first rank that has any. None: no edges.
    """
    edges: np.ndarray = np.zeros(0, np.int64)
    whose, every = -1, 1
    if iterations is not None and iterations.known.any():
        whose = int(iterations.known.argmax())
        edges = iterations.edges[whose]
        every = -(-len(edges) // MOST_EDGES)
    return TimelineMarks(
        regions_of(trace, rank), rank, flushes_of(trace, of_rank), tuple(edges[::every].tolist()), every, whose
    )
