"""Reading of a network measurement (`python -m tracelib.ngmpi`), in the format of `tracelib/schema/net.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.limited import opened
from analyzer.recording.rank_file.tables import DAMAGED, rows_of
from tracelib.schema import net
from tracelib.schema.sound import SoundAttributes

_LEAST_TRAIN = 2
_LONGEST_S = 1e12
_TABLES = {"hosts": net.HOST, "pairs": net.PAIR, "rows": net.ROW}


@dataclass(frozen=True)
class NetworkMeasurement:
    """Content of a network measurement: measured rows, pairs of ranks, hosts, and attributes of the measurement."""

    path: str
    attributes: Mapping[str, Any]
    hosts: np.ndarray  # net.HOST
    pairs: np.ndarray  # net.PAIR
    rows: np.ndarray  # net.ROW

    def places(self) -> list[str]:
        """Return the kinds of pairs (`net.WHERE`) that have rows."""
        used = {_text(self.pairs["where"][pair]) for pair in np.unique(self.rows["pair"])}
        return [where for where in net.WHERE if where in used]

    def rows_of(self, where: str) -> np.ndarray:
        """Return the rows of all pairs of one kind (`net.WHERE`)."""
        wanted = [pair for pair, text in enumerate(self.pairs["where"]) if _text(text) == where]
        return self.rows[np.isin(self.rows["pair"], wanted)]

    def pairs_of(self, first: int, second: int) -> np.ndarray:
        """Return the numbers of the pairs of two ranks, whichever of the ranks measured the time."""
        ends = np.stack([self.pairs["first"], self.pairs["second"]], axis=1)
        return np.flatnonzero((np.sort(ends, axis=1) == sorted((first, second))).all(axis=1))

    def ranks(self, pair: int) -> tuple[int, int]:
        """Return the two ranks of a pair, by the pair's number."""
        return int(self.pairs["first"][pair]), int(self.pairs["second"][pair])


def read_measurement(path: str | Path) -> NetworkMeasurement:
    """Read a network measurement.

    Raises:
        TracelibError: The file is damaged, has no rows, or is of a later version.
    """
    try:
        with opened(path) as file:
            attributes = {name: _text(value) for name, value in SoundAttributes(file).items()}
            if strange := [name for name, value in attributes.items() if not isinstance(value, str | int | float)]:
                raise TypeError(f"attribute {strange[0]} is neither text nor a number")
            if int(attributes.get("version", 0)) > net.VERSION:
                raise TracelibError(f"{path} is of a later version than this program knows", "update tracelib")
            tables = {name: rows_of(file, name, columns) for name, columns in _TABLES.items()}
    except DAMAGED as error:
        text = " ".join(str(error).split())
        raise TracelibError(f"{path} is a damaged network measurement: {text}", "measure again") from error
    rows = tables["rows"]
    if not len(rows):
        raise TracelibError(f"{path} holds no rows", "the measurement ended before its first row: measure again")
    if rows["size"].min() < 1 or rows["train"].min() < _LEAST_TRAIN:
        raise TracelibError(f"{path} is damaged: it has impossible sizes or numbers of messages", "measure again")
    if not all((abs(rows[column]) < _LONGEST_S).all() for column in rows.dtype.names or () if column.endswith("_s")):
        raise TracelibError(f"{path} is damaged: it has times that cannot be", "measure again")
    if rows["pair"].min() < 0 or rows["pair"].max() >= len(tables["pairs"]):
        raise TracelibError(f"{path} is damaged: it has rows of pairs that it does not list", "measure again")
    return NetworkMeasurement(str(path), attributes, tables["hosts"], tables["pairs"], rows)


def _text(value: Any) -> Any:
    """Convert a value of HDF5 to Python's: text comes as bytes or str, a number as numpy's."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.generic) else value
