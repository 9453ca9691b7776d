"""The records of one rank of a Dimemas trace: its operations, formatted by a kernel."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.operations.walk import RankOperations, is_definable
from analyzer.trace import Trace

OPERATION_BYTES = 320
"""Room for the text of one operation (see the kernel's header)."""


def world_id(trace: Trace) -> int:
    """Id of the communicator of all ranks: the first of that size, else a new one."""
    for communicator in trace.communicators:
        if is_definable(communicator) and len(communicator.members) == trace.size:
            return communicator.id
    return max((c.id for c in trace.communicators), default=0) + 1


class RankWriter:
    """Formats ranks one after the other with the same tables and the same memory."""

    def __init__(self, trace: Trace) -> None:
        self.operations = RankOperations(trace)
        self._comm_ids = np.array([world_id(trace), *(c.id for c in trace.communicators)], np.int32)
        self._out = np.zeros(0, np.uint8)

    def write(self, rank: int, file: BinaryIO) -> int:
        """Write the records of one rank; returns their size in bytes."""
        size = file.write(f"1:{rank}:0:0.000000000\n".encode())
        for operations in self.operations.of(rank):
            size += file.write(self._text(rank, operations))
        return size

    def _text(self, rank: int, operations: np.ndarray):
        """The text (bytes-like) of a block."""
        if len(self._out) < len(operations) * OPERATION_BYTES:
            self._out = np.empty(len(operations) * OPERATION_BYTES, np.uint8)
        size = lib.dim_text(
            ffi.cast("void *", operations.ctypes.data), len(operations), rank,
            ffi.cast("int32_t *", self._comm_ids.ctypes.data), ffi.cast("char *", self._out.ctypes.data),
        )  # fmt: skip
        return self._out[:size].data
