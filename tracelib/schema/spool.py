"""Reader of the rows that a process left in its spools. Used to read and to complete rank files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tracelib import schema

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
"""File of Linux with an identifier that changes at each boot."""
STARTED_WITHIN_S = 2.0
"""Tolerance in s when the start of a process is compared with the start in its file (btime has whole seconds)."""


@dataclass(frozen=True)
class ThreadSpool:
    """Rows of one thread that its spool holds.

    Attributes:
        header: Header of the spool, of a type in schema.SPOOL_HEADERS.
        base: First row in each table of the rank file at which the rows belong. None: at the end of the tables.
        rows: Rows by table.
        left_out: Whether the rows belong nowhere, because recording had stopped at the limit.
    """

    header: np.void  # schema.SPOOL_HEADERS
    base: dict[str, int] | None
    rows: dict[str, np.ndarray]
    left_out: bool = False

    def is_lost(self, lost_calls: int) -> bool:
        """Return True if the calls of this spool are lost, and the rank file does not count them as lost yet.

        Args:
            lost_calls: Number of lost calls that the rank file counts.
        """
        counted_at = int(self.header["base"][1])
        return self.left_out and lost_calls > 0 and not 0 < counted_at <= lost_calls

    @property
    def calls(self) -> int:
        """Number of calls in the spool, polls included."""
        return len(self.rows["calls"]) + int(self.rows["polls"]["count"].sum())

    @property
    def thread(self) -> int:
        """Number of the thread in its process."""
        return int(self.header["thread"])

    def has(self, field: str) -> bool:
        """Return True if the spool's version has this field in its header."""
        return field in (self.header.dtype.names or ())

    @property
    def inside(self) -> tuple[int, int, int, int] | None:
        """Columns of `schema.INSIDE` for the call in which the thread died. None: it did not die in a call."""
        if not self.has("entered"):
            return None
        columns = {"calls": "exit", "polls": "exit", "summaries": "exit", "events": "time"}
        latest = max((int(self.rows[t][c][-1]) for t, c in columns.items() if len(self.rows[t])), default=0)
        entered = int(self.header["entered"])
        path = int(self.header["entered_path"]) if self.has("entered_path") else 0
        return (int(self.header["entered_call"]), entered, self.thread, path) if entered > latest else None


def read_spool(data: bytes, rank_file: str, lengths: Mapping[str, int]) -> ThreadSpool | None:
    """Read the rows in the contents of a spool.

    A spool without a name belongs to the file that led to it: that file is being moved.

    Args:
        data: Contents of the spool.
        rank_file: Name of the rank file.
        lengths: Number of rows of each table in the rank file. A spool that was being flushed has its place among these
            rows or right behind them. A new row of `blocks` may show that the spool's rows were left out.

    Returns:
        The rows. None: the spool is damaged, or belongs to another rank file.
    """
    layout = schema.SPOOL_HEADERS.get(data[: len(schema.SPOOL_MAGIC)])
    if layout is None or len(data) < schema.SPOOL_HEADER_BYTES:
        return None
    header = np.frombuffer(data, layout, 1)[0]
    if Path(os.fsdecode(header["rank_file"])).name not in (rank_file, ""):
        return None
    rows = {table: np.zeros(0, dtype) for table, dtype in schema.BUFFERED.items()}
    base = dict.fromkeys(schema.BUFFERED, 0)
    paths = "has_paths" in (layout.names or ()) and header["has_paths"]
    for position, (table, dtype) in enumerate(list(schema.BUFFERED.items())[: len(header["count"])]):
        offset, count = int(header["offset"][position]), int(header["count"][position])
        if paths and table in schema.PATHS_OF:
            count = len(rows[schema.PATHS_OF[table]])
        room = max(len(data) - offset, 0) // dtype.itemsize
        rows[table] = np.frombuffer(data, dtype, min(count, room), min(offset, len(data)))
        base[table] = int(header["base"][position])
    left_out = header["flushing"] == schema.LEAVING_OUT and lengths["blocks"] > header["base"][0]
    is_flush = header["flushing"] == schema.FLUSHING
    if is_flush and any(first > lengths.get(table, 0) for table, first in base.items()):
        return None
    return ThreadSpool(header, base if is_flush else None, rows, bool(left_out))


def lost_calls(spools: Sequence[ThreadSpool], attributes: Mapping[str, int | str]) -> int:
    """Count the calls in spools that are lost and not counted yet.

    Such calls exist if recording had stopped at the limit before the process was killed.

    Args:
        spools: Spools of a process.
        attributes: Attributes of its rank file.
    """
    return sum(spool.calls for spool in spools if spool.is_lost(int(attributes["lost_calls"])))


def spool_paths(prefix: str) -> list[Path]:
    """Return the spools of all threads of a process, by thread number.

    Args:
        prefix: The attribute `spool` of the rank file.
    """
    place = Path(prefix)
    if not prefix or not place.parent.is_dir():
        return []
    files = (p for p in place.parent.iterdir() if p.stem == place.name and p.suffix[1:].isdecimal())
    return sorted(files, key=lambda p: int(p.suffix[1:]))


def is_here(attributes: Mapping[str, int | str]) -> bool:
    """Return True if the process with these attributes ran on this machine since the machine was last started."""
    boot_id = str(attributes["boot_id"]).strip()
    return bool(boot_id) and BOOT_ID.exists() and BOOT_ID.read_text().strip() == boot_id


def is_replaced(attributes: Mapping[str, int | str]) -> bool:
    """Return True if a process that is alive now runs another program (exec).

    Then its command line is another one, and its spools are no longer mapped into its memory.
    """
    files = {str(path.stat().st_ino) for path in spool_paths(str(attributes["spool"]))}
    process, said = Path(f"/proc/{int(attributes['pid'])}"), str(attributes["command"])
    try:
        maps, command = (process / "maps").read_text(), (process / "cmdline").read_bytes()
    except OSError:
        return False
    inodes = {line.split(maxsplit=5)[4] for line in maps.splitlines()}
    now = os.fsdecode(command).rstrip("\0").replace("\0", " ")
    return bool(files and inodes and said and now) and files.isdisjoint(inodes) and not now.startswith(said)


def is_alive(attributes: Mapping[str, int | str]) -> bool:
    """Return True if the process with these attributes still runs on this machine.

    A later process with the same number does not count: its start is later.
    """
    import psutil  # which takes 25 ms, and files of processes that ended need none of it

    try:
        process = psutil.Process(int(attributes["pid"]))
        started = process.create_time() <= int(attributes["start_realtime_ns"]) / 1e9 + STARTED_WITHIN_S
        return started and process.status() != psutil.STATUS_ZOMBIE
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False
