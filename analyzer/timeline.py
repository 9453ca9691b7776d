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
"""Maximum number of ranks with a line each; with more ranks, lines are groups."""
_LONGEST = 24


@dataclass(frozen=True)
class TimelineLines:
    """The lines of a timeline, one for each of `names`."""

    names: tuple[str, ...]
    of_rank: np.ndarray  # int64 (ranks,): the line that each rank is in; -1: in none
    threads: np.ndarray  # int64 (lines,): number of threads of all ranks of a line
    typical: np.ndarray  # int64 (lines,): a rank that stands for each line

    @property
    def grouped(self) -> bool:
        """Return true if some lines stand for several ranks."""
        return bool(np.bincount(self.of_rank[self.of_rank >= 0]).max(initial=0) > 1)


def lines_of(trace: Trace, calls: Profile, computed: UsefulTime, waited: Waits) -> TimelineLines:
    """Make a line for each rank that could be read, or, above MOST_RANKS, for each group of ranks that behave alike.

    Groups are made by computing, time in MPI and waiting. A rank in no group has its own line.
    """
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    if len(present) <= MOST_RANKS:
        return _lines(trace, [(str(rank), np.array([rank]), rank) for rank in present.tolist()])
    sums = computed.by_rank(), calls.mpi_ns(), waited.time_ns.sum(axis=1)
    return line_groups(trace, present, *(of_rank[present] for of_rank in sums))


def line_groups(
    trace: Trace, present: np.ndarray, computing: np.ndarray, in_mpi: np.ndarray, waiting: np.ndarray
) -> TimelineLines:
    """Make a line for each group of ranks that behave alike.

    Args:
        trace: The trace.
        present: Numbers of the ranks.
        computing: Time that each of them computes, ns.
        in_mpi: Time that each of them is in MPI, ns.
        waiting: Time that each of them waits, ns.
    """
    columns = RankMeasure("computing", computing), RankMeasure("in MPI", in_mpi), RankMeasure("waiting", waiting)
    found = groups_of(present, columns)
    members = [(_named(group.ranks), group.ranks, group.typical) for group in found.groups]
    alone = sorted(one.rank for one in found.outliers)
    return _lines(trace, [*members, *((str(rank), np.array([rank]), rank) for rank in alone)])


def _named(ranks: np.ndarray) -> str:
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
    """Activities of a thread. Time without any of them is not known, or the thread does not exist."""

    COMPUTING = 0
    WAITING = 1  # in MPI, for others
    IN_MPI = 2  # in MPI, but not waiting for others
    TRACER = 3  # its own time after calls, writing buffers, measuring clocks


NAMES = ("computing", "waiting for others", "rest of MPI", "the tracer")


@dataclass(frozen=True)
class Timeline:
    """The times of a timeline: [begin, end) of a run in bins of one width; the last one may be shorter."""

    begin_ns: int
    end_ns: int
    width_ns: int
    lines: TimelineLines
    ns: np.ndarray  # int64 (states, lines, bins): sum of all threads of a line

    @property
    def bins(self) -> int:
        """Return the number of bins."""
        return int(self.ns.shape[2])

    @property
    def edges(self) -> np.ndarray:
        """Return the begins of the bins and the end, int64 (bins + 1,)."""
        return np.minimum(self.begin_ns + np.arange(self.bins + 1, dtype=np.int64) * self.width_ns, self.end_ns)

    @property
    def shares(self) -> np.ndarray:
        """Return shares of the time of all threads of a line, float64 (states, lines, bins); their sum is at most 1."""
        whole = np.maximum(self.lines.threads, 1)[:, None] * np.maximum(np.diff(self.edges), 1)[None, :]
        shares = self.ns / whole
        return shares / np.maximum(shares.sum(axis=0), 1.0)

    def coarser(self, together: int) -> Timeline:
        """Join each `together` bins into one."""
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
    """Sum the activities of the ranks of each line in [begin, end) of the run, in at most `bins` bins. Collective.

    `calls` is the profile of the run. Waiting is the time of wait states of `analyze waits`, as far as it is in MPI.
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
    """Sums of intervals in bins of one width. Only changes are kept: an interval makes two."""

    def __init__(self, begin_ns: int, width_ns: int, bins: int, lines: int) -> None:
        self._begin, self._width, self._bins = begin_ns, width_ns, bins
        self._change, self._area = np.zeros((2, lines * (bins + 1)), np.int64)

    def add(self, line: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        """Add intervals (ns) of lines; intervals of line -1 do not count."""
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
    """Sums of computing, calls, and the tracer's time after calls."""

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
        """Return nothing: the tables are added up later, together with data that does not come in parts."""


def _flushes(trace: Trace, team: Team, table: _Filled, lines: TimelineLines) -> None:
    if not trace.origin.tracer_times:
        return
    for rank in trace.share(team):
        rows = trace.extra(TracerTime).flushes(rank)
        table.add(np.full(len(rows), lines.of_rank[rank]), rows["begin"], rows["end"])


MOST_FLUSHES, MOST_EDGES = 400, 200
_SLOTS = 1000
"""Number of slots of a run; shorter regions are not distinguished."""


@dataclass(frozen=True)
class TimelineSpan:
    """A stretch of the run that has a name."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class TimelineMarks:
    """The marks of a timeline; times in ns."""

    regions: tuple[TimelineSpan, ...] = ()  # of `rank`, outermost ones, in order
    rank: int = -1
    flushes: tuple[tuple[int, int], ...] = ()  # (line, begin), the longest ones
    edges: tuple[int, ...] = ()  # between iterations
    every: int = 1  # only one edge in `every` is kept
    edges_rank: int = -1


def regions_of(trace: Trace, rank: int) -> tuple[TimelineSpan, ...]:
    """Find the outermost regions of the first thread of a rank, sampled in the middle of equal slots of the run."""
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
    """Find the longest flushes, (line, begin) in order of time; of_rank: the line of each rank."""
    found: list[tuple[int, int, int]] = []
    for rank in np.flatnonzero(of_rank >= 0).tolist():
        rows = trace.extra(TracerTime).flushes(rank)
        longest = rows[np.argsort(rows["begin"] - rows["end"], kind="stable")[:MOST_FLUSHES]]
        length = (longest["end"] - longest["begin"]).tolist()
        found += zip(length, longest["begin"].tolist(), [int(of_rank[rank])] * len(longest), strict=True)
        found = sorted(found, reverse=True)[:MOST_FLUSHES]
    return tuple(sorted((line, begin) for _, begin, line in found))


def marks_of(trace: Trace, of_rank: np.ndarray, rank: int, iterations: Iterations | None) -> TimelineMarks:
    """Collect the marks of a timeline; `rank`: the rank whose regions are shown.

    Edges are between iterations of the first rank that has any.
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
