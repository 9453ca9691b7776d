"""Leaves out operations with other ranks that are half done, because a rank did not end in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.recording.matching.cut_off import left_out
from analyzer.recording.run.ends import End, end_problems
from analyzer.recording.run.parts import HalfDone
from analyzer.recording.run.thread_readers import ThreadReaders
from analyzer.trace import Trace


def leave_out_half_done(
    trace: Trace, readers: ThreadReaders, halves: np.ndarray, unfinished: np.ndarray, ends: Sequence[End]
) -> HalfDone:
    """Leave out half-done operations, and describe how the run ended.

    Args:
        trace: The run.
        readers: Readers of its threads.
        halves: Sends and receives without other side (CUT_OFF), of which one rank did not end in order.
        unfinished: bool by rank: True if it did not end in order.
        ends: Ends of the ranks that could be read.
    """
    readers.leave_out(trace, halves)
    calls, behind = readers.leave_out_collectives(trace, unfinished)
    missed = left_out(np.flatnonzero(unfinished), len(halves), calls) if len(halves) or calls else ""
    behind.update(halves["half"]["peer"][~halves["is_send"]].tolist())
    ending = end_problems(ends, behind, [communicator.label for communicator in trace.communicators])
    return HalfDone(tuple(ending), missed)
