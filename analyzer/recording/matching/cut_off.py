"""What the end of a killed rank leaves half done: messages without their other side, collectives that not all made.

The rest of the run is as good as any. So the rows of what is half done are read as calls without a communicator, for
which no analysis looks for a partner; and it is said how many they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.pairing.collective_calls import calls_by_communicator
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import Communicator, Losses, Trace, ranks_named
from tracelib import schema
from tracelib.schema import What
from tracelib.schema.procedures import (
    BLOCKING_COLLECTIVES,
    NONBLOCKING_COLLECTIVES,
    ROWS_THAT_RECEIVE,
    ROWS_THAT_SEND,
    base_name,
)

Lanes = Mapping[int, Sequence[ThreadRecords]]

_SEND_ROWS = What.SEND_STARTED, What.PARTITIONED_SEND_STARTED
_RECEIVE_ROWS = What.RECV_DONE, What.RECV_FREED, What.RECEIVED, What.PARTITIONED_RECV_DONE
_CHANNEL = ["posted", "peer", "tag", "comm"]


def leave_out_messages(trace: Trace, lanes: Lanes, halves: np.ndarray) -> None:
    """Leave out the rows of these halves (CUT_OFF)."""
    for is_send, names, whats in ((True, ROWS_THAT_SEND, _SEND_ROWS), (False, ROWS_THAT_RECEIVE, _RECEIVE_ROWS)):
        called = np.array([base_name(p) in names for p in trace.procedures], bool)
        side = halves[halves["is_send"] == is_send]
        for rank in np.unique(side["rank"]).tolist():
            of_rank = side["half"][side["rank"] == rank]
            for lane in lanes[rank]:
                mine = of_rank[of_rank["thread"] == lane.thread]
                _leave_out_calls(lane, mine["posted"], called)
                _leave_out_requests(lane, mine, whats)


def _leave_out_calls(lane: ThreadRecords, entered: np.ndarray, called: np.ndarray) -> None:
    """The calls that were entered then (ns), if they are among those `called` (by index in Trace.procedures)."""
    table = lane.tables["calls"]
    for time in np.unique(entered).tolist():
        first = table.find(lane.clock.ticks(time))
        rows = table.read(first, table.find(lane.clock.ticks(time + 1)))
        table.leave_out(first + np.flatnonzero(called[lane.procedure_indices(rows["call"])]))


def _leave_out_requests(lane: ThreadRecords, halves: np.ndarray, whats: Sequence[What]) -> None:
    """The rows of operations of these kinds that a half says. Their order is that of completion."""
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
    """Leave out the calls of collectives that a member has not made because it did not end in order (`unfinished`, by
    rank); how many they are, and who has not made them. Those of communicators of which a member did not record all the
    time are kept."""
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
    """Of communicators with members that did not end in order, how many collectives these made at least."""
    limits, losses = {}, trace.extra(Losses)
    partial = {rank for rank in made if len(losses.unrecorded(rank)) or len(losses.missed_collectives(rank))}
    for index, communicator in enumerate(trace.communicators):
        members = _members(communicator, made)
        ended = [made[rank][index] for rank in members if unfinished[rank]]
        if ended and len(members) > 1 and not members & partial:
            limits[index] = min(ended)
    return limits


def _members(communicator: Communicator, made: Mapping[int, Counter[int]]) -> set[int]:
    """Those of which there is a file."""
    return {*communicator.members, *communicator.remote} & made.keys()


def _leave_out_from(trace: Trace, lanes: Sequence[ThreadRecords], called: np.ndarray, comm: int, first: int) -> None:
    """The calls on a communicator from that number on."""
    seen = 0
    for calls in trace.calls(lanes[0].rank):
        rows = calls[called[calls["call"]] & (calls["comm"] == comm)]
        beyond = rows[max(first - seen, 0) :]
        for lane in lanes:
            _leave_out_calls(lane, beyond["enter"][beyond["thread"] == lane.thread], called)
        seen += len(rows)


def left_out(ranks: np.ndarray, halves: int, calls: int) -> str:
    """What is said of it, in one line."""
    counts = (halves, "send or receive", "sends and receives"), (calls, "call of a collective", "calls of collectives")
    parts = " and ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n)
    who = ranks_named(ranks.tolist())
    return f"{parts} {'is' if halves + calls == 1 else 'are'} left out, because {who} did not end in order"
