"""Tables of measurements as files: CSV, and Parquet where pandas can read it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError

if TYPE_CHECKING:
    import pandas

_PARQUET = (".parquet", ".pq")


def read_table(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """The table of a file, one row for each measurement. Raises TracelibError where it cannot be read."""
    import pandas

    file = Path(path)
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
