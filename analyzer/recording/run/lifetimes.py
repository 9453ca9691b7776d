"""Compares the lifetimes of a run's processes, to find ranks whose file may be of another run."""

from __future__ import annotations

import numpy as np

from analyzer.trace import Problem


def strangers(
    ranks: np.ndarray, begin: np.ndarray, end: np.ndarray, node_of: np.ndarray, stopped: np.ndarray
) -> list[Problem]:
    """Report ranks that did not live when most others of their node did: all processes of a run live at the same time.

    Args:
        ranks: Ranks that could be read.
        begin: Time of the first record of each of these ranks, ns.
        end: Time of the last record of each of these ranks, ns.
        node_of: Node of each rank of the run.
        stopped: bool by read rank: True if it stopped recording early (full disk, kill), so that its end is not known.
    """
    found = []
    end = np.where(stopped, max(begin.max(initial=0), end.max(initial=0)), end)
    order = np.argsort(node_of[ranks], kind="stable")
    for here in np.split(order, np.flatnonzero(np.diff(node_of[ranks][order])) + 1):
        before = np.searchsorted(np.sort(end[here]), begin[here], "left")
        after = len(here) - np.searchsorted(np.sort(begin[here]), end[here], "right")
        apart = 2 * (before + after) >= len(here)
        text = "did not run at the same time as the other ranks: its file may be of another run"
        found += [Problem(rank, text) for rank in ranks[here][apart].tolist()]
    return found
