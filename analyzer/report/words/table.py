"""The plain table in which reports print their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

_MOST_OF_A_NUMBER = 24
"""Number of characters from which on a cell is taken for words, which may be wrapped."""


class _PlainTable(Table):
    """A table whose columns of words are wrapped into the width that columns of numbers leave."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        super().add_row(*cells, **options)
        for column, cell in zip(self.columns, cells, strict=False):
            if column.no_wrap and max(map(len, str(cell).split("\n"))) > _MOST_OF_A_NUMBER:
                column.no_wrap, column.justify = False, "left"


def plain_table(*columns: str) -> Table:
    """Make a table without lines. The first column is left-aligned, the others right-aligned.

    If the table is too wide, words are wrapped. Numbers are never cut.
    """
    table = _PlainTable(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0, overflow="fold")
    return table


Column = tuple[str, Sequence[str]]
"""A column of `print_beside`: its head, and one cell per row."""


def print_beside(head: str, rows: Sequence[str], columns: Sequence[Column], console: Console) -> None:
    """Print a table whose rows have names. Columns that do not fit go to further tables with the same names.

    No name and no number is cut. Names are wrapped at half the width of the console.

    Args:
        head: Head of the column of names.
        rows: Name of each row.
        columns: The other columns, in order.
        console: The console to print on.
    """
    most = console.width // 2
    names = min(max(map(len, (head, *rows))), most)
    for number, some in enumerate(_that_fit(columns, console.width - names)):
        if number:
            console.print()
        table = plain_table(head, *(name for name, _ in some))
        if names < most:
            table.columns[0].no_wrap = True
        for row, *cells in zip(rows, *(cells for _, cells in some), strict=True):
            table.add_row(Text(row), *cells)
        console.print(table)


def _that_fit(columns: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """Yield the columns in order, in groups that fit into the width. A group has at least one column."""
    some: list[Column] = []
    left = width
    for column in columns:
        head, cells = column
        needs = 1 + max(map(len, (*head.split("\n"), *cells)))
        if some and needs > left:
            yield some
            some, left = [], width
        some.append(column)
        left -= needs
    if some:
        yield some
