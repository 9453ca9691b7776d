"""Attributes of a rank file that its recovery needs."""

from __future__ import annotations

from pathlib import Path

import h5py

from tracelib.schema.sound import SoundAttributes

Attributes = dict[str, int | str]

_INTEGERS = ("schema_version", "rank", "size", "pid", "start_realtime_ns", "state")
_TEXTS = ("host", "boot_id", "spool")


def read_attributes(path: Path) -> Attributes | str:
    """Read the attributes of a rank file; a text says why there are none."""
    try:
        with h5py.File(path, "r", locking=False) as file:
            given = SoundAttributes(file)
            texts = {name: bytes(given[name]).split(b"\0")[0].decode(errors="replace") for name in _TEXTS}
            return {name: int(given[name]) for name in _INTEGERS} | texts
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:  # h5py's, of a damaged file
        return " ".join(str(error).split())
