"""The time that each line of ranks spends in each state in each bin of time, added up window by window."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.metrics.profile import Profile
from analyzer.metrics.sums import Sums, add_all
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.timeline.lines import Lines
from analyzer.trace import State, Trace, TracerTime
from analyzer.waits.find import Search


class Doing(IntEnum):
    """What a thread does. What is none of these is not known, or no thread is there."""

    COMPUTING = 0
    WAITING = 1  # in MPI, for others
    IN_MPI = 2  # in MPI, but not waiting for others
    TRACER = 3  # its own time after calls, writing buffers, measuring clocks


NAMES = ("computing", "waiting for others", "rest of MPI", "the tracer")


@dataclass(frozen=True)
class Timeline:
    """[begin, end) of a run in bins of one width; the last one may be shorter."""

    begin_ns: int
    end_ns: int
    width_ns: int
    lines: Lines
    ns: np.ndarray  # int64 (states, lines, bins): of all threads of a line together

    @property
    def bins(self) -> int:
        """Number of bins."""
        return int(self.ns.shape[2])

    @property
    def edges(self) -> np.ndarray:
        """Begins of the bins and the end, int64 (bins + 1,)."""
        return np.minimum(self.begin_ns + np.arange(self.bins + 1, dtype=np.int64) * self.width_ns, self.end_ns)

    @property
    def shares(self) -> np.ndarray:
        """float64 (states, lines, bins): of the time of all threads of a line; they add up to 1 at most."""
        whole = np.maximum(self.lines.threads, 1)[:, None] * np.maximum(np.diff(self.edges), 1)[None, :]
        shares = self.ns / whole
        return shares / np.maximum(shares.sum(axis=0), 1.0)

    def coarser(self, together: int) -> Timeline:
        """The same with so many bins as one."""
        firsts = np.arange(0, self.bins, together)
        sums = np.add.reduceat(self.ns, firsts, axis=2)
        return Timeline(self.begin_ns, self.end_ns, self.width_ns * together, self.lines, sums)


def timeline(
    trace: Trace, team: Team, calls: Profile, lines: Lines, bins: int, *, begin_ns: int = 0, end_ns: int | None = None
) -> Timeline:
    """What the ranks of each line do in [begin, end) of the run, in at most so many bins. Collective over the team.

    calls: the profile of the run. Waiting is that of the wait states of `analyze waits`, as far as it is in MPI.
    """
    end_ns = trace.duration_ns if end_ns is None else end_ns
    width = max(-(-(end_ns - begin_ns) // bins), 1)
    count = max(-(-(end_ns - begin_ns) // width), 1)
    table = [_Filled(begin_ns, width, count, len(lines.names)) for _ in Doing]
    add_all(trace, team, _Calls(table, lines))
    _flushes(trace, team, table[Doing.TRACER], lines)
    search = Search(trace, team, used=calls.called)
    for waits in search.parts():
        table[Doing.WAITING].add(lines.of_rank[search.lanes.rank[waits["lane"]]], waits["enter"], waits["end"])
    ns = team.total(np.stack([one.ns() for one in table]))
    ns[Doing.WAITING] = np.minimum(ns[Doing.WAITING], ns[Doing.IN_MPI])
    ns[Doing.IN_MPI] -= ns[Doing.WAITING]
    return Timeline(begin_ns, end_ns, width, lines, ns)


class _Filled:
    """Intervals counted in bins of one width, of which only changes are kept: an interval costs two of them."""

    def __init__(self, begin_ns: int, width_ns: int, bins: int, lines: int) -> None:
        self._begin, self._width, self._bins = begin_ns, width_ns, bins
        self._change, self._area = np.zeros((2, lines * (bins + 1)), np.int64)

    def add(self, line: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        """Intervals (ns) of lines; those of line -1 do not count."""
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
        """int64 (lines, bins)."""
        change, area = (table.reshape(-1, self._bins + 1) for table in (self._change, self._area))
        before = np.cumsum(change, axis=1) - change
        return (before * self._width + area)[:, : self._bins]


class _Calls(Sums[None]):
    """Computing, calls, and what the tracer took after them."""

    def __init__(self, table: list[_Filled], lines: Lines) -> None:
        self._table, self._lines = table, lines

    def add(self, part: Part) -> None:
        states = part.states
        for doing, state in ((Doing.COMPUTING, State.RUNNING), (Doing.TRACER, State.TRACER)):
            rows = states.compress(states["state"] == state)
            self._table[doing].add(self._lines.of_rank[rows["rank"]], rows["begin"], rows["end"])
        rank, calls = part.calls
        self._table[Doing.IN_MPI].add(self._lines.of_rank[rank], calls["enter"], calls["enter"] + calls["inside"])

    def total(self, team: Team) -> None:
        """The tables are added up together with what does not come in parts."""


def _flushes(trace: Trace, team: Team, table: _Filled, lines: Lines) -> None:
    if not trace.origin.tracer_times:
        return
    for rank in trace.share(team):
        rows = trace.extra(TracerTime).flushes(rank)
        table.add(np.full(len(rows), lines.of_rank[rank]), rows["begin"], rows["end"])
