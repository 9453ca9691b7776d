"""Begin and end of functions from the tables for unwinding (`.eh_frame`), which a stripped file has, too."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cached_property

import numpy as np

_VERSION, _OMITTED, _SORTED = 1, 0xFF, 0x3B
"""Values in `.eh_frame_hdr`: its only version, the mark of a missing part, and the encoding of the sorted table.

All linkers write this encoding: an entry is a pair of 32-bit offsets from the begin of `.eh_frame_hdr`.
"""
_ENTRY = np.dtype([("function", "<i4"), ("description", "<i4")])
_SIZE_OF_POINTER = {0x0: 8, 0x2: 2, 0x3: 4, 0x4: 8, 0x8: 8, 0xA: 2, 0xB: 4, 0xC: 8}
"""Bytes of a pointer by the lower four bits of its encoding (DW_EH_PE_*). The LEB128 encodings are missing."""
_MOST_READ = 256
"""Number of bytes of a description that are read. The part before its instructions is shorter."""


class FunctionBounds:
    """Begin and end of functions from the sorted index of `.eh_frame` (Linux Standard Base, `.eh_frame_hdr`).

    Args:
        read: Function (address, size) -> bytes that the file loads there; fewer, or none, if the file has no more.
        index: Address of the index. 0: the file has no index.
    """

    def __init__(self, read: Callable[[int, int], bytes], index: int) -> None:
        self._read, self._index = read, index

    @cached_property
    def _table(self) -> np.ndarray:
        """Addresses of functions and of their descriptions, sorted; int64 of shape (functions, 2).

        Empty: there is no index, or its format is unknown.
        """
        head = self._read(self._index, 4) if self._index else b""
        if len(head) < 4 or head[0] != _VERSION or head[3] != _SORTED or _OMITTED in (head[1], head[2]):
            return np.empty((0, 2), np.int64)
        first, count = (_SIZE_OF_POINTER.get(encoding & 0xF, 0) for encoding in (head[1], head[2]))
        number = int.from_bytes(self._read(self._index + 4 + first, count), "little") if first and count else 0
        stored = self._read(self._index + 4 + first + count, number * _ENTRY.itemsize)
        rows = np.frombuffer(stored, _ENTRY, len(stored) // _ENTRY.itemsize)
        table = np.stack([rows["function"], rows["description"]], axis=1).astype(np.int64) + self._index
        return table[np.argsort(table[:, 0], kind="stable")]

    def find(self, addresses: np.ndarray) -> np.ndarray:
        """Return the begin of the function that contains each address; -1: no function contains it.

        Args:
            addresses: Addresses, uint64.

        Returns:
            Addresses of begins, int64.
        """
        where = addresses.astype(np.int64)
        row = np.searchsorted(self._table[:, 0], where, "right") - 1
        used, number = np.unique(row, return_inverse=True)
        end = np.array([self._end(int(at)) if at >= 0 else -1 for at in used.tolist()], np.int64)[number]
        return np.where(where < end, self._table[row, 0] if len(self._table) else -1, -1)

    def _end(self, row: int) -> int:
        """Return the end address of the function in a row of the table. If it is unknown, return the begin."""
        begin, description = self._table[row].tolist()
        entry = self._entry(description)
        size = _SIZE_OF_POINTER.get(self._encoding(description, entry) & 0xF, 0)
        length = entry[4 + size : 4 + 2 * size]
        return begin + (int.from_bytes(length, "little") if len(length) == size else 0)

    def _entry(self, address: int) -> bytes:
        """Return the first bytes of an entry of `.eh_frame`, from behind its length field."""
        contents = self._read(address, _MOST_READ)
        if len(contents) < 12:
            return b""
        length = int.from_bytes(contents[:4], "little")
        if length == 0xFFFFFFFF:
            return contents[12 : 12 + int.from_bytes(contents[4:12], "little")]
        return contents[4 : 4 + length]

    def _encoding(self, description: int, entry: bytes) -> int:
        """Return the encoding of addresses in a description. Its CIE gives the encoding with the letter R."""
        is_long = self._read(description, 4) == b"\xff\xff\xff\xff"
        common = self._entry(description + (12 if is_long else 4) - int.from_bytes(entry[:4], "little"))
        return _encoding_in(common)


def _encoding_in(common: bytes) -> int:
    """Return the encoding of addresses in the descriptions of a CIE.

    It follows the letter R of the augmentation of the CIE; without this letter, addresses are absolute. `_OMITTED`: the
    CIE cannot be read.
    """
    try:
        kind, version = struct.unpack_from("<IB", common)
        letters, at = common[5 : common.index(b"\0", 5)], common.index(b"\0", 5) + 1
        if kind or version not in (1, 3) or (letters and letters[:1] != b"z"):
            return _OMITTED
        at = _behind_leb128(common, _behind_leb128(common, at))  # factors of code and data
        at = at + 1 if version == 1 else _behind_leb128(common, at)  # the register of the return address
        at = _behind_leb128(common, at)  # length of the augmentation
        for letter in letters[1:].decode("latin-1"):
            if letter == "R":
                return common[at]
            if letter == "P":
                at += _SIZE_OF_POINTER[common[at] & 0xF]
            at += letter in "LP"
    except (IndexError, KeyError, ValueError, struct.error):
        return _OMITTED
    return 0


def _behind_leb128(contents: bytes, at: int) -> int:
    while contents[at] & 0x80:
        at += 1
    return at + 1
