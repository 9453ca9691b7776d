"""Collectives of intercommunicators: what flows, flows from one group to the other, each way by itself."""

from __future__ import annotations

import numpy as np

from analyzer.trace import Trace


def each_way(trace: Trace, rows: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Members of collectives (MEMBER_CALL, and the number of each one's collective, ascending) with those of
    intercommunicators as two collectives: members of one group that give and of the other that take, and the reverse.

    So nobody waits for his own group. Who neither gives nor takes (MPI_PROC_NULL as root) is in neither.
    """
    across = np.array([bool(c.remote) for c in trace.communicators], bool)[rows["comm"]]
    if not across.any():
        return rows, group
    parts, numbers = [rows[~across]], [2 * group[~across]]
    rows, group = rows[across], group[across]
    is_remote = _is_remote(trace, rows)
    for way, gives_here in enumerate((~is_remote, is_remote)):
        one_way = rows.copy()
        one_way["gives"] &= gives_here
        one_way["takes"] &= ~gives_here
        taking_part = one_way["gives"] | one_way["takes"]
        parts.append(one_way[taking_part])
        numbers.append(2 * group[taking_part] + way)
    found, number = np.concatenate(parts), np.concatenate(numbers)
    order = np.argsort(number, kind="stable")
    return found[order], number[order]


def _is_remote(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """Which rows are of members of their communicator's remote group."""
    found = np.zeros(len(rows), bool)
    for comm in np.unique(rows["comm"]).tolist():
        mine = rows["comm"] == comm
        found[mine] = np.isin(rows["rank"][mine], trace.communicators[comm].remote)
    return found
