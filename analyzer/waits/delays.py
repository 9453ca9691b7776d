"""The costs of delays: each wait state is charged to the activities that made its cause late.

Costs are direct, or indirect by way of other waits.

Source: Böhme et al. (see the package), sections on delay costs. For a wait of w ns the two threads are compared over
the time since they were last in step: since a message between them (or between root and member of a collective), or a
collective of both that nobody leaves before all have come. The time starts when the first of the two went on. d(a) is
by how much longer the cause did activity a (computing in a region, time in an MPI call; waiting apart), t(v) how long
it waited in wait v. With S = sum of d and t, activity a is charged w d(a) / S: the direct cost. Wait v is charged w
t(v) / S. It hands this on to its own causes, together with what is charged to w itself: the indirect cost. So the costs
of all delays add up to all waiting. A cause that did nothing longer is charged by what it did while the other thread
waited.

The module also finds what lies behind wait states: the paths of regions they are on, and what all threads did
meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.rows import Rows, rows_to_first
from analyzer.columns.spill import Spill
from analyzer.trace import Trace
from analyzer.waits.kinds import length
from analyzer.waits.message_candidates import append_by_window
from analyzer.waits.region_paths import PathChanges, RegionPaths
from analyzer.waits.segments import Segments
from analyzer.waits.synchronization import QUESTION, SYNC, LastSyncs
from analyzer.waits.wait_states import WaitStates


@dataclass(frozen=True)
class ExplainedWaits:
    """Waits with the path of regions that each is on, and the segments of all threads."""

    found: WaitStates
    paths: RegionPaths
    path: Rows  # int32, number of the path of each wait, in the order of the waits
    segments: Segments


def explain_waits(found: WaitStates) -> ExplainedWaits:
    """Find the path of regions of each wait, and the activities of all threads. Collective.

    Each member of a team reads its own ranks. The first member gets the results of all ranks.
    """
    mine = _of_ranks(found)
    return _together(mine) if found.search.team.size > 1 else mine


def _of_ranks(found: WaitStates) -> ExplainedWaits:
    trace, lanes = found.search.trace, found.search.lanes
    paths, path = RegionPaths(trace), Rows(np.dtype("<i4"))
    segments = Segments(trace, lanes)
    for ranks, bounds in _parts(trace, found.ranks):
        low, high = found.lane_first[lanes.first[[ranks.start, ranks.stop]]]
        waits, changes = found.waits[low:high].copy(), PathChanges.collect(paths, ranks)
        path.append(changes.path_at(waits["lane"] - lanes.first[ranks.start], waits["enter"]))
        segments.add(ranks, bounds, waits, changes)
        found.rows.forget()
    return ExplainedWaits(found, paths, path, segments)


def _parts(trace: Trace, ranks: range) -> Iterator[tuple[range, np.ndarray]]:
    """Yield groups of ranks that are read together, with the bounds of their windows.

    Groups of several ranks have one window.
    """
    for some, bounds in trace.parts(ranks, trace.sizes.part_calls):
        for these in [some] if len(bounds) == 2 else (range(rank, rank + 1) for rank in some):
            yield these, bounds


def _together(mine: ExplainedWaits) -> ExplainedWaits:
    """Gather the results of all members of a team on the first member.

    Paths and activities get the numbers that they would have if one process had read all ranks.
    """
    found, trace, team = mine.found, mine.found.search.trace, mine.found.search.team
    parts = team.allgather(
        (mine.paths.keys, mine.segments.activities.keys, mine.segments.first, mine.segments.start, found.lane_first)
    )
    paths, segments = RegionPaths(trace), Segments(trace, found.search.lanes)
    of_paths = [paths.add(keys) for keys, *_ in parts]
    of_activities = [
        segments.activities.add(keys, numbers) for (_, keys, *_), numbers in zip(parts, of_paths, strict=True)
    ]
    for _, _, first, start, _ in parts:
        segments.add_lanes(first, start)

    def renumbered(member: int, rows: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows["activity"] = of_activities[member][rows["activity"]]
        return rows

    segments.rows = rows_to_first(mine.segments.rows, team, renumbered)
    path = rows_to_first(mine.path, team, lambda member, rows: of_paths[member][rows].astype(np.int32))
    rows = rows_to_first(found.rows, team)
    whole = WaitStates(found.search, rows, np.sum([lane_first for *_, lane_first in parts], axis=0), range(trace.size))
    return ExplainedWaits(whole, paths, path, segments)


DELAY_WAIT = np.dtype(
    [("enter", "<i8"), ("end", "<i8"), ("cause_enter", "<i8"), ("since", "<i8"), ("place", "<i8"),
      ("lane", "<i4"), ("cause", "<i4")]
)  # fmt: skip
"""A wait whose delay is to be charged (`struct delay_wait` of the kernel).

`since`: time from which the two threads are compared, ns. `place`: number of the wait in WaitStates.
"""

_AT_ONCE = 1 << 13
"""Number of waits that are charged before the memory of the mapped files is released.

Each wait may need other pages of these files. A released page is read again when it is needed.
"""

_MAPPED_BYTES, _BYTES_A_WAIT = 1 << 28, 3 << 16
"""Bytes of the segments that may be mapped at a time, and bytes that are expected for each wait.

The system maps 64 KiB around a page that is read (fault_around_bytes). Two threads are compared, at one end or both.
"""


@dataclass(frozen=True)
class DelayCosts:
    """Costs of delays in ns, by thread and activity, and by wait.

    Attributes:
        by_lane: Costs of each thread's activities, float64 of shape (lanes, activities, 2): direct, indirect.
        activities: Path of regions and code of each activity, int64 of shape (activities, 2), as `Activities.table`.
        indirect: For each wait (in the order of WaitStates) the part that is due to waits of its cause, float64.
        caused: For each wait the waiting of other threads that it causes later, float64.
    """

    by_lane: np.ndarray
    activities: np.ndarray
    indirect: Rows
    caused: Rows


def delay_costs(done: ExplainedWaits) -> DelayCosts | None:
    """Compute the costs of the delays behind the waits. Collective. None on all members but the first."""
    if done.found.search.team.rank:
        for window in range(len(done.found.search.windows) - 1):
            done.found.syncs(window)
        return None
    rows, edges = _by_end(done.found)
    _find_last_syncs(rows, edges, done.found, done.segments.start)
    return _costs(done.segments, done.found, rows)


def _by_end(found: WaitStates) -> tuple[Rows, np.ndarray]:
    """Sort waits by their end.

    Returns:
        DELAY_WAIT rows, and the index of the first row of each window of time (int64).
    """
    windows = found.search.windows
    spill, rows = Spill(DELAY_WAIT), Rows(DELAY_WAIT)
    for first, waits in found.rows.pieces():
        piece = np.zeros(len(waits), DELAY_WAIT)
        for column in ("enter", "end", "cause_enter", "lane", "cause"):
            piece[column] = waits[column]
        piece["place"] = first + np.arange(len(waits))
        piece["since"] = waits["exit"]  # until it is known: at the same end, the first call to return comes first
        append_by_window(spill, piece, piece["end"], windows)
    edges = [0]
    for window in range(len(windows) - 1):
        piece = spill.read(window)
        rows.append(piece[np.lexsort((piece["since"], piece["end"]))])
        edges.append(len(rows))
    spill.close()
    return rows, np.array(edges)


def _find_last_syncs(rows: Rows, edges: np.ndarray, found: WaitStates, starts: np.ndarray) -> None:
    """Set `since` of each wait (DELAY_WAIT, in order of `end`): the time when its two threads were last in step."""
    last = LastSyncs(starts)
    for window, (low, high) in enumerate(pairwise(edges.tolist())):
        mine = rows.mapped()[low:high]
        questions = np.zeros(len(mine), SYNC)
        questions["key"], questions["lane"], questions["other"] = mine["end"], mine["lane"], mine["cause"]
        questions["what"] = QUESTION
        questions["comm"] = np.arange(len(mine))  # number of the question, since answers come in order of key
        answers = last.feed(np.concatenate([found.syncs(window), questions]))
        mine["since"][answers["comm"]] = answers["time"]
        rows.forget()


def _costs(segments: Segments, found: WaitStates, rows: Rows) -> DelayCosts:
    table, lanes, count = segments.activities.table(), len(found.search.lanes), len(rows)
    charge, alone, indirect, caused = (Rows.zeros(count, np.dtype("<f8")) for _ in range(4))
    by_lane = np.zeros((lanes, len(table), 2))
    entered, waited_before = _times(found)
    keep = [segments.first, found.lane_first]
    tables = ffi.new("struct delay_tables *", {"lanes": lanes, "activities": len(table)})
    tables.segments = pointer(segments.rows.mapped(), "struct delay_segment *")
    tables.segment_first, tables.place_first = (pointer(array, "int64_t *") for array in keep)
    tables.entered, tables.waited_before = (pointer(r.mapped(), "int64_t *") for r in (entered, waited_before))
    charges = {"charge": pointer(charge.mapped(), "double *"), "alone": pointer(alone.mapped(), "double *")}
    delays = ffi.gc(lib.delays_new(tables, ffi.new("struct delay_charges *", charges)), lib.delays_free)
    if not delays:
        raise MemoryError
    for lane in range(lanes):
        lib.delays_add_lane(delays, lane)
        segments.rows.forget()
    results = [pointer(array, "double *") for array in (by_lane, indirect.mapped(), caused.mapped())]
    at_once = _waits_at_once(segments)
    for last in range(count, 0, -at_once):
        piece = rows.mapped()[max(last - at_once, 0) : last]
        lib.delays_take(delays, pointer(piece, "struct delay_wait *"), len(piece), *results)
        for used in (segments.rows, rows, entered, waited_before, charge, alone, indirect, caused):
            used.forget()
    return DelayCosts(by_lane, table, indirect, caused)


def _waits_at_once(segments: Segments) -> int:
    """Return the number of waits that are charged before the memory of the mapped files is released."""
    if len(segments.rows) * segments.rows.dtype.itemsize <= _MAPPED_BYTES:
        return _AT_ONCE
    return min(_AT_ONCE, max(_MAPPED_BYTES // _BYTES_A_WAIT, 1))


def _times(found: WaitStates) -> tuple[Rows, Rows]:
    """Return the begin of each wait (ns), and the sum of all waits before it (ns), with the sum of all at the end.

    int64.
    """
    entered, waited_before, sum_ns = Rows(np.dtype("<i8")), Rows(np.dtype("<i8")), 0
    waited_before.append(np.zeros(1, np.int64))
    for _, waits in found.rows.pieces():
        waited = sum_ns + np.cumsum(length(waits))
        entered.append(waits["enter"])
        waited_before.append(waited)
        sum_ns = int(waited[-1])
    return entered, waited_before
