"""Extras of a .prv: regions, the tracer's time, losses and waits for CPUs (analyzer.trace.extras)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from analyzer.columns.sorted_runs import RankRuns, sort_rows
from analyzer.sources.paraver.body import TraceBody
from analyzer.sources.paraver.labels import Labels
from analyzer.trace import EVENT, FLUSH, MARK, Chosen, CpuWaits, Losses, Mark, Regions, State, TracerTime
from analyzer.trace.region_labels import ended, is_program_event
from tracelib.schema import PARALLEL_TYPE, REGION_TYPE, CpuWait

MOST_REGIONS = 1 << 16
"""Largest value that counts as the number of a region. Larger values are addresses or the like."""


def named_regions(labels: Labels, largest: int) -> tuple[str, ...]:
    """Return the names of the regions 1, 2, ..., `largest`.

    Args:
        labels: Labels of the trace's events. A region without a label is named "region 7".
        largest: Largest number of a region that occurs.
    """
    _, names = labels.get(REGION_TYPE, ("", {}))
    return tuple(names.get(number, f"region {number}") for number in range(1, largest + 1))


def marks_of(events: np.ndarray, last: int) -> np.ndarray:
    """Return the begins and ends of regions (MARK) of one rank, thread after thread.

    An end without a begin is left out. A region that is still open at the end of the rank ends at `last`.

    Args:
        events: Events (EVENT) of the rank, in order of time.
        last: Time of the rank's last record, ns.
    """
    events = events[np.isin(events["type"], (REGION_TYPE, PARALLEL_TYPE))]
    threads = [_of_thread(events[events["thread"] == t], t, last) for t in np.unique(events["thread"]).tolist()]
    return np.concatenate([np.zeros(0, MARK), *threads])


def _of_thread(events: np.ndarray, thread: int, last: int) -> np.ndarray:
    is_region = events["type"] == REGION_TYPE
    regions = np.zeros(len(events), np.int64)
    regions[is_region] = ended(events["value"][is_region])
    known = (regions > 0) | ~is_region
    events, regions, is_region = events[known], regions[known], is_region[known]
    is_begin = is_region & (events["value"] > 0)
    left = _open(is_begin, is_region)
    found = np.zeros(len(events) + len(left), MARK)
    found["thread"], found["time"] = thread, np.append(events["time"], np.full(len(left), last))
    found["number"] = np.append(regions, regions[left])
    what = np.where(is_begin, Mark.BEGIN, np.where(is_region, Mark.END, Mark.PARALLEL))
    found["what"] = np.append(what, np.full(len(left), Mark.END))
    found["value"][: len(events)] = np.where(is_region, 0, events["value"])
    return found


def _open(is_begin: np.ndarray, is_region: np.ndarray) -> np.ndarray:
    """Return the indices of the begins that never end, the innermost first."""
    depth = np.cumsum(np.where(is_begin, 1, np.where(is_region, -1, 0)))
    least_after = np.minimum.accumulate(depth[::-1])[::-1]
    return np.flatnonzero(is_begin & (least_after >= depth))[::-1]


_EVER = 2**62


class NotedEvents:
    """Events that the program recorded, sorted by rank: reading one rank does not read the events of all ranks."""

    def __init__(self, body: TraceBody, windows: np.ndarray, ranks: int) -> None:
        self._body, self._windows, self._ranks = body, windows, ranks

    @cached_property
    def _runs(self) -> RankRuns:
        found = RankRuns(EVENT, "time", self._ranks)
        for begin, end in pairwise(self._windows.tolist()):
            events = self._body.events.read(begin, end)
            events = events[is_program_event(events["type"])]
            found.append(events, events["rank"])
        return found

    def read(self, rank: int, begin: int, end: int) -> np.ndarray:
        """Return the program's events (EVENT) of a rank in [begin, end) ns, in order of time."""
        return self._runs.read(rank, begin, end)

    def regions(self) -> int:
        """Return the number of regions, which is the largest value of their events.

        0: the values are larger than MOST_REGIONS, so they are no numbers of regions.
        """
        largest = 0
        for rank in range(self._ranks):
            events = self.read(rank, 0, _EVER)
            largest = max(largest, int(events["value"][events["type"] == REGION_TYPE].max(initial=0)))
        return largest if largest <= MOST_REGIONS else 0

    def close(self) -> None:
        if "_runs" in self.__dict__:
            self._runs.close()


@dataclass(frozen=True, kw_only=True)
class ParaverRegions(Regions):
    """Regions and events that the program recorded."""

    noted: NotedEvents
    last: np.ndarray  # time of each rank's last record, ns

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self.noted.read(rank, begin, _EVER if end is None else end)

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        if not self.names:
            return super().marks(rank, begin, end)
        marks = marks_of(self.events(rank), int(self.last[rank]))
        return marks[(marks["time"] >= begin) & (marks["time"] < (_EVER if end is None else end))]


@dataclass(frozen=True, kw_only=True)
class ParaverTracerTime(TracerTime):
    """Times of the tracer. In a trace of tracelib (`ours`) they include measuring clocks and looking for callers."""

    body: TraceBody
    ours: bool

    def flushes(self, rank: int) -> np.ndarray:
        flushes = _intervals(self.body, rank, self.body.flushes)
        flushes["state"] = State.IO
        if not self.ours:
            return flushes
        clocks = _intervals(self.body, rank, self.body.clocks)
        clocks["state"] = State.OTHERS
        paths = _intervals(self.body, rank, self.body.paths)
        paths["state"] = State.PATHS
        return sort_rows(np.concatenate([flushes, clocks, paths]), "begin")


@dataclass(frozen=True, kw_only=True)
class ParaverLosses(Losses):
    """Times in which nothing was recorded, as a trace of tracelib says."""

    body: TraceBody

    def unrecorded(self, rank: int) -> np.ndarray:
        rows = [rows[rows["rank"] == rank] for rows in self.body.disabled]
        found = np.zeros(sum(map(len, rows)), FLUSH)
        for column in FLUSH.names or ():
            found[column] = np.concatenate([np.zeros(0, np.int64), *(one[column] for one in rows)])
        return sort_rows(found, "begin")


@dataclass(frozen=True, kw_only=True)
class ParaverChosen(Chosen):
    """Ranks whose records were read."""

    body: TraceBody

    def one_sided(self) -> int:
        return self.body.one_sided


@dataclass(frozen=True, kw_only=True)
class ParaverCpuWaits(CpuWaits):
    """Waits for CPUs, which a prediction of tracelib records."""

    body: TraceBody

    def of(self, rank: int) -> np.ndarray:
        waits = _intervals(self.body, rank, self.body.cpu_waits)
        outside = waits[waits["state"] == CpuWait.OUTSIDE]
        outside["state"] = State.SCHEDULING
        return outside


def _intervals(body: TraceBody, rank: int, blocks: list[np.ndarray]) -> np.ndarray:
    """Return intervals (FLUSH) of a rank in order of begin, from events that begin and end them.

    `state` is the value of the event that begins the interval.
    """
    last = int(body.end[rank])
    rows = [_pair_flushes(events, thread, last) for thread, events in _by_thread(rank, blocks)]
    flushes = np.concatenate([np.zeros(0, FLUSH), *rows])
    return flushes[np.argsort(flushes["begin"], kind="stable")]


def _by_thread(rank: int, blocks: list[np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number of each thread of a rank, and its events (EVENT) in order of time."""
    events = np.concatenate([np.zeros(0, EVENT), *(block[block["rank"] == rank] for block in blocks)])
    events = events[np.argsort(events["time"], kind="stable")]
    for thread in np.unique(events["thread"]).tolist():
        yield thread, events[events["thread"] == thread]


def _pair_flushes(events: np.ndarray, thread: int, last: int) -> np.ndarray:
    """Pair each begin with the next end of the thread. An interval that does not end lasts until `last` (ns)."""
    begins, ends = np.flatnonzero(events["value"] != 0), np.flatnonzero(events["value"] == 0)
    times = np.append(events["time"], max(last, int(events["time"].max(initial=0))))
    flushes = np.zeros(len(begins), FLUSH)
    flushes["begin"], flushes["thread"] = times[begins], thread
    flushes["state"] = events["value"][begins]
    flushes["end"] = times[np.append(ends, len(events))[np.searchsorted(ends, begins)]]
    return flushes
