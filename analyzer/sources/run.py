"""Our own runs as a `Trace`: run.h5 and the rank files it links, read by windows of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.memory import no_search_for_cycles
from analyzer.metrics.sharing import cpus_of
from analyzer.parallel import Team
from analyzer.paraver_regions import region_labels
from analyzer.sources import lane as lanes_of
from analyzer.sources.alignment import ClockSource, Reading, fit_clocks
from analyzer.sources.burst_mode import BURST_LABELS
from analyzer.sources.clock import Pieces
from analyzer.sources.communicators import merge_communicators
from analyzer.sources.counters import count_tables, counter_events, counts, merge_counters
from analyzer.sources.displacements import uneven_windows
from analyzer.sources.findings import Findings, find_ranks, strangers
from analyzer.sources.ghosts import Ghosts, collectives_of
from analyzer.sources.index import ThreadTable, thread_tables
from analyzer.sources.labels import merge_labels
from analyzer.sources.lane import Lane, RankTables, merge_procedures, procedure_tables
from analyzer.sources.matching import Matching
from analyzer.sources.objects import merge_objects
from analyzer.sources.paraver_runs import sort_rows
from analyzer.sources.rankfile import PREDICTED, RankFile
from analyzer.sources.regions import Regions, marks, problem, program_events
from analyzer.sources.repair import repairs
from analyzer.sources.samples import ThreadSamples, taken_and_missed
from analyzer.sources.spool import died_inside, pending_rows
from analyzer.sources.system import read_system
from analyzer.sources.windows import cut
from analyzer.system import events_of, labels_of, with_events
from analyzer.trace import (
    ERROR,
    EVENT,
    FLUSH,
    MARK,
    MISSED_COLLECTIVES,
    SUMMED,
    Counts,
    Problem,
    Repair,
    Samples,
    Trace,
    Unmatched,
)
from tracelib import schema
from tracelib.schema import State

_NO_MARKS, _NO_EVENTS, _NO_FLUSHES = (np.zeros(0, dtype) for dtype in (MARK, EVENT, FLUSH))

CALLS_A_BLOCK = 65536
"""About how many calls `calls` yields at a time."""


def open_run(path: str, team: Team | None = None, repair_ns: int | None = None) -> RunTrace:
    """The run in run.h5, in a folder of rank files, or in one rank file.

    `team`: the processes that share the matching; all of them must open the run. `repair_ns`: move times so that no
    message takes less than this (analyzer.sources.repair). Raises TracelibError if nothing can be read; what is missing
    of the rest stands in `problems`.
    """
    team = team or Team()
    with no_search_for_cycles():
        trace = RunTrace(find_ranks(path), team)
    if repair_ns is None:
        return trace
    trace.check_repairable()
    maps = repairs(trace, team, repair_ns)
    trace.repair = Repair(0, 0)
    if maps:
        trace.close()
        trace = RunTrace(find_ranks(path), team, maps)
        trace.repair = Repair(len(maps), max(map_.furthest for map_ in maps.values()))
    return trace


class RunTrace(Trace):
    """A measured run. Nothing is ever written to its files."""

    flush_mode = "subtract"

    def __init__(self, found: Findings, team: Team, corrections: Mapping[int, Pieces] | None = None) -> None:
        self.path, self.size = found.path, found.size
        self.problems = list(found.problems)
        self.event_labels = {}
        self._describe([file.attributes for file in found.files])
        self._team = team
        self._corrections = corrections or {}
        self._files = found.files
        self._file_of = {file.rank: file for file in found.files}
        self._lanes: dict[int, list[Lane]] = {}
        self._samplers: dict[int, ThreadTable | None] = {}  # periodic samples of each rank
        self._cuts: dict[tuple[int, int], np.ndarray] = {}
        self._matching: Matching | None = None
        self._place()
        self._open()
        self.problems += strangers({rank: self.span(rank) for rank in self._lanes}, self.node_of)
        self.problems += self._lost_to_limit()
        self.missing = tuple(rank for rank in range(self.size) if rank not in self._lanes)
        self.duration_ns = max((self.span(rank)[1] for rank in range(self.size)), default=0)
        if team.size > 1:
            self._matched()

    def _describe(self, attributes: Sequence[Mapping[str, int | str]]) -> None:
        """Program, buffer and date, as the rank files say."""
        self.command = str(attributes[0]["command"])
        self.predicted = attributes[0]["boot_id"] == PREDICTED
        self.buffer_bytes = max(int(a["buffer_bytes"]) for a in attributes)
        started = min(int(a["start_realtime_ns"]) for a in attributes)
        self.date = datetime.fromtimestamp(started / 1e9) if started else None

    def _place(self) -> None:
        """Nodes in order of their first rank."""
        keys = {f.rank: (f.attributes["host"], f.attributes["boot_id"]) for f in self._files}
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys.values()))}
        self.nodes = tuple(str(host) or "unknown" for host, _ in numbers)
        self.node_of = np.zeros(self.size, np.int32)
        for rank, key in keys.items():
            self.node_of[rank] = numbers[key]

        known = {file.rank: cpus_of(str(file.attributes["cpus"])) for file in self._files}
        self.affinity = tuple(known.get(rank, frozenset()) for rank in range(self.size))

    def _open(self) -> None:
        """Rows, clocks and lanes of every rank."""
        tables, readings, spools = {}, {}, {}
        self.counters = merge_counters(self._files)
        self.event_labels |= {counter.type: (counter.name, {}) for counter in self.counters}
        for file in self._files:
            pending, problems = pending_rows(file)
            spools[file.rank] = pending
            self.problems += problems + _shortcomings(file)
            tables[file.rank] = thread_tables(file, pending)
            self._samplers[file.rank] = _sampler(tables[file.rank])
            readings[file.rank] = count_tables(file, pending, tables[file.rank], self.counters)
        self.threads = np.ones(self.size, np.int32)
        for rank, threads in tables.items():
            self.threads[rank] = max(threads) + 1
        self._number_cpus()
        aligned, problems, self.clocks = fit_clocks([_clock_source(file, tables[file.rank]) for file in self._files])
        self.problems += problems
        clocks = {rank: clock.corrected(self._corrections.get(rank)) for rank, clock in aligned.items()}
        self.system, problems = read_system(self._files, clocks, self.node_of)
        self.problems += problems
        self.event_labels |= labels_of({name for samples in self.system for name in samples.quantities})
        self.procedures = merge_procedures(self._files)
        self.communicators, index = merge_communicators(self._files, self.size)
        self.objects, object_index = merge_objects(self._files, index)
        uneven = uneven_windows(self._files)
        procedures = procedure_tables(self._files, self.procedures)
        for file in self._files:
            rank, clock = file.rank, clocks[file.rank]
            self.problems += died_inside(file, spools[rank], clock.ns)
            names = procedures[id(file.procedures)]
            refers = RankTables(file, names, index[rank], object_index[rank], uneven[rank])
            lanes = [
                Lane(rank, thread, int(self._first_cpu[rank]) + thread, clock, threads, refers)
                for thread, threads in sorted(tables[rank].items())
            ]
            for lane in lanes:
                lane.counts = readings[rank].get(lane.thread)
                if self.counters:
                    lane.samples = ThreadSamples(lane, self._samplers[rank], self.counters)
            sampler = self._samplers[rank]
            last_sample = clock.ns(sampler.last_key) if sampler else 0
            _extend_main_thread(lanes, clock.ns(int(file.attributes["start_ticks"])), last_sample)
            for lane in lanes:
                _forget_counts_over_gaps(lane)
            self._lanes[rank] = lanes
        self._find_regions()

    def _find_regions(self) -> None:
        """Names of the program's regions and events; what is wrong with its regions is said."""
        labels = merge_labels(self._files)
        self.region_names, self.parameter_names = labels.regions, labels.parameters
        used: set[int] = set()
        for rank, lanes in self._lanes.items() if labels.regions or labels.parameters else ():
            for lane in lanes:
                lane.regions = Regions(lane.tables["events"], labels.numbers[rank])
                used |= lane.regions.parameters
            text = problem(lane.regions for lane in lanes if lane.regions)
            self.problems += [Problem(rank, text)] if text else []
        if any(len(lane.tables["summaries"]) for lanes in self._lanes.values() for lane in lanes):
            self.event_labels |= BURST_LABELS
        self.event_labels |= labels.events | region_labels(labels.regions, labels.parameters, used)

    def _number_cpus(self) -> None:
        """A CPU for each thread, counted from 1 through the ranks of one node after the other."""
        order = np.argsort(self.node_of, kind="stable")
        before = np.concatenate([[0], np.cumsum(self.threads[order])[:-1]])
        self._first_cpu = np.zeros(self.size, np.int32)
        self._first_cpu[order] = 1 + before
        self.cpus = tuple(int(self.threads[self.node_of == node].sum()) for node in range(len(self.nodes)))

    def _lanes_of(self, ranks: range | None) -> list[Lane]:
        chosen = range(self.size) if ranks is None else ranks
        return [lane for rank in chosen for lane in self._lanes.get(rank, ())]

    def _end(self, end: int | None) -> int:
        return self.duration_ns + 1 if end is None else int(end)

    def span(self, rank: int) -> tuple[int, int]:
        lanes = self._lanes.get(rank)
        return (lanes[0].start, lanes[0].stop) if lanes else (0, 0)

    def windows(self, records: int = 262144) -> np.ndarray:
        return self._cut(-1, records)

    def windows_of(self, rank: int, records: int) -> np.ndarray:
        return self._cut(rank, records)

    def only_lane(self, rank: int) -> Lane | None:
        lanes = self._lanes.get(rank, [])
        return lanes[0] if len(lanes) == 1 else None

    def forget(self, rank: int) -> None:
        for lane in self._lanes.get(rank, []):
            for table in lane.tables.values():
                table.forget()

    def _cut(self, rank: int, records: int) -> np.ndarray:
        """Windows of one rank, or (-1) of all."""
        if (rank, records) not in self._cuts:
            lanes = self._lanes_of(None if rank < 0 else range(rank, rank + 1))
            self._cuts[rank, records] = cut(lanes, records, self.duration_ns + 1)
        return self._cuts[rank, records]

    def _parts(self, rank: int, begin: int, end: int | None) -> Iterator[tuple[int, int]]:
        """[begin, end) in parts of about CALLS_A_BLOCK calls of a rank."""
        stop = self._end(end)
        bounds = self._cut(rank, CALLS_A_BLOCK)
        inner = bounds[(bounds > begin) & (bounds < stop)].tolist()
        edges = [begin, *inner, stop]
        yield from pairwise(edges)

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._parts(rank, begin, end):
            block = lanes_of.calls(self._lanes.get(rank, []), low, high)
            if len(block):
                yield block

    def counts(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[Counts]:
        for low, high in self._parts(rank, begin, end):
            block = counts(self._lanes.get(rank, []), self.counters, low, high)
            if len(block.calls) and self.counters:
                yield block

    def samples(self, rank: int, begin: int = 0, end: int | None = None) -> Samples:
        lanes = [lane.samples for lane in self._lanes.get(rank, []) if lane.samples]
        if not lanes:
            return super().samples(rank, begin, end)
        parts = [samples.between(begin, self._end(end)) for samples in lanes]
        columns = ([getattr(part, name) for part in parts] for name in ("time", "thread", "at_region", "values"))
        time, thread, at_region, values = (np.concatenate(column) for column in columns)
        order = np.argsort(time, kind="stable")
        return Samples(time[order], thread[order], at_region[order], values[order])

    def sampled(self, rank: int) -> tuple[int, int]:
        return taken_and_missed(self._samplers.get(rank))

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._parts(rank, begin, end):
            for lane in self._lanes.get(rank, []):
                block = lanes_of.requests(lane, low, high)
                if len(block):
                    yield block

    def accesses(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._parts(rank, begin, end):
            for lane in self._lanes.get(rank, []):
                block = lanes_of.accesses(lane, low, high)
                if len(block):
                    yield block

    def group(self, rank: int, group: int) -> np.ndarray:
        members = self._lanes[rank][0].group(group)
        return members[members < self.size]

    def errors(self, rank: int) -> np.ndarray:
        parts = [lanes_of.errors(lane) for lane in self._lanes.get(rank, [])]
        return np.concatenate([np.zeros(0, ERROR), *parts])

    def flushes(self, rank: int) -> np.ndarray:
        return _by_begin([lane.flushes for lane in self._lanes.get(rank, [])])

    def cpu_waits(self, rank: int) -> np.ndarray:
        return _by_begin([lane.cpu_waits for lane in self._lanes.get(rank, [])])

    def _lost_to_limit(self) -> list[Problem]:
        """Ranks that stopped recording where they met TRACELIB_LIMIT."""
        found = []
        for file in self._files:
            lost, limit = int(file.attributes["lost_calls"]), file.attributes["limit_bytes"]
            if not lost or not limit or file.attributes["state"] == State.FULL:
                continue
            times = self.unrecorded(file.rank)
            if len(times):
                since_s = (int(times["begin"][-1]) - self.span(file.rank)[0]) / 1e9
                found.append(Problem(file.rank, f"{lost} calls lost after {since_s:.6g} s: TRACELIB_LIMIT"))
        return found

    def dropped_calls(self, rank: int) -> int:
        if rank not in self._file_of or self.lost_calls(rank):
            return 0
        blocks = self._file_of[rank].blocks
        return int(blocks["count"][(blocks["flags"] & schema.BLOCK_DROPPED) != 0, 0].sum())

    def lost_calls(self, rank: int) -> int:
        return int(self._file_of[rank].attributes["lost_calls"]) if rank in self._file_of else 0

    def unrecorded(self, rank: int) -> np.ndarray:
        return _by_begin([lane.unrecorded for lane in self._lanes.get(rank, [])])

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return lanes_of.states(self._lanes_of(ranks), begin, self._end(end))

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        stop, chosen = self._end(end), range(self.size) if ranks is None else ranks
        recorded = self._with_counters(lanes_of.events(self._lanes_of(ranks), begin, stop), begin, stop, chosen)
        return with_events(recorded, self._node_events(begin, stop, chosen))

    def _with_counters(self, events: np.ndarray, begin: int, end: int, ranks: range) -> np.ndarray:
        if not self.counters:
            return events
        counted = [counter_events(lane, self.counters, begin, end) for lane in self._lanes_of(ranks)]
        return sort_rows(np.concatenate([events, *counted]), "time", "rank", "thread")

    def _node_events(self, begin: int, end: int, ranks: range) -> np.ndarray:
        """EVENT of the samples of nodes whose first rank is one of `ranks`."""
        nodes = [node for node in self.system if node.rank in ranks]
        parts = [events_of(node, begin, end, int(self._first_cpu[node.rank])) for node in nodes]
        events = np.concatenate([np.zeros(0, EVENT), *parts])
        return events[np.lexsort((events["rank"], events["time"]))]

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        lanes = [lane for lane in self._lanes.get(rank, []) if lane.regions]
        if not lanes:
            return _NO_MARKS
        rows = [marks(lane.event_rows(begin, self._end(end)), lane.thread, lane.clock) for lane in lanes]
        return np.concatenate(rows)

    def program_events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        stop, lanes = self._end(end), [lane for lane in self._lanes.get(rank, ()) if len(lane.tables["events"])]
        if not lanes:
            return _NO_EVENTS
        rows = [program_events(lane.event_rows(begin, stop), rank, lane.thread, lane.clock) for lane in lanes]
        found = rows[0] if len(rows) == 1 else np.concatenate(rows)
        return sort_rows(found, "time", "thread") if len(found) else found

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._matched().messages(begin, self._end(end))

    def summed(self, rank: int) -> np.ndarray:
        parts = [lane.summed for lane in self._lanes.get(rank, [])]
        return np.concatenate([np.zeros(0, SUMMED), *parts])

    def overhead_ns(self, rank: int) -> int:
        lanes = self._lanes.get(rank)
        return lanes[0].overhead if lanes else 0

    def cpu_overhead_ns(self, rank: int) -> int:
        lanes = self._lanes.get(rank)
        return lanes[0].cpu_overhead if lanes else 0

    def unmatched(self) -> list[Unmatched]:
        return self._matched().unmatched(self.procedures)

    def missed_collectives(self, rank: int) -> np.ndarray:
        files = [file for file in self._files if file.rank == rank]
        parts = [collectives_of(file, self._lanes[rank][0]) for file in files]
        return np.concatenate([np.zeros(0, MISSED_COLLECTIVES), *parts])

    def partners_not_recorded(self) -> int:
        return self._matched().alone

    def _matched(self) -> Matching:
        """Match on first use; a team when it opens the run, for all its members must take part."""
        if self._matching is None:
            folder = Path(self.path).absolute().parent
            ghosts = {file.rank: Ghosts(file, self._lanes[file.rank][0]) for file in self._files}
            self._matching = Matching(self._lanes, ghosts, self.windows(), self._first_cpu, self._team, folder)
        return self._matching

    def check_repairable(self) -> None:
        """Raise TracelibError if the messages are not surely paired: then their order means nothing."""
        if any(file.attributes["lost_calls"] or file.attributes["lost_rows"] for file in self._files):
            text = f"{self.path}: calls were lost, so which send belongs to which receive is not sure"
            raise TracelibError(text, "leave out --repair-clocks")

    def close(self) -> None:
        if self._matching is not None:
            self._matching.close()
        for file in self._files:
            file.close()


def _sampler(tables: dict[int, dict[str, ThreadTable]]) -> ThreadTable | None:
    """The rows of the tracer's own thread, taken out of those of the program's threads; None: it had none."""
    return tables.pop(schema.SAMPLER_THREAD, {}).get("events")


def _by_begin(parts: Sequence[np.ndarray]) -> np.ndarray:
    found = [part for part in parts if len(part)]
    if not found:
        return _NO_FLUSHES
    rows = np.concatenate(found)
    return rows[np.argsort(rows["begin"], kind="stable")]


def _forget_counts_over_gaps(lane: Lane) -> None:
    """What was counted while nothing was recorded belongs to no burst."""
    if lane.counts is not None:
        found = [lane.tables["calls"].find(lane.clock.ticks(end)) for end in lane.unrecorded["end"].tolist()]
        lane.counts.after_gaps = np.array(found, np.int64)


def _extend_main_thread(lanes: Sequence[Lane], start: int, last_sample: int) -> None:
    """The main thread lives as long as the process: from its start to the last event or sample of any thread."""
    main, *others = lanes
    empty = not any(len(table) for table in main.tables.values())
    main.start = start if empty else min(start, main.start)
    main.stop = max([main.start, main.stop, last_sample, *(lane.stop for lane in others)])


def _clock_source(file: RankFile, threads: Mapping[int, Mapping[str, ThreadTable]]) -> ClockSource:
    a = file.attributes

    def last_ticks() -> int:
        tables = (table for tables in threads.values() for table in tables.values())
        return max((table.last_key for table in tables if len(table)), default=0)

    return ClockSource(
        rank=file.rank,
        boot_id=str(a["boot_id"] or a["host"]),
        time_namespace=int(a["time_namespace"]),
        ticks_are_tsc=bool(a["ticks_are_tsc"]),
        start_ticks=int(a["start_ticks"]),
        start_realtime_ns=int(a["start_realtime_ns"]),
        last_ticks=last_ticks,
        last_realtime_ns=file.modified_ns,
        pairs=file.clock.tolist(),
        readings=[Reading(*row) for row in file.sync.tolist()],
    )


def _shortcomings(file: RankFile) -> list[Problem]:
    """What the rank file says of itself that a reader should know."""
    a = file.attributes
    found = []
    if a["state"] == State.EXITED:
        found.append(Problem(file.rank, "ended without MPI_Finalize"))
    if a["state"] == State.FULL:
        found.append(Problem(file.rank, "the disk was full: recording stopped early"))
    if a["lost_calls"] or a["lost_rows"]:
        if a["limit_bytes"] and a["state"] != State.FULL:
            return found  # said with its time: `_lost_to_limit`
        text = f"{a['lost_calls']} calls and {a['lost_rows']} rows of other tables were lost"
        found.append(Problem(file.rank, text))
    return found
