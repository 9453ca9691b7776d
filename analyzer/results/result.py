"""Base class of all results, with their JSON, text and tables."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.arguments import shown
from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas
    from rich.console import Console, RenderableType

_FILES = ("files", "written")
"""Keys of the JSON that hold lists of files, which are no tables."""
_WIDTH = 80
"""Number of columns of a result's text, as when a command writes into a pipe."""


class Result(ABC):
    """Immutable result of one analysis.

    A terminal and a notebook show the text that the command prints: `print(result)`.
    """

    _main: ClassVar[tuple[str, ...]] = ("summary",)
    """Names of tables. `to_pandas()` returns the first of them that has rows."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Return the command's JSON without "schema" and "version": a dict, or a list of dicts for several runs."""

    @abstractmethod
    def print(self, console: Console) -> None:
        """Print the text that the command prints.

        Args:
            console: Console of rich on which the text is printed.
        """

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """Return a table of the numbers of `to_dict`.

        Each list of objects in the JSON is a table of the same name, with a row for each object. "summary" has one
        row, or one
        row for each run, with a column for each single number or text. Nested names are joined by dots, such as
        "uneven.drift". Columns that end in `_s` are seconds, in `bytes` bytes; shares are from 0 to 1.

        Args:
            table: Name of a table, one of `table_names`. None: the table with the result's main rows.

        Raises:
            TracelibError: There is no such table.
        """
        import pandas

        rows = self._rows()
        if table is None:
            table = next((name for name in self._main if rows.get(name)), self._main[0])
        if table not in rows:
            raise TracelibError(f"there is no table {shown(table)}", f"there are {', '.join(map(repr, rows))}")
        return pandas.DataFrame(rows[table])

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the tables that `to_pandas` can return."""
        return tuple(self._rows())

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of all tables by name."""
        data = self.to_dict()
        runs = data if isinstance(data, list) else [data]
        tables: dict[str, list[dict[str, Any]]] = {"summary": []}
        for run in runs:
            single: dict[str, Any] = {}
            for name, value in flat(run):
                if _is_table(value):
                    of_run = {"file": run["file"]} if len(runs) > 1 and "file" in run else {}
                    tables.setdefault(name, []).extend(of_run | dict(flat(row)) for row in value)
                elif value == [] and name not in _FILES:
                    tables.setdefault(name, [])
                else:
                    single[name] = value
            tables["summary"].append(single)
        return tables if any(name in tables for name in self._main) else tables | {self._main[0]: []}

    def __str__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        self.print(Console(file=text, width=_WIDTH, highlight=False, no_color=True, force_terminal=False))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the text with its colours, for a notebook."""
        from rich.console import Console

        console = Console(file=io.StringIO(), width=_WIDTH, highlight=False, record=True, force_terminal=True)
        self.print(console)
        html = console.export_html(inline_styles=True, code_format="{code}")
        return f'<pre style="line-height: normal; white-space: pre">{html}</pre>'


def print_tables(console: Console, tables: Iterable[RenderableType]) -> None:
    """Print tables and texts with an empty line between them."""
    for number, table in enumerate(tables):
        if number:
            console.print()
        console.print(table)


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print lines as they are: not wrapped, not coloured."""
    for line in lines:
        console.print(line, soft_wrap=True, markup=False, emoji=False, highlight=False)


def in_seconds(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> list[dict[str, Any]]:
    """Add `_s`, the unit seconds, to the names of some columns: "barrier" becomes "barrier_s".

    Args:
        rows: Rows as dicts.
        names: Names of the columns.
    """
    renamed = {name: f"{name}_s" for name in names}
    return [{renamed.get(name, name): value for name, value in row.items()} for row in rows]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def flat(data: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and values of nested dicts. Nested names are joined by dots.

    Args:
        data: A dict.
        before: Text before each name.
    """
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
