"""The four signals that calls make: who computes and how long, who is in calls of messages and in collectives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.metrics.regions import lost_times
from analyzer.parallel import Team
from analyzer.recording.run.rank_rows import row_reader
from analyzer.structure.calls.sequence import Sequence, SymbolDetail, sequence_of
from analyzer.structure.signals.counters import StepBins
from analyzer.structure.states import OF_MESSAGES, makes_calls, states_of, steps_begin
from analyzer.trace import Losses, State, Trace
from tracelib.schema.procedures import CLOCKS, COLLECTIVES, FINALIZE, POINT_TO_POINT, base_name

COMPUTING, BURSTS, MESSAGES, COLLECTIVE = "computing", "bursts", "p2p", "collective"
ORDER = (COMPUTING, BURSTS, MESSAGES, COLLECTIVE)
"""Order of the signals in the kernels."""
_OF_STATES = {
    COMPUTING: (State.RUNNING,),
    BURSTS: (State.RUNNING,),
    MESSAGES: OF_MESSAGES,
    COLLECTIVE: (State.GROUP_COMMUNICATION, State.SYNCHRONIZATION),
}
"""States of each signal; synchronizations are between the threads of a team."""
_UNKNOWN = np.iinfo(np.int64).max


def kinds_of(procedures: tuple[str, ...]) -> np.ndarray:
    """Return enum signal_kind of each procedure, uint8."""
    sets = ((POINT_TO_POINT, lib.SIGNAL_MESSAGES), (COLLECTIVES, lib.SIGNAL_COLLECTIVE), (CLOCKS, lib.SIGNAL_CLOCK))
    names = [base_name(name) for name in procedures]
    return np.array([next((kind for of, kind in sets if name in of), lib.SIGNAL_OTHER) for name in names], np.uint8)


def add_calls(trace: Trace, team: Team, begin: int, end: int, samples: int) -> dict[str, StepBins]:
    """Return the signals of this process' ranks.

    A burst goes from the end of a call (and of what the tracer then does) to the next call; looks at the clock do not
    end it. The times in which the tracer wrote its buffers are no computation.
    """
    found = {name: StepBins(begin, end, samples) for name in ORDER}
    structs = ffi.new("struct signal_bins[4]")
    for struct, name in zip(structs, ORDER, strict=True):
        found[name].fill(struct)
    kinds = kinds_of(trace.procedures)
    missing = set(trace.extra(Losses).missing)
    for rank in trace.share(team):
        if rank in missing:
            continue
        if makes_calls(trace, rank):
            _add_rank(trace, rank, structs, kinds, found, end)
        else:
            _add_states(trace, rank, found)
    return found


def _add_states(trace: Trace, rank: int, found: dict[str, StepBins]) -> None:
    """Add the states of a rank that makes no calls. A burst is one running state (Casas 2009, sections 3.3.1 and
    3.3.2)."""
    rows = states_of(trace, rank)
    for name, states in _OF_STATES.items():
        some = rows[np.isin(rows["state"], states)]
        lengths = (some["end"] - some["begin"]).astype(np.float64)
        found[name].add(some["begin"], some["end"], lengths if name == BURSTS else None)


def _add_rank(trace: Trace, rank: int, structs, kinds: np.ndarray, found: dict[str, StepBins], end: int) -> None:
    first, last = trace.span(rank)
    left = np.full(int(trace.threads[rank]), _UNKNOWN)
    left[0] = first
    into = pointer(kinds, "uint8_t *"), pointer(left, "int64_t *")
    reader = row_reader(trace)
    if reader and len(left) == 1 and reader.only_lane(rank):
        for lane, calls, polls in reader.raw_calls(rank, 0, end):
            lib.signal_rows(structs, lane.struct, pointer(calls), len(calls), pointer(polls), len(polls), *into)
    else:
        for block in trace.calls(rank, 0, end):
            _begin_threads(block, left)
            rows = np.ascontiguousarray(block)
            lib.signal_calls(structs, pointer(rows), len(rows), *into)
    rest = np.array([left[0]]), np.array([max(last, left[0])])
    found[COMPUTING].add(*rest)
    found[BURSTS].add(*rest, np.array([float(rest[1][0] - rest[0][0])]))
    lost = lost_times(trace, rank)
    if len(lost):
        found[COMPUTING].add(lost["begin"], lost["end"], np.full(len(lost), -1.0))


def _begin_threads(block: np.ndarray, left: np.ndarray) -> None:
    """Begin threads with their first call."""
    for thread in np.flatnonzero(left == _UNKNOWN).tolist():
        own = block["enter"][block["thread"] == thread]
        if len(own):
            left[thread] = own[0]


_STATE_OF = {lib.SIGNAL_MESSAGES: State.WAITING_MESSAGE, lib.SIGNAL_COLLECTIVE: State.GROUP_COMMUNICATION}
"""State by kind of signal; any other call is a state of its own."""


def steps_of(trace: Trace, rank: int, begin_ns: int = 0, end_ns: int | None = None) -> Sequence:
    """Find the steps of a rank's signals between two times (ns): each is a time without computing, of one kind."""
    calls = sequence_of(trace, rank, begin_ns, end_ns)
    if not len(calls) or calls.call[0] >= len(trace.procedures):  # these are states already
        return calls
    states = np.array([_STATE_OF.get(kind, State.OTHERS) for kind in kinds_of(trace.procedures).tolist()], np.int64)
    state = states[calls.call]
    begins = steps_begin(state, calls.burst)
    ends = np.append(begins[1:], len(calls)) - 1
    state = state[begins]
    _, symbols = np.unique(state, return_inverse=True)
    zeros = np.zeros(len(begins), np.int64)
    has_end = any(base_name(name) in FINALIZE for name in trace.procedures)
    last = calls.end_ns if has_end else trace.span(rank)[1]
    return replace(
        calls, symbols=np.tile(symbols.astype(np.int32), (len(SymbolDetail), 1)), enter=calls.enter[begins],
        exit=calls.exit[ends], left=calls.left[begins], burst=np.add.reduceat(calls.burst, begins),
        clocks=zeros.astype(np.int32), call=(len(trace.procedures) + state).astype(np.int32),
        output=zeros.astype(np.uint8), together=state == State.GROUP_COMMUNICATION, path=zeros,
        end_ns=max(calls.end_ns, last), is_named=False,
    )  # fmt: skip
