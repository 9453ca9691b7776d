"""The simulator's program of a trace: the operations of all its ranks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analyzer.errors import TracelibError
from analyzer.operations.operation import OP, Program, virtual_threads
from analyzer.operations.walk import RankOperations
from analyzer.trace import Trace

IN_MEMORY = 1 << 18
"""Operations; more of them are kept in a temporary file and mapped."""


def program_of(trace: Trace, *, cpu_time: bool = True) -> Program:
    """All operations of a trace, rank after rank; those of a long run lie in a temporary file that has no name.

    Communicator 0 is the world, k + 1 that of index k in the trace. An intercommunicator has no members here: nothing
    names it. The threads of a rank are one sequence, in order of time. Bursts are as long as their CPU time
    says, where it was measured and `cpu_time` is wanted.
    """
    walk = RankOperations(trace, cpu_time=cpu_time)
    spill = _Spill(Path(tempfile.gettempdir()))
    lengths, slots = [], []
    for rank in range(trace.size):
        lengths.append(sum(spill.append(block) for block in walk.of(rank)))
        slots.append(walk.slots)
    groups = [c.members if not c.remote else () for c in trace.communicators]
    return Program(
        ops=spill.array(),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        rank=np.arange(trace.size, dtype=np.int32),
        thread=np.zeros(trace.size, np.int32),
        slots=np.array(slots, np.int32),
        communicators=(tuple(range(trace.size)), *groups),
        ranks=trace.size,
        name=Path(trace.path).name,
        virtual_threads=spill.virtual_threads,
    )


class _Spill:
    """Operations one after the other, in memory as long as they are few."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._blocks: list[np.ndarray] = []
        self._count = self._waiting = self.virtual_threads = 0
        self._file: BinaryIO | None = None

    def append(self, block: np.ndarray) -> int:
        """Keep a block; returns its length."""
        self._blocks.append(block)
        self.virtual_threads = max(self.virtual_threads, virtual_threads(block))
        self._count += len(block)
        self._waiting += len(block)
        if self._waiting > IN_MEMORY:
            self._write()
        return len(block)

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115, the mapped array needs it longer
            for block in self._blocks:
                self._file.write(np.ascontiguousarray(block).view(np.uint8).data)
            self._file.flush()
        except OSError as error:
            raise TracelibError(
                f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room"
            ) from error
        self._blocks.clear()
        self._waiting = 0

    def array(self) -> np.ndarray:
        """All of them."""
        if self._file is None:
            return np.concatenate([np.zeros(0, OP), *self._blocks])
        self._write()
        return np.memmap(self._file, OP, "r+", shape=(self._count,))
