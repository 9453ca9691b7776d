"""The file of a node's samples, NAME.ranks/system-HOST.h5 (docs/format.md): readable at any moment."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np

from tracelib import schema
from tracelib.node_quantities import NodeQuantities, machine
from tracelib.schema import node

_CHUNK_ROWS = 1024
_FLOATING = {"s", "MHz", "processes"}


def dtype_of(names: tuple[str, ...]) -> np.dtype:
    """Return the type of a row of `samples`: the two times, then the quantities `names`."""
    units = {name: node.SYSTEM[name][0] for name in names}
    columns = [(name, "<f8" if unit in _FLOATING else "<i8") for name, unit in units.items()]
    return np.dtype([*((name, "<i8") for name in node.SYSTEM_TIMES), *columns])


class SampleFile:
    """The table `samples`, one row longer with each `append`, on the disk at once.

    The file appears under its name with its first row. Of what a row changes (the row itself, then the length of the
    table) any part may be missing, and the file is a valid one; only a new chunk, every 1024 rows, is more than that.
    """

    def __init__(self, path: Path, period_ns: int, identity: Mapping[str, str | int]) -> None:
        self._path = path
        self._quantities = NodeQuantities()
        self._dtype = dtype_of(self._quantities.names)
        self._temporary = path.with_name(f".{path.name}.tmp")
        # No cache of chunks: a row is written alone and not with all its chunk. No lock: readers are welcome.
        self._file = h5py.File(self._temporary, "w", libver="earliest", locking=False, rdcc_nbytes=0)
        self._table = self._file.create_dataset("samples", (0,), self._dtype, maxshape=(None,), chunks=(_CHUNK_ROWS,))
        for name in self._quantities.names:
            self._table.attrs[name] = np.bytes_(node.SYSTEM[name][0])
        attributes = {"schema_version": schema.VERSION, **identity, "period_ns": period_ns, **machine()}
        attributes |= {"missing": " ".join(self._quantities.missing), "state": 0}
        for name, value in attributes.items():
            self._file.attrs[name] = np.bytes_(value) if isinstance(value, str) else np.int64(value)

    def __enter__(self) -> SampleFile:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, RuntimeError):
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    def append(self) -> bool:
        """Add what the node says now. False: the file is gone."""
        times = (time.monotonic_ns(), time.time_ns())
        row = np.array((*times, *self._quantities.read()), self._dtype)
        number = len(self._table)
        if number and not self._path.exists():
            return False
        self._table.resize(number + 1, axis=0)
        self._table[number] = row
        self._file.flush()
        if number == 0:
            self._temporary.replace(self._path)
        return True

    def finish(self) -> None:
        """Write into the file that the ranks have ended."""
        self._file.attrs.modify("state", np.int64(1))
