"""The table that reports consist of."""

from __future__ import annotations

from rich.table import Table


def plain_table(*columns: str) -> Table:
    """Left-aligned first column, numbers to the right, no lines. Where it is too wide, names go on in another line: a
    number is never cut."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0, overflow="fold")
    return table
