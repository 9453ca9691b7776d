"""Conversion of a measured network (LoOgGP) to the simulator's form: costs by message size, in straight pieces.

Source: "TIA", section 3.2: overhead of the processor, gap between messages. The model's `time` is the transfer time.
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
    """Read the LoOgGP model in a file, and return its costs by message size.

    Raises:
        TracelibError: The file holds no model.
    """
    return costs_of(LoOgGP.read(path))


def costs_of(model: LoOgGP) -> tuple[CostPiece, ...]:
    """Convert a LoOgGP model to costs by message size.

    The sender's processor is busy for the overhead. The message arrives when its transfer time is over. Links are
    occupied for the gap, so that they start one message per gap. An empty message costs as much as a message of 1 byte.
    """
    starts = sorted({1, *_starts(model.intervals), *_starts(model.pieces)})
    ends = [*(start - 1 for start in starts[1:]), None]
    pieces = [_piece(model, start, end) for start, end in zip(starts, ends, strict=True)]
    at_1 = (float(f(1)) * _NS for f in (model.overhead, lambda s: max(model.time(s) - model.overhead(s), 0), model.gap))
    cpu, wire, hold = at_1
    return (CostPiece(0, cpu=cpu, wire=wire, hold=hold), *pieces)


def _starts(parts: Sequence[SizeInterval | Way]) -> list[int]:
    """Return the sizes at which all parts but the first begin. Sizes between two parts belong to the nearer one."""
    return [(a.to_bytes + b.from_bytes) // 2 + 1 for a, b in pairwise(parts)]


def _piece(model: LoOgGP, start: int, end: int | None) -> CostPiece:
    """Make one piece that equals the model at both of its ends. The last piece has no end and keeps its slope."""
    last = end if end is not None else 2 * start + 1024
    cpu, cpu_slope = _line(model.overhead, start, last)
    wire, wire_slope = _line(lambda size: max(model.time(size) - model.overhead(size), 0.0), start, last)
    hold, hold_slope = _line(model.gap, start, last)
    return CostPiece(start, cpu, cpu_slope, wire, wire_slope, hold, hold_slope)


def _line(cost: Callable[[int], float], start: int, last: int) -> tuple[float, float]:
    """Return the line through cost(start) and cost(last): its value at 0 bytes and its slope, in ns."""
    first = float(cost(start)) * _NS
    slope = (float(cost(last)) * _NS - first) / (last - start) if last > start else 0.0
    return first - slope * start, slope
