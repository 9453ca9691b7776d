"""Buffers that killed processes of this user left on this node, and what may become of each.

A buffer is the only copy of a process's last calls until `tracelib recover` has put them into its rank file. So it is
removed only if that has happened, or if the rank file is gone. It is never touched while its process may still live: in
another PID namespace, nobody here can tell.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from tracelib import schema
from tracelib.attributes import read_attributes
from tracelib.schema.spool import BOOT_ID, is_alive

SHARED_MEMORY = "/dev/shm"
"""Default folder of the buffers."""
_NAME = re.compile(r"(tracelib-\d+-[0-9a-f]+)\.\d+")
_OWN_NAMESPACE = Path("/proc/self/ns/pid")


class BufferOwner(StrEnum):
    """Party that still needs the buffers of a process: the process itself, the run's rank file, or nobody."""

    PROCESS = "process"  # it is running, or may be: it is of another PID namespace or says nothing of itself
    RUN = "run"  # the rank file needs them: they go into it by `tracelib recover`
    NOBODY = "nobody"  # the rank file has all of it, or is gone


@dataclass(frozen=True)
class LeftBuffers:
    """Buffers of one process on this node.

    Attributes:
        prefix: Path of the buffers without the number of the thread: the attribute `spool` of the rank file.
        paths: Files of the buffers.
        owner: Who still needs them.
        rank_file: Path of the rank file; if it is gone, its former path.
    """

    prefix: Path  # the attribute `spool` of its rank file
    paths: tuple[Path, ...]
    owner: BufferOwner
    rank_file: Path  # where it is; of one that is gone, where it was

    @property
    def size_bytes(self) -> int:
        """Memory or disk that the buffers take, bytes."""
        return sum(path.stat().st_size for path in self.paths if path.exists())

    def remove(self) -> None:
        """Remove the files of the buffers."""
        for path in self.paths:
            path.unlink(missing_ok=True)


def directories() -> list[Path]:
    """Return the folders in which buffers of this user's processes may lie."""
    names = (os.environ.get("TRACELIB_SPOOL"), SHARED_MEMORY, os.environ.get("TMPDIR"), tempfile.gettempdir(), "/tmp")
    return [path for path in dict.fromkeys(Path(name).resolve() for name in names if name) if path.is_dir()]


def left_buffers() -> list[LeftBuffers]:
    """Find all buffers of this user on this node."""
    return [found for directory in directories() for found in _in(directory)]


def remove_unowned() -> int:
    """Remove the buffers that nobody needs. Return the number of processes that they came from."""
    unowned = [buffers for buffers in left_buffers() if buffers.owner is BufferOwner.NOBODY]
    for buffers in unowned:
        with suppress(OSError):
            buffers.remove()
    return len(unowned)


def _in(directory: Path) -> Iterator[LeftBuffers]:
    paths: dict[str, list[Path]] = {}
    with suppress(OSError):
        for path in directory.iterdir():
            if (match := _NAME.fullmatch(path.name)) and _is_own(path):
                paths.setdefault(match[1], []).append(path)
    for name, own in sorted(paths.items()):
        header = _header(own[0])
        if header is not None:
            prefix = directory / name
            rank_file, state = _find(Path(os.fsdecode(bytes(header["rank_file"]))), prefix)
            yield LeftBuffers(prefix, tuple(sorted(own)), _owner(header, rank_file, state), rank_file)


def _is_own(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return status.st_uid == os.getuid() and stat.S_ISREG(status.st_mode)


def _header(path: Path) -> np.void | None:
    """Read the header of a buffer. None: the file is no buffer, or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(schema.SPOOL_HEADER_BYTES)
    except OSError:
        return None
    layout = schema.SPOOL_HEADERS.get(data[: len(schema.SPOOL_MAGIC)])
    return None if layout is None or len(data) < schema.SPOOL_HEADER_BYTES else np.frombuffer(data, layout, 1)[0]


def _owner(header: np.void, rank_file: Path, state: int | None) -> BufferOwner:
    if not _is_dead(header):
        return BufferOwner.PROCESS
    if state is None:
        return BufferOwner.RUN if rank_file == Path() or rank_file.exists() else BufferOwner.NOBODY
    return BufferOwner.RUN if state in (schema.ProcessState.RECORDING, schema.ProcessState.FULL) else BufferOwner.NOBODY


def _is_dead(header: np.void) -> bool:
    """Return True if it is certain that the process has ended."""
    if "boot_id" not in (header.dtype.names or ()):
        return False
    boot_id = bytes(header["boot_id"]).decode(errors="replace")
    if not BOOT_ID.exists() or not boot_id:
        return False
    if boot_id != BOOT_ID.read_text().strip():
        return False  # of an earlier start of this machine, or of another machine that shares the directory
    process = {"pid": int(header["pid"]), "start_realtime_ns": int(header["created_realtime_ns"])}
    return _namespace() == int(header["pid_namespace"]) and not is_alive(process)


def _namespace() -> int:
    try:
        return _OWN_NAMESPACE.stat().st_ino
    except OSError:
        return 0


def _find(rank_file: Path, prefix: Path) -> tuple[Path, int | None]:
    """Find the rank file that names these buffers, and its state. State None: the file is gone, or cannot be read.

    The file is looked for at its path, and in renamed folders beside that.
    """
    if rank_file == Path():
        return rank_file, None  # it was about to move
    candidates = [rank_file, rank_file.with_name(f"{rank_file.name}.tmp")]
    with suppress(OSError):
        candidates += sorted(rank_file.parent.parent.glob(f"*/{rank_file.name}"))
    for path in candidates:
        found = read_attributes(path) if path.is_file() else ""
        if isinstance(found, dict) and Path(str(found["spool"])).name == prefix.name:
            return path, int(found["state"])
    return rank_file, None
