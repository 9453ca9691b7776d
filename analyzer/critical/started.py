"""Collectives that are begun by one call and completed by another: nonblocking and persistent ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.critical.timeline import NOTED, Timeline
from analyzer.pairing.collective_calls import PATTERN, CollectiveCalls
from analyzer.pairing.nonblocking_collectives import PROBABLY_ALL, blocking_name, complete
from analyzer.pairing.parts import RankRows, parts
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
    begun = nodes.noted.compress(nonblocking[nodes.noted["call"]] & (nodes.noted["comm"] >= 0))
    begun = begun.take(np.argsort(begun["rank"], kind="stable"))
    requests = _requests(trace)
    done = requests.where(requests.rows["what"] == What.COLLECTIVE_DONE)
    yield _joined(CollectiveCalls(trace, begins=True), begun, done)
    for call in persistent:
        yield _joined(CollectiveCalls(trace, made_by=call), _starts(requests, call), done)


def _requests(trace: Trace) -> RankRows:
    """What ranks say of collectives' requests (REQUEST)."""
    found = [
        part.requests.where(np.isin(part.requests.rows["what"], _WHAT)) for part in parts(trace, range(trace.size))
    ]
    return RankRows.joined(found, REQUEST)


def _starts(requests: RankRows, call: int) -> np.ndarray:
    """The starts of operations made by this procedure, as calls (NOTED)."""
    every = requests.rows
    wanted = (every["what"] == What.COLLECTIVE_STARTED) & (every["tag"] == call) & (every["comm"] >= 0)
    rank, started = requests.where(wanted)
    rows = np.zeros(len(started), NOTED)
    for column, of_request in (("enter", "posted"), ("sent", "bytes"), ("received", "bytes")):
        rows[column] = started[of_request]
    for column in ("comm", "peer", "thread"):
        rows[column] = started[column]
    rows["call"], rows["rank"] = call, rank
    return rows


def _joined(join: CollectiveCalls, begun: np.ndarray, done: RankRows) -> tuple[np.ndarray, np.ndarray]:
    """What the ranks began together (NOTED), with the times at which it was completed."""
    members = join.members(RankRows(begun["rank"].astype(np.int64), begun))
    complete(members, done)
    return join.groups(members)
