"""Nodes of plain ranks, which have one thread without failing polls: many plain ranks are processed together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.critical.dependences import STAY
from analyzer.critical.extra_nodes import as_nodes, innermost_after, lost_of, marks_of
from analyzer.critical.polling import Polls
from analyzer.critical.thread_nodes import NODE
from analyzer.pairing.parts import RankRows
from analyzer.trace import FLUSH, MARK, Trace

_LANE = np.dtype([("calls", "<i8"), ("others", "<i8"), ("begin", "<i8"), ("end", "<i8")])
"""The nodes of one rank (`struct node_lane` of the kernel)."""


def plain_ranks(trace: Trace, polls: Polls) -> Iterator[tuple[range, RankRows | None]]:
    """Yield all ranks in order, in groups.

    A plain rank has at most one thread, no failing polls, and few enough calls to be read at once.

    Yields:
        A range of plain ranks, with their calls (CALL); or one other rank, with None.
    """
    for ranks, bounds in trace.parts(range(trace.size), trace.sizes.part_calls):
        plain = np.asarray(trace.threads[ranks.start : ranks.stop]) <= 1
        if len(bounds) > 2 or not plain.any():
            yield from ((range(rank, rank + 1), None) for rank in ranks)
            continue
        calls, counts = trace.rank_calls(ranks, *bounds.tolist())
        cuts = np.append(0, np.cumsum(counts))
        asking = np.searchsorted(cuts, np.flatnonzero(polls.asking_mask(calls)), "right") - 1
        for k in np.unique(asking).tolist():
            plain[k] &= not polls.failed(ranks[k], calls[cuts[k] : cuts[k + 1]]).any()
        edges = [0, *(np.flatnonzero(~plain[1:] | ~plain[:-1]) + 1).tolist(), len(ranks)]
        for first, last in pairwise(edges):
            some, rows = ranks[first:last], calls[cuts[first] : cuts[last]]
            yield some, RankRows.of(some, rows, counts[first:last]) if plain[first] else None


def nodes_of_plain(trace: Trace, ranks: range, calls: RankRows) -> tuple[np.ndarray, np.ndarray]:
    """Build all nodes (NODE) of neighbouring plain ranks from their calls (CALL).

    Returns:
        The nodes, rank after rank, and the number of nodes of each rank.
    """
    others, of_each = _others(trace, ranks)
    lanes = np.zeros(len(ranks), _LANE)
    lanes["calls"] = counts = np.bincount(calls.rank - ranks.start, minlength=len(ranks))
    lanes["others"] = of_each
    lanes["begin"], lanes["end"] = np.array([trace.span(rank) for rank in ranks], np.int64).T
    last = np.cumsum(counts)[counts > 0] - 1  # in a folded row it computes to the end
    lanes["end"][counts > 0] = np.maximum(lanes["end"][counts > 0], calls.rows["exit"][last])
    own = _of_calls(calls.rows)
    found = np.empty(len(own) + len(others) + 2 * len(ranks), NODE)
    lib.nodes_of_lanes(
        pointer(lanes, "struct node_lane *"), len(lanes), pointer(own, "struct node *"),
        pointer(others, "struct node *"), pointer(found, "struct node *"),
    )  # fmt: skip
    return found, counts + of_each + 2


def _of_calls(calls: np.ndarray) -> np.ndarray:
    """Convert calls (CALL) to nodes (NODE). Each node ends when the thread left MPI."""
    nodes = np.zeros(len(calls), NODE)
    for column in ("enter", "tracer", "call"):
        nodes[column] = calls[column]
    nodes["exit"] = calls["enter"] + calls["inside"]
    return nodes


def _others(trace: Trace, ranks: range) -> tuple[np.ndarray, np.ndarray]:
    """Build the nodes (NODE) of plain ranks that are no calls, rank after rank, and their number for each rank."""
    marks, lost = ([_of_main(of(trace, rank)) for rank in ranks] for of in (marks_of, lost_of))
    region = np.concatenate([np.zeros(0, np.int64), *(innermost_after(rows) for rows in marks if len(rows))])
    rank = np.concatenate([np.repeat(np.arange(len(ranks)), list(map(len, every))) for every in (marks, lost)])
    rows = as_nodes(joined(marks, MARK), region, joined(lost, FLUSH), np.zeros(0, STAY))
    return rows.take(np.lexsort((rows["exit"], rows["enter"], rank))), np.bincount(rank, minlength=len(ranks))


def _of_main(rows: np.ndarray) -> np.ndarray:
    return rows[rows["thread"] == 0] if len(rows) else rows
