"""The table that reports consist of."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.table import Table

_MOST_OF_A_NUMBER = 24
"""A cell that is wider holds words."""


class _PlainTable(Table):
    """A table whose columns of words share the width that numbers leave: any of them may go on in another line."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        super().add_row(*cells, **options)
        for column, cell in zip(self.columns, cells, strict=False):
            if column.no_wrap and max(map(len, str(cell).split("\n"))) > _MOST_OF_A_NUMBER:
                column.no_wrap, column.justify = False, "left"


def plain_table(*columns: str) -> Table:
    """Left-aligned first column, numbers to the right, no lines. Where it is too wide, words go on in another line: a
    number is never cut."""
    table = _PlainTable(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0, overflow="fold")
    return table
