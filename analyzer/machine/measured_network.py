"""A measured network (LoOgGP) as the simulator takes it: costs by size, in straight pieces.

Source: "TIA", section 3.2: overhead of the processor, gap between messages; the model's `time` is a message's way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from analyzer.loggp.model import LinePiece as Way
from analyzer.loggp.model import LoOgGP, SizeInterval
from analyzer.machine.description import CostPiece

_NS = 1e9


def pieces_of(path: str | Path) -> tuple[CostPiece, ...]:
    """Read the costs of the model in a file. Raises TracelibError if it holds none."""
    return costs_of(LoOgGP.read(path))


def costs_of(model: LoOgGP) -> tuple[CostPiece, ...]:
    """Return the costs of a model's messages.

    The sender's processor is busy for the overhead; the message arrives when its way is over; links are taken for the
    gap, so that they start one message a gap. An empty message costs as much as one of 1 byte.
    """
    starts = sorted({1, *_starts(model.intervals), *_starts(model.pieces)})
    ends = [*(start - 1 for start in starts[1:]), None]
    pieces = [_piece(model, start, end) for start, end in zip(starts, ends, strict=True)]
    at_1 = (float(f(1)) * _NS for f in (model.overhead, lambda s: max(model.time(s) - model.overhead(s), 0), model.gap))
    cpu, wire, hold = at_1
    return (CostPiece(0, cpu=cpu, wire=wire, hold=hold), *pieces)


def _starts(parts: Sequence[SizeInterval | Way]) -> list[int]:
    """Return the sizes from which the parts but the first hold: sizes between two belong to the nearer."""
    return [(a.to_bytes + b.from_bytes) // 2 + 1 for a, b in pairwise(parts)]


def _piece(model: LoOgGP, start: int, end: int | None) -> CostPiece:
    """Make one piece through the model at both of its ends; the last goes on as it begins."""
    last = end if end is not None else 2 * start + 1024
    cpu, cpu_slope = _line(model.overhead, start, last)
    wire, wire_slope = _line(lambda size: max(model.time(size) - model.overhead(size), 0.0), start, last)
    hold, hold_slope = _line(model.gap, start, last)
    return CostPiece(start, cpu, cpu_slope, wire, wire_slope, hold, hold_slope)


def _line(cost: Callable[[int], float], start: int, last: int) -> tuple[float, float]:
    """Return constant (at 0 bytes) and slope, in ns, of the line through cost(start) and cost(last)."""
    first = float(cost(start)) * _NS
    slope = (float(cost(last)) * _NS - first) / (last - start) if last > start else 0.0
    return first - slope * start, slope
