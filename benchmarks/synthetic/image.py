"""Rank files without HDF5: the bytes that the runtime begins a file with, and the rows behind them as it stores them.

The format is that of `csrc/generate/template.py` and `csrc/runtime/record/store.c`: each table's chunks are found
through a B-tree of at most two levels.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from csrc.generate import template
from tracelib import schema

_NODE_ENTRIES = 2 * template.HALF_FANOUT
_UNDEFINED = 2**64 - 1
_KEY = np.dtype([("bytes", "<u4"), ("mask", "<u4"), ("row", "<u8"), ("offset", "<u8"), ("child", "<u8")])
_END_OF_FILE_AT = 44
_ALIGNED = 8


class Image:
    """The first bytes of all rank files of a program with these procedures."""

    def __init__(self, procedures: list[str]) -> None:
        self._template = template.make(schema, procedures)
        self._tables = {table.name: table for table in self._template.tables}

    def write(self, path: Path, tables: Mapping[str, np.ndarray], attributes: Mapping[str, int | str]) -> None:
        """Write a file with these rows and these attributes; other tables are empty, other attributes 0 or empty."""
        head = bytearray(self._template.image)
        parts: list[tuple[int, bytes]] = []
        end = len(head) + -len(head) % _ALIGNED
        for name, rows in tables.items():
            if len(rows):
                end = self._put_table(head, parts, name, rows, end)
        for name, value in attributes.items():
            self._put_attribute(head, name, value)
        struct.pack_into("<Q", head, _END_OF_FILE_AT, end)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            for at, data in ((0, bytes(head)), *parts):
                if os.pwrite(file, data, at) != len(data):
                    raise OSError(f"{path}: could not be written")
            os.ftruncate(file, end)
        finally:
            os.close(file)

    def _put_attribute(self, head: bytearray, name: str, value: int | str) -> None:
        if isinstance(value, int):
            struct.pack_into("<Q", head, self._template.integer_at[name], value)
            return
        text, room = value.encode(), schema.TEXT_ATTRIBUTES[name]
        if len(text) > room:
            raise ValueError(f"{name}: at most {room} bytes, not {value}")
        at = self._template.text_at[name]
        head[at : at + len(text)] = text

    def _put_table(self, head: bytearray, parts: list[tuple[int, bytes]], name: str, rows: np.ndarray, end: int) -> int:
        """Add the tree and the chunks, behind `end`. Return the new end. The rest of the last chunk is a hole."""
        table = self._tables[name]
        chunk_bytes = table.chunk_rows * table.row_bytes
        chunks = -(-len(rows) // table.chunk_rows)
        address, data_at = self._put_tree(parts, chunks, table.chunk_rows, chunk_bytes, end)
        struct.pack_into("<Q", head, table.length_at, len(rows))
        struct.pack_into("<Q", head, table.layout_at, address)
        parts.append((data_at, rows.tobytes()))
        return data_at + chunks * chunk_bytes

    @staticmethod
    def _put_tree(
        parts: list[tuple[int, bytes]], chunks: int, chunk_rows: int, chunk_bytes: int, at: int
    ) -> tuple[int, int]:
        """Add a tree at `at`. Return its address and the first chunk's, which the others follow."""
        leaves = -(-chunks // _NODE_ENTRIES)
        if leaves > _NODE_ENTRIES:
            raise ValueError(f"a table of more than {_NODE_ENTRIES**2 * chunk_rows} rows")
        leaf_at = [at + k * template.NODE_BYTES for k in range(leaves)]
        root_at = at + leaves * template.NODE_BYTES
        data_at = root_at + (template.NODE_BYTES if leaves > 1 else 0)
        for k, place in enumerate(leaf_at):
            numbers = np.arange(k * _NODE_ENTRIES, min((k + 1) * _NODE_ENTRIES, chunks) + 1)
            left = leaf_at[k - 1] if k else _UNDEFINED
            right = leaf_at[k + 1] if k + 1 < leaves else _UNDEFINED
            children = data_at + numbers * chunk_bytes
            parts.append((place, _node(0, left, right, numbers * chunk_rows, children, chunk_bytes)))
        if leaves == 1:
            return at, data_at
        rows = np.minimum(np.arange(leaves + 1) * _NODE_ENTRIES, chunks) * chunk_rows
        parts.append((root_at, _node(1, _UNDEFINED, _UNDEFINED, rows, np.array([*leaf_at, 0]), chunk_bytes)))
        return root_at, data_at


def _node(level: int, left: int, right: int, rows: np.ndarray, children: np.ndarray, chunk_bytes: int) -> bytes:
    """Return a node of a version 1 B-tree of chunks; the last entry is a key.

    Source: HDF5 File Format Specification, III.A.1.
    """
    keys = np.zeros(len(rows), _KEY)
    keys["bytes"], keys["row"], keys["child"] = chunk_bytes, rows, children
    return struct.pack("<4sBBHQQ", b"TREE", 1, level, len(rows) - 1, left, right) + keys.tobytes()[:-8]
