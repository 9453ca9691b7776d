"""What a killed process had recorded but not yet written: its spools, if they lie on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from analyzer.sources.rankfile import RankFile
from analyzer.trace import Problem
from tracelib import schema
from tracelib.schema import State

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
STARTED_WITHIN_S = 2.0
"""How far the kernel's idea of a process's start may lie behind the one in the file (btime has whole seconds)."""


@dataclass(frozen=True)
class Pending:
    """Rows of one thread from its spool. `base`: where they belong in the file's tables, None: at their end."""

    thread: int
    base: dict[str, int] | None
    rows: dict[str, np.ndarray]


def recover(file: RankFile) -> tuple[list[Pending], list[Problem]]:
    """The rows that the file of a process that did not end in order lacks, and what is to be said about it."""
    a = file.attributes
    if a["state"] != State.RECORDING:
        return [], []
    if not a["spool"] or not _here(str(a["boot_id"])):
        text = f"was killed or is still running; what its buffer held can only be read on {a['host'] or 'its node'}"
        return [], [Problem(file.rank, text)]
    if _alive(int(a["pid"]), int(a["start_realtime_ns"])):
        return [], [Problem(file.rank, "is still running: what its buffer holds is left out")]
    paths = _spools(Path(str(a["spool"])))
    found = [pending for path in paths if (pending := read_spool(path, file)) is not None]
    count = sum(len(pending.rows["calls"]) for pending in found)
    if paths:
        return found, [Problem(file.rank, f"was killed; {count} calls were recovered from its buffer")]
    return [], [Problem(file.rank, f"was killed, and its buffer {a['spool']}.* is gone: the last calls are missing")]


def read_spool(path: Path, file: RankFile) -> Pending | None:
    """The rows of one spool, or None if it is empty, damaged, or belongs to another file."""
    data = path.read_bytes()
    if len(data) < schema.SPOOL_HEADER_BYTES:
        return None
    layout = schema.SPOOL_HEADERS.get(data[: len(schema.SPOOL_MAGIC)])
    if layout is None:
        return None
    header = np.frombuffer(data, layout, 1)[0]
    if Path(os.fsdecode(header["rank_file"])).name != file.path.name:
        return None
    rows = {table: np.zeros(0, dtype) for table, dtype in schema.BUFFERED.items()}
    base = dict.fromkeys(schema.BUFFERED, 0)
    for position, (table, dtype) in enumerate(list(schema.BUFFERED.items())[: len(header["count"])]):
        offset, count = int(header["offset"][position]), int(header["count"][position])
        room = max(len(data) - offset, 0) // dtype.itemsize
        rows[table] = np.frombuffer(data, dtype, min(count, room), min(offset, len(data)))
        base[table] = int(header["base"][position])
    leaving_out = header["flushing"] == schema.LEAVING_OUT
    if not any(len(r) for r in rows.values()) or (leaving_out and len(file.blocks) > header["base"][0]):
        return None
    return Pending(int(header["thread"]), base if header["flushing"] == schema.FLUSHING else None, rows)


def _spools(prefix: Path) -> list[Path]:
    """Spools of all threads, in their order."""
    if not prefix.parent.is_dir():
        return []
    files = (p for p in prefix.parent.iterdir() if p.stem == prefix.name and p.suffix[1:].isdigit())
    return sorted(files, key=lambda p: int(p.suffix[1:]))


def _here(boot_id: str) -> bool:
    return bool(boot_id) and BOOT_ID.exists() and BOOT_ID.read_text().strip() == boot_id.strip()


def _alive(pid: int, start_realtime_ns: int) -> bool:
    """Whether the very process still runs: a later one may have got its number."""
    try:
        process = psutil.Process(pid)
        started = process.create_time() <= start_realtime_ns / 1e9 + STARTED_WITHIN_S
        return started and process.status() != psutil.STATUS_ZOMBIE
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False
