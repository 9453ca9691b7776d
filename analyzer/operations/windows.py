"""Windows as communicators of their own: their fences are barriers, in no order with other collectives."""

from __future__ import annotations

import numpy as np

from analyzer.metrics.requests import gather_blocks
from analyzer.operations.plan import FENCE, plan_of
from analyzer.trace import ACCESS, Trace


def window_groups(trace: Trace) -> tuple[tuple[int, ...], ...]:
    """World ranks of each of Trace.objects; () if that is no window of an intracommunicator. None at all in a trace
    without fences."""
    if not any(plan_of(procedure)[0] == FENCE for procedure in trace.procedures):
        return ()
    groups = []
    for one in trace.objects:
        communicator = trace.communicators[one.comm] if one.kind == "window" and one.comm >= 0 else None
        sound = communicator and not communicator.remote and len({*communicator.members}) == len(communicator.members)
        groups.append(communicator.members if communicator and sound else ())
    return tuple(groups)


def windows_of(trace: Trace, rank: int, between: tuple[int, int], calls: np.ndarray, fences: np.ndarray) -> np.ndarray:
    """int32 by call (CALL) of a window of time: index in Trace.objects of what is fenced there; -1: not known.

    fences: bool, which of the calls are some.
    """
    found = np.full(len(calls), -1, np.int32)
    rows = gather_blocks(trace.accesses(rank, *between), ACCESS) if fences.any() else np.zeros(0, ACCESS)
    rows = rows[np.argsort(rows["enter"], kind="stable")]
    if len(rows):
        at = np.searchsorted(rows["enter"], calls["enter"]).clip(max=len(rows) - 1)
        same = fences & (rows["enter"][at] == calls["enter"]) & (rows["thread"][at] == calls["thread"])
        found[same] = rows["object"][at[same]]
    return found
