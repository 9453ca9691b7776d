"""What is marked in a timeline: the outermost regions of a rank, flushes, the edges of iterations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.structure.iterations import Iterations
from analyzer.trace import Mark, Regions, Trace, TracerTime

MOST_FLUSHES, MOST_EDGES = 400, 200
_SLOTS = 1000
"""Regions that are shorter than the run divided by this are not told apart."""


@dataclass(frozen=True)
class Span:
    """A stretch of the run that has a name."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class Marks:
    """Times in ns."""

    regions: tuple[Span, ...] = ()  # of `rank`, outermost ones, in order
    rank: int = -1
    flushes: tuple[tuple[int, int], ...] = ()  # (line, begin), the longest ones
    edges: tuple[int, ...] = ()  # between iterations
    every: int = 1  # each so many-th edge is there
    edges_rank: int = -1


def regions_of(trace: Trace, rank: int) -> tuple[Span, ...]:
    """The outermost regions of the first thread of a rank, sampled in the middle of equal slots of the run."""
    known = trace.extra(Regions)
    rows = known.marks(rank)
    rows = rows[(rows["thread"] == 0) & ((rows["what"] == Mark.BEGIN) | (rows["what"] == Mark.END))]
    if not len(rows):
        return ()
    step = np.where(rows["what"] == Mark.BEGIN, 1, -1)
    depth = np.cumsum(step)
    outer = ((step == 1) & (depth == 1)) | ((step == -1) & (depth == 0))
    rows = rows[outer]
    inside = np.where(rows["what"] == Mark.BEGIN, rows["number"], 0)
    slots = (np.arange(_SLOTS) + 0.5) * trace.duration_ns / _SLOTS
    at = np.searchsorted(rows["time"], slots, side="right") - 1
    number = np.where(at >= 0, inside[np.maximum(at, 0)], 0)
    cuts = np.flatnonzero(np.diff(number, prepend=-1, append=-1))
    edges = np.round(cuts * trace.duration_ns / _SLOTS).astype(np.int64).tolist()
    return tuple(
        Span(known.names[number[cut] - 1], begin, end)
        for cut, begin, end in zip(cuts[:-1].tolist(), edges[:-1], edges[1:], strict=True)
        if 0 < number[cut] <= len(known.names)
    )


def flushes_of(trace: Trace, of_rank: np.ndarray) -> tuple[tuple[int, int], ...]:
    """The longest flushes, (line, begin) in order of time; of_rank: the line of each rank."""
    found: list[tuple[int, int, int]] = []
    for rank in np.flatnonzero(of_rank >= 0).tolist():
        rows = trace.extra(TracerTime).flushes(rank)
        longest = rows[np.argsort(rows["begin"] - rows["end"], kind="stable")[:MOST_FLUSHES]]
        length = (longest["end"] - longest["begin"]).tolist()
        found += zip(length, longest["begin"].tolist(), [int(of_rank[rank])] * len(longest), strict=True)
        found = sorted(found, reverse=True)[:MOST_FLUSHES]
    return tuple(sorted((line, begin) for _, begin, line in found))


def marks_of(trace: Trace, of_rank: np.ndarray, rank: int, iterations: Iterations | None) -> Marks:
    """Those of a timeline; `rank`: whose regions are shown. Edges are those of the first rank that has iterations."""
    edges: np.ndarray = np.zeros(0, np.int64)
    whose, every = -1, 1
    if iterations is not None and iterations.known.any():
        whose = int(iterations.known.argmax())
        edges = iterations.edges[whose]
        every = -(-len(edges) // MOST_EDGES)
    return Marks(
        regions_of(trace, rank), rank, flushes_of(trace, of_rank), tuple(edges[::every].tolist()), every, whose
    )
