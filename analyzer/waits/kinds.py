"""The kinds of wait states, with Scalasca's names, and the records of waits."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class WaitKind(IntEnum):
    """Kinds of wait states ("Scalasca performance properties"). The comments say which call waits, and until when."""

    LATE_SENDER = 0  # a receive, until the send is entered
    WRONG_ORDER = 1  # late sender, while an earlier message was there that this thread received later
    LATE_RECEIVER = 2  # a send, until the receive is posted
    BARRIER = 3  # MPI_Barrier, until the last member enters
    N_TO_N = 4  # MPI_Allreduce, ...: until the last member that gives data enters
    EARLY_REDUCE = 5  # the root of MPI_Reduce, MPI_Gather, ...: until the last member that gives data enters
    LATE_BROADCAST = 6  # the others in MPI_Bcast, MPI_Scatter, ...: until the root enters
    EARLY_SCAN = 7  # MPI_Scan, MPI_Exscan: until the last of the lower ranks enters
    FENCE = 8  # MPI_Win_fence, until the last member enters
    LATE_POST = 9  # MPI_Win_start, MPI_Put, ... or MPI_Win_complete, until the target enters MPI_Win_post
    EARLY_WAIT = 10  # MPI_Win_wait, until the last origin enters MPI_Win_complete
    LOCK_CONTENTION = 11  # MPI_Win_lock, ... or MPI_Win_unlock, until the holder of the lock enters MPI_Win_unlock


LABELS = (
    "late sender",
    "late sender, wrong order",
    "late receiver",
    "wait at barrier",
    "wait at N x N",
    "early reduce",
    "late broadcast",
    "early scan",
    "wait at fence",
    "late post",
    "early wait",
    "lock contention",
)
"""Name of each WaitKind in reports, in the order of the kinds' numbers."""

WAIT = np.dtype(
    [
        ("enter", "<i8"),  # entry of the call that waited; the wait begins here
        ("end", "<i8"),  # end of the wait: when the cause came, or the call ended
        ("exit", "<i8"),  # exit of the call that waited
        ("cause_enter", "<i8"),  # enter of the call that was waited for
        ("lane", "<i4"),  # the thread that waited, numbered through all ranks (Lanes)
        ("cause", "<i4"),  # lane of the thread that was waited for
        ("call", "<i4"),  # index in Trace.procedures
        ("kind", "<i4"),
        ("first", "<i8"),  # N-to-1: entry of the first member that gives data, limited to [enter, end]
        ("overlap", "<i8"),  # ns that the thread computed between failing polls; this is no waiting
        ("polled", "<i8"),  # a Polled
    ]
)
"""One wait state (`struct wait_state` of the kernel). Times are in ns.

If a call waited several times, only the wait that ended last counts. The time in MPI of a run of failing polls counts
as if it were the last part of the time of the run.
"""


class Polled(IntEnum):
    """Role of a wait in polling."""

    NO = 0
    BEGIN = 1  # the first run of failing polls of a wait
    MORE = 2  # later runs of failing polls, and the rest of the wait in the call that ends it


def length(waits: np.ndarray) -> np.ndarray:
    """Return the length of each wait (WAIT) in ns."""
    return waits["end"] - waits["enter"]
