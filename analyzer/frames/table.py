"""A table of a run: read piece by piece, shown in a notebook, as pandas, as Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.arguments import Natural, checked
from analyzer.frames.blocks import Block, Coded, distinct, joined_blocks, length

if TYPE_CHECKING:
    import pandas

_SHOWN = 10


@dataclass(frozen=True)
class Table:
    """Rows of all ranks, which are read when they are asked for: each time anew, and never all at once unless one wants
    them all."""

    name: str
    says: str  # what a row is, in a sentence
    blocks: Callable[[], Iterator[Block]]
    """The rows in order, in pieces of some hundred thousand at most, as columns of numpy; at least one piece."""

    def __iter__(self) -> Iterator[pandas.DataFrame]:
        """Yield the rows in order, some hundred thousand at a time."""
        return map(_frame, self.blocks())

    def to_pandas(self) -> pandas.DataFrame:
        """Return all rows in memory. Names (calls, regions, places, ...) are categories."""
        return _frame(joined_blocks(list(self.blocks())))

    @checked
    def head(self, rows: Natural = _SHOWN) -> pandas.DataFrame:
        """Return the first rows. No more of the run is read than they need."""
        found: list[Block] = []
        for block in self.blocks():
            found.append(block)
            if sum(map(length, found)) >= rows:
                break
        return _frame(joined_blocks(found)).head(rows)

    @checked
    def to_parquet(self, path: str | os.PathLike[str]) -> int:
        """Write all rows as a Parquet file, row group by row group; returns how many. Needs pyarrow.

        Raises TracelibError where pyarrow is not there or the file cannot be written; then nothing is left behind.
        """
        from analyzer.frames.parquet import write_parquet

        return write_parquet(self.blocks(), path)

    def __repr__(self) -> str:
        return f"{self.name}: {self.says}\n{self.head()}"

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, for a notebook."""
        head = self.head()
        return f"<p><b>{self.name}</b>: {self.says} The first {len(head)}:</p>\n{head.to_html(border=0)}"


def _frame(block: Block) -> pandas.DataFrame:
    import pandas

    columns: dict[str, object] = {}
    for name, column in block.items():
        if isinstance(column, Coded):
            names, number = distinct(column.names)
            codes = number[column.codes] if len(number) else column.codes
            columns[name] = pandas.Categorical.from_codes(codes, names)
        else:
            columns[name] = column
    return pandas.DataFrame(columns)
