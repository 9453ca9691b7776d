"""Replay of a run on an ideal network: its length if messages and collectives took no time.

Also finds the time and the computation of each visit to a region of the program in a replay.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from analyzer.errors import TracelibError
from analyzer.machine.description import Machine
from analyzer.metrics.eager import shown_eager_limit
from analyzer.metrics.unrecorded import UnrecordedTime
from analyzer.operations.procedures import FILE, NOTHING, plan_of
from analyzer.operations.program import SharedProgram
from analyzer.operations.region_events import are_of_regions, outermost_visits
from analyzer.parallel import Team
from analyzer.program.model import LeftOut, Program
from analyzer.replay.failure import ReplayBlocked
from analyzer.replay.ideal_network import FallbackReason, IdealTimes, ideal_times
from analyzer.replay.simulate import TIME, simulate
from analyzer.trace import Leftovers, Losses, Trace
from analyzer.trace.chosen import ranks_lacking
from analyzer.trace.description import ranks_named
from analyzer.trace.trace import NOT_KNOWN
from tracelib.schema.procedures import TESTS, WAITS, base_name, is_of_files

REPLAYED_VISIT = np.dtype([("rank", "<i4"), ("region", "<i4"), ("number", "<i8"), ("time", "<i8"), ("useful", "<i8")])
"""Visit of a rank to a region in a replay. Visits inside a visit of the same region are part of it.

`region`: index in Regions.names. `number`: number of the visit for its rank and region, from 0. `time`: length in ns.
`useful`: computing in it in ns.
"""


def replayed_visits(program: Program, times: np.ndarray | None) -> np.ndarray:
    """Find all visits of all ranks of a replayed program (REPLAYED_VISIT).

    Args:
        program: The program.
        times: Times of its operations in the replay (TIME). None: only for a program without visits.
    """
    times = np.zeros(0, TIME) if times is None else times
    parts = [np.zeros(0, REPLAYED_VISIT)]
    for rank, first, last in zip(program.rank.tolist(), program.offsets[:-1], program.offsets[1:], strict=True):
        parts.append(_of_stream(rank, program.ops[first:last], times[first:last]))
    return np.concatenate(parts)


def _of_stream(rank: int, ops: np.ndarray, times: np.ndarray) -> np.ndarray:
    at = np.flatnonzero(are_of_regions(ops))
    computed = np.cumsum(ops["burst"])[at]
    value, time = ops["other"][at], times["begin"][at]
    begins, ends = outermost_visits(value)
    regions = value[begins]
    found = np.zeros(len(begins), REPLAYED_VISIT)
    found["rank"], found["region"] = rank, regions - 1
    found["time"], found["useful"] = time[ends] - time[begins], computed[ends] - computed[begins]
    for region in np.unique(regions).tolist():
        mine = regions == region
        found["number"][mine] = np.arange(np.count_nonzero(mine))
    return found


EAGER_LIMIT = 32768
"""Size in bytes from which a send waits for its receive: the value behind the published figures of other tools."""


ADDED_UP = "calls were recorded as sums only, not one by one"
"""Reason why a run cannot be replayed: some calls are known as sums only."""
NOT_RECORDED = "part of the run was not recorded"
"""Reason why a run cannot be replayed: nothing was recorded for a time, or some calls were left out."""
ENDS_EARLY = "the trace ends before the run"
"""Reason why a run cannot be replayed: the run went on after the end of the trace."""
FEW_RECEIVES = 8
FEW_OF_MESSAGES = 0.1
"""Limits of the number of receives that lack their send, as a number and as a share of the messages.

Up to the larger limit, a replay still counts as one of the run: it treats these receives as not having waited.
"""


@dataclass(frozen=True)
class IdealReplay:
    """Result of an ideal replay. Times are None if it could not be made; `reason` then says why."""

    runtime_ns: int | None
    useful_ns: int | None  # computing time of the rank that computes longest
    reason: str = ""
    visits: np.ndarray = field(default_factory=lambda: np.zeros(0, REPLAYED_VISIT))  # REPLAYED_VISIT, if requested
    eager_limit: int | None = None  # bytes from which sends waited
    eager_shown: bool = False  # True: the limit was taken from the run, not from EAGER_LIMIT or the user
    left_over: str = ""  # line on sends and receives without a partner, which do not wait; "": none
    left_out: tuple[LeftOut, ...] = ()  # calls whose data the network does not move
    ranks: int = 0

    @property
    def has_files(self) -> bool:
        """Return true if the run has calls on files. In the replay these calls last as long as in the run."""
        return any(is_of_files(row.procedure) for row in self.left_out)

    def restricted(self, visits: np.ndarray) -> IdealReplay:
        """Return the result for some visits only (REPLAYED_VISIT).

        The visits of each rank are added up. runtime_ns and useful_ns are the largest sums of a rank.
        """
        if self.reason or not len(visits):
            return replace(UNKNOWN_IDEAL, reason=self.reason)
        sums = np.zeros((2, int(visits["rank"].max()) + 1), np.int64)
        for total, column in zip(sums, ("time", "useful"), strict=True):
            np.add.at(total, visits["rank"], visits[column])
        runtime, useful = sums.max(axis=1).tolist()
        return replace(UNKNOWN_IDEAL, runtime_ns=runtime, useful_ns=useful, left_out=self.left_out, ranks=self.ranks)


UNKNOWN_IDEAL = IdealReplay(None, None)
"""The IdealReplay of an analysis that did not request a replay."""


def ideal_replay(
    trace: Trace,
    missed: UnrecordedTime,
    team: Team,
    eager_limit: int | None = None,
    *,
    regions: bool = False,
    cpu_time: bool = False,
) -> IdealReplay:
    """Replay a trace without latency, with infinite bandwidth and no contention. Ranks wait only for each other.

    Collective.

    Bursts last as long as in the run, so that they add up to the useful time. Calls on files last as long as in the
    run, without their waiting for other ranks. Calls for which there is no operation (neighbourhood collectives) take
    no time. The team shares the reading and the replay. The first member alone does what only the simulator can replay,
    and replays in which members would have to exchange data too often.

    Args:
        trace: The trace.
        missed: What the run did not record.
        team: The processes that share the work.
        eager_limit: Size in bytes from which a send waits. None: EAGER_LIMIT (32768). If the replay then deadlocks, a
            larger limit, up to which the run shows that MPI buffered messages.
        regions: True: also find the visits to regions.
        cpu_time: True: bursts last as long as their CPU time, where it was measured.
    """
    reason = obstacle(trace, missed)
    if reason:
        return IdealReplay(None, None, reason)
    left_over = trace.extra(Leftovers).unpaired().text
    return replace(_replayed(trace, team, eager_limit, regions=regions, cpu_time=cpu_time), left_over=left_over)


def _replayed(trace: Trace, team: Team, eager_limit: int | None, *, regions: bool, cpu_time: bool) -> IdealReplay:
    try:
        if trace.program is not None:
            return ideal_of_program(trace, trace.program, team, eager_limit, regions=regions)
        shared = SharedProgram.translate(trace, team, cpu_time=cpu_time, virtual=False)
        own, limit = shared.own(), EAGER_LIMIT if eager_limit is None else eager_limit
        found = ideal_times(own, team, limit, times=regions)
        if isinstance(found, IdealTimes):
            times = found.times
            visits = np.concatenate(team.gather(lambda: _visits(own, times, regions)))
            return _ideal(found, visits, limit, shared.left_out(), trace.size)
        program = shared.whole(everywhere=False)
    except TracelibError as error:
        return IdealReplay(None, None, str(error))
    by_simulator = found == FallbackReason.TO_SIMULATOR
    return ideal_of_program(trace, program, team, eager_limit, regions=regions, by_simulator=by_simulator)


def ideal_of_program(
    trace: Trace,
    program: Program,
    team: Team,
    eager_limit: int | None = None,
    *,
    regions: bool = False,
    by_simulator: bool = False,
) -> IdealReplay:
    """Replay a program, which may be a part of the trace's program, on an ideal network. Collective.

    Args:
        trace: The trace.
        program: The program; only the first member of the team needs it.
        team: The processes that share the work.
        eager_limit: Size in bytes from which a send waits; None: as in `ideal_replay`.
        regions: True: also find the visits to regions.
        by_simulator: True: only the simulator can replay the program.
    """
    found = None
    if team.rank == 0:
        try:
            found = _replay(trace, program, eager_limit, regions, by_simulator=by_simulator)
        except TracelibError as error:
            found = IdealReplay(None, None, str(error))
    return team.bcast(found)


def _replay(
    trace: Trace, program: Program, eager_limit: int | None, regions: bool, *, by_simulator: bool
) -> IdealReplay:
    limit, shown = EAGER_LIMIT if eager_limit is None else eager_limit, False
    found = None if by_simulator else ideal_times(program, Team(), limit, times=regions)
    if isinstance(found, IdealTimes):
        return _ideal(found, _visits(program, found.times, regions), limit, program.left_out, program.ranks)
    try:
        replayed = simulate(program, Machine.ideal(eager_limit=limit), times=regions)
    except ReplayBlocked:
        if eager_limit is not None or not trace.has_call_times:
            raise
        limit, shown = max(EAGER_LIMIT, shown_eager_limit(trace) + 1), True
        replayed = simulate(program, Machine.ideal(eager_limit=limit), times=regions)
    return IdealReplay(
        replayed.end_ns,
        int(replayed.usage["computing"].max(initial=0)),
        visits=_visits(program, replayed.times, regions),
        eager_limit=limit,
        eager_shown=shown,
        left_out=program.left_out,
        ranks=program.ranks,
    )


def _ideal(found: IdealTimes, visits: np.ndarray, limit: int, left_out: tuple[LeftOut, ...], ranks: int) -> IdealReplay:
    return IdealReplay(
        found.end_ns, found.most_computing_ns, visits=visits, eager_limit=limit, left_out=left_out, ranks=ranks
    )


def _visits(program: Program, times: np.ndarray | None, regions: bool) -> np.ndarray:
    return replayed_visits(program, times) if regions else np.zeros(0, REPLAYED_VISIT)


def obstacle(trace: Trace, missed: UnrecordedTime) -> str:
    """Return a line that says why a trace cannot be replayed for the efficiencies; "": it can.

    A reason is that the trace is incomplete, or that several threads of a rank communicate.
    """
    if reason := not_whole(trace, missed):
        return reason
    threaded = [rank for rank in ranks_of_many_callers(trace) if _threads_call(trace, rank, only=_acts(trace))]
    return f"several threads of {ranks_named(threaded)} communicate" if threaded else ""


def not_whole(trace: Trace, missed: UnrecordedTime) -> str:
    """Return a line that says why a trace lacks something that a replay needs; "": nothing is known to lack."""
    if not trace.origin.has_states:
        return NOT_KNOWN
    unpaired = trace.extra(Leftovers).unpaired()
    if reason := lacking(trace, missed, unpaired=False):
        return reason
    if unpaired.receives > max(FEW_RECEIVES, FEW_OF_MESSAGES * unpaired.messages):
        return unpaired.text
    return "the trace holds several applications" if len(trace.origin.applications) > 1 else ""


def ranks_of_many_callers(trace: Trace) -> list[int]:
    """Return the ranks in which more than one thread calls MPI."""
    return [rank for rank in np.flatnonzero(np.asarray(trace.threads) > 1).tolist() if _threads_call(trace, rank)]


def lacking(trace: Trace, missed: UnrecordedTime, *, unpaired: bool = True) -> str:
    """Return a line that says what a trace lacks of the run; "": nothing is known to lack.

    `unpaired`: True: sends and receives without a partner count, too. A few of them need not matter.
    """
    if reason := ranks_lacking(trace):
        return reason
    if trace.extra(Losses).after_ns:
        return ENDS_EARLY
    if missed.summed:
        return ADDED_UP
    if missed.calls or missed.partners or missed.time_ns.any():
        return NOT_RECORDED
    lost = [rank for rank in range(trace.size) if trace.extra(Losses).lost_calls(rank)]
    if lost:
        return f"calls of {ranks_named(lost)} were lost"
    return trace.extra(Leftovers).unpaired().text if unpaired else ""


def _acts(trace: Trace) -> np.ndarray:
    """Return a mask of the procedures for which a replay does something, by themselves or by what they complete."""
    return np.array(
        [plan_of(name)[0] not in (NOTHING, FILE) or base_name(name) in WAITS | TESTS for name in trace.procedures], bool
    )


def _threads_call(trace: Trace, rank: int, only: np.ndarray | None = None) -> bool:
    """Return true if several threads of a rank call MPI. One sequence of operations cannot stand for them.

    `only`: bool by procedure: only calls of these count. None: all calls.
    """
    threads: set[int] = set()
    for block in trace.calls(rank):
        counted = block if only is None else block[only[block["call"]]]
        threads.update(np.unique(counted["thread"]).tolist())
        if len(threads) > 1:
            return True
    return False
