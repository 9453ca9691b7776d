"""Waits in calls that send, receive or complete messages, or complete nonblocking collectives.

Of each call only the last wait counts. Also finds waits for the last part of partitioned messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.columns.spill import Spill
from analyzer.pairing.parts import Part, Pieces, parts
from analyzer.pairing.requests import Handed
from analyzer.parallel import Team
from analyzer.trace import CALL, REQUEST, Trace, TracerTime
from analyzer.waits.kinds import WAIT, WaitKind
from analyzer.waits.message_candidates import CANDIDATE
from analyzer.waits.threads import Lanes
from tracelib.schema.procedures import (
    ARRIVED,
    BUFFERED_SENDS,
    HANDED_OVER,
    IMMEDIATE_SEND_RECEIVES,
    IMMEDIATE_SENDS,
    MATCHED_PROBES,
    POLLS,
    STARTS,
    UNMATCHED_PROBES,
    WAITING_SENDS,
    WAITS,
    WINDOW_WAITS,
    base_name,
    is_one_sided,
)

BEGIN_SENDS = IMMEDIATE_SENDS | IMMEDIATE_SEND_RECEIVES | STARTS
"""Procedures that begin sends, which are completed by other calls."""
_ROLES = (
    (WAITING_SENDS, lib.WAITS_SENDS),
    (BUFFERED_SENDS, lib.WAITS_BUFFERS),
    (UNMATCHED_PROBES, lib.WAITS_PROBES),
    (MATCHED_PROBES, lib.WAITS_MATCHES),
    (POLLS - ARRIVED, lib.WAITS_POLLS),  # MPI_Parrived asks for one part: the whole message may come much later
    (WAITS | WINDOW_WAITS, lib.WAITS_FINISHES),
)
POLLS_KEPT = 1 << 20
"""Maximum number of runs of failing polls, of all threads, that are kept apart until an operation completes.

If there are more, neighbouring runs of a thread are merged.
"""


def message_waits(
    trace: Trace, lanes: Lanes, pieces: Pieces, candidates: Spill, *, begins_sends: bool
) -> Iterator[np.ndarray]:
    """Find the waits (WAIT) of calls of some ranks for messages and collectives, in any order.

    A receive, or the call that completes it, waits until the send is entered. A send waits until the receive is posted,
    unless it returned before: a message that MPI buffers delays no sender. A call that completes several messages has
    the wait that ended last, so no call waits longer than it lasts. Failing polls waited for what the next completing
    call of the thread completed, from the time when that operation was posted.

    Args:
        trace: The trace.
        lanes: The threads of the trace.
        pieces: The pieces in which calls are read.
        candidates: Possible waits (CANDIDATE), by number of the piece.
        begins_sends: True if there may be sends that are completed by other calls.
    """
    calls = _Calls(trace, lanes)
    for index, (ranks, begin, end) in enumerate(pieces.all):
        calls.add(ranks, candidates.read(index))
        done = trace.rank_requests(ranks, begin, end) if begins_sends else _none(ranks)
        calls.feed(ranks, done, trace.rank_calls(ranks, begin, end))
        yield calls.take()
    calls.finish()
    yield calls.take()


def _none(ranks: range) -> tuple[np.ndarray, np.ndarray]:
    """Return the requests of ranks that have none: no REQUEST rows, and the number 0 for each rank."""
    return np.zeros(0, REQUEST), np.zeros(len(ranks), np.int64)


def roles(trace: Trace) -> np.ndarray:
    """Return the roles of each procedure in waits for messages (uint8): a sum of the kernel's constants WAITS_...."""
    names = [base_name(p) for p in trace.procedures]
    found = [sum(role for of, role in _ROLES if name in of) for name in names]
    on_window = [lib.WAITS_ON_WINDOW * is_one_sided(name) for name in names]
    return np.array(found, np.uint8) | np.array(on_window, np.uint8)


class _Calls:
    """The kernel that finds which possible waits (CANDIDATE) calls had."""

    def __init__(self, trace: Trace, lanes: Lanes) -> None:
        self._lanes, self._tracer = lanes, trace.extra(TracerTime)
        self._roles = roles(trace)
        most_polls = max(POLLS_KEPT // max(len(lanes), 1), 64)
        self._struct = ffi.gc(lib.waits_new(len(lanes), pointer(self._roles, "uint8_t *"), most_polls), lib.waits_free)
        if not self._struct:
            raise MemoryError

    def add(self, ranks: range, candidates: np.ndarray) -> None:
        """Add the possible waits (CANDIDATE) of some ranks. Must come before `feed` gets the window of these ranks."""
        lanes = self._lanes.first[[ranks.start, ranks.stop]].tolist()
        rows = pointer(candidates, "struct wait_candidate *")
        self._check(lib.waits_add(self._struct, rows, len(candidates), *lanes))

    def feed(self, ranks: range, done: tuple[np.ndarray, np.ndarray], calls: tuple[np.ndarray, np.ndarray]) -> None:
        """Process the calls and completions of some ranks in a window.

        Args:
            ranks: The ranks.
            done: Operations completed in the window (REQUEST), and their number for each rank.
            calls: Calls of the window (CALL), and their number for each rank.
        """
        overhead = np.array([self._tracer.after_call_ns(rank) for rank in ranks], np.int64)
        columns = {
            "first_lane": np.ascontiguousarray(self._lanes.first[ranks.start : ranks.stop + 1], np.int64),
            "n_requests": done[1], "n_calls": calls[1], "overhead": overhead,
        }  # fmt: skip
        fields = {name: pointer(column, "int64_t *") for name, column in columns.items()}
        rows = ffi.new("struct waits_rows *", fields | {"requests": pointer(done[0]), "calls": pointer(calls[0])})
        self._check(lib.waits_ranks(self._struct, rows, len(ranks)))

    def finish(self) -> None:
        self._check(lib.waits_finish(self._struct))

    def take(self) -> np.ndarray:
        """Return the waits (WAIT) that were found since the previous `take`."""
        found = np.zeros(lib.waits_found(self._struct), WAIT)
        lib.waits_take(self._struct, pointer(found, "struct wait_state *"))
        return found

    @staticmethod
    def _check(failed: int) -> None:
        if failed:
            raise MemoryError


_HANDED_CALL = np.dtype([*CALL.descr, ("rank", "<i4")])


def partitioned_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """Find possible waits (CANDIDATE) of calls that complete partitioned receives.

    Collective; each member gets all rows.

    Such a call waits until the call that hands over the last part (MPI_Pready and its kin) is entered.
    """
    hands_over = np.array([base_name(p) in HANDED_OVER for p in trace.procedures], bool)
    if not hands_over.any():
        return np.zeros(0, CANDIDATE)
    rows = [_handed_in(part, hands_over) for part in parts(trace, trace.share(team))]
    every = joined(team.allgather(joined(rows, _HANDED_CALL)), _HANDED_CALL)
    if not len(every):
        return np.zeros(0, CANDIDATE)
    handed = Handed(every)
    windows = (trace.messages(begin, end) for begin, end in pairwise(trace.message_windows().tolist()))
    return np.concatenate([np.zeros(0, CANDIDATE), *(_candidates(handed, lanes, messages) for messages in windows)])


def _handed_in(part: Part, hands_over: np.ndarray) -> np.ndarray:
    rank, calls = part.calls.where(hands_over[part.calls.rows["call"]])
    found = np.zeros(len(calls), _HANDED_CALL)
    for column in CALL.names or ():
        found[column] = calls[column]
    found["rank"] = rank
    return found


def _candidates(handed: Handed, lanes: Lanes, messages: np.ndarray) -> np.ndarray:
    at = handed.completing(messages)
    messages, rows = messages[at >= 0], handed.rows[at[at >= 0]]
    found = np.zeros(len(messages), CANDIDATE)
    found["complete"], found["until"] = messages["physical_receive"], rows["enter"]
    found["posted"], found["kind"] = messages["logical_receive"], int(WaitKind.LATE_SENDER)
    found["lane"] = lanes.lane_numbers(messages["destination"], messages["destination_thread"])
    found["cause"] = lanes.lane_numbers(rows["rank"], rows["thread"])
    found["peer"], found["tag"] = messages["source"], messages["tag"]
    return found[(found["lane"] != found["cause"]) & (found["until"] > found["posted"])]
