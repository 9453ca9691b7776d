"""Extras of tracelib's own runs, beyond calls, states, events and messages (analyzer.trace.extras)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.columns.sorted_runs import sort_rows
from analyzer.recording.matching.ghosts import collectives_of
from analyzer.recording.matching.messages import Matching
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.recording.run.cuts import Cuts, Lanes
from analyzer.recording.thread_records import records as lane_records
from analyzer.recording.thread_records.counters import counts
from analyzer.recording.thread_records.regions import marks, program_events
from analyzer.recording.thread_records.samples import taken_and_missed
from analyzer.trace import (
    ERROR,
    FLUSH,
    MISSED_COLLECTIVES,
    SUMMED,
    Chosen,
    Counters,
    Counts,
    CpuWaits,
    Errors,
    Leftovers,
    Losses,
    Objects,
    Regions,
    Relative,
    Samples,
    SummedCalls,
    TracerTime,
    Unmatched,
    Unpaired,
)
from tracelib import schema


@dataclass(frozen=True, kw_only=True)
class RunRegions(Regions):
    """Regions and events that the program recorded."""

    lanes: Lanes
    cuts: Cuts

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        lanes = [lane for lane in self.lanes.get(rank, []) if lane.regions]
        if not lanes:
            return super().marks(rank, begin, end)
        rows = [marks(lane.event_rows(begin, self.cuts.end(end)), lane.thread, lane.clock) for lane in lanes]
        return np.concatenate(rows)

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        stop, lanes = self.cuts.end(end), [lane for lane in self.lanes.get(rank, ()) if lane.has_programs_events]
        if not lanes:
            return super().events(rank, begin, end)
        rows = [program_events(lane.event_rows(begin, stop), rank, lane.thread, lane.clock) for lane in lanes]
        found = rows[0] if len(rows) == 1 else np.concatenate(rows)
        return sort_rows(found, "time", "thread") if len(found) else found


@dataclass(frozen=True, kw_only=True)
class RunCounters(Counters):
    """Counters that were read at calls and between them."""

    lanes: Lanes
    cuts: Cuts
    sampler: Callable[[int], ThreadTable | None]  # returns the periodic samples of a rank

    def counts(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[Counts]:
        for low, high in self.cuts.blocks(rank, begin, end):
            block = counts(self.lanes.get(rank, []), self.known, low, high)
            if len(block.calls) and self.known:
                yield block

    def samples(self, rank: int, begin: int = 0, end: int | None = None) -> Samples:
        lanes = [lane.samples for lane in self.lanes.get(rank, []) if lane.samples]
        if not lanes:
            return super().samples(rank, begin, end)
        parts = [samples.between(begin, self.cuts.end(end)) for samples in lanes]
        columns = ([getattr(part, name) for part in parts] for name in ("time", "thread", "at_region", "values"))
        time, thread, at_region, values = (np.concatenate(column) for column in columns)
        order = np.argsort(time, kind="stable")
        return Samples(time[order], thread[order], at_region[order], values[order])

    def sampled(self, rank: int) -> tuple[int, int]:
        return taken_and_missed(self.sampler(rank))


@dataclass(frozen=True, kw_only=True)
class RunObjects(Objects):
    """RMA windows and files of the program, and the calls that access them."""

    lanes: Lanes
    cuts: Cuts
    size: int

    def accesses(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self.cuts.blocks(rank, begin, end):
            for lane in self.lanes.get(rank, []):
                block = lane_records.accesses(lane, low, high)
                if len(block):
                    yield block

    def group(self, rank: int, group: int) -> np.ndarray:
        members = self.lanes[rank][0].group(group)
        return members[members < self.size]


_NO_FLUSHES = np.zeros(0, FLUSH)
_NONE_SUMMED = np.zeros(0, SUMMED)
_NONE_MISSED = np.zeros(0, MISSED_COLLECTIVES)


@dataclass(frozen=True, kw_only=True)
class RunLosses(Losses):
    """Losses that the tracer reported: times without recording, lost and dropped calls, missed collectives."""

    lanes: Lanes
    files: Mapping[int, RankFile]
    whole: AbstractSet[int]  # ranks that are known to have recorded all the time

    def unrecorded(self, rank: int) -> np.ndarray:
        if rank in self.whole:
            return _NO_FLUSHES
        return _by_begin([lane.unrecorded for lane in self.lanes.get(rank, [])])

    def lost_calls(self, rank: int) -> int:
        return int(self.files[rank].attributes["lost_calls"]) if rank in self.files else 0

    def dropped_calls(self, rank: int) -> int:
        if rank not in self.files or self.lost_calls(rank):
            return 0
        blocks = self.files[rank].blocks
        return int(blocks["count"][(blocks["flags"] & schema.BLOCK_DROPPED) != 0, 0].sum())

    def missed_collectives(self, rank: int) -> np.ndarray:
        file = self.files.get(rank)
        if file is None or not len(file.skipped):
            return _NONE_MISSED
        return collectives_of(file, self.lanes[rank][0])


@dataclass(frozen=True, kw_only=True)
class RunChosen(Chosen):
    """Ranks that were chosen, so that their files were opened."""

    matched: Callable[[], Matching]

    def one_sided(self) -> int:
        return self.matched().unchosen if self.ranks is not None else 0


@dataclass(frozen=True, kw_only=True)
class RunLeftovers(Leftovers):
    """Sends and receives for which the matching found no other side."""

    matched: Callable[[], Matching]
    met: Callable[[], list[Relative]]
    procedures: Sequence[str]
    chain: Callable[[int], str]
    leave: Callable[[np.ndarray], None]  # leaves out the rows of these sends and receives (CUT_OFF)

    def unpaired(self) -> Unpaired:
        matched = self.matched()
        sends = int(matched.unpaired["is_send"].sum())
        return Unpaired(sends, len(matched.unpaired) - sends, matched.paired)

    def leave_out(self) -> None:
        self.leave(self.matched().unpaired)

    def unmatched(self) -> list[Unmatched]:
        return self.matched().unmatched(self.procedures, self.chain)

    def not_recorded(self) -> int:
        return self.matched().alone

    def elsewhere(self) -> list[Unmatched]:
        return self.matched().elsewhere(self.procedures, self.chain)

    def relatives(self) -> list[Relative]:
        return self.met()


@dataclass(frozen=True, kw_only=True)
class RunTracerTime(TracerTime):
    """Times that the tracer itself took: flushes, and its time after each call."""

    lanes: Lanes

    def flushes(self, rank: int) -> np.ndarray:
        return _by_begin([lane.flushes for lane in self.lanes.get(rank, [])])

    def after_call_ns(self, rank: int) -> int:
        lanes = self.lanes.get(rank)
        return lanes[0].overhead if lanes else 0

    def after_call_cpu_ns(self, rank: int) -> int:
        lanes = self.lanes.get(rank)
        return lanes[0].cpu_overhead if lanes else 0


@dataclass(frozen=True, kw_only=True)
class RunSummedCalls(SummedCalls):
    """Sums of the calls that burst mode did not record one by one."""

    lanes: Lanes
    ranks: AbstractSet[int]  # ranks with summed calls

    def of(self, rank: int) -> np.ndarray:
        if rank not in self.ranks:
            return _NONE_SUMMED
        parts = [lane.summed for lane in self.lanes.get(rank, []) if len(lane.tables["summaries"])]
        return joined(parts, SUMMED)


@dataclass(frozen=True, kw_only=True)
class RunErrors(Errors):
    """Errors that calls returned, which the rank files hold as events."""

    lanes: Lanes

    def of(self, rank: int) -> np.ndarray:
        parts = [lane_records.errors(lane) for lane in self.lanes.get(rank, []) if lane.has_errors]
        return joined(parts, ERROR)


@dataclass(frozen=True, kw_only=True)
class RunCpuWaits(CpuWaits):
    """Waits for CPUs of a prediction that was written as a run."""

    lanes: Lanes

    def of(self, rank: int) -> np.ndarray:
        return _by_begin([lane.cpu_waits for lane in self.lanes.get(rank, [])])


def _by_begin(parts: Sequence[np.ndarray]) -> np.ndarray:
    found = [part for part in parts if len(part)]
    if not found:
        return _NO_FLUSHES
    rows = joined(found, FLUSH)
    return rows if len(found) == 1 else rows.take(np.argsort(rows["begin"], kind="stable"))
