"""Operations (OP) in packed form, one after the other: in memory up to 4 MiB, otherwise in a temporary file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple, overload

import numpy as np

from analyzer._replay import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.program.operation import OP
from analyzer.temporary_files import unnamed_file

IN_MEMORY = 1 << 22
"""Number of bytes of packed operations above which they go to a temporary file."""
UNPACKED = 1 << 16
"""Largest number of operations that are returned as an array; more stay packed."""

_BLOCK, _MOST = lib.PACK_BLOCK, lib.PACK_MOST
_AT_ONCE = 16 * _BLOCK
"""Number of operations that are packed, or unpacked by an iterator, at a time."""
_WRITTEN_AT_ONCE = 1 << 20
"""Number of bytes that are written to a temporary file at a time."""


class PackedOperations:
    """Sequence of operations (OP) in packed form (csrc/replay/packed/format.h). An index or a slice unpacks operations.

    Args:
        where: Packed bytes (uint8), with lib.PACK_MOST more bytes at the end; or an open file with them.
        blocks: Byte at which each block of lib.PACK_BLOCK operations begins, and at the end the number of bytes; int64.
        count: Number of operations.
        virtual_threads: Largest number of virtual threads of an operation; 0: none is parallel.
        places: Number of entries of the packer's dictionary that operations may refer to, at most.
    """

    def __init__(
        self, where: np.ndarray | BinaryIO, blocks: np.ndarray, count: int, virtual_threads: int,
        places: int = lib.PACK_PLACES,
    ) -> None:  # fmt: skip
        self.memory = where if isinstance(where, np.ndarray) else None
        self.file = None if isinstance(where, np.ndarray) else where
        self.blocks, self.virtual_threads, self.places = blocks, virtual_threads, places
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, where: int | np.integer) -> np.void: ...
    @overload
    def __getitem__(self, where: slice) -> np.ndarray: ...
    def __getitem__(self, where: Any) -> Any:
        """Return one operation, or an array with the operations of a slice without a step.

        Raises TracelibError if the file can no longer be read.
        """
        if isinstance(where, slice):
            first, last, _ = where.indices(len(self))
            return self._unpacked(first, max(first, last))
        first = range(len(self))[where]
        return self._unpacked(first, first + 1)[0]

    def pieces(self, first: int = 0, last: int | None = None) -> Iterator[np.ndarray]:
        """Yield the operations [first, last) in arrays of limited length. `last` None: up to the end."""
        stop = len(self) if last is None else last
        cuts = range(first // _AT_ONCE * _AT_ONCE + _AT_ONCE, stop, _AT_ONCE)
        for begin, end in pairwise((first, *cuts, stop)) if stop > first else ():
            yield self._unpacked(begin, end)

    def parts(self) -> Iterator[memoryview]:
        """Yield all packed bytes in order, at most IN_MEMORY (4 MiB) at a time."""
        cuts = range(0, int(self.blocks[-1]), IN_MEMORY)
        for begin, end in pairwise((*cuts, int(self.blocks[-1]))):
            yield self._read(begin, end)[: end - begin].data

    def _read(self, first: int, last: int) -> np.ndarray:
        """Return the bytes [first, last) (uint8), followed by the bytes that the kernel may read behind them."""
        if self.memory is not None:
            return self.memory[first : last + _MOST]
        found = np.zeros(last - first + _MOST, np.uint8)
        assert self.file is not None
        if os.preadv(self.file.fileno(), [found[: last - first].data], first) != last - first:
            raise unreadable()
        return found

    def _unpacked(self, first: int, last: int) -> np.ndarray:
        found = np.empty(last - first, OP)
        if not len(found):
            return found
        begin, end = self.blocks[[first // _BLOCK, -(-last // _BLOCK)]].tolist()
        packed = self._read(begin, end)
        if not lib.unpack_operations(
            pointer(packed, "uint8_t *"), end - begin, first % _BLOCK, len(found), pointer(found)
        ):
            raise unreadable()
        return found


def unreadable() -> TracelibError:
    """Return the error for a temporary file that is gone, or shorter than it was."""
    return TracelibError("a temporary file can no longer be read", "is the file system of TMPDIR still there?")


class SpillMark(NamedTuple):
    """Position in an OperationSpill to which it can return, with the state of its packer there."""

    packer: Any
    operations: int
    bytes: int
    parts: int


class OperationSpill:
    """Store of operations (OP), packed in order of appending: in memory, or if there are many in a temporary file.

    The file has no name, and vanishes with the result of `operations`.
    """

    def __init__(self) -> None:
        self._packer = ffi.gc(lib.packer_new(), lib.packer_free)
        if not self._packer:
            raise MemoryError
        self._count = self._bytes = 0
        self._memory = bytearray()
        self._blocks: list[np.ndarray] = []
        self._file: BinaryIO | None = None

    def append(self, block: np.ndarray) -> int:
        """Append operations (OP), and return their number. Raises TracelibError if the disk has no room for them."""
        block = np.ascontiguousarray(block)
        for first in range(0, len(block), _AT_ONCE):
            self._pack(block[first : first + _AT_ONCE])
        return len(block)

    def begin_stream(self) -> None:
        """Begin the operations of another thread: the packer starts with an empty dictionary."""
        lib.packer_forget(self._packer)

    @property
    def packer(self) -> int:
        """Address of the `struct packer`, for callers that pack operations themselves.

        They pass the bytes to `append_packed`.
        """
        return int(ffi.cast("uintptr_t", self._packer))

    def append_packed(self, packed: memoryview, begins: np.ndarray, count: int) -> int:
        """Append operations that the packer has just packed, and return their number.

        Args:
            packed: The packed bytes.
            begins: Byte in `packed` at which each new block of lib.PACK_BLOCK operations begins, int64.
            count: Number of operations.
        """
        self._blocks.append(begins + self._bytes)
        self._keep(packed)
        self._count += count
        self._bytes += len(packed)
        return count

    def mark(self) -> SpillMark:
        """Return the current end, for `return_to`."""
        packer = ffi.gc(lib.packer_new(), lib.packer_free)
        if not packer:
            raise MemoryError
        lib.packer_copy(packer, self._packer)
        return SpillMark(packer, self._count, self._bytes, len(self._blocks))

    def return_to(self, mark: SpillMark) -> None:
        """Remove all operations that were appended after `mark`."""
        lib.packer_copy(self._packer, mark.packer)
        self._count, self._bytes = mark.operations, mark.bytes
        del self._blocks[mark.parts :], self._memory[mark.bytes :]
        if self._file is not None:
            self._file.seek(mark.bytes)
            self._file.truncate()

    def _pack(self, block: np.ndarray) -> None:
        out = np.empty(len(block) * _MOST, np.uint8)
        begins = np.empty(-(-(self._count + len(block)) // _BLOCK) - -(-self._count // _BLOCK), np.int64)
        size = lib.packer_append(
            self._packer, pointer(block), len(block), pointer(out, "uint8_t *"),
            pointer(begins, "int64_t *"),
        )  # fmt: skip
        self.append_packed(out[:size].data, begins, len(block))

    def _keep(self, packed: memoryview) -> None:
        if self._file is None and len(self._memory) + len(packed) <= IN_MEMORY:
            self._memory += packed
            return
        try:
            if self._file is None:
                self._file = unnamed_file(_WRITTEN_AT_ONCE)
                self._file.write(self._memory)
                self._memory.clear()
            self._file.write(packed)
        except OSError as error:
            raise _no_room(error) from error

    def operations(self) -> np.ndarray | PackedOperations:
        """Return all operations: an array (OP) of at most UNPACKED (65536), or the packed operations.

        Append nothing after this.
        """
        found = self.packed()
        return found[:] if len(found) <= UNPACKED else found

    def packed(self) -> PackedOperations:
        """Return all operations in packed form. Append nothing after this."""
        blocks = np.concatenate([*self._blocks, np.array([self._bytes])])
        known = blocks, self._count, lib.packer_virtual_threads(self._packer), lib.packer_places(self._packer)
        if self._file is None:
            return PackedOperations(np.frombuffer(self._memory + bytes(_MOST), np.uint8), *known)
        try:
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from error
        return PackedOperations(self._file, *known)


def packed(ops: np.ndarray | PackedOperations) -> PackedOperations:
    """Return operations in packed form. Operations that are packed already are returned as they are."""
    if isinstance(ops, PackedOperations):
        return ops
    spill = OperationSpill()
    spill.append(ops)
    return spill.packed()


def _no_room(error: OSError) -> TracelibError:
    return TracelibError(f"temporary files cannot be written ({error.strerror})", "set TMPDIR to a folder with room")
