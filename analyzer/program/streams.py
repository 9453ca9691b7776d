"""The operations of a program's streams, piece by piece or changed, wherever they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

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

    def change_each(streams: range, ops: np.ndarray, cuts: np.ndarray) -> None:
        for stream, first, last in zip(streams, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            change(stream, ops[first:last])

    return rewritten_together(program, change_each)


def rewritten_together(program: Program, change: Callable[[range, np.ndarray, np.ndarray], None]) -> Program:
    """The same, of neighbouring streams that have few operations at once: `change(streams, operations, cuts)`, where
    those of streams[k] are operations[cuts[k]:cuts[k + 1]]."""
    spill = OperationSpill()
    for streams in _neighbours(program):
        cuts = program.offsets[streams.start : streams.stop + 1]
        ops = np.array(program.ops[int(cuts[0]) : int(cuts[-1])])
        change(streams, ops, cuts - cuts[0])
        for first, last in pairwise((cuts - cuts[0]).tolist()):
            spill.begin_stream()
            spill.append(ops[first:last])
    return replace(program, ops=spill.operations())


def _neighbours(program: Program) -> Iterator[range]:
    """All streams: of those with few operations as many as a piece holds, others alone."""
    ends, first = program.offsets[1:], 0
    while first < len(ends):
        last = int(np.searchsorted(ends, program.offsets[first] + _PIECE, side="right"))
        yield range(first, max(last, first + 1))
        first = max(last, first + 1)
