"""A table as Parquet, by pyarrow, which is not installed unless asked for."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pandas

from analyzer.errors import TracelibError
from analyzer.whole import whole_file


def read_parquet(path: Path) -> pandas.DataFrame:
    """Raises TracelibError, OSError."""
    pyarrow = _pyarrow()
    content = path.read_bytes()
    try:
        return pandas.read_parquet(BytesIO(content), engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise TracelibError(f"{path} is not a Parquet table: {reason}") from error


def write_parquet(frame: pandas.DataFrame, path: Path) -> None:
    """Raises TracelibError."""
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
