"""Which calls began, and which completed, one nonblocking collective: they are counted apart from blocking ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.pairing.collective_calls import ANY_PROCEDURE, MEMBER_CALL, CollectiveCalls
from analyzer.pairing.requests import gather_blocks, rank_windows, window_calls
from analyzer.parallel import Team
from analyzer.trace import CALL, REQUEST, Trace
from tracelib.schema import What
from tracelib.schema.procedures import NONBLOCKING_COLLECTIVES, PERSISTENT_COLLECTIVES, base_name

PROBABLY_ALL = ("MPI_Alltoallv", "MPI_Alltoallw")
"""Whom each member exchanges data with is not recorded; those that waited for the last probably waited for all."""


def blocking_name(name: str) -> str:
    """MPI_Allreduce of MPI_Iallreduce and MPI_Allreduce_init; of others the name itself."""
    if name in PERSISTENT_COLLECTIVES:
        return name.removesuffix("_init")
    return f"MPI_{name[5:].capitalize()}" if name.startswith("MPI_I") else name


def nonblocking_collectives(trace: Trace, team: Team | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The nonblocking collectives of a run: MEMBER_CALL of all members, `enter` of the call that began it and `exit` of
    the one that completed it (0: none by the same thread), and the number of the collective, ascending. A team shares
    the reading; each member gets all."""
    team, join = team or Team(), CollectiveCalls(trace, begins=True)
    names = [base_name(p) for p in trace.procedures]
    wanted = np.array([n in NONBLOCKING_COLLECTIVES for n in names], bool)
    parts = [np.zeros(0, MEMBER_CALL)]
    for rank in team.share(trace.size) if wanted.any() else ():
        calls, done = [], []
        for begin, end in pairwise(rank_windows(trace).tolist()):
            block = window_calls(trace, rank, begin, end)
            calls.append(block[wanted[block["call"]] & (block["comm"] >= 0)])
            rows = gather_blocks(trace.requests(rank, begin, end), REQUEST)
            done.append(rows[rows["what"] == What.COLLECTIVE_DONE])
        rows = join.members(rank, np.concatenate(calls))
        complete(rows, np.concatenate(done))
        parts.append(rows)
    return join.groups(np.concatenate(team.allgather(np.concatenate(parts))))


def persistent_collectives(trace: Trace, team: Team | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The same of persistent collectives, each time that they were started: the n-th start on a communicator is one
    collective. What a member hands over and takes is not told apart."""
    team, join = team or Team(), CollectiveCalls(trace, made_by=ANY_PROCEDURE)
    parts = [np.zeros(0, MEMBER_CALL)]
    for rank in team.share(trace.size):
        started, done = [], []
        for begin, end in pairwise(rank_windows(trace).tolist()):
            rows = gather_blocks(trace.requests(rank, begin, end), REQUEST)
            started.append(rows[(rows["what"] == What.COLLECTIVE_STARTED) & (rows["comm"] >= 0) & (rows["tag"] >= 0)])
            done.append(rows[rows["what"] == What.COLLECTIVE_DONE])
        rows = join.members(rank, _as_calls(np.concatenate(started)))
        complete(rows, np.concatenate(done))
        parts.append(rows)
    return join.groups(np.concatenate(team.allgather(np.concatenate(parts))))


def _as_calls(started: np.ndarray) -> np.ndarray:
    """Started persistent collectives as CALL of the procedures that made them."""
    calls = np.zeros(len(started), CALL)
    for column, other in (("enter", "posted"), ("call", "tag"), ("sent", "bytes"), ("received", "bytes")):
        calls[column] = started[other]
    for column in ("comm", "peer", "thread"):
        calls[column] = started[column]
    return calls


def complete(rows: np.ndarray, done: np.ndarray) -> None:
    """Give the calls of a rank that began collectives the times at which these were completed."""
    rows["exit"] = 0
    if not len(done):
        return
    done = done[np.lexsort((done["thread"], done["posted"]))]
    at = np.searchsorted(done["posted"], rows["enter"]).clip(max=len(done) - 1)
    same = (done["posted"][at] == rows["enter"]) & (done["thread"][at] == rows["thread"])
    rows["exit"] = np.where(same, done["completed"][at], 0)
