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
