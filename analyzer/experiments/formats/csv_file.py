"""A table as CSV: a header, then a row for each execution. What is missing is empty."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas

from analyzer.errors import TracelibError
from analyzer.experiments.columns import KIND, NAME, NODE, REGION, RUN
from analyzer.experiments.formats.cells import TEXT, values
from analyzer.whole import whole_file

_TEXTS = (REGION, RUN, NODE, KIND, NAME)


def read_csv(path: Path) -> pandas.DataFrame:
    """Columns of integers, of real numbers, else of texts; names are texts, whatever they look like. Raises
    TracelibError, OSError."""
    columns: list[list[str]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            if len(set(header)) < len(header):
                raise ValueError(f"two columns are called {max(header, key=header.count)!r}")
            columns = [[] for _ in header]
            for line in lines:
                if not line and len(header) > 1:
                    continue
                line = line or [""]
                if len(line) != len(header):
                    raise ValueError(f"line {lines.line_num} has {len(line)} columns, and the header {len(header)}")
                for column, cell in zip(columns, line, strict=True):
                    column.append(cell)
    except (ValueError, csv.Error) as error:
        raise TracelibError(f"{path} is not a table: {error}") from error
    if not header:
        raise TracelibError(f"{path} is empty", "a table begins with the names of its columns")
    typed = {name: values(cells, TEXT if name in _TEXTS else "") for name, cells in zip(header, columns, strict=True)}
    return pandas.DataFrame(typed)


def write_csv(frame: pandas.DataFrame, path: Path) -> None:
    """Numbers with all their digits. Raises TracelibError."""
    text = frame.to_csv(index=False, lineterminator="\n")
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
