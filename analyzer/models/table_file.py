"""Reading of tables of measurements: CSV, the forms of Extra-P, and Parquet if pandas can read it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.models.extra_p.collected import REGION, MeasurementFile
from analyzer.models.extra_p.json_forms import is_json, read_json
from analyzer.models.extra_p.text import is_text, read_text

if TYPE_CHECKING:
    import pandas

_REFUSED = {
    (".cubex", ".cube", ".cube.gz"): (
        "a Cube profile, which is of one run",
        "write a CSV with a row for each run; cube_dump -m time -s csv2 FILE prints the numbers",
    ),
    (".extra-p",): ("an experiment that Extra-P saved", "give the file of measurements that Extra-P read"),
}


def read_extra_p(path: Path) -> MeasurementFile | None:
    """Read a file of measurements of Extra-P.

    Returns:
        The measurements. None: the file has none of Extra-P's forms.

    Raises:
        TracelibError: The file has one of the forms but is damaged, or it is a profile and no table of measurements.
        OSError: The file cannot be read.
    """
    for endings, (what, hint) in _REFUSED.items():
        if path.name.lower().endswith(endings):
            raise TracelibError(f"{path} is {what}", hint)
    with path.open("rb") as file:
        begin = file.read(4096).decode("utf-8-sig", "replace")
    reader = read_json if is_json(begin) else read_text if is_text(begin) else None
    return reader(path.read_text("utf-8-sig", "replace"), str(path)) if reader else None


_PARQUET = (".parquet", ".pq")
_SHOWN = 8


def read_table(path: str | os.PathLike[str], region: str | None = None) -> pandas.DataFrame:
    """Read a table of measurements, one row for each measurement.

    Args:
        path: A CSV or Parquet file, or a file of Extra-P.
        region: Keep only rows with this value in the column `region`. None: the table must not have several regions.

    Raises:
        TracelibError: The file cannot be read, or has no such region. Or it has several regions and none is named, as
            one formula for several parts of a program has no meaning.
    """
    try:
        collected = read_extra_p(Path(path))
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    return of_region(collected.frame() if collected else _read(path), region, path)


def of_region(frame: pandas.DataFrame, region: str | None, path: str | os.PathLike[str]) -> pandas.DataFrame:
    """Keep the rows of one region.

    Args:
        frame: The table.
        region: Name of the region. None: the table must not have several regions.
        path: Name of the table, for errors.

    Raises:
        TracelibError: As `read_table`.
    """
    if region is None and (REGION not in frame.columns or frame[REGION].astype(str).nunique() <= 1):
        return frame
    there = list(dict.fromkeys(frame[REGION].astype(str))) if REGION in frame.columns else []
    shown = ", ".join(there[:_SHOWN]) + (", ..." if len(there) > _SHOWN else "")
    if region is None:
        raise TracelibError(f"{path} has {len(there)} regions: {shown}", "name one with --region", 2)
    if region not in there:
        raise TracelibError(f"{path} has no region {region!r}", f"it has {shown}" if there else "it has no regions", 2)
    return frame[frame[REGION].astype(str) == region]


def parameters_in(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the parameters in a file of Extra-P; an empty list for other files.

    Raises:
        TracelibError: The file is damaged.
    """
    try:
        collected = read_extra_p(Path(path))
    except OSError:
        return []
    return collected.parameters if collected else []


def _made_by_table(file: Path) -> str:
    """Return the kind of a file that only `analyze table` reads, "a run" or "XML". "": another kind."""
    try:
        with file.open("rb") as opened:
            begin = opened.read(8)
    except OSError:
        return ""
    return "a run" if begin == b"\x89HDF\r\n\x1a\n" else "XML" if begin.lstrip().startswith(b"<") else ""


def _read(path: str | os.PathLike[str]) -> pandas.DataFrame:
    import pandas

    file = Path(path)
    if what := _made_by_table(file):
        raise TracelibError(f"{path} is {what}, and no table", f"analyze table {path} -o TABLE.csv makes one")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if file.suffix in _PARQUET:
                return pandas.read_parquet(file)
            return pandas.read_csv(file, skipinitialspace=True, index_col=False)
    except ImportError as error:
        raise TracelibError(f"{path}: nothing here reads Parquet", "pip install pyarrow, or write CSV") from error
    except OSError as error:
        said = error.strerror or " ".join(str(error).split())  # pyarrow's ends with an empty line
        raise TracelibError(f"cannot read {path}: {said}") from error
    except (ValueError, OverflowError, RuntimeError) as error:
        said = " ".join(str(error).split())[:200]
        raise TracelibError(f"{path} is no table: {said}", "a CSV file has a line of names, then numbers") from error
