"""Bytes that a persistent collective sends and receives at each of its starts."""

from __future__ import annotations

import numpy as np

from analyzer.operations.procedures import operation_of
from tracelib.schema import RequestKind
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, value_of


def _operations(column: str, value: str) -> list[int]:
    """Return the numbers of the Dimemas collectives whose procedures have this value in a column of procedures.toml."""
    found = {operation_of(name) for name in BLOCKING_COLLECTIVES if value_of(column, name) == value}
    return sorted(number for number in found if number is not None)


_FROM_ROOT, _TO_ROOT = _operations("dependence", "FROM_ROOT"), _operations("dependence", "TO_ROOT")
_EQUAL, _SCATTERED, _GATHERED, _GIVEN = (
    _operations("shares", value) for value in ("EQUAL", "SCATTERED", "GATHERED", "GIVEN")
)


def tell_bytes(posted: np.ndarray, calls: np.ndarray, rank: int, plan: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Split the bytes of each started collective into sent (column `bytes`) and received (column `completed`).

    The trace has the sum of both. The call that started the collective has both numbers, unless it started several
    collectives. Then the bytes are split by the kind of collective, as if all members had equal shares.

    Args:
        posted: Requests (REQUEST) of one rank; changed in place.
        calls: Calls (CALL) of the same window.
        rank: The rank.
        plan: Kind and flag of the operation of each procedure (`plan_of`), of shape (procedures, 2).
        members: Number of members of each communicator.

    Returns:
        `posted`.
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
