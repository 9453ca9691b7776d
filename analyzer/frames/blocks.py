"""Blocks of a table: numpy columns by name. Columns of names are stored as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

NS = 1e9
"""Nanoseconds per second."""
NONE = -1
"""Value in integer columns that stands for "no value", e.g. no peer or no iteration."""


@dataclass(frozen=True)
class Coded:
    """A column of names, stored as one code per row.

    `codes` are indices in `names`, of shape (rows,). A later block of the same table may have more names than an
    earlier one; the new names stand at the end.
    """

    codes: np.ndarray
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)


Column = np.ndarray | Coded
Block = Mapping[str, Column]
"""Columns of one piece of a table, by the name of the column. All columns have the same number of rows."""


def distinct(names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Remove duplicates from a list of names.

    Returns:
        The distinct names in the order of their first appearance, and for each given name its index among them (int32).
    """
    number: dict[str, int] = {}
    of_each = [number.setdefault(name, len(number)) for name in names]
    return list(number), np.array(of_each, np.int32)


def length(block: Block) -> int:
    """Return the number of rows of a block."""
    return len(next(iter(block.values())))


def taken(block: Block, rows: np.ndarray) -> Block:
    """Return a block that contains only the chosen rows. `rows` is a bool mask or an array of row indices."""
    return {
        name: Coded(column.codes[rows], column.names) if isinstance(column, Coded) else column[rows]
        for name, column in block.items()
    }


def joined_blocks(blocks: Sequence[Block]) -> Block:
    """Join blocks of one table into one block. At least one block is needed."""
    found: dict[str, Column] = {}
    for name, last in blocks[-1].items():
        columns = [block[name] for block in blocks]
        if isinstance(last, Coded):
            codes = [column.codes for column in columns if isinstance(column, Coded)]
            found[name] = Coded(np.concatenate(codes), last.names)
        else:
            found[name] = np.concatenate([column for column in columns if isinstance(column, np.ndarray)])
    return found
