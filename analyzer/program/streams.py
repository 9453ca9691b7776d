"""The operations of a program's streams, piece by piece or changed, wherever they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from analyzer.program.operation import PORTS
from analyzer.program.program import Program
from analyzer.program.storage import OperationSpill, PackedOperations

_PIECE = 1 << 14
"""Operations."""


def pieces(program: Program, stream: int | None = None) -> Iterator[np.ndarray]:
    """The operations (OP) of a stream, or of all one after the other, in arrays of limited length."""
    everything = slice(0, len(program.ops))
    range_ = everything if stream is None else program.stream(stream)
    if isinstance(program.ops, PackedOperations):
        yield from program.ops.pieces(range_.start, range_.stop)
        return
    for first in range(range_.start, range_.stop, _PIECE):
        yield program.ops[first : min(first + _PIECE, range_.stop)]


def has_ports(program: Program) -> bool:
    """Whether it speaks to other applications."""
    return any(np.isin(ops["kind"], PORTS).any() for ops in pieces(program))


def rewritten(program: Program, change: Callable[[int, np.ndarray], None]) -> Program:
    """The program after `change(stream, operations)` has set fields of the operations (OP) of each stream."""
    spill = OperationSpill()
    for stream in range(len(program.rank)):
        ops = np.array(program.ops[program.stream(stream)])
        change(stream, ops)
        spill.begin_stream()
        spill.append(ops)
    return replace(program, ops=spill.operations())
