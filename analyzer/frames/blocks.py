"""Pieces of a table: columns of numpy, with names as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

NS = 1e9
"""Nanoseconds of a second."""
NONE = -1
"""In columns of whole numbers: there is none."""


@dataclass(frozen=True)
class Coded:
    """A column of names: `codes` are indices in `names`. Later blocks of a table may know more names, at the end."""

    codes: np.ndarray
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)


Column = np.ndarray | Coded
Block = Mapping[str, Column]
"""Columns of one length by name."""


def distinct(names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the different names in order, and the new number of each name."""
    number: dict[str, int] = {}
    of_each = [number.setdefault(name, len(number)) for name in names]
    return list(number), np.array(of_each, np.int32)


def length(block: Block) -> int:
    """Count the rows of a block."""
    return len(next(iter(block.values())))


def taken(block: Block, rows: np.ndarray) -> Block:
    """Return some rows of a block (bool or indices)."""
    return {
        name: Coded(column.codes[rows], column.names) if isinstance(column, Coded) else column[rows]
        for name, column in block.items()
    }


def joined_blocks(blocks: Sequence[Block]) -> Block:
    """Join blocks of one table."""
    found: dict[str, Column] = {}
    for name, last in blocks[-1].items():
        columns = [block[name] for block in blocks]
        if isinstance(last, Coded):
            codes = [column.codes for column in columns if isinstance(column, Coded)]
            found[name] = Coded(np.concatenate(codes), last.names)
        else:
            found[name] = np.concatenate([column for column in columns if isinstance(column, np.ndarray)])
    return found
