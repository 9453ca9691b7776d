"""Writer of tables as Parquet files. It needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.frames.blocks import Block, Coded, distinct, joined_blocks, length

_GROUP_ROWS = 1 << 18
"""Approximate number of rows of a Parquet row group. A block of one rank may have far fewer rows."""


def write_parquet(blocks: Iterable[Block], path: str | os.PathLike[str]) -> int:
    """Write the blocks of one table to a Parquet file. Memory holds one row group at a time.

    Returns:
        The number of rows written.

    Raises:
        TracelibError: pyarrow is not installed, or the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise TracelibError("Parquet files need pyarrow", "pip install pyarrow") from error
    rows, writer = 0, None
    with whole_file(path) as file:
        for group in _groups(blocks):
            table = pyarrow.table({name: _arrow(column, pyarrow) for name, column in group.items()})
            writer = writer or ParquetWriter(file, table.schema, use_dictionary=_names(group), compression="zstd")
            writer.write_table(table)
            rows += table.num_rows
        if writer:
            writer.close()
    return rows


def _groups(blocks: Iterable[Block]) -> Iterator[Block]:
    """Join consecutive blocks until they fill a row group, and yield each group. Yield at least one."""
    kept: list[Block] = []
    for block in blocks:
        kept.append(block)
        if sum(map(length, kept)) >= _GROUP_ROWS:
            yield joined_blocks(kept)
            kept = []
    if kept:
        yield joined_blocks(kept)


def _names(block: Block) -> list[str]:
    return [name for name, column in block.items() if isinstance(column, Coded)]


def _arrow(column: Any, pyarrow: Any) -> Any:
    if not isinstance(column, Coded):
        return pyarrow.array(column)
    names, number = distinct(column.names)
    codes = number[column.codes] if len(number) else column.codes.astype(np.int32)
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes), pyarrow.array(names, pyarrow.string()))
