"""Converts a program to the form that the C code of `csrc/replay` reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analyzer._replay import ffi
from analyzer.c_arrays import pointer
from analyzer.program.model import Program
from analyzer.program.storage import PackedOperations, packed


@dataclass
class KeptMemory:
    """Memory that the C code reads. It stays alive as long as this object."""

    things: list[Any] = field(default_factory=list)

    def new(self, kind: str, *init: Any) -> Any:
        """Allocate memory as `ffi.new` does."""
        self.things.append(ffi.new(kind, *init))
        return self.things[-1]

    def pointer(self, array: np.ndarray, kind: str) -> Any:
        """Return a C pointer of type `kind` to the data of an array."""
        self.things.append(array)
        return pointer(array, kind, ffi)


def fill_program(keep: KeptMemory, c: Any, program: Program, nodes: list[int], *, buffers: bool) -> None:
    """Fill a `struct program` of the C code.

    Args:
        keep: Owner of the memory.
        c: The struct.
        program: The program.
        nodes: Node of each rank.
        buffers: Sends up to the size `program.buffered` do not wait. False: the program has no such size.
    """
    members = np.array([m for group in program.communicators for m in group], np.int32)
    offsets = np.cumsum([0, *map(len, program.communicators)]).astype(np.int64)
    c.n_ranks, c.n_streams, c.n_comms = program.ranks, len(program.rank), len(program.communicators)
    c.n_factors = len(program.factors)
    c.buffered = program.buffered if buffers else -1
    _operations(keep, c, packed(program.ops))
    for name, array, kind in (
        ("offsets", program.offsets, np.int64), ("rank", program.rank, np.int32), ("thread", program.thread, np.int32),
        ("slots", program.slots, np.int32), ("comm_offsets", offsets, np.int64), ("members", members, np.int32),
        ("node", np.array(nodes), np.int32), ("factors", program.factors, np.float64),
    ):  # fmt: skip
        setattr(c, name, keep.pointer(np.ascontiguousarray(array, kind), ffi.typeof(getattr(c, name)).cname))
    if program.shared_slots is not None:
        c.shared_slots = keep.pointer(np.ascontiguousarray(program.shared_slots, np.int32), "int32_t *")
    if program.priority is not None:
        c.priority = keep.pointer(np.ascontiguousarray(program.priority, np.int64), "int64_t *")


def _operations(keep: KeptMemory, c: Any, ops: PackedOperations) -> None:
    keep.things.append(ops)
    c.file, c.virtual_threads, c.places = -1, ops.virtual_threads, ops.places
    c.blocks, c.packed_bytes = keep.pointer(ops.blocks, "int64_t *"), ops.blocks[-1]
    if ops.memory is not None:
        c.packed = keep.pointer(ops.memory, "uint8_t *")
    elif ops.file is not None:
        c.file = ops.file.fileno()
