"""Readers of the tables of recorded data: calls, messages, regions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.frames.blocks import NONE, NS, Block, Coded, Column, taken
from analyzer.frames.where import Where
from analyzer.metrics.region_parameters import parameter_column, parameters
from analyzer.metrics.regions import region_visits
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.trace import CALL, MESSAGE, UNKNOWN, Counters, Regions, Trace

_RECORDS = 1 << 18
"""Approximate number of calls or messages of a rank that are processed at a time."""


def calls(where: Where, begin: int, end: int) -> Iterator[Block]:
    """Yield blocks of the calls that are entered in [begin, end) ns, ordered by rank and entry."""
    trace, counters = where.trace, where.trace.extra(Counters)
    nothing = np.zeros((0, len(counters.known)), np.int64)
    yield _calls_of(where, 0, np.zeros(0, CALL), np.zeros(0, np.int64), nothing, nothing)
    for rank in where.ranks:
        bounds = trace.windows_of(rank, _RECORDS).clip(begin, end)
        for first, last in pairwise(np.unique([begin, *bounds.tolist(), end]).tolist()):
            counts = counters.counts(rank, first, last)
            for rows, paths in calls_with_paths(trace, rank, first, last):
                read = next(counts, None)
                inside, before = (read.inside, read.burst) if read else (nothing, nothing)
                yield _calls_of(where, rank, rows, paths, inside, before)


def _calls_of(
    where: Where, rank: int, rows: np.ndarray, paths: np.ndarray, inside: np.ndarray, before: np.ndarray
) -> Block:
    """Build a block of the table of calls from call records of one rank.

    Args:
        where: Regions, iterations and places of the trace.
        rank: The rank that made the calls.
        rows: Records of the calls (CALL).
        paths: Call path of each call.
        inside: Counts of each counter during each call, int64 of shape (calls, counters).
        before: Counts of each counter in the burst before each call, int64 of shape (calls, counters).
    """
    return {
        "rank": np.full(len(rows), rank, np.int32),
        "thread": rows["thread"],
        "call": Coded(rows["call"], where.trace.procedures),
        "enter_s": rows["enter"] / NS,
        "exit_s": rows["exit"] / NS,
        "mpi_s": rows["inside"] / NS,
        "peer": np.maximum(rows["peer"], NONE),
        "tag": rows["tag"],
        "comm": _comm(where.trace, rows["comm"]),
        "sent_bytes": rows["sent"],
        "received_bytes": rows["received"],
        "count": rows["count"],
        "region": where.region(rank, rows["thread"], rows["enter"]),
        **where.iteration(rank, rows["enter"]),
        "place": where.place(paths),
        **_counted(where.trace, inside, "inside"),
        **_counted(where.trace, before, "before"),
    }


def _comm(trace: Trace, comm: np.ndarray) -> Coded:
    """Return the label of each communicator. Code 0 is the empty name, for calls without a communicator."""
    return Coded(np.maximum(comm, NONE) + 1, ["", *(one.label for one in trace.communicators)])


def _counted(trace: Trace, values: np.ndarray, when: str) -> dict[str, Column]:
    """Return one float column per counter, named NAME_inside or NAME_before. NaN: the counter was not read."""
    return {
        f"{counter.name}_{when}": np.where(column == UNKNOWN, np.nan, column)
        for counter, column in zip(trace.extra(Counters).known, values.T, strict=True)
    }


def messages(where: Where, begin: int, end: int) -> Iterator[Block]:
    """Yield blocks of the messages whose send is entered in [begin, end) ns, ordered by source rank and entry."""
    by_source = Spill(MESSAGE)
    bounds = where.trace.message_windows().clip(begin, end)
    for first, last in pairwise(np.unique([begin, *bounds.tolist(), end]).tolist()):
        rows = where.trace.messages(first, last)
        by_source.append_each(rows["source"], rows)
    for rank in where.ranks:
        for rows in by_source.pieces(rank, _RECORDS):
            yield _messages_of(where, rank, rows)
    by_source.close()


def _messages_of(where: Where, rank: int, rows: np.ndarray) -> Block:
    return {
        "rank": rows["source"],
        "thread": rows["source_thread"],
        "destination": rows["destination"],
        "destination_thread": rows["destination_thread"],
        "send_s": rows["logical_send"] / NS,
        "sent_s": rows["physical_send"] / NS,
        "receive_s": rows["logical_receive"] / NS,
        "received_s": rows["physical_receive"] / NS,
        "bytes": rows["size"],
        "tag": rows["tag"],
        "comm": _comm(where.trace, rows["comm"]),
        "region": where.region(rank, rows["source_thread"], rows["logical_send"]),
        **where.iteration(rank, rows["logical_send"]),
    }


def regions(where: Where, begin: int, end: int) -> Iterator[Block]:
    """Yield blocks of the visits of regions that begin in [begin, end) ns, ordered by rank, thread and begin."""
    said = where.trace.extra(Regions)
    for rank in where.ranks:
        visits = region_visits(where.trace, rank)
        block: dict[str, Column] = {
            "rank": np.full(len(visits), rank, np.int32),
            "thread": visits["thread"],
            "region": Coded(visits["region"], said.names),
            "path": Coded(where.paths.of_visits(visits)[0] if len(visits) else visits["region"], where.paths.texts),
            "begin_s": visits["begin"] / NS,
            "end_s": visits["end"] / NS,
            "time_s": (visits["end"] - visits["begin"]) / NS,
            "depth": visits["depth"],
            "parallel": visits["parallel"],
            **where.iteration(rank, visits["begin"]),
        }
        values = parameters(where.trace, rank, visits)
        nothing = np.full(len(visits), np.nan)
        for name in said.parameters:
            block[parameter_column(name, block)] = values.get(name, nothing).astype(np.float64)
        yield taken(block, (visits["begin"] >= begin) & (visits["begin"] < end))
