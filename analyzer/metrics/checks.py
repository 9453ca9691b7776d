"""Checks of a trace: times in order, messages and collectives matched, nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import distinct, joined
from analyzer.pairing.call_paths import calls_with_paths, paths_of_calls
from analyzer.pairing.collective_calls import calls_by_communicator
from analyzer.pairing.dependences import collective_points
from analyzer.parallel import Team
from analyzer.places.paths import shortened
from analyzer.places.phrases import call_at
from analyzer.recording.run.clock_repair import violations
from analyzer.trace import CallPaths, Errors, Leftovers, Losses, Trace
from analyzer.trace.at_places import AtPlaces, PlaceChoice
from analyzer.trace.chosen import one_sided
from tracelib.schema import CALL_WAS_LEFT, Peer, RequestKind
from tracelib.schema.procedures import COLLECTIVES, FREES, base_name


def findings(trace: Trace, team: Team) -> list[str]:
    """Return a line for each defect of a trace; empty: none was found. Collective."""
    parts = team.allgather(list(_of_ranks(trace, trace.share(team))))
    backwards = team.allgather(list(_backwards(trace, team)))
    return [
        *(problem.line for problem in trace.problems if not problem.note),
        *(line for part in parts for line in part),
        *_collectives(trace, team),
        *(line for part in backwards for line in part),
        *_left_early(trace, team),
        *_unmatched(trace),
    ]


def findings_at(trace: Trace, team: Team, place: PlaceChoice) -> list[str]:
    """Return a line for each defect of the calls from chosen places, and of their messages. Collective."""
    paths = place.paths(trace)
    some = AtPlaces(trace, paths)
    parts = team.allgather(list(_of_ranks(some, trace.share(team))))
    backwards = team.allgather(list(_backwards(some, team)))
    return [line for part in (*parts, *backwards) for line in part] + list(_unmatched(trace, paths))


def _of_ranks(trace: Trace, ranks: range) -> Iterator[str]:
    """Find calls that end before they begin, and calls that begin before the previous call of their thread ended."""
    for rank in ranks:
        last = np.zeros(int(trace.threads[rank]), np.int64)
        reversed_, overlapping = _Wrong(trace), _Wrong(trace)
        for calls, paths in calls_with_paths(trace, rank):
            reversed_.add(calls, paths, calls["exit"] < calls["enter"])
            for thread in distinct(calls["thread"]).tolist():
                own = np.flatnonzero(calls["thread"] == thread)
                before = np.concatenate((last[thread : thread + 1], calls["exit"][own[:-1]]))
                overlapping.add(calls[own], paths[own], calls["enter"][own] < before)
                last[thread] = calls["exit"][own[-1]]
        if reversed_.count:
            yield f"rank {rank}: {reversed_.count} calls end before they begin{reversed_.first}"
        if overlapping.count:
            what = "calls begin before the previous call of their thread ended"
            yield f"rank {rank}: {overlapping.count} {what}{overlapping.first}"


class _Wrong:
    """Counter of the calls with one kind of defect, and text for the first of them."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self.count, self.first = trace, 0, ""

    def add(self, calls: np.ndarray, paths: np.ndarray, wrong: np.ndarray) -> None:
        """Count the calls with the defect.

        Args:
            calls: Calls (CALL).
            paths: Call path of each call.
            wrong: bool, True for calls with the defect.
        """
        if not self.count and wrong.any():
            at = int(wrong.argmax())
            said = _call(self._trace, int(calls["call"][at]), int(paths[at]))
            self.first = f", the first is {said}" if paths[at] else ""
        self.count += int(wrong.sum())


def _call(trace: Trace, call: int, path: int) -> str:
    """Return a text such as "MPI_Send at x.c:12 in f < main x.c:40"; without a known place only the procedure."""
    return call_at(trace.procedures[call], trace.extra(CallPaths).named().chain(path) if path else "")


def _collectives(trace: Trace, team: Team) -> Iterator[str]:
    """Find communicators whose members made different numbers of collective calls."""
    wanted = np.array([base_name(p) in COLLECTIVES for p in trace.procedures], bool)
    mine = {rank: calls_by_communicator(trace, rank, wanted) for rank in trace.share(team)}
    counts = {rank: row for part in team.allgather(mine) for rank, row in part.items()}
    partial = {rank for rank in range(trace.size) if len(trace.extra(Losses).unrecorded(rank))}
    missing = set(trace.extra(Losses).missing)
    for index, communicator in enumerate(trace.communicators):
        members = [rank for rank in (*communicator.members, *communicator.remote) if rank not in missing]
        made = {} if partial.intersection(members) else {rank: int(counts[rank][index]) for rank in members}
        low, high = min(made, key=lambda r: made[r], default=0), max(made, key=lambda r: made[r], default=0)
        if made and made[low] != made[high]:
            said = f"{communicator.label}: rank {low} made {made[low]} collective calls, rank {high} {made[high]}"
            yield said + _surplus(trace, high, index, wanted, made[low])


def _surplus(trace: Trace, rank: int, comm: int, wanted: np.ndarray, before: int) -> str:
    """Name the collective call of a rank on a communicator that follows its first `before` ones; empty: not known."""
    for calls, paths in calls_with_paths(trace, rank) if trace.extra(CallPaths).known else ():
        mine = np.flatnonzero(wanted[calls["call"]] & (calls["comm"] == comm))
        if before < len(mine):
            at = mine[before]
            return f", the first more is {_call(trace, int(calls['call'][at]), int(paths[at]))}"
        before -= len(mine)
    return ""


def _backwards(trace: Trace, team: Team) -> Iterator[str]:
    """Find messages that were received before they were sent, by the clocks."""
    windows = list(pairwise(trace.message_windows().tolist()))
    for index in team.share(len(windows)):
        rows = trace.messages(*windows[index])
        rows = rows[rows["physical_receive"] < rows["logical_send"]]
        pairs, first, count = np.unique(rows[["source", "destination"]], return_index=True, return_counts=True)
        for pair, at, n in zip(pairs, first, count, strict=True):
            early = int(rows["logical_send"][at] - rows["physical_receive"][at])
            who = f"{n} messages from rank {pair['source']} to rank {pair['destination']}"
            path = paths_of_calls(
                trace, int(pair["source"]), int(rows["source_thread"][at]), rows["logical_send"][at : at + 1]
            )
            sent = f", sent at {trace.extra(CallPaths).named().chain(int(path[0]))}" if path[0] else ""
            yield f"{who} were received before they were sent (the first by {early} ns{sent})"


def _left_early(trace: Trace, team: Team) -> Iterator[str]:
    """Find collectives that a rank left before another rank had entered whose data it needs."""
    counts, worsts = zip(*team.allgather(violations(collective_points(trace, team), trace.size)), strict=True)
    count, worst = sum(counts), max(worsts)
    if count:
        yield f"{count} collective calls ended before a rank that they depend on had entered (by at most {worst} ns)"


def _unmatched(trace: Trace, paths: np.ndarray | None = None) -> Iterator[str]:
    """Yield a line for each row of `Leftovers.unmatched`. `paths`: bool, True for call paths that count; None: all."""
    for u in trace.extra(Leftovers).unmatched():
        if paths is None or paths[u.path]:
            yield f"{u.text}, {_name(trace, u.comm)}: {u.bytes} bytes unmatched"


FEWER_CALLERS = (
    "have fewer callers than TRACELIB_STACK asks for: to find all of them would have taken more than a tenth of the "
    "time (TRACELIB_STACK=1 records the place of each call alone)"
)


def notes(trace: Trace) -> list[str]:
    """Return a line for each fact that a reader of the numbers should know, although it is no defect."""
    away = [f"{u.text}, {_name(trace, u.comm)}: {u.bytes} bytes" for u in trace.extra(Leftovers).elsewhere()]
    left_out = [said for said in (trace.extra(Losses).left_out, one_sided(trace)) if said]
    return [
        *(problem.line for problem in trace.problems if problem.note),
        *([f"some calls {FEWER_CALLERS}"] if shortened(trace.extra(CallPaths).tables().paths).any() else []),
        *left_out,
        *_left_calls(trace),
        *_freed_wildcards(trace),
        *(r.text for r in trace.extra(Leftovers).relatives()),
        *away,
    ]


def _left_calls(trace: Trace) -> Iterator[str]:
    """Find calls that the program left by longjmp or an exception.

    Neither their length nor whether they received anything is known.
    """
    for rank in range(trace.size):
        errors = trace.extra(Errors).of(rank)
        left = errors["call"][errors["class"] == CALL_WAS_LEFT]
        for call, count in zip(*np.unique(left, return_counts=True), strict=True):
            name = trace.procedures[call] if call >= 0 else "an unknown call"
            how = "left by longjmp or an exception; what was in flight in them is not known"
            yield f"rank {rank}: {count} x {name}, {how}"


def _freed_wildcards(trace: Trace) -> Iterator[str]:
    """Find receives of any source or tag whose request was freed before they completed.

    No status says which message they received.
    """
    for rank in range(trace.size) if FREES & {*trace.procedures} else ():
        freed = [rows.compress(rows["what"] == RequestKind.RECV_FREED) for rows in trace.requests(rank)]
        of_any = [rows["comm"][(rows["peer"] == Peer.ANY_SOURCE) | (rows["tag"] < 0)] for rows in freed]
        for comm, count in zip(*np.unique(joined(of_any, np.dtype(np.int64)), return_counts=True), strict=True):
            many = "a receive" if count == 1 else f"{count} receives"
            yield (
                f"rank {rank}, {_name(trace, int(comm))}: {many} of any source or tag freed before the message came: "
                "which one it took is not known, so later messages to this rank may be shown with the receive after "
                "theirs, and the last ones as unmatched"
            )


def _name(trace: Trace, index: int) -> str:
    if not 0 <= index < len(trace.communicators):
        return "unknown communicator"
    return trace.communicators[index].label
