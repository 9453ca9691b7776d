"""Matching of the calls that began and completed one nonblocking or persistent collective.

Nonblocking collectives are counted apart from blocking ones.
"""

from __future__ import annotations

import numpy as np

from analyzer.columns.arrays import Sorted, joined
from analyzer.pairing.collective_calls import ANY_PROCEDURE, MEMBER_CALL, CollectiveCalls
from analyzer.pairing.parts import Part, RankRows, parts
from analyzer.parallel import Team
from analyzer.trace import CALL, REQUEST, Trace
from tracelib.schema import RequestKind
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, NONBLOCKING_COLLECTIVES, base_name, with_value

PROBABLY_ALL = with_value("dependence", "SOME") & BLOCKING_COLLECTIVES
"""Collectives for which it is not recorded which members exchange data.

A member that waited for the last member probably needed data of all.
"""


def nonblocking_collectives(trace: Trace, team: Team | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find the nonblocking collectives of a run. Collective; each member gets all of them.

    Returns:
        Calls of all members (MEMBER_CALL), and the number of the collective of each row, ascending. `enter` is the
        entry of the call that began the collective, `exit` the exit of the call that completed it (0: no call of the
        same thread).
    """
    team, join = team or Team(), CollectiveCalls(trace, begins=True)
    names = [base_name(p) for p in trace.procedures]
    wanted = np.array([n in NONBLOCKING_COLLECTIVES for n in names], bool)
    calls, done = [], []
    for part in parts(trace, trace.share(team)) if wanted.any() else ():
        rows = part.calls.rows
        calls.append(part.calls.where(wanted[rows["call"]] & (rows["comm"] >= 0)))
        done.append(_done(part))
    return _together(join, team, RankRows.joined(calls, CALL), done)


def persistent_collectives(trace: Trace, team: Team | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find the started persistent collectives of a run, in the form of `nonblocking_collectives`. Collective.

    The n-th starts of all members of a communicator are one collective. Bytes given and taken are not distinguished.
    """
    team, join = team or Team(), CollectiveCalls(trace, made_by=ANY_PROCEDURE)
    started, done = [], []
    for part in parts(trace, trace.share(team)):
        rows = part.requests.rows
        of_known = (rows["comm"] >= 0) & (rows["tag"] >= 0)
        started.append(part.requests.where((rows["what"] == RequestKind.COLLECTIVE_STARTED) & of_known))
        done.append(_done(part))
    begun = RankRows.joined(started, REQUEST)
    return _together(join, team, RankRows(begun.rank, _as_calls(begun.rows)), done)


def _done(part: Part) -> RankRows:
    return part.requests.where(part.requests.rows["what"] == RequestKind.COLLECTIVE_DONE)


def _together(
    join: CollectiveCalls, team: Team, calls: RankRows, done: list[RankRows]
) -> tuple[np.ndarray, np.ndarray]:
    """Match the calls of all ranks, which the members of the team have read, and set their completions."""
    rows = join.members(calls)
    complete(rows, RankRows.joined(done, REQUEST))
    return join.groups(joined(team.allgather(rows), MEMBER_CALL))


def _as_calls(started: np.ndarray) -> np.ndarray:
    """Convert starts of persistent collectives (REQUEST) to calls (CALL) of the procedures that made them."""
    calls = np.zeros(len(started), CALL)
    for column, other in (("enter", "posted"), ("call", "tag"), ("sent", "bytes"), ("received", "bytes")):
        calls[column] = started[other]
    for column in ("comm", "peer", "thread"):
        calls[column] = started[column]
    return calls


def complete(rows: np.ndarray, done: RankRows) -> None:
    """Set `exit` of the calls that began collectives to the time at which the collective was completed (0: unknown).

    Args:
        rows: Calls that began collectives (MEMBER_CALL).
        done: Completions of collectives (REQUEST).
    """
    rows["exit"] = 0
    if not len(done.rows):
        return
    threads = 1 + max(int(rows["thread"].max(initial=0)), int(done.rows["thread"].max()))
    lane = done.rank * threads + done.rows["thread"]
    order = np.lexsort((done.rows["posted"], lane))
    ordered = done.rows.take(order)
    find = Sorted(lane[order], ordered["posted"])
    at = find.exactly(rows["rank"].astype(np.int64) * threads + rows["thread"], rows["enter"])
    rows["exit"] = np.where(at >= 0, ordered["completed"][at], 0)
