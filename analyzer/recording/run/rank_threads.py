"""Threads of a run's ranks, made for each rank at its first use.

In a team each member opens some ranks, and sends the others what they need to know of them (OPENED, `RankReport`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.clock import Clock
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.spool import Fate, Unfinished, died_inside
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.recording.run.call_paths import is_by_signal, last_sample_ticks
from analyzer.recording.run.ends import End, end_of
from analyzer.recording.run.raw_ranks import RawRanks
from analyzer.recording.run.shared_tables import SharedTables
from analyzer.recording.thread_records.regions import Regions, problem
from analyzer.recording.thread_records.samples import ThreadSamples
from analyzer.recording.thread_records.thread import RankTables, ThreadRecords
from analyzer.trace import Problem, UnfinishedCall


class ReferredTables(NamedTuple):
    """Tables of a run that the rows of its ranks refer to: clocks, CPUs, shared tables and call paths."""

    clocks: Mapping[int, Clock]
    first_cpu: np.ndarray  # by rank: number of its first CPU
    shared: SharedTables
    chain: Callable[[int, int], str]  # returns a path of a rank as text


class RankReport(NamedTuple):
    """Facts about a rank that most ranks do not have: problems, its end, unfinished calls."""

    problems: list[Problem]
    of_regions: list[Problem]  # problems of its regions
    parameters: frozenset[int]  # parameters of its regions
    end: End  # how its process ended
    in_buffer: bool  # True if calls of a dead process are only in its buffer
    unfinished: tuple[UnfinishedCall, ...]  # calls that the rank died in; if OPENED.open, their end is not set yet


OPENED = np.dtype(
    [
        ("rank", "<i8"),
        ("start", "<i8"),  # ns
        ("stop", "<i8"),
        ("recorded", "<i8"),  # calls, polls, events, and stretches of calls that were summed up
        ("summed_up", "?"),  # True if there are such stretches
        ("whole", "?"),  # True if the rank is known to have recorded all the time
        ("by_signal", "?"),  # True if a signal took the samples of its code
        ("open", "?"),  # True if the rank died in a call and nothing tells when
    ]
)
"""Facts about an opened rank that all members of a team get."""


class RankThreads:
    """Cache of the threads of ranks, each made at its first use. Python threads may share the cache."""

    def __init__(self, raw: RawRanks, refers: ReferredTables) -> None:
        self._raw, self._refers = raw, refers
        self._lanes: dict[int, list[ThreadRecords]] = {}
        self._samplers: dict[int, ThreadTable] = {}
        self._open: dict[int, Unfinished] = {}  # by rank: unfinished calls whose end is not set yet
        self._last_sign: int | None = None

    def lanes(self, rank: int) -> list[ThreadRecords]:
        """Return the threads of a rank, in order of their numbers."""
        if rank not in self._lanes:
            with self._raw.lock:
                if rank not in self._lanes:
                    self._lanes[rank] = self._make(self._raw.files[rank])
                    self._raw.forget(rank)
        return self._lanes[rank]

    def _make(self, file: RankFile) -> list[ThreadRecords]:
        refers, rank, rows = self._refers, file.rank, self._raw.get(file.rank)
        clock, shared = refers.clocks[rank], refers.shared
        tables = RankTables(
            file, shared.procedure_tables[id(file.procedures)], shared.communicator_index[rank],
            shared.object_index[rank], shared.uneven[rank],
        )  # fmt: skip
        regions = shared.region_numbers
        first_cpu = int(refers.first_cpu[rank])
        lanes = [
            ThreadRecords(rank, thread, first_cpu + thread, clock, own, tables)
            for thread, own in sorted(rows.tables.items())
        ]
        for lane in lanes:
            lane.counts = rows.counts.get(lane.thread)
            if self._raw.counters:
                lane.samples = ThreadSamples(lane, rows.sampler, self._raw.counters)
        if rows.sampler:
            self._samplers[rank] = rows.sampler
        last_sample = max(
            clock.ns(t) if t else 0 for t in (rows.sampler.last_key if rows.sampler else 0, last_sample_ticks(file))
        )
        _extend_main_thread(lanes, clock.ns(int(file.attributes["start_ticks"])), last_sample)
        if len(rows.unfinished):
            self._end_unfinished(rank, lanes, rows.unfinished, last_sample)
        for lane in lanes:
            _forget_counts_over_gaps(lane)
            if regions:
                lane.regions = Regions(lane.tables["events"], regions[rank])
        return lanes

    def _end_unfinished(self, rank: int, lanes: Sequence[ThreadRecords], calls: Unfinished, last_sample: int) -> None:
        """Set the end of the calls that a process died in to the last time at which it was alive.

        That is its latest sample, if it comes after the entries of the calls. If not, the time is the last record of
        any rank, which may not be known yet.
        """
        entered = [lane.clock.ns(ticks) for lane in lanes if (ticks := calls.entered(lane.thread)) is not None]
        if last_sample > max(entered, default=last_sample):
            _end_calls(lanes, calls, last_sample)
        elif self._last_sign is not None:
            _end_calls(lanes, calls, self._last_sign)
        else:
            self._open[rank] = calls

    def end_open_calls(self, last_sign: int) -> None:
        """Set the end of the calls that ranks died in, where no sample tells more.

        Args:
            last_sign: Time of the last record of any rank, ns.
        """
        self._last_sign = last_sign
        for rank, calls in self._open.items():
            _end_calls(self._lanes[rank], calls, last_sign)
        self._open.clear()

    def sampler(self, rank: int) -> ThreadTable | None:
        """Return the rows of the tracer's own thread, which takes samples, of a rank; None: there was none."""
        if rank in self._raw.files:
            self.lanes(rank)
        return self._samplers.get(rank)

    def open(self, ranks: Sequence[int], *, shared: bool) -> tuple[np.ndarray, dict[int, RankReport]]:
        """Make the threads of some ranks.

        Args:
            ranks: The ranks to open.
            shared: Also find facts for other processes, which do not open these ranks (OPENED.whole).

        Returns:
            Facts about each rank (OPENED), and the reports, by rank, that are not empty.
        """
        reports: dict[int, RankReport] = {}
        rows = []
        for rank in ranks:
            report = self._report(rank)
            if any(report[:3]) or report.unfinished or report.end.fate != Fate.ENDED or report.end.abort:
                reports[rank] = report
            lanes, file = self.lanes(rank), self._raw.files[rank]
            rows.append(
                (
                    rank, lanes[0].start, lanes[0].stop, sum([lane.recorded for lane in lanes]),
                    any(len(lane.tables["summaries"]) for lane in lanes), shared and _are_whole(lanes),
                    is_by_signal(file), rank in self._open,
                )
            )  # fmt: skip
        return np.array(rows, OPENED), reports

    def _report(self, rank: int) -> RankReport:
        refers, file, rows = self._refers, self._raw.files[rank], self._raw.get(rank)
        problems = died_inside(file, rows.pending, refers.clocks[rank].ns, partial(refers.chain, rank))
        lanes = self.lanes(rank)
        regions = [lane.regions for lane in lanes if lane.regions]
        text = problem(regions) if regions else ""
        return RankReport(
            problems, [Problem(rank, text)] if text else [], frozenset[int]().union(*(r.parameters for r in regions)),
            end_of(file, rows.fate, rows.pending, lanes, refers.shared.communicator_index[rank]),
            rows.fate == Fate.KILLED and bool(rows.pending),
            tuple(_unfinished(file, lanes, rows.unfinished, seen=rank not in self._open)),
        )  # fmt: skip


class ThreadsLater(Mapping[int, list[ThreadRecords]]):
    """Mapping from rank to threads, which are made at their first use."""

    def __init__(self, ranks: Iterable[int], made: Callable[[int], list[ThreadRecords]]) -> None:
        self._ranks = dict.fromkeys(ranks)
        self._made = made

    def __getitem__(self, rank: int) -> list[ThreadRecords]:
        if rank not in self._ranks:
            raise KeyError(rank)
        return self._made(rank)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ranks)

    def __len__(self) -> int:
        return len(self._ranks)

    def __contains__(self, rank: object) -> bool:
        return rank in self._ranks


def _are_whole(lanes: Sequence[ThreadRecords]) -> bool:
    """Return True if these threads are known to have recorded all the time."""
    try:
        return not any(len(lane.unrecorded) for lane in lanes)
    except TracelibError:  # the error is raised when these rows are read
        return False


def _forget_counts_over_gaps(lane: ThreadRecords) -> None:
    """Mark the calls after gaps in recording. Counts over a gap belong to no burst."""
    if lane.counts is not None:
        found = [lane.tables["calls"].find(lane.clock.ticks(end)) for end in lane.unrecorded["end"].tolist()]
        lane.counts.after_gaps = np.array(found, np.int64)


def _unfinished(
    file: RankFile, lanes: Sequence[ThreadRecords], calls: Unfinished, *, seen: bool
) -> Iterator[UnfinishedCall]:
    for lane in lanes:
        entered = calls.entered(lane.thread)
        if entered is not None:
            name = file.procedures[calls.procedure(lane.thread)]
            yield UnfinishedCall(lane.rank, lane.thread, name, lane.clock.ns(entered), lanes[0].stop, seen)


def _end_calls(lanes: Sequence[ThreadRecords], calls: Unfinished, ns: int) -> None:
    """Set the end of the calls that the threads died in to `ns`, and extend the threads to that time."""
    for lane in lanes:
        if calls.entered(lane.thread) is not None:
            calls.end(lane.thread, lane.clock.ticks(ns))
            lane.tables["calls"].reread()
            lane.stop = max(lane.stop, ns)
    lanes[0].stop = max(lanes[0].stop, *(lane.stop for lane in lanes))


def _extend_main_thread(lanes: Sequence[ThreadRecords], start: int, last_sample: int) -> None:
    """Extend the main thread from the start of the process to the last event or sample of any thread, ns."""
    main, *others = lanes
    empty = not any(len(table) for table in main.tables.values())
    main.start = start if empty else min(start, main.start)
    main.stop = max([main.start, main.stop, last_sample, *(lane.stop for lane in others)])
