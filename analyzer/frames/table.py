"""One table of a run: read piece by piece, shown in a notebook, and converted to pandas or Parquet."""

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
    """One table of a run, with rows of all ranks.

    Each access reads the rows from the run again. Only `to_pandas` holds all rows in memory at once.
    """

    name: str
    says: str  # a sentence that says what one row is
    blocks: Callable[[], Iterator[Block]]
    """Function that reads the table anew and yields its rows in order.

    Each piece has columns of numpy and at most some hundred thousand rows. There is at least one piece.
    """

    def __iter__(self) -> Iterator[pandas.DataFrame]:
        """Yield the rows in order as data frames of some hundred thousand rows at most."""
        return map(_frame, self.blocks())

    def to_pandas(self) -> pandas.DataFrame:
        """Return all rows as one data frame in memory. Names (calls, regions, places, ...) are categories."""
        return _frame(joined_blocks(list(self.blocks())))

    @checked
    def head(self, rows: Natural = _SHOWN) -> pandas.DataFrame:
        """Return the first `rows` rows as a data frame. Only as much of the run is read as these rows need."""
        found: list[Block] = []
        for block in self.blocks():
            found.append(block)
            if sum(map(length, found)) >= rows:
                break
        return _frame(joined_blocks(found)).head(rows)

    @checked
    def to_parquet(self, path: str | os.PathLike[str]) -> int:
        """Write all rows to a Parquet file, one row group at a time. Needs pyarrow.

        Returns:
            The number of rows written.

        Raises:
            TracelibError: pyarrow is not installed, or the file cannot be written. No file is left behind then.
        """
        from analyzer.frames.parquet import write_parquet

        return write_parquet(self.blocks(), path)

    def __repr__(self) -> str:
        return f"{self.name}: {self.says}\n{self.head()}"

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which a notebook displays."""
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
