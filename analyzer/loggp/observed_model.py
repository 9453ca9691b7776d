"""LoOgGP model of a network from the messages of a traced run, if no measurement of the network exists.

The transfer time of a message is seen (`observed`), and so is the time in MPI_Send, its overhead. The gap to the next
message is not seen. It is at least the overhead. It is also at least the time that the message takes longer than the
smallest message. It is at most the time until the message has arrived. The model has the least gap; the largest gap is
the end of its confidence interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analyzer.loggp.line_fit import CostLine
from analyzer.loggp.model import LinePiece, LoOgGP, SizeInterval
from analyzer.loggp.observed import BoundedEstimate, MessageWay, SizeClass

FEWEST = 2
"""Least number of trusted size classes for a line."""

_Point = tuple[int, BoundedEstimate]


def model_of(way: MessageWay) -> LoOgGP | None:
    """Fit a LoOgGP model. Its lines join the fastest messages of the trusted size classes.

    Args:
        way: Results for messages within nodes, or between nodes.

    Returns:
        The model. None: fewer than two size classes are trusted.
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
    """Return the overhead of a size class. If it is not known, 0 with a range up to the transfer time.

    It is not known if the program does not call MPI_Send.
    """
    if c.overhead:
        return c.overhead
    return BoundedEstimate(0.0, 0.0, c.time.high if c.time else 0.0)


def _gap(c: SizeClass, smallest: BoundedEstimate) -> BoundedEstimate:
    overhead, time = _overhead(c), c.time or smallest
    value = max(overhead.value, time.value - smallest.value)
    return BoundedEstimate(value, max(overhead.low, time.low - smallest.high, 0.0), max(time.high, value))


def _lines(points: Sequence[_Point]) -> list[CostLine]:
    """Join each point to the next by a line. Confidence intervals contain every line through both points' ranges."""
    lines = []
    for (size, time), (next_size, next_time) in pairwise(points):
        bytes_ = next_size - size
        slope = (next_time.value - time.value) / bytes_
        slopes = (next_time.low - time.high) / bytes_, (next_time.high - time.low) / bytes_
        start = time.value - slope * (size - 1)
        starts = time.low - slopes[1] * (size - 1), time.high - slopes[0] * (size - 1)
        lines.append(CostLine(start, slope, starts, slopes))
    return lines
