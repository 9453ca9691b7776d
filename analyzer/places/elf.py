"""Reader of ELF files: build id, sections, and functions by address."""

from __future__ import annotations

import lzma
import mmap
import os
import struct
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from analyzer.places.function_bounds import FunctionBounds

_IDENTITY = b"\x7fELF\x02\x01"  # 64 bits, little-endian: all machines that have MPI today
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = np.dtype(
    [
        ("name", "<u4"),
        ("type", "<u4"),
        ("flags", "<u8"),
        ("address", "<u8"),
        ("offset", "<u8"),
        ("size", "<u8"),
        ("link", "<u4"),
        ("info", "<u4"),
        ("align", "<u8"),
        ("entry", "<u8"),
    ]
)
_SEGMENT = np.dtype(
    [("type", "<u4"), ("flags", "<u4")]
    + [(name, "<u8") for name in ("offset", "address", "physical", "file_size", "size", "align")]
)
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_NOTE_SECTION, _EMPTY_SECTION, _LOAD, _BUILD_ID_NOTE = 7, 8, 1, 3
_INDEX_OF_FRAMES = 0x6474E550  # PT_GNU_EH_FRAME
_INTERPRETER = 3  # PT_INTERP: it is a program, and no library
_FUNCTION_TYPES = (2, 10)  # FUNC, GNU_IFUNC
_RANK_OF_BINDING = np.array([2, 0, 1] + [3] * 13)  # global before weak before local
_ENTRY_BYTES = 64
"""Assumed size of `_start` in bytes. Its only call is within this size, and later code of it makes no calls."""
_MOST_DECOMPRESSED = 1 << 28


@dataclass(frozen=True)
class Functions:
    """Functions of a symbol table, sorted by address; each address occurs once.

    Attributes:
        size: Size of each function in bytes; 0: the function extends to the next one.
    """

    address: np.ndarray
    size: np.ndarray
    name: list[str]

    def find(self, addresses: np.ndarray) -> np.ndarray:
        """Return the index of the function that contains each address; -1: no function contains it."""
        at = np.searchsorted(self.address, addresses, "right") - 1
        if not len(self.address):
            return at
        within = (at >= 0) & ((self.size[at] == 0) | (addresses - self.address[at] < self.size[at]))
        return np.where(within, at, -1)


class Elf:
    """An ELF file, mapped into memory. Fields that a damaged file lacks read as empty."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data = data
        head = _HEADER.unpack_from(data)
        self._entry, self._segments_at, self._sections_at = head[4:7]
        self._segment_count, self._section_count, self._names_section = head[10], head[12], head[13]

    @cached_property
    def _sections(self) -> np.ndarray:
        found = self._array(self._sections_at, self._section_count, _SECTION)
        if not self._section_count and self._sections_at:  # too many for the header: see the first section
            first = self._array(self._sections_at, 1, _SECTION)
            found = self._array(self._sections_at, int(first["size"][0]) if len(first) else 0, _SECTION)
        return found

    @cached_property
    def _by_name(self) -> dict[str, int]:
        at = self._names_section if self._names_section != 0xFFFF else int(self._sections["link"][0])
        if at >= len(self._sections):
            return {}
        names = self._bytes(self._sections[at])
        return {_text(names, int(row["name"])): i for i, row in enumerate(self._sections)}

    def _array(self, offset: int, count: int, dtype: np.dtype) -> np.ndarray:
        if offset + count * dtype.itemsize > len(self._data):
            return np.empty(0, dtype)
        return np.frombuffer(self._data, dtype, count, offset).copy()  # a copy holds no file open

    def _bytes(self, section: np.void) -> bytes:
        begin, size = int(section["offset"]), int(section["size"])
        return b"" if section["type"] == _EMPTY_SECTION else self._data[begin : begin + size]

    def section(self, name: str) -> bytes:
        """Return the bytes of a section as stored in the file, perhaps compressed; empty: there is no such section."""
        return self._bytes(self._sections[self._by_name[name]]) if name in self._by_name else b""

    def has(self, *names: str) -> bool:
        """Return True if the file holds the contents of at least one of these sections, not only its name."""
        there = [self._sections[self._by_name[name]] for name in names if name in self._by_name]
        return any(row["type"] != _EMPTY_SECTION and row["size"] for row in there)

    @property
    def has_debug_info(self) -> bool:
        """True if this file itself contains DWARF debug information."""
        return self.has(".debug_info", ".zdebug_info")

    @cached_property
    def _segments(self) -> np.ndarray:
        return self._array(self._segments_at, self._segment_count, _SEGMENT)

    @cached_property
    def load_address(self) -> int:
        """Address of the first loaded byte. It is mostly 0 for a file that can be loaded at any address."""
        loaded = self._segments["address"][self._segments["type"] == _LOAD]
        return int(loaded[0]) if len(loaded) else 0

    def _loaded(self, address: int, size: int) -> bytes:
        """Return up to `size` bytes that the file loads at an address. Fewer, or none: the file has no more there."""
        for segment in self._segments[self._segments["type"] == _LOAD]:
            past = address - int(segment["address"])
            if 0 <= past < int(segment["file_size"]):
                begin = int(segment["offset"]) + past
                return self._data[begin : begin + min(size, int(segment["file_size"]) - past)]
        return b""

    def function_bounds(self) -> FunctionBounds:
        """Return the bounds of functions from the tables for unwinding. A stripped file has these tables, too."""
        index = self._segments["address"][self._segments["type"] == _INDEX_OF_FRAMES]
        return FunctionBounds(self._loaded, int(index[0]) if len(index) else 0)

    @cached_property
    def build_id(self) -> str:
        """Build id in hexadecimal; "": the file has none."""
        for section in self._sections[self._sections["type"] == _NOTE_SECTION]:
            if found := _build_id(self._bytes(section)):
                return found
        return ""

    def debug_link(self) -> tuple[str, int] | None:
        """Return name and CRC-32 of the separate file with the debug information. None: the file names none."""
        contents = self.section(".gnu_debuglink")
        name = _text(contents, 0)
        return (name, int.from_bytes(contents[-4:], "little")) if name and len(contents) >= 8 else None

    def offers(self, names: Collection[str]) -> bool:
        """Return True if the file is a library (not a program) that exports at least one of these functions."""
        is_program = (self._segments["type"] == _INTERPRETER).any()
        return not is_program and not set(names).isdisjoint(self._symbols(".dynsym", ".dynstr")[1])

    def functions(self) -> Functions:
        """Return the functions of the symbol table, and always the entry function of a program.

        A stripped file has no symbol table. Its functions are the exported ones and those listed in `.gnu_debugdata`.
        """
        own = [self._symbols(".symtab", ".strtab")]
        if not len(own[0][0]):
            own = [self._symbols(".dynsym", ".dynstr"), self._kept()._symbols(".symtab", ".strtab")]
        rows = np.concatenate([symbols for symbols, _ in own])
        names = [name for _, texts in own for name in texts]
        if self._entry and self._entry not in rows["value"]:
            rows = np.append(rows, np.array([(0, 0, 0, 0, self._entry, _ENTRY_BYTES)], _SYMBOL))
            names.append("_start")
        order = np.lexsort((_RANK_OF_BINDING[rows["info"] >> 4], rows["value"]))
        _, first = np.unique(rows["value"][order], return_index=True)
        chosen = order[first]
        return Functions(rows["value"][chosen], rows["size"][chosen], [names[i] for i in chosen])

    def _symbols(self, table: str, strings: str) -> tuple[np.ndarray, list[str]]:
        contents, texts = self.section(table), self.section(strings)
        rows = np.frombuffer(contents, _SYMBOL, len(contents) // _SYMBOL.itemsize)
        wanted = np.isin(rows["info"] & 15, _FUNCTION_TYPES) & (rows["section"] != 0) & (rows["name"] < len(texts))
        return rows[wanted], [_text(texts, int(at)) for at in rows["name"][wanted]]

    def _kept(self) -> Elf:
        """Return the ELF file of symbols in `.gnu_debugdata` of a stripped file, or a file without symbols."""
        try:
            unpacked = lzma.LZMADecompressor().decompress(self.section(".gnu_debugdata"), _MOST_DECOMPRESSED)
        except (lzma.LZMAError, EOFError):
            unpacked = b""
        return Elf(unpacked if unpacked.startswith(_IDENTITY) and len(unpacked) >= _HEADER.size else _NOTHING)


_NOTHING = _HEADER.pack(_IDENTITY, *[0] * 13)


def open_elf(path: str | os.PathLike[str]) -> Elf | None:
    """Open an ELF file. None: the file cannot be read, or is not a 64-bit little-endian ELF file."""
    try:
        with Path(path).open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    return Elf(data) if data[: len(_IDENTITY)] == _IDENTITY and len(data) >= _HEADER.size else None


def _text(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return strings[at : end if end >= 0 else len(strings)].decode("utf-8", "replace")


def _build_id(notes: bytes) -> str:
    at = 0
    while at + 12 <= len(notes):
        name_bytes, size, kind = struct.unpack_from("<III", notes, at)
        begin = at + 12 + (name_bytes + 3) // 4 * 4
        if kind == _BUILD_ID_NOTE and notes[at + 12 : at + 12 + name_bytes] == b"GNU\0":
            return notes[begin : begin + size].hex()
        at = begin + (size + 3) // 4 * 4
    return ""
