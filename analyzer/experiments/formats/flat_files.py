"""Tables as CSV and as Parquet. A CSV has a header, then a line for each row; missing values are empty cells."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.experiments.columns import KIND, NAME, NODE, REGION, RUN

INTEGER, REAL, TEXT = "integer", "real", "text"
TYPES = (INTEGER, REAL, TEXT)


def values(cells: Sequence[str], kind: str = "") -> np.ndarray:
    """Convert the cells of a column to int64, to float64 (empty cells become NaN), or to texts.

    Args:
        cells: The cells.
        kind: One of TYPES. "": the first of these that fits all cells.

    Raises:
        ValueError: A cell is not of the kind.
        OverflowError: An integer is too large.
    """
    for wanted, convert in ((INTEGER, _integers), (REAL, _reals)):
        if kind in (wanted, ""):
            try:
                return convert(cells)
            except (ValueError, OverflowError):
                if kind:
                    raise
    return np.array(cells, dtype=object)


def _integers(cells: Sequence[str]) -> np.ndarray:
    found = np.array([int(cell) for cell in cells], np.int64)
    if any("_" in cell for cell in cells):  # Python reads 1_000, nobody else does
        raise ValueError("an integer has digits only")
    return found


def _reals(cells: Sequence[str]) -> np.ndarray:
    if any("_" in cell for cell in cells):
        raise ValueError("a number has digits only")
    return np.array([float(cell) if cell else np.nan for cell in cells], np.float64)


def read_parquet(path: Path) -> pandas.DataFrame:
    """Read a table from a Parquet file.

    Raises:
        TracelibError: The file is not a Parquet table, or pyarrow is missing.
        OSError: The file cannot be read.
    """
    pyarrow = _pyarrow()
    content = path.read_bytes()
    try:
        return pandas.read_parquet(BytesIO(content), engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise TracelibError(f"{path} is not a Parquet table: {reason}") from error


def write_parquet(frame: pandas.DataFrame, path: Path) -> None:
    """Write a table to a Parquet file.

    Raises:
        TracelibError: The file cannot be written, or pyarrow is missing.
    """
    pyarrow = _pyarrow()
    buffer = BytesIO()
    try:
        frame.to_parquet(buffer, engine="pyarrow", index=False)
    except pyarrow.ArrowException as error:
        raise TracelibError(f"{path}: {' '.join(str(error).split())}", "write a .csv") from error
    with whole_file(path) as file:
        file.write(buffer.getbuffer())


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise TracelibError("Parquet needs pyarrow", "pip install pyarrow, or use .csv") from error
    return pyarrow


_TEXTS = (REGION, RUN, NODE, KIND, NAME)


def read_csv(path: Path) -> pandas.DataFrame:
    """Read a table from a CSV file. Columns are integers, else real numbers, else texts. Columns of names are texts.

    Raises:
        TracelibError: The file is not a table.
        OSError: The file cannot be read.
    """
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
    """Write a table to a CSV file. Numbers have all their digits.

    Raises:
        TracelibError: The file cannot be written.
    """
    text = frame.to_csv(index=False, lineterminator="\n")
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
