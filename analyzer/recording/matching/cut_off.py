"""Leaves out operations that a killed rank left half done: messages without other side, and incomplete collectives.

The rest of the run is valid. So the rows of half-done operations are read as calls without a communicator, for which no
analysis looks for a partner. The number of these rows is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.columns.arrays import distinct
from analyzer.pairing.collective_calls import calls_by_communicator
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import Communicator, Losses, Trace, ranks_named
from tracelib import schema
from tracelib.schema import RequestKind
from tracelib.schema.procedures import (
    BLOCKING_COLLECTIVES,
    NONBLOCKING_COLLECTIVES,
    ROWS_THAT_RECEIVE,
    ROWS_THAT_SEND,
    base_name,
)

Lanes = Mapping[int, Sequence[ThreadRecords]]

_SEND_ROWS = RequestKind.SEND_STARTED, RequestKind.PARTITIONED_SEND_STARTED
_RECEIVE_ROWS = RequestKind.RECV_DONE, RequestKind.RECV_FREED, RequestKind.RECEIVED, RequestKind.PARTITIONED_RECV_DONE
_CHANNEL = ["posted", "peer", "tag", "comm"]


def leave_out_messages(trace: Trace, lanes: Lanes, halves: np.ndarray) -> None:
    """Leave out the rows of sends and receives that have no other side (CUT_OFF)."""
    for is_send, names, whats in ((True, ROWS_THAT_SEND, _SEND_ROWS), (False, ROWS_THAT_RECEIVE, _RECEIVE_ROWS)):
        called = np.array([base_name(p) in names for p in trace.procedures], bool)
        side = halves[halves["is_send"] == is_send]
        for rank in distinct(side["rank"]).tolist():
            of_rank = side["half"][side["rank"] == rank]
            for lane in lanes[rank]:
                mine = of_rank[of_rank["thread"] == lane.thread]
                _leave_out_calls(lane, mine["posted"], called)
                _leave_out_requests(lane, mine, whats)


def _leave_out_calls(lane: ThreadRecords, entered: np.ndarray, called: np.ndarray) -> None:
    """Leave out the calls of `called` procedures (a bool mask) that were entered at these times, ns."""
    table = lane.tables["calls"]
    for time in distinct(entered).tolist():
        first = table.find(lane.clock.ticks(time))
        rows = table.read(first, table.find(lane.clock.ticks(time + 1)))
        table.leave_out(first + np.flatnonzero(called[lane.procedure_indices(rows["call"])]))


def _leave_out_requests(lane: ThreadRecords, halves: np.ndarray, whats: Sequence[RequestKind]) -> None:
    """Leave out the requests of these kinds that belong to the halves."""
    if not len(halves):
        return
    table, wanted = lane.tables["requests"], set(map(tuple, halves[_CHANNEL].tolist()))
    first = table.find(lane.clock.ticks(int(halves["posted"].min())))
    while first < len(table):
        raw = table.read(first, first + schema.COMPRESSED_CHUNK_ROWS)
        keys = lane.requests(raw)[_CHANNEL].tolist()
        found = np.array([tuple(key) in wanted for key in keys]) & schema.is_one_of(raw["what"], whats)
        table.leave_out(first + np.flatnonzero(found))
        first += len(raw)


def leave_out_collectives(trace: Trace, lanes: Lanes, unfinished: np.ndarray) -> tuple[int, set[int]]:
    """Leave out the calls of collectives that a member did not make because it did not end in order.

    Communicators are skipped if a member did not record all the time: its missing calls are not known.

    Args:
        trace: The run.
        lanes: Threads of each rank.
        unfinished: bool by rank: True if it did not end in order.

    Returns:
        Number of calls that were left out, and the ranks that did not make them.
    """
    count, behind = 0, set[int]()
    names = [base_name(p) for p in trace.procedures]
    for chosen in (BLOCKING_COLLECTIVES, NONBLOCKING_COLLECTIVES):
        called = np.array([name in chosen for name in names], bool)
        made = {rank: calls_by_communicator(trace, rank, called) for rank in lanes}
        for comm, most in _limits(trace, made, unfinished).items():
            members = _members(trace.communicators[comm], made)
            beyond = {rank: made[rank][comm] - most for rank in members if made[rank][comm] > most}
            for rank in beyond:
                _leave_out_from(trace, lanes[rank], called, comm, most)
            count += sum(beyond.values())
            behind |= {rank for rank in members if beyond and made[rank][comm] == most}
    return count, behind


def _limits(trace: Trace, made: Mapping[int, Counter[int]], unfinished: np.ndarray) -> dict[int, int]:
    """Return by communicator the number of collectives of the unfinished member that made the fewest.

    Only for communicators with unfinished members.
    """
    limits, losses = {}, trace.extra(Losses)
    partial = {rank for rank in made if len(losses.unrecorded(rank)) or len(losses.missed_collectives(rank))}
    for index, communicator in enumerate(trace.communicators):
        members = _members(communicator, made)
        ended = [made[rank][index] for rank in members if unfinished[rank]]
        if ended and len(members) > 1 and not members & partial:
            limits[index] = min(ended)
    return limits


def _members(communicator: Communicator, made: Mapping[int, Counter[int]]) -> set[int]:
    """Return the members of a communicator that have a file."""
    return {*communicator.members, *communicator.remote} & made.keys()


def _leave_out_from(trace: Trace, lanes: Sequence[ThreadRecords], called: np.ndarray, comm: int, first: int) -> None:
    """Leave out the calls of collectives on a communicator, except for the first `first` calls."""
    seen = 0
    for calls in trace.calls(lanes[0].rank):
        rows = calls[called[calls["call"]] & (calls["comm"] == comm)]
        beyond = rows[max(first - seen, 0) :]
        for lane in lanes:
            _leave_out_calls(lane, beyond["enter"][beyond["thread"] == lane.thread], called)
        seen += len(rows)


def left_out(ranks: np.ndarray, halves: int, calls: int) -> str:
    """Describe in one line how many operations were left out, and because of which ranks."""
    counts = (halves, "send or receive", "sends and receives"), (calls, "call of a collective", "calls of collectives")
    parts = " and ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n)
    who = ranks_named(ranks.tolist())
    return f"{parts} {'is' if halves + calls == 1 else 'are'} left out, because {who} did not end in order"
