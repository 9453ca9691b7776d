"""Opens a run in steps: files, clocks, shared tables, threads, windows of time, and matching.

Each step takes the results of the steps before, and returns a result that does not change any more. `RunParts` holds
the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.process_memory import no_search_for_cycles
from analyzer.recording.matching.leftovers import Reach
from analyzer.recording.rank_file.clock import Pieces
from analyzer.recording.rank_file.file import PREDICTED, RankFile
from analyzer.recording.run.call_paths import read_paths
from analyzer.recording.run.clock_repair import repairs
from analyzer.recording.run.clocks import align_clocks
from analyzer.recording.run.cuts import Lanes, cut_run
from analyzer.recording.run.ends import lost_to_limit
from analyzer.recording.run.half_done import leave_out_half_done
from analyzer.recording.run.lifetimes import strangers
from analyzer.recording.run.matched import Matched
from analyzer.recording.run.nodes import number_cpus, place_ranks
from analyzer.recording.run.opened_threads import OpenedThreads, open_threads
from analyzer.recording.run.parts import RunParts
from analyzer.recording.run.rank_files import RunFiles, find_ranks, runs_beside
from analyzer.recording.run.rank_threads import RankThreads, ReferredTables
from analyzer.recording.run.raw_ranks import RawRanks, count_threads
from analyzer.recording.run.relatives import relatives, world_of
from analyzer.recording.run.shared_tables import SharedTables, merge_tables
from analyzer.recording.run.system import read_system
from analyzer.recording.run.thread_readers import ThreadReaders
from analyzer.recording.run.trace import RunTrace
from analyzer.recording.thread_records.burst_mode import BURST_LABELS
from analyzer.recording.thread_records.count_table import merge_counters
from analyzer.trace import Communicator, Counter, Nodes, Origin, Relative, Repair
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.region_labels import region_labels
from analyzer.trace.system import NodeSamples, labels_of

_NO_CORRECTIONS: Mapping[int, Pieces] = {}

Labels = dict[int, tuple[str, dict[int, str]]]
"""Labels of events, as in Trace.event_labels."""


def open_run(path: str, team: Team | None = None, options: ReadOptions | None = None) -> RunTrace:
    """Open a run of tracelib.

    Args:
        path: run.h5, a folder of rank files, or one rank file.
        team: Processes that share the matching; all of them must open the run. None: this process alone.
        options: Options, the same in all members of the team. None: the defaults. A choice must name ranks.

    Returns:
        The run. Its `problems` describe what is missing.

    Raises:
        TracelibError: No rank can be read, or the clocks of the run cannot be repaired as the options ask.
    """
    team, options = team or Team(), options or ReadOptions()
    options = replace(options, sizes=team.bcast(options.sizes))
    if options.repair_ns is None:
        return _open(path, team, options)
    trace = _open(path, team, replace(options, matched=True))
    trace.check_repairable()
    maps = repairs(trace, team, options.repair_ns)
    if not maps:
        return trace.repaired(Repair(0, 0))
    trace.close()
    again = _open(path, team, options, maps)
    return again.repaired(Repair(len(maps), max(map_.furthest for map_ in maps.values())))


def _open(path: str, team: Team, options: ReadOptions, corrections: Mapping[int, Pieces] = _NO_CORRECTIONS) -> RunTrace:
    """Open a run. `corrections` are maps from aligned to corrected times, by rank."""
    with no_search_for_cycles():
        found = find_ranks(path, options.choice, team, options.sizes)
        parts = _read_parts(found, team, options, corrections)
        trace = RunTrace(parts)
        unfinished = parts.opened.unfinished
        if unfinished.any():
            halves = trace.matching().cut_off
            half_done = leave_out_half_done(trace, parts.readers, halves, unfinished, parts.opened.ends)
            return RunTrace(replace(parts, half_done=half_done))
        if options.matched and team.size > 1:
            trace.match()
        return trace


def _read_parts(found: RunFiles, team: Team, options: ReadOptions, corrections: Mapping[int, Pieces]) -> RunParts:
    """Read the parts of a run, step by step. In a team each member opens its own ranks."""
    files, size, sizes = found.files, found.size, options.sizes
    mine = [file.rank for file in files if file.rank in found.share]
    paths = read_paths(Path(found.path), files, found.share, team)
    places = place_ranks(files, size)
    counters = merge_counters(files)
    raw = RawRanks(files, counters, impossible=options.impossible)
    threads, row_problems = count_threads(raw, mine, size, team)
    cpus = number_cpus(places, threads)
    aligned = align_clocks(found, raw.tables, corrections)
    samples, sample_problems = read_system(files, aligned.clocks, places.of_rank)
    shared = merge_tables(files, size)
    before = [*found.problems, *row_problems, *aligned.problems, *sample_problems]

    made = RankThreads(raw, ReferredTables(aligned.clocks, cpus.first, shared, paths.chain))
    opened = open_threads(raw, made, mine, size, team, {problem.rank for problem in before})
    facts = opened.facts
    duration_ns = int(facts["stop"].max(initial=0))
    recorded, starts, stops = (opened.by_rank(fact) for fact in ("recorded", "start", "stop"))
    spans = {rank: (starts[rank], stops[rank]) for rank in starts}
    cuts = cut_run(opened.lanes, duration_ns, recorded, files, found.share, team, sizes)
    readers = ThreadReaders(opened.lanes, size, sizes)
    matched = Matched(
        files, opened.lanes, cuts, cpus.first, team, Path(found.path).absolute().parent,
        _reach(found, opened, shared.communicators), found.share, readers, sizes,
    )  # fmt: skip
    problems = [
        *before,
        *opened.problems,
        *strangers(facts["rank"], facts["start"], facts["stop"], places.of_rank, opened.stopped),
        *lost_to_limit(files, opened.lanes, spans, opened.ranks("whole")),
    ]
    return RunParts(
        path=found.path,
        size=size,
        sizes=sizes,
        files=files,
        chosen=found.chosen,
        share=found.share,
        members=team.size,
        origin=_origin([file.attributes for file in files]),
        nodes=Nodes(places.names, cpus.of_node, places.of_rank, places.affinity, samples),
        threads=threads,
        first_cpu=cpus.first,
        clocks=aligned.nodes,
        counters=counters,
        shared=shared,
        paths=paths,
        opened=opened,
        sampler=made.sampler,
        duration_ns=duration_ns,
        spans=spans,
        cuts=cuts,
        readers=readers,
        matched=matched,
        problems=tuple(problems),
        event_labels=_event_labels(counters, samples, shared, opened),
        relatives=partial(_met, found.path, files, opened.lanes),
    )


def _reach(found: RunFiles, opened: OpenedThreads, communicators: Sequence[Communicator]) -> Reach:
    """Return the ranks and communicators for which a message may lack its other side although the trace is right."""
    unchosen = np.zeros(found.size, bool)
    if found.chosen is not None:
        unchosen[:] = True
        unchosen[list(found.chosen)] = False
    outside = np.array([communicator.outside > 0 for communicator in communicators], bool)
    return Reach(opened.unfinished, outside, unchosen)


def _event_labels(
    counters: Sequence[Counter], samples: Sequence[NodeSamples], shared: SharedTables, opened: OpenedThreads
) -> Labels:
    """Return the labels of all events of the run."""
    found: Labels = {counter.type: (counter.name, {}) for counter in counters}
    found |= labels_of({name for node in samples for name in node.quantities})
    if opened.facts["summed_up"].any():
        found |= BURST_LABELS
    labels = shared.labels
    return found | labels.events | region_labels(labels.regions, labels.parameters, opened.parameters)


def _origin(attributes: Sequence[Mapping[str, int | str]]) -> Origin:
    """Read command and date of the run from the attributes of its rank files."""
    started = min(int(a["start_realtime_ns"]) for a in attributes)
    return Origin(
        command=str(attributes[0]["command"]),
        date=datetime.fromtimestamp(started / 1e9) if started else None,
        predicted=attributes[0]["boot_id"] == PREDICTED,
    )


def _met(path: str, files: Sequence[RankFile], lanes: Lanes) -> list[Relative]:
    """Return the other runs, in the folder of this run, that spawned it, that it spawned, or that it connected to."""
    own = world_of(path, files, lanes)
    if not (own.parent_size or own.meetings):
        return []
    others = []
    for beside in runs_beside(Path(path)):
        with suppress(TracelibError), closing(open_run(str(beside))) as run:
            others.append(world_of(beside.name, run.files_of(range(run.size)), run.lanes))
    return relatives(own, others)
