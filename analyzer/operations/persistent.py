"""Persistent collectives where they are started: how much each hands over, and how much it takes."""

from __future__ import annotations

import numpy as np

from analyzer.operations.procedures import OPERATIONS
from tracelib.schema import What

_HALF = [OPERATIONS[name] for name in ("Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Scan")]
_TO_ALL = [OPERATIONS[name] for name in ("Scatter", "Scatterv", "Reduce_scatter", "Reduce_scatter_block")]
_FROM_ALL = [OPERATIONS[name] for name in ("Gather", "Gatherv", "Allgather", "Allgatherv")]
_TO_ROOT = [OPERATIONS[name] for name in ("Gather", "Gatherv", "Reduce")]


def tell_bytes(posted: np.ndarray, calls: np.ndarray, rank: int, plan: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return requests (REQUEST) in which started collectives have the bytes sent and received apart.

    `bytes` becomes the bytes sent, `completed` the bytes received. A row of the trace has their sum. The call that
    started the collective has them apart, unless it started other requests too: then they follow from the operation, as
    if all members had equal shares.
    calls: of the same window; plan: (procedures, 2) as for the kernel; members: number of members by communicator.
    """
    at = np.flatnonzero(posted["what"] == What.COLLECTIVE_STARTED)
    if not len(at):
        return posted
    rows = posted[at]
    known = (rows["tag"] >= 0) & (rows["tag"] < len(plan)) & (rows["comm"] >= 0)
    at, rows = at[known], rows[known]
    call = calls[np.searchsorted(calls["enter"], rows["posted"]).clip(max=len(calls) - 1)] if len(calls) else None
    whole, operation = rows["bytes"], plan[rows["tag"], 1]
    size, root = members[rows["comm"]], rows["peer"] == rank
    sent = np.where(np.isin(operation, _HALF) | (root & (operation == OPERATIONS["Reduce"])), whole // 2, 0)
    sent = np.where(np.isin(operation, _TO_ALL), whole - whole // (size + 1), sent)
    sent = np.where(np.isin(operation, _FROM_ALL), whole // (size + 1), sent)
    sent = np.where(root & (operation == OPERATIONS["Bcast"]), whole, sent)
    sent = np.where(~root & np.isin(operation, _TO_ROOT), whole, sent)
    sent = np.where(~root & np.isin(operation, _TO_ALL[:2]), 0, sent)
    if call is not None:
        alone = (call["enter"] == rows["posted"]) & (call["sent"] + call["received"] == whole)
        sent = np.where(alone, call["sent"], sent)
    posted["bytes"][at], posted["completed"][at] = sent, whole - sent
    return posted
