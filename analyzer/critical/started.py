"""Collectives that are begun by one call and completed by another: nonblocking and persistent ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer.critical.timeline import NOTED, Timeline
from analyzer.pairing.collective_calls import MEMBER_CALL, PATTERN, CollectiveCalls
from analyzer.pairing.nonblocking_collectives import PROBABLY_ALL, blocking_name, complete
from analyzer.pairing.requests import gather_blocks, rank_windows
from analyzer.trace import REQUEST, Trace
from tracelib.schema import What
from tracelib.schema.procedures import NEIGHBOURHOOD, base_name

_PERSISTENT = "_init"
_KNOWN = frozenset((*PATTERN, *PROBABLY_ALL, *NEIGHBOURHOOD))
_WHAT = (What.COLLECTIVE_STARTED, What.COLLECTIVE_DONE)


def started_collectives(trace: Trace, nodes: Timeline) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The nonblocking collectives of a run, then the persistent ones of each kind, as `nonblocking_collectives` does.

    The n-th start of a persistent operation is the n-th of the other members, whatever else they start in between.
    """
    names = [base_name(p) for p in trace.procedures]
    nonblocking = np.array([blocking_name(n) != n and blocking_name(n) in _KNOWN for n in names], bool)
    persistent = [k for k, n in enumerate(names) if n.endswith(_PERSISTENT) and n.removesuffix(_PERSISTENT) in _KNOWN]
    if not nonblocking.any() and not persistent:
        return
    begun = nodes.noted[nonblocking[nodes.noted["call"]] & (nodes.noted["comm"] >= 0)]
    rows = [_requests(trace, rank) for rank in range(trace.size)]
    join = CollectiveCalls(trace, begins=True)
    yield _joined(join, [begun[begun["rank"] == rank] for rank in range(trace.size)], rows)
    for call in persistent:
        starts = [_starts(rank, of_rank, call) for rank, of_rank in enumerate(rows)]
        yield _joined(CollectiveCalls(trace, made_by=call), starts, rows)


def _requests(trace: Trace, rank: int) -> np.ndarray:
    """What a rank says of collectives' requests (REQUEST)."""
    parts = [np.zeros(0, REQUEST)]
    for begin, end in pairwise(rank_windows(trace).tolist()):
        rows = gather_blocks(trace.requests(rank, begin, end), REQUEST)
        parts.append(rows[np.isin(rows["what"], _WHAT)])
    return np.concatenate(parts)


def _starts(rank: int, requests: np.ndarray, call: int) -> np.ndarray:
    """The starts of operations made by this procedure, as calls (NOTED)."""
    started = requests[(requests["what"] == What.COLLECTIVE_STARTED) & (requests["tag"] == call)]
    started = started[started["comm"] >= 0]
    rows = np.zeros(len(started), NOTED)
    for column, of_request in (("enter", "posted"), ("sent", "bytes"), ("received", "bytes")):
        rows[column] = started[of_request]
    for column in ("comm", "peer", "thread"):
        rows[column] = started[column]
    rows["call"], rows["rank"] = call, rank
    return rows


def _joined(
    join: CollectiveCalls, calls: list[np.ndarray], requests: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """What the ranks began together, with the times at which it was completed."""
    parts = [np.zeros(0, MEMBER_CALL)]
    for rank, (begun, rows) in enumerate(zip(calls, requests, strict=True)):
        members = join.members(rank, begun)
        complete(members, rows[rows["what"] == What.COLLECTIVE_DONE])
        parts.append(members)
    return join.groups(np.concatenate(parts))
