"""The calls of one rank as a sequence of symbols: equal symbols are the same call, made again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analyzer.operations.bursts import CPU_TIME, is_measured
from analyzer.trace import CALL, CallPaths, Counters, Trace
from tracelib.schema.procedures import (
    ASKING_MPI,
    CLOCKS,
    FINALIZE,
    INIT,
    POLLS,
    WAITS,
    base_name,
)

MOST_CALLS = 1 << 24
"""Of a rank that made more calls, these first ones are looked at: 28 bytes each."""
FEWEST_CALLS = 6
"""Of a rank that made fewer calls than these, and only asked, its asking is looked at, too."""


class Detail(IntEnum):
    """What two calls must have in common to be the same symbol, besides procedure, communicator and call path."""

    SIZE = 0  # the partner and the length, by powers of two
    PEER = 1  # the partner
    PROCEDURE = 2  # nothing more


@dataclass(frozen=True)
class Sequence:
    """The calls of a rank between MPI_Init and MPI_Finalize that do something with other ranks, in order."""

    rank: int
    symbols: np.ndarray  # int32 (details, calls): dense from 0 for each Detail
    enter: np.ndarray  # int64 (calls,) ns
    exit: np.ndarray
    left: np.ndarray  # int64: when the rank came out of the call before this one, whatever that was
    burst: np.ndarray  # int64: computed since the call of the sequence before, ns; CPU time where that was recorded
    clocks: np.ndarray  # int32: looks at the clock up to each call
    call: np.ndarray  # int32: index in Trace.procedures
    path: np.ndarray  # int64: row of CallPaths.tables; 0: not known
    begin_ns: int  # end of MPI_Init, or of the process' start
    end_ns: int  # begin of MPI_Finalize, or of the last call's end
    is_whole: bool = True  # False: there were more calls than MOST_CALLS

    def __len__(self) -> int:
        return len(self.enter)


def sequence_of(trace: Trace, rank: int, begin_ns: int = 0) -> Sequence:
    """The sequence of a rank, of the calls that it enters from `begin_ns` on: of its thread with most calls.

    Polls, looks at the clock and questions to MPI do not count: how often they are made is no matter of the program's
    structure. A rank that makes no other calls has these.
    """
    names = [base_name(name) for name in trace.procedures]
    ends = np.array([name in INIT | FINALIZE for name in names], bool)
    aside = np.array([name in POLLS | CLOCKS | ASKING_MPI for name in names], bool) | ends
    rows, paths, is_whole = _rows(trace, rank, begin_ns)
    thread = np.bincount(rows["thread"]).argmax() if len(rows) else 0
    mine = rows["thread"] == thread
    rows, paths = rows[mine], paths[mine]
    begin, end = _bounds(rows, np.array([name in INIT for name in names], bool), max(trace.span(rank)[0], begin_ns))
    kept = ~aside[rows["call"]]
    if np.count_nonzero(kept) < FEWEST_CALLS:
        kept = ~ends[rows["call"]]
    outside = rows["enter"] - np.concatenate([[begin], (rows["enter"] + rows["inside"] + rows["tracer"])[:-1]])
    bursts = _cpu_bursts(trace, rank, begin_ns, len(mine))
    outside = outside if bursts is None else bursts[mine]
    computed = np.concatenate([[0], np.cumsum(np.maximum(outside, 0))])
    at = np.flatnonzero(kept)
    until = computed[at + 1]
    left = np.concatenate([[begin], rows["exit"][:-1]])[at] if len(rows) else np.zeros(0, np.int64)
    looks = np.array([name in CLOCKS for name in names], bool)[rows["call"]]
    clocks = np.cumsum(np.where(looks, rows["count"], 0), dtype=np.int32)[at]
    rows, paths = rows[kept], paths[kept]
    waits = np.array([name in WAITS for name in names], bool)[rows["call"]]
    return Sequence(
        rank,
        _symbols(rows, paths, waits),
        rows["enter"].copy(),
        rows["exit"].copy(),
        left,
        np.diff(until, prepend=0),
        clocks,
        rows["call"].copy(),
        paths,
        begin,
        end,
        is_whole,
    )


def _rows(trace: Trace, rank: int, begin_ns: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """CALL of a rank from a time on, the rows of their paths, and whether these are all."""
    known = trace.extra(CallPaths)
    blocks, paths, count = [np.zeros(0, CALL)], [np.zeros(0, np.int64)], 0
    path_blocks = known.of(rank, begin_ns) if known.known else None
    for block in trace.calls(rank, begin_ns):
        blocks.append(block)
        paths.append(next(path_blocks) if path_blocks else np.zeros(len(block), np.int64))
        count += len(block)
        if count >= MOST_CALLS:
            return np.concatenate(blocks), np.concatenate(paths), False
    return np.concatenate(blocks), np.concatenate(paths), True


def _cpu_bursts(trace: Trace, rank: int, begin_ns: int, count: int) -> np.ndarray | None:
    """CPU time before each of the first `count` calls from a time on, ns: what a program computes whoever else uses its
    CPUs. 0 or less where it was not read (that before polls is part of the next burst); None: it was not recorded."""
    if not is_measured(trace, rank):
        return None
    column = [counter.name for counter in trace.extra(Counters).known].index(CPU_TIME)
    blocks, read = [np.zeros(0, np.int64)], 0
    for counts in trace.extra(Counters).counts(rank, begin_ns):
        blocks.append(counts.burst[:, column])
        read += len(counts.calls)
        if read >= count:
            break
    return np.concatenate(blocks)[:count]


def _bounds(rows: np.ndarray, init: np.ndarray, start: int) -> tuple[int, int]:
    """From the end of MPI_Init, or `start`, to the begin of the last call."""
    first = np.flatnonzero(init[rows["call"]])
    begin = int(rows["exit"][first[0]]) if len(first) else start
    return begin, int(rows["enter"][-1]) if len(rows) else start


def _symbols(rows: np.ndarray, paths: np.ndarray, waits: np.ndarray) -> np.ndarray:
    """int32 (details, calls). What a wait waited for is not its own: others may have come first."""
    size = np.maximum(rows["sent"], rows["received"])
    length = np.frexp(np.where(waits, 0, size).astype(np.float64))[1]
    peer = np.where(waits, -1, rows["peer"]).astype(np.int64)
    base = _mixed(_mixed(rows["call"].astype(np.uint64), rows["comm"].astype(np.int64)), paths)
    with_peer = _mixed(base, peer)
    keys = (_mixed(with_peer, length), with_peer, base)
    return np.stack([np.unique(key, return_inverse=True)[1].astype(np.int32) for key in keys])


def _mixed(key: np.ndarray, column: np.ndarray) -> np.ndarray:
    """A hash of 64 bits of both."""
    key = (key ^ column.astype(np.int64).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))
