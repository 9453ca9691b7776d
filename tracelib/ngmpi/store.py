"""The measurement's file: whole at every moment, whatever ends the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from tracelib.schema import net


def write(path: Path, attributes: Mapping[str, object], tables: Mapping[str, np.ndarray]) -> None:
    """Put the file in place of an earlier one. `tables` by name, as in schema.net."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with h5py.File(beside, "w") as file:
            file.attrs.update({"format": net.FORMAT, "version": net.VERSION} | dict(attributes))
            for name, rows in tables.items():
                file.create_dataset(name, data=rows)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def rows_of(pair: int, size: int, train: int, first_repetition: int, values: np.ndarray) -> np.ndarray:
    """Rows of the file from what the loop measured: (rows, COLUMNS) seconds and flags."""
    rows = np.zeros(len(values), net.ROW)
    start, one, trains, delayed, delay, waited, zero, flags = values.T
    rows["pair"], rows["size"], rows["train"] = pair, size, train
    rows["repetition"] = first_repetition + np.arange(len(values))
    rows["one_s"], rows["train_s"], rows["delayed_s"], rows["delay_s"] = one, trains, delayed, delay
    rows["waited_s"] = waited / (train - 1)
    rows["zero_s"], rows["start_s"], rows["flags"] = zero, start, flags
    return rows
