"""Data that was moved to and from each RMA window and file, and calls that returned errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.pairing.requests import Posted, gather_blocks, window_calls, windows_of_rank
from analyzer.parallel import Team
from analyzer.trace import ACCESS, Errors, Objects, SharedObject, Trace
from tracelib.schema import RequestKind

_COLUMNS = ("count", "inside", "sent", "received")


@dataclass(frozen=True)
class AccessTotals:
    """Calls on one RMA window or file, sum over all ranks.

    Bytes are the bytes that were moved. For nonblocking I/O they count at the call that posted it. The time of waiting
    for the completion is not included.
    """

    object: SharedObject
    calls: int
    time_ns: int  # inside these calls
    sent: int  # bytes put or written
    received: int  # bytes got or read


@dataclass(frozen=True)
class FailedCalls:
    """Calls of one procedure on one rank that returned errors of one class."""

    rank: int
    procedure: str
    class_: int  # error class of MPI, as in analyzer.trace.error_classes
    count: int


def accesses(trace: Trace, team: Team) -> list[AccessTotals]:
    """Sum the calls on each RMA window and file, in the order of Objects.known. Collective.

    Files of the same name are added up, however often they were opened.
    """
    if not trace.extra(Objects).known:
        return []
    sums = np.zeros((len(_COLUMNS), len(trace.extra(Objects).known)), np.int64)
    for rank in trace.share(team):
        windows = windows_of_rank(trace, rank)
        posted = Posted(trace, rank, windows, (RequestKind.READ_DONE, RequestKind.WRITE_DONE))
        for index, (begin, end) in enumerate(pairwise(windows.tolist())):
            rows = gather_blocks(trace.extra(Objects).accesses(rank, begin, end), ACCESS)
            calls = _joined(window_calls(trace, rank, begin, end), rows)
            _take_actual(calls, posted.window(index))
            for line, column in zip(sums, _COLUMNS, strict=True):
                known = rows["object"] >= 0
                line += by_index(rows["object"][known], calls[column][known], len(line))
    totals = sum(team.allgather(sums))
    found: dict[object, AccessTotals] = {}
    for number, (one, line) in enumerate(zip(trace.extra(Objects).known, totals.T.tolist(), strict=True)):
        key = one.name or number
        if key in found:
            before = found[key]
            line = np.add(line, (before.calls, before.time_ns, before.sent, before.received)).tolist()
        found[key] = AccessTotals(found[key].object if key in found else one, *line)
    return list(found.values())


def _joined(calls: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the call (CALL) of each access: the call that the same thread entered at the same time."""
    found = np.zeros(len(rows), calls.dtype)
    for thread in np.unique(rows["thread"]):
        mine, its = rows["thread"] == thread, calls[(calls["thread"] == thread) & (calls["count"] == 1)]
        if len(its):
            found[mine] = its[np.searchsorted(its["enter"], rows["enter"][mine]).clip(max=len(its) - 1)]
    return found


def _take_actual(calls: np.ndarray, done: np.ndarray) -> None:
    """Set the bytes of nonblocking reads and writes to the bytes that their completions report."""
    if not len(calls):
        return
    order = np.argsort(calls["enter"], kind="stable")
    at = order[np.searchsorted(calls["enter"][order], done["posted"]).clip(max=len(calls) - 1)]
    found = calls["enter"][at] == done["posted"]
    for what, column in ((RequestKind.READ_DONE, "received"), (RequestKind.WRITE_DONE, "sent")):
        chosen = found & (done["what"] == what)
        calls[column][at[chosen]] = done["bytes"][chosen]


def failed(trace: Trace, team: Team) -> list[FailedCalls]:
    """Count the errors that calls returned to the program, the most frequent first. Collective."""
    counts: Counter[tuple[int, int, int]] = Counter()
    for rank in trace.share(team):
        errors = trace.extra(Errors).of(rank)
        counts.update((rank, int(e["call"]), int(e["class"])) for e in errors)
    every = [item for part in team.allgather([sorted(counts.items())]) for items in part for item in items]
    names = (*trace.procedures, "an unknown call")
    found = [FailedCalls(rank, names[call], class_, count) for (rank, call, class_), count in every]
    return sorted(found, key=lambda f: (-f.count, f.rank, f.procedure, f.class_))
