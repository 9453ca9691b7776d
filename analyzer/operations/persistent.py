"""Persistent collectives where they are started: how much each hands over, and how much it takes."""

from __future__ import annotations

import numpy as np

from analyzer.operations.procedures import operation_of
from tracelib.schema import RequestKind
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, value_of


def _operations(column: str, value: str) -> list[int]:
    """Return the collective operations of Dimemas whose procedures have a value in a column of the table."""
    found = {operation_of(name) for name in BLOCKING_COLLECTIVES if value_of(column, name) == value}
    return sorted(number for number in found if number is not None)


_FROM_ROOT, _TO_ROOT = _operations("dependence", "FROM_ROOT"), _operations("dependence", "TO_ROOT")
_EQUAL, _SCATTERED, _GATHERED, _GIVEN = (
    _operations("shares", value) for value in ("EQUAL", "SCATTERED", "GATHERED", "GIVEN")
)


def tell_bytes(posted: np.ndarray, calls: np.ndarray, rank: int, plan: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Tell the bytes that each started collective hands over (`bytes`) from those that it takes (`completed`).

    A row of the trace has the sum of both. The call that started it has them apart, unless it started others, too:
    then they follow from the operation, as if all members had equal shares.

    Args:
        posted: Requests (REQUEST) of one rank.
        calls: CALL of the same window.
        rank: The rank.
        plan: (procedures, 2), as for the kernel.
        members: Number of members of each communicator.

    Returns:
        `posted` with the bytes told apart.
    """
    at = np.flatnonzero(posted["what"] == RequestKind.COLLECTIVE_STARTED)
    if not len(at):
        return posted
    rows = posted[at]
    known = (rows["tag"] >= 0) & (rows["tag"] < len(plan)) & (rows["comm"] >= 0)
    at, rows = at[known], rows[known]
    call = calls[np.searchsorted(calls["enter"], rows["posted"]).clip(max=len(calls) - 1)] if len(calls) else None
    whole, operation = rows["bytes"], plan[rows["tag"], 1]
    size, root = members[rows["comm"]], rows["peer"] == rank
    sent = np.where(np.isin(operation, _EQUAL), whole // 2, 0)
    sent = np.where(np.isin(operation, _SCATTERED), whole - whole // (size + 1), sent)
    sent = np.where(np.isin(operation, _GATHERED), whole // (size + 1), sent)
    sent = np.where(np.isin(operation, _GIVEN), whole, sent)
    sent = np.where(~root & np.isin(operation, _FROM_ROOT), 0, sent)
    sent = np.where(~root & np.isin(operation, _TO_ROOT), whole, sent)
    if call is not None:
        alone = (call["enter"] == rows["posted"]) & (call["sent"] + call["received"] == whole)
        sent = np.where(alone, call["sent"], sent)
    posted["bytes"][at], posted["completed"][at] = sent, whole - sent
    return posted
