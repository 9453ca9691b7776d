"""The steps of one rank's own signals as a sequence: when it computes, and when it is in calls of messages, in
collectives, or in something else. What the calls are, with whom, and from where is not known here.

Source: Casas 2009, sections 3.3.1 to 3.3.4. The signals of a run are the sums of these.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analyzer._kernels import lib
from analyzer.structure.calls.sequence import Detail, Sequence, sequence_of
from analyzer.structure.signals.from_calls import kinds_of
from analyzer.structure.states import steps_begin
from analyzer.trace import State, Trace
from tracelib.schema.procedures import FINALIZE, base_name

_STATE_OF = {lib.SIGNAL_MESSAGES: State.WAITING_MESSAGE, lib.SIGNAL_COLLECTIVE: State.GROUP_COMMUNICATION}
"""By kind of signal; any other call is a state of its own."""


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
        calls, symbols=np.tile(symbols.astype(np.int32), (len(Detail), 1)), enter=calls.enter[begins],
        exit=calls.exit[ends], left=calls.left[begins], burst=np.add.reduceat(calls.burst, begins),
        clocks=zeros.astype(np.int32), call=(len(trace.procedures) + state).astype(np.int32),
        output=zeros.astype(np.uint8), together=state == State.GROUP_COMMUNICATION, path=zeros,
        end_ns=max(calls.end_ns, last), is_named=False,
    )  # fmt: skip
