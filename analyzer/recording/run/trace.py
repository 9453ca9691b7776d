"""Our own runs as a `Trace`: run.h5 and the rank files it links, read by windows of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.columns.sorted_runs import sort_rows
from analyzer.errors import TracelibError
from analyzer.pairing.call_paths import paths_of_calls
from analyzer.parallel import Team
from analyzer.process_memory import no_search_for_cycles
from analyzer.recording.matching.cut_off import leave_out_collectives, leave_out_messages, left_out
from analyzer.recording.matching.leftovers import Reach
from analyzer.recording.rank_file.clock import Pieces
from analyzer.recording.rank_file.file import PREDICTED, RankFile
from analyzer.recording.rank_file.index import ThreadTable
from analyzer.recording.rank_file.spool import OPEN_ENDED, Fate
from analyzer.recording.run.alignment import ClockSource, fit_clocks
from analyzer.recording.run.call_paths import RunCallPaths, RunCodeSamples, RunPaths
from analyzer.recording.run.clock_repair import repairs
from analyzer.recording.run.clock_sources import clock_files, clock_source
from analyzer.recording.run.cpu_use import RunCpuUse
from analyzer.recording.run.cuts import RECORDS, Cuts, Lanes
from analyzer.recording.run.ends import End, end_problems, lasted_until
from analyzer.recording.run.extras import (
    RunChosen,
    RunCounters,
    RunCpuWaits,
    RunErrors,
    RunLeftovers,
    RunLosses,
    RunObjects,
    RunRegions,
    RunSummedCalls,
    RunTracerTime,
)
from analyzer.recording.run.matched import Matched
from analyzer.recording.run.rank_files import Findings, find_ranks, runs_beside, strangers
from analyzer.recording.run.rank_rows import RankRows
from analyzer.recording.run.ranks import Ranks, Refers, ThreadsLater
from analyzer.recording.run.relatives import Relative, relatives, world_of
from analyzer.recording.run.shared_objects import merge_communicators, merge_labels, merge_objects
from analyzer.recording.run.system import read_system
from analyzer.recording.thread_records import records as lane_records
from analyzer.recording.thread_records.burst_mode import BURST_LABELS
from analyzer.recording.thread_records.count_table import merge_counters
from analyzer.recording.thread_records.counters import counter_events
from analyzer.recording.thread_records.displacements import uneven_windows
from analyzer.recording.thread_records.procedures import merge_procedures, procedure_tables
from analyzer.recording.thread_records.stored import Stored, StoredThreads
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.recording.thread_records.windowed import WindowedThreads
from analyzer.trace import EVENT, Clocks, Losses, Nodes, Origin, Problem, Repair, Trace
from analyzer.trace.chosen import Choice
from analyzer.trace.region_labels import region_labels
from analyzer.trace.sharing import cpus_of
from analyzer.trace.system import events_of, labels_of, with_events
from tracelib import schema
from tracelib.schema import ProcessState

_WINDOWS_A_MEMBER = 4
"""Least number of windows of time for each member of a team, where windows could be longer."""


def open_run(
    path: str,
    team: Team | None = None,
    repair_ns: int | None = None,
    *,
    impossible: bool = False,
    choice: Choice | None = None,
    matched: bool = True,
) -> RunTrace:
    """Open the run in run.h5, in a folder of rank files, or in one rank file.

    Args:
        path: The file or folder.
        team: Processes that share the matching; all of them must open the run.
        repair_ns: Move times so that no message takes less than this time (clock_repair.py). None: keep times.
        impossible: Accept impossible time stamps, for a caller that counts them. Else reading such a row raises
            TracelibError.
        choice: Open the files of these ranks only.
        matched: A team matches the messages now. Else they are matched when all members first ask for them.

    Returns:
        The run; its `problems` say what is missing.

    Raises:
        TracelibError: Nothing can be read.
    """
    team = team or Team()
    with no_search_for_cycles():
        wanted = matched or repair_ns is not None
        trace = RunTrace(find_ranks(path, choice, team), team, impossible=impossible, matched=wanted)
    if repair_ns is None:
        return trace
    trace.check_repairable()
    maps = repairs(trace, team, repair_ns)
    repair = Repair(0, 0)
    if maps:
        trace.close()
        trace = RunTrace(find_ranks(path, choice, team), team, maps, impossible=impossible, matched=matched)
        repair = Repair(len(maps), max(map_.furthest for map_ in maps.values()))
    trace.put(replace(trace.extra(Clocks), repair=repair))
    return trace


class RunTrace(Trace):
    """Measured run as a trace. Nothing is ever written to its files."""

    def __init__(
        self,
        found: Findings,
        team: Team,
        corrections: Mapping[int, Pieces] | None = None,
        *,
        impossible: bool = False,
        matched: bool = True,
    ) -> None:
        self.path, self.size = found.path, found.size
        self.problems = list(found.problems)
        self.event_labels = {}
        self.origin = _origin([file.attributes for file in found.files])
        self._corrections = corrections or {}
        self._files, self._chosen, self._open_other = found.files, found.chosen, found.open_other
        self._share, self._members = found.share, team.size
        self._paths = RunPaths(Path(self.path), found.files)
        if team.size > 1:
            self._paths.share(found.share, team)
        self._place()
        known = self._open(team, impossible=impossible)
        ranks, begins, ends, recorded = (known[name] for name in ("rank", "start", "stop", "recorded"))
        self._spans = dict(zip(ranks.tolist(), zip(begins.tolist(), ends.tolist(), strict=True), strict=True))
        self.problems += strangers(ranks, begins, ends, self._node_of, np.isin(ranks, self._stopped()))
        self.duration_ns = int(ends.max(initial=0))
        counts = dict(zip(ranks.tolist(), recorded.tolist(), strict=True))
        self._cuts = Cuts(self._lanes, self.duration_ns, counts, found.share, _inflated(found.files, team.size))
        if team.size > 1 and self._cuts.is_long:
            self._cuts.know(team.gather(self._cuts.spread_of_own))
        self._read_anew()
        unchosen = np.zeros(self.size, bool) if self._chosen is None else _all_but(self._chosen, self.size)
        reach = Reach(self._unfinished, np.array([c.outside > 0 for c in self.communicators], bool), unchosen)
        folder = Path(self.path).absolute().parent
        self._matched = Matched(
            self._files, self._lanes, self._cuts, self._first_cpu, team, folder, reach, self.share(team), self._stored,
            partial(paths_of_calls, self),
        )  # fmt: skip
        self._put_extras(known)
        self.problems += self._lost_to_limit()
        if self._unfinished.any():
            self._leave_out_half_done()
        elif matched and team.size > 1:
            self.match()

    def _place(self) -> None:
        """Number the nodes in order of their first rank."""
        keys = {f.rank: (f.attributes["host"], f.attributes["boot_id"]) for f in self._files}
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys.values()))}
        self._node_names = tuple(str(host) or "unknown" for host, _ in numbers)
        self._node_of = np.zeros(self.size, np.int32)
        for rank, key in keys.items():
            self._node_of[rank] = numbers[key]

    def _open(self, team: Team, *, impossible: bool) -> np.ndarray:
        """Open rows, clocks and threads of every rank and return OPENED. In a team each member opens its own ranks."""
        mine = [file.rank for file in self._files if file.rank in self._share]
        self._counters = merge_counters(self._files)
        self.event_labels |= {counter.type: (counter.name, {}) for counter in self._counters}
        self._ranks = Ranks(self._files, self._counters, impossible=impossible)
        self.threads = np.ones(self.size, np.int32)
        for threads, problems in team.gather(lambda: _read(self._ranks, mine)):
            self.threads[threads[:, 0]] = threads[:, 1]
            self.problems += problems
        cpus = self._number_cpus()
        sources = [clock_source(file, partial(_tables, self._ranks, file.rank)) for file in self._files]
        aligned, problems, self._clocks = fit_clocks(sources, self._other_clocks())
        self.problems += problems
        clocks = {rank: clock.corrected(self._corrections.get(rank)) for rank, clock in aligned.items()}
        samples, problems = read_system(self._files, clocks, self._node_of)
        self.problems += problems
        self.event_labels |= labels_of({name for node in samples for name in node.quantities})
        self.nodes = Nodes(self._node_names, cpus, self._node_of, self._affinity(), samples)
        self.procedures = merge_procedures(self._files)
        self.communicators, index = merge_communicators(self._files, self.size)
        self._objects, object_index = merge_objects(self._files, index)
        labels = merge_labels(self._files)
        self._ranks.refer(
            Refers(
                clocks, self._first_cpu, procedure_tables(self._files, self.procedures), index, object_index,
                uneven_windows(self._files), labels.numbers if labels.regions or labels.parameters else {},
                self._paths.chain,
            )
        )  # fmt: skip
        parts = team.gather(lambda: self._ranks.open(mine, shared=team.size > 1))
        known = np.concatenate([rows for rows, _ in parts])
        last_sign = int(known["stop"].max(initial=0))
        self._ranks.end_open_calls(last_sign)
        known["stop"][known["open"]] = last_sign
        self._lanes: Lanes = ThreadsLater([file.rank for file in self._files], self._ranks.lanes)
        if team.size == 1:
            self._lanes = {rank: self._ranks.lanes(rank) for rank in mine}
        self._regions = labels.regions, labels.parameters
        said = {k: one for _, of in parts for k, one in of.items()}
        self._in_buffers = any(one.in_buffer for one in said.values())
        self._died_inside = tuple(
            call if call.seen else replace(call, until_ns=last_sign)
            for rank in sorted(said)
            for call in said[rank].unfinished
        )
        self.problems += lasted_until(self._died_inside)
        self.problems += [problem for one in said.values() for problem in one.problems]
        self.problems += [problem for one in said.values() for problem in one.of_regions]
        self._ranks.believe(set(known["rank"].tolist()) - {problem.rank for problem in self.problems})
        if known["summed_up"].any():
            self.event_labels |= BURST_LABELS
        used = frozenset[int]().union(*{one.parameters for one in said.values()})
        self.event_labels |= labels.events | region_labels(labels.regions, labels.parameters, used)
        self._ends = [said[rank].end if rank in said else End(rank, Fate.ENDED, 0) for rank in known["rank"].tolist()]
        unfinished = [rank for rank, one in said.items() if one.end.fate in OPEN_ENDED]
        self._unfinished = np.isin(np.arange(self.size), unfinished)
        return known

    def _other_clocks(self) -> list[ClockSource]:
        """Return the clocks of ranks that were not chosen, as far as the clocks of the chosen ranks need them."""
        if self._open_other is None:
            return []
        others = clock_files(self._files, self._open_other)
        try:
            return [clock_source(file, dict) for file in others]
        finally:
            for file in others:
                file.close()

    def _stopped(self) -> list[int]:
        """Return the ranks that may have lived longer than they recorded."""
        full = [file.rank for file in self._files if file.attributes["state"] == ProcessState.FULL]
        return [*full, *np.flatnonzero(self._unfinished).tolist()]

    def _affinity(self) -> tuple[frozenset[int], ...]:
        said = {file.rank: str(file.attributes["cpus"]) for file in self._files}
        sets = {text: cpus_of(text) for text in {"", *said.values()}}  # a set of many CPUs takes 8 KB
        return tuple(sets[said.get(rank, "")] for rank in range(self.size))

    def _number_cpus(self) -> tuple[int, ...]:
        """Number a CPU for each thread, from 1 through the ranks of one node after the other.

        Returns the number of CPUs of each node.
        """
        order = np.argsort(self._node_of, kind="stable")
        before = np.concatenate([[0], np.cumsum(self.threads[order])[:-1]])
        self._first_cpu = np.zeros(self.size, np.int32)
        self._first_cpu[order] = 1 + before
        return tuple(by_index(self._node_of, self.threads, len(self._node_names)).tolist())

    def _put_extras(self, known: np.ndarray) -> None:
        lanes, cuts = self._lanes, self._cuts
        whole, summed_up = (frozenset(known["rank"][known[name]].tolist()) for name in ("whole", "summed_up"))
        regions, parameters = self._regions
        files = {file.rank: file for file in self._files}
        self.put(
            RunRegions(regions, parameters, lanes=lanes, cuts=cuts),
            RunCounters(self._counters, lanes=lanes, cuts=cuts, sampler=self._ranks.sampler),
            RunObjects(self._objects, lanes=lanes, cuts=cuts, size=self.size),
            RunLosses(
                tuple(rank for rank in range(self.size) if rank not in lanes),
                in_buffers=self._in_buffers,
                unfinished=self._died_inside,
                lanes=lanes,
                files=files,
                whole=whole,
            ),
            RunChosen(self._chosen, matched=self._matched.get),
            RunLeftovers(
                matched=self._matched.get,
                met=partial(_met, self.path, self._files, lanes),
                procedures=self.procedures,
                chain=self._paths.text,
                leave=self._leave_out,
            ),
            RunTracerTime(max(int(file.attributes["buffer_bytes"]) for file in self._files), lanes=lanes),
            Clocks(self._clocks),
            RankRows(reader=self),
            RunSummedCalls(lanes=lanes, ranks=summed_up),
            RunErrors(lanes=lanes),
            RunCpuWaits(lanes=lanes),
            RunCpuUse(lanes=lanes, files=files),
            RunCallPaths(self._paths.known, lanes=lanes, cuts=cuts, paths=self._paths),
            RunCodeSamples(
                any(file.lengths["samples"] for file in self._files),
                bool(known["by_signal"].any()),
                lanes=lanes,
                files=files,
                paths=self._paths,
            ),
        )

    def _lanes_of(self, ranks: range | None) -> list[ThreadRecords]:
        chosen = range(self.size) if ranks is None else ranks
        return [lane for rank in chosen for lane in self._lanes.get(rank, ())]

    def span(self, rank: int) -> tuple[int, int]:
        return self._spans.get(rank, (0, 0))

    def windows(self, records: int = RECORDS) -> np.ndarray:
        return self._cuts.windows(records)

    def windows_of(self, rank: int, records: int) -> np.ndarray:
        return self._cuts.windows(records, rank)

    def files_of(self, ranks: range) -> list[RankFile]:
        """Return the files of these ranks, as far as they could be read."""
        return [file for file in self._files if file.rank in ranks]

    def share(self, team: Team) -> range:
        if team.size == self._members:
            return self._share
        return team.share(self.size, self._cuts.recorded if team.size > 1 else None)

    def parts(self, ranks: range, records: int) -> Iterator[tuple[range, np.ndarray]]:
        return self._cuts.parts(ranks, records)

    def only_lane(self, rank: int) -> ThreadRecords | None:
        lanes = self._lanes.get(rank, [])
        return lanes[0] if len(lanes) == 1 else None

    def raw_calls(
        self, rank: int, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[ThreadRecords, np.ndarray, np.ndarray]]:
        """Yield the blocks of `calls` for a rank of one thread: calls and folded polls as they lie in the file."""
        lane = self.only_lane(rank)
        if not lane:
            return
        for low, high in self._cuts.blocks(rank, begin, end):
            yield lane, lane.rows("calls", low, high), lane.folded(low, high)

    def stored_lanes(self, ranks: range) -> Stored | None:
        """Return the threads of ranks that each have one thread, which kernels can read; None: not all have."""
        return self._stored.of(ranks)

    def forget(self, rank: int) -> None:
        for lane in self._lanes.get(rank, []):
            for table in lane.tables.values():
                table.forget()

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._cuts.blocks(rank, begin, end):
            block = lane_records.calls(self._lanes.get(rank, []), low, high)
            if len(block):
                yield block

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for low, high in self._cuts.blocks(rank, begin, end):
            for lane in self._lanes.get(rank, []):
                block = lane_records.requests(lane, low, high)
                if len(block):
                    yield block

    def rank_calls(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._stored.calls(ranks, begin, end) if self._is_whole(begin, end) else None
        return super().rank_calls(ranks, begin, end) if found is None else found

    def rank_requests(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._stored.requests(ranks, begin, end) if self._is_whole(begin, end) else None
        return super().rank_requests(ranks, begin, end) if found is None else found

    def _is_whole(self, begin: int, end: int) -> bool:
        """True if [begin, end) covers the whole run."""
        return begin <= 0 and end >= self._cuts.end(None)

    def _lost_to_limit(self) -> list[Problem]:
        """Return a problem for each rank that stopped recording because it reached TRACELIB_LIMIT."""
        found = []
        for file in self._files:
            lost, limit = int(file.attributes["lost_calls"]), file.attributes["limit_bytes"]
            if not lost or not limit or file.attributes["state"] == ProcessState.FULL:
                continue
            times = self.extra(Losses).unrecorded(file.rank)
            if len(times):
                since_s = (int(times["begin"][-1]) - self.span(file.rank)[0]) / 1e9
                found.append(
                    Problem(file.rank, f"{lost} calls lost after {since_s:.6g} s, when TRACELIB_LIMIT was reached")
                )
        return found

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        chosen = range(self.size) if ranks is None else ranks
        if not self._windowed.are_stored(chosen):
            self._cuts.expect_windows()
        return self._windowed.states(chosen, begin, self._cuts.end(end))

    def rank_states(self, begin: int, end: int, ranks: range) -> np.ndarray:
        return self._windowed.states_by_rank(ranks, begin, end)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        stop, chosen = self._cuts.end(end), range(self.size) if ranks is None else ranks
        recorded = self._with_counters(self._windowed.events(chosen, begin, stop), begin, stop, chosen)
        return with_events(recorded, self._node_events(begin, stop, chosen))

    def _with_counters(self, events: np.ndarray, begin: int, end: int, ranks: range) -> np.ndarray:
        if not self._counters:
            return events
        counted = [counter_events(lane, self._counters, begin, end) for lane in self._lanes_of(ranks)]
        return sort_rows(np.concatenate([events, *counted]), "time", "rank", "thread")

    def _node_events(self, begin: int, end: int, ranks: range) -> np.ndarray:
        """Return EVENT of the samples of nodes whose first rank is one of `ranks`."""
        nodes = [node for node in self.nodes.samples if node.rank in ranks]
        parts = [events_of(node, begin, end, int(self._first_cpu[node.rank])) for node in nodes]
        events = np.concatenate([np.zeros(0, EVENT), *parts])
        return events[np.lexsort((events["rank"], events["time"]))]

    def match(self) -> None:
        self._matched.get()

    def message_windows(self) -> np.ndarray:
        return self._matched.windows()

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._matched.get().messages(begin, self._cuts.end(end))

    def messages_of(self, ranks: range, begin: int, end: int) -> np.ndarray:
        if len(ranks) == self.size:
            return self.messages(begin, end)
        return self._matched.get().messages_of(ranks, begin, end)

    def unordered_messages(self, begin: int, end: int) -> np.ndarray:
        return self._matched.get().unordered(begin, end)

    def _read_anew(self) -> None:
        """Make the readers again, as rows may have been left out."""
        self._stored = StoredThreads(self._lanes, self.size)
        self._windowed = WindowedThreads(self._lanes, self.size, self._stored)

    def _leave_out(self, halves: np.ndarray) -> None:
        """Leave out the rows of sends and receives (CUT_OFF)."""
        if len(halves):
            leave_out_messages(self, self._lanes, halves)
            self._read_anew()

    def _leave_out_half_done(self) -> None:
        """Leave out operations with other ranks that unfinished ranks did only in part. Say how the run ended."""
        halves = self._matched.get().cut_off
        self._leave_out(halves)
        calls, behind = leave_out_collectives(self, self._lanes, self._unfinished)
        self._read_anew()
        missed = ""
        if len(halves) or calls:
            missed = left_out(np.flatnonzero(self._unfinished), len(halves), calls)
        behind.update(halves["half"]["peer"][~halves["is_send"]].tolist())
        said = end_problems(self._ends, behind, [c.label for c in self.communicators])
        ending = tuple(problem.text for problem in said)
        self.put(replace(self.extra(Losses), ending=ending, left_out=missed))
        self.problems = said + self.problems

    def check_repairable(self) -> None:
        """Raise TracelibError if calls were lost: then messages may be matched wrongly."""
        if any(file.attributes["lost_calls"] or file.attributes["lost_rows"] for file in self._files):
            text = f"{self.path}: calls were lost, so it is not sure which send belongs to which receive"
            raise TracelibError(text, "leave out --repair-clocks")

    def close(self) -> None:
        self._matched.close()
        for file in self._files:
            file.close()


def _all_but(ranks: Sequence[int], size: int) -> np.ndarray:
    """Return a mask of the ranks that are not in `ranks`."""
    found = np.ones(size, bool)
    found[list(ranks)] = False
    return found


def _origin(attributes: Sequence[Mapping[str, int | str]]) -> Origin:
    """Read program and date from the attributes of rank files."""
    started = min(int(a["start_realtime_ns"]) for a in attributes)
    return Origin(
        command=str(attributes[0]["command"]),
        date=datetime.fromtimestamp(started / 1e9) if started else None,
        predicted=attributes[0]["boot_id"] == PREDICTED,
    )


def _inflated(files: Sequence[RankFile], members: int) -> int:
    """Return the number of calls that are inflated to read one call of each rank; 0: rows are not compressed.

    The longest file is taken as an example for all files. The number is small enough to leave some windows to each
    member.
    """
    longest = max(files, key=lambda file: file.lengths["calls"])
    chunks = longest.chunks.get("calls")
    if not longest.lengths["calls"] or (chunks is not None and chunks.deflated is None):
        return 0
    rows = chunks.rows if chunks is not None else schema.COMPRESSED_CHUNK_ROWS
    every = sum(file.lengths["calls"] for file in files)
    return min(rows * len(files), every if members == 1 else every // (_WINDOWS_A_MEMBER * members))


def _met(path: str, files: Sequence[RankFile], lanes: Lanes) -> list[Relative]:
    """Find the runs beside this run that it spawned, was spawned by, or connected to."""
    own = world_of(path, files, lanes)
    if not (own.parent_size or own.meetings):
        return []
    others = []
    for beside in runs_beside(Path(path)):
        with suppress(TracelibError), closing(RunTrace(find_ranks(str(beside)), Team())) as run:
            others.append(world_of(beside.name, run._files, run._lanes))
    return relatives(own, others)


def _read(ranks: Ranks, mine: Sequence[int]) -> tuple[np.ndarray, list[Problem]]:
    """Read some ranks. Returns their number of threads as (rank, threads), shape (ranks, 2), and problems of rows."""
    rows = [ranks.rows(rank) for rank in mine]
    threads = [(rank, max(of_rank.tables) + 1) for rank, of_rank in zip(mine, rows, strict=True)]
    return np.array(threads, np.int64).reshape(-1, 2), [problem for of_rank in rows for problem in of_rank.problems]


def _tables(ranks: Ranks, rank: int) -> dict[int, dict[str, ThreadTable]]:
    return ranks.rows(rank).tables
