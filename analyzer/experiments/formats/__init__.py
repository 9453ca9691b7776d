"""Tables as files: CSV, Parquet, and TIA's XML. The ending of the file's name tells the form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

ENDINGS = (".csv", ".parquet", ".xml")


def is_table(path: Path) -> bool:
    """Check by the ending of its name whether a file is a table of experiments."""
    return path.suffix in ENDINGS


def read_table(path: Path) -> pandas.DataFrame:
    """Read a table from a file, in the form that its ending tells.

    Raises:
        TracelibError: The file is missing or damaged, or of another form.
    """
    reader: Callable[[Path], pandas.DataFrame]
    if path.suffix == ".csv":
        from analyzer.experiments.formats.flat_files import read_csv as reader
    elif path.suffix == ".parquet":
        from analyzer.experiments.formats.flat_files import read_parquet as reader
    else:
        from analyzer.experiments.formats.tia_xml import read_xml as reader
    try:
        return reader(path)
    except OSError as error:
        said = error.strerror or " ".join(str(error).split())  # pyarrow's ends with an empty line
        raise TracelibError(f"cannot read {path}: {said}") from error


def check_ending(path: Path) -> None:
    """Check that a file's name has the ending of a table.

    Raises:
        TracelibError: It has another ending.
    """
    if path.suffix not in ENDINGS:
        raise TracelibError(f"{path} is no name of a table", f"end it with {', '.join(ENDINGS)}")


def write_table(frame: pandas.DataFrame, path: Path) -> None:
    """Write a table to a file, completely or not at all, in the form that the file's ending tells.

    Raises:
        TracelibError: The name has another ending, or the file cannot be written.
    """
    check_ending(path)
    writer: Callable[[pandas.DataFrame, Path], None]
    if path.suffix == ".csv":
        from analyzer.experiments.formats.flat_files import write_csv as writer
    elif path.suffix == ".parquet":
        from analyzer.experiments.formats.flat_files import write_parquet as writer
    else:
        from analyzer.experiments.formats.tia_xml import write_xml as writer
    writer(frame, path)
