"""Readers of the tables of computed results: iterations, waits, places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.frames.blocks import NS, Block, Coded
from analyzer.frames.where import Where
from analyzer.metrics.callers import CallerSums
from analyzer.metrics.sums import add_up
from analyzer.parallel import Team
from analyzer.waits.by_place import wait_places
from analyzer.waits.kinds import LABELS, length
from analyzer.waits.threads import Lanes
from analyzer.waits.wait_states import WaitSearch, find_wait_states


def iterations(where: Where, begin: int, end: int) -> Iterator[Block]:
    """Yield one block of the iterations of the main loop that begin in [begin, end) ns, ordered by rank and number."""
    found = where.iterations
    edges = found.edges[found.known] if found else np.zeros((0, 1), np.int64)
    ranks = np.flatnonzero(found.known) if found else np.zeros(0, np.int64)
    first, last = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    inside = (first >= begin) & (first < end)
    count = edges.shape[1] - 1
    yield {
        "rank": np.repeat(ranks, count)[inside].astype(np.int32),
        "iteration": np.tile(np.arange(count, dtype=np.int32), len(ranks))[inside],
        "begin_s": first[inside] / NS,
        "end_s": last[inside] / NS,
        "time_s": (last - first)[inside] / NS,
    }


def waits(where: Where, begin: int, end: int) -> Iterator[Block]:
    """Yield blocks of the wait states that begin in [begin, end) ns, ordered by rank, thread and begin.

    The kinds of wait states are described in docs/analyze-waits.md.
    """
    trace = where.trace
    search = WaitSearch(trace, Team())
    found = find_wait_states(search)
    known = wait_places(trace, found)
    places = known.where if known else None
    lanes = search.lanes
    for first, rows in found.rows.pieces():
        rank, thread = lanes.rank[rows["lane"]], lanes.thread[rows["lane"]]
        path = places.mapped()["path"][first : first + len(rows)] if places else np.zeros(len(rows), np.int64)
        inside = (rows["enter"] >= begin) & (rows["enter"] < end)
        for one in np.unique(rank).tolist():
            mine = inside & (rank == one)
            yield _waits_of(where, one, thread[mine], rows[mine], lanes, path[mine])
    if not len(found.rows):
        none = np.zeros(0, np.int64)
        yield _waits_of(where, 0, none, found.waits, lanes, none)
    search.close()


def _waits_of(where: Where, rank: int, thread: np.ndarray, rows: np.ndarray, lanes: Lanes, path: np.ndarray) -> Block:
    return {
        "rank": np.full(len(rows), rank, np.int32),
        "thread": thread.astype(np.int32),
        "kind": Coded(rows["kind"], LABELS),
        "call": Coded(rows["call"], where.trace.procedures),
        "begin_s": rows["enter"] / NS,
        "end_s": rows["end"] / NS,
        "time_s": length(rows) / NS,
        "cause_rank": lanes.rank[rows["cause"]].astype(np.int32),
        "cause_thread": lanes.thread[rows["cause"]].astype(np.int32),
        "region": where.region(rank, thread, rows["enter"]),
        **where.iteration(rank, rows["enter"]),
        "place": where.place(path),
    }


def places(where: Where, begin: int, end: int) -> Iterator[Block]:
    """Yield one block with the cost of calls, summed over the whole run by rank, place and procedure.

    `begin` and `end` are ignored. If the places of calls are unknown, the block has no rows.
    """
    del begin, end  # sums of the whole run
    of_path = where.places.place if where.places else np.zeros(1, np.int64)
    rows = add_up(where.trace, Team(), CallerSums(where.trace)).grouped(of_path)
    rows = rows[np.lexsort([rows["call"], rows["path"], rows["rank"]])]
    names = where.places
    known = range(1, len(names)) if names else range(0)
    yield {
        "rank": rows["rank"].astype(np.int32),
        "place": Coded(rows["path"], where.place_texts),
        "function": Coded(rows["path"], ["", *(names.function(place) for place in known)] if names else [""]),
        "file": Coded(rows["path"], ["", *(names.file(place) for place in known)] if names else [""]),
        "line": np.array([0, *(names.line(place) for place in known)] if names else [0], np.int32)[rows["path"]],
        "call": Coded(rows["call"], where.trace.procedures),
        "count": rows["count"],
        "mpi_s": rows["inside"] / NS,
        "sent_bytes": rows["sent"],
        "received_bytes": rows["received"],
    }
