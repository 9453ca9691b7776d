"""LoOgGP model of a network from the messages of a traced run, for use where nothing better was measured.

The transfer time of a message is seen (`observed`), and so is the time in MPI_Send, its overhead. The gap to the next
message is not seen. It is at least the overhead plus the extra time of the message's bytes over the smallest message,
and at most the time until the message has arrived. The model takes the least gap; the largest is the end of its
confidence interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analyzer.loggp.line_fit import CostLine
from analyzer.loggp.model import LinePiece, LoOgGP, SizeInterval
from analyzer.loggp.observed import BoundedEstimate, MessageWay, SizeClass

FEWEST = 2
"""Sizes that are trusted, without which there is no line."""

_Point = tuple[int, BoundedEstimate]


def model_of(way: MessageWay) -> LoOgGP | None:
    """Make the model; None if fewer than two size classes are trusted.

    Lines join the fastest messages of the classes.
    """
    classes = [c for c in way.trusted if c.time and c.size_bytes > 0]
    if len(classes) < FEWEST or classes[0].time is None:
        return None
    smallest = classes[0].time
    ways = _lines([(c.size_bytes, c.time) for c in classes if c.time])
    overheads = _lines([(c.size_bytes, _overhead(c)) for c in classes])
    gaps = _lines([(c.size_bytes, _gap(c, smallest)) for c in classes])
    ranges = [(first.size_bytes, second.size_bytes - 1) for first, second in pairwise(classes)]
    ranges[-1] = (ranges[-1][0], classes[-1].size_bytes)
    return LoOgGP(
        latency_s=smallest.value,
        latency_ci=(smallest.low, smallest.high),
        intervals=tuple(SizeInterval(*r, o, g) for r, o, g in zip(ranges, overheads, gaps, strict=True)),
        pieces=tuple(LinePiece(*r, line) for r, line in zip(ranges, ways, strict=True)),
        about={"where": way.where, "source": "trace", "messages": way.used},
    )


def _overhead(c: SizeClass) -> BoundedEstimate:
    """Unknown where the program does not call MPI_Send: then it is left out, and may be as long as the way."""
    if c.overhead:
        return c.overhead
    return BoundedEstimate(0.0, 0.0, c.time.high if c.time else 0.0)


def _gap(c: SizeClass, smallest: BoundedEstimate) -> BoundedEstimate:
    overhead, time = _overhead(c), c.time or smallest
    value = max(overhead.value, time.value - smallest.value)
    return BoundedEstimate(value, max(overhead.low, time.low - smallest.high, 0.0), max(time.high, value))


def _lines(points: Sequence[_Point]) -> list[CostLine]:
    """Join each point to the next by a line; intervals hold every line through both ranges."""
    lines = []
    for (size, time), (next_size, next_time) in pairwise(points):
        bytes_ = next_size - size
        slope = (next_time.value - time.value) / bytes_
        slopes = (next_time.low - time.high) / bytes_, (next_time.high - time.low) / bytes_
        start = time.value - slope * (size - 1)
        starts = time.low - slopes[1] * (size - 1), time.high - slopes[0] * (size - 1)
        lines.append(CostLine(start, slope, starts, slopes))
    return lines
