"""Outputs that a study keeps of each shot: numbers in the files that the program writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from analyzer.errors import TracelibError
from analyzer.machine.toml_table import TomlTable
from analyzer.shots import study_values

STDOUT = "stdout"
"""Name of the file that holds the standard output of the job."""
_WHICH: dict[str, Callable[[Sequence[float]], float]] = {
    "last": lambda found: found[-1],
    "first": lambda found: found[0],
    "least": min,
    "most": max,
    "mean": fmean,
    "sum": sum,
}


class NoOutput(Exception):
    """Error: a shot has not written an output. Its text says why."""


@dataclass(frozen=True)
class ShotOutput:
    """A number that a study keeps of each shot, and where the program writes it.

    Attributes:
        file: File in the shot's folder.
        pattern: Regular expression whose group is the number. "" if a column is given.
        column: Number of a column, from 1, or its name in the line that names the columns. None: `pattern` is used.
        which: The number that counts if there are several: "last", "first", "least", "most", "mean" or "sum".
    """

    name: str
    file: str = STDOUT
    pattern: str = ""
    column: int | str | None = None
    which: str = "last"

    def read(self, folder: Path) -> float:
        """Read the output from a shot's folder.

        Raises:
            NoOutput: The file, the match or the column is missing, or the number is not finite.
        """
        try:
            text = (folder / self.file).read_text(errors="replace")
        except OSError as error:
            raise NoOutput(f"{self.name}: {self.file}: {error.strerror}") from error
        cells = self._matched(text) if self.column is None else self._cells(text)
        numbers = [study_values.number(cell) for cell in cells]
        known = [number for number in numbers if number is not None]
        bad = [cell.strip() for cell, number in zip(cells, numbers, strict=True) if number is None]
        if strange := [cell for cell in bad if self.column is None or study_values.is_no_number(cell)]:
            raise NoOutput(f"{self.name}: {self.file} has {strange[-1]!r}, which is not a finite number")
        if not known:
            where = f"match of {self.pattern}" if self.column is None else f"number in column {self.column}"
            raise NoOutput(f"{self.name}: no {where} in {self.file}")
        return float(_WHICH[self.which](known))

    def _matched(self, text: str) -> list[str]:
        return [found[1] or "" for found in re.finditer(self.pattern, text, re.MULTILINE)]

    def _cells(self, text: str) -> list[str]:
        """Return the cells of the column. A named column has only the cells below the line that names it."""
        rows = [_row(line) for line in text.splitlines()]
        if isinstance(self.column, int):
            return [row[self.column - 1] for row in rows if len(row) >= self.column]
        name = self.column or ""
        head = next((k for k, row in enumerate(rows) if name in row), None)
        if head is None:
            raise NoOutput(f"{self.name}: no column {name} in {self.file}")
        column = rows[head].index(name)
        return [row[column] for row in rows[head + 1 :] if len(row) > column]


def _row(line: str) -> list[str]:
    """Split a line at commas, else at semicolons, else at spaces. Comment signs at its begin are removed."""
    line = line.lstrip("#% ")
    separator = next((sign for sign in ",;" if sign in line), None)
    return [cell.strip().strip('"') for cell in line.split(separator)]


def read_outputs(table: TomlTable) -> tuple[ShotOutput, ...]:
    """Read the table [outputs] of a study file, in the order of the file.

    Raises:
        TracelibError: There are no outputs, or a key or value is not valid.
    """
    given = table.rest()
    if not given:
        raise TracelibError("there are no outputs", "write [outputs.NAME] with a file and a pattern or a column")
    return tuple(
        _output(study_values.name("an output", name), TomlTable(f"[outputs.{name}]", of, "docs/analyze-study.md"))
        for name, of in given.items()
    )


def _output(name: str, table: TomlTable) -> ShotOutput:
    file = study_values.text(f"{table.name} file", table.take("file", STDOUT))
    pattern, column = table.take("pattern", None), table.take("column", None)
    which = table.choice("which", tuple(_WHICH))
    table.end()
    if (pattern is None) == (column is None):
        raise TracelibError(f"{table.name}: where does the number stand?", "give a pattern or a column")
    if column is not None:
        is_name = isinstance(column, str) and column
        return ShotOutput(
            name, file, "", column if is_name else study_values.whole(f"{table.name} column", column, 1), which
        )
    text = study_values.text(f"{table.name} pattern", pattern)
    try:
        groups = re.compile(text, re.MULTILINE).groups
    except re.error as error:
        raise TracelibError(f"{table.name} pattern = {text!r}: {error}", "it must be a regular expression") from error
    if groups < 1:
        raise TracelibError(f"{table.name} pattern = {text!r} has no group", r"put ( ) around the number: 'T = (\S+)'")
    return ShotOutput(name, file, text, None, which)
