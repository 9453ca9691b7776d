"""`tracelib recover`: completes rank files from the spools of killed ranks, and writes run.h5 if it is missing.

A rank file is completed in a copy, which then replaces the file. After that its spools are removed. If a recovery is
itself killed, the file is either as it was, or complete with spools that the next recovery removes.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import h5py
import numpy as np
from h5py import h5d, h5s

from tracelib import schema
from tracelib.attributes import Attributes, read_attributes
from tracelib.copying import copy_sparse
from tracelib.errors import TracelibError
from tracelib.left_buffers import BufferOwner, LeftBuffers, left_buffers, remove_unowned
from tracelib.rank_files import RankFiles, find_rank_files, write_links
from tracelib.schema import ProcessState
from tracelib.schema.sound import SoundAttributes, is_sound
from tracelib.schema.spool import ThreadSpool, is_alive, is_here, lost_calls, read_spool, spool_paths
from tracelib.unfinished import remove_links


class RecoveryState(StrEnum):
    """State of a rank after recovery.

    Its file was complete, was completed, or could not be completed for some reason.
    """

    WHOLE = "whole"  # there was nothing to do
    RECOVERED = "recovered"
    ELSEWHERE = "elsewhere"  # its spools are on another node
    GONE = "gone"  # its spools are nowhere
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class RankRecovery:
    """Result of the recovery of one rank.

    Attributes:
        rank: The rank.
        fate: State of the rank after recovery.
        calls: Number of calls that were added from spools.
        host: Name of the node on which the rank ran.
        reason: Why the file is unreadable.
    """

    rank: int
    fate: RecoveryState
    calls: int = 0  # that came from spools
    host: str = ""  # where it ran
    reason: str = ""  # of an unreadable file

    @property
    def missing(self) -> bool:
        """True if calls that were in the rank's buffer are missing in its file."""
        return self.fate not in (RecoveryState.WHOLE, RecoveryState.RECOVERED)

    @property
    def line(self) -> str:
        """One line of text about the rank."""
        said = {
            RecoveryState.WHOLE: "is complete",
            RecoveryState.RECOVERED: f"was killed; {self.calls} calls were put into its file",
            RecoveryState.ELSEWHERE: (
                f"was killed or is still running on {self.host or 'another node'}; recover it there"
            ),
            RecoveryState.GONE: "was killed, and its buffer is gone: the last calls are missing",
            RecoveryState.UNREADABLE: f"cannot be read ({self.reason})",
        }
        return f"rank {self.rank}: {said[self.fate]}"


@dataclass(frozen=True)
class RunRecovery:
    """Result of the recovery of a run.

    Attributes:
        given: Path that the user named.
        outcomes: Result of each rank.
        run: Path of run.h5 if this recovery wrote it. None: it did not.
    """

    given: str
    outcomes: list[RankRecovery]
    run: Path | None

    @property
    def incomplete(self) -> bool:
        """True if calls that were in a buffer are missing in the files."""
        return any(outcome.missing for outcome in self.outcomes)

    @property
    def line(self) -> str:
        """One line of text about all ranks."""
        recovered = [outcome for outcome in self.outcomes if outcome.fate == RecoveryState.RECOVERED]
        ranks = f"{len(self.outcomes)} rank{'s' if len(self.outcomes) > 1 else ''}"
        calls = sum(outcome.calls for outcome in recovered)
        written = f", {self.run} was written" if self.run else ""
        found = f"{len(recovered)} of {ranks} recovered, {calls} calls{written}"
        if all(outcome.fate == RecoveryState.WHOLE for outcome in self.outcomes):
            found = f"nothing to recover: {'all ' if len(self.outcomes) > 1 else ''}{ranks} whole{written}"
        return f"{found}; next: analyze {self.run or self.given}"


def recover(run: str) -> RunRecovery:
    """Complete the files of a run as far as their spools lie on this node.

    Args:
        run: Path of run.h5, run.ranks or one rank file.

    Raises:
        TracelibError: A rank is still running here; then nothing was changed. Or there is no room or right to write a
            rank's file; then the ranks before it are recovered.
    """
    found = find_rank_files(run)
    attributes: dict[Path, Attributes | str] = {path: read_attributes(path) for path in found.paths}
    for path, a in attributes.items():
        if isinstance(a, dict) and a["state"] == ProcessState.RECORDING and is_here(a) and is_alive(a):
            hint = "end it first (a killed mpirun may have left it behind)"
            raise TracelibError(f"rank {int(path.stem)} is still running (process {a['pid']})", hint)
    outcomes = [_recover_rank(path, a) for path, a in attributes.items()]
    return RunRecovery(run, outcomes, _complete_run(found, [a for a in attributes.values() if isinstance(a, dict)]))


@dataclass(frozen=True)
class UserRecovery:
    """Result of the recovery of all runs of this user that left buffers on this node.

    Attributes:
        runs: Results of the runs that were recovered.
        failed: Why the other runs could not be recovered, one line each.
        removed: Number of processes whose buffers were removed because no run needs them.
        kept: Buffers of processes that may still run.
    """

    runs: list[RunRecovery]
    failed: list[str]  # why runs could not be recovered, a line each
    removed: int  # processes whose buffers nobody needed
    kept: list[LeftBuffers]  # of processes that may live

    @property
    def incomplete(self) -> bool:
        """True if buffers still hold calls that are in no file."""
        return bool(self.failed) or any(done.incomplete for done in self.runs)

    @property
    def lines(self) -> list[str]:
        """Lines of text: one for each run, and one for each other thing that was done."""
        lines = [f"{done.given}: {done.line}" for done in self.runs] + self.failed
        if self.removed:
            whose = "process" if self.removed == 1 else "processes"
            lines.append(f"removed the buffers of {self.removed} {whose}: the run is gone, or has all of it")
        lines += [f"{one.prefix}.*: kept, its process may be running" for one in self.kept]
        return lines or ["nothing to recover: no killed process of yours left a buffer on this node"]


def recover_all() -> UserRecovery:
    """Recover each run of this user that left buffers on this node, and remove the buffers that no run needs."""
    left = left_buffers()
    runs, failed = [], []
    for folder in sorted({one.rank_file.parent for one in left if one.owner is BufferOwner.RUN}):
        try:
            runs.append(recover(str(folder)))
        except TracelibError as error:
            failed.append(f"{folder}: {error}" + (f" ({error.hint})" if error.hint else ""))
    removed = remove_unowned()
    return UserRecovery(runs, failed, removed, [one for one in left if one.owner is BufferOwner.PROCESS])


def _complete_run(found: RankFiles, attributes: Sequence[Attributes]) -> Path | None:
    if found.run is not None:
        remove_links(found.run, attributes)
    if found.run is None or found.run.exists() or not attributes:
        return None
    started = min(int(a["start_realtime_ns"]) for a in attributes)
    first = attributes[0]
    write_links(found.run, found.folder, int(first["schema_version"]), int(first["size"]), started)
    return found.run


def _recover_rank(path: Path, attributes: Attributes | str) -> RankRecovery:
    if isinstance(attributes, str):
        return RankRecovery(int(path.stem), RecoveryState.UNREADABLE, reason=attributes)
    rank, host = int(attributes["rank"]), str(attributes["host"])
    killed = attributes["state"] == ProcessState.RECORDING
    if not is_here(attributes):
        return RankRecovery(rank, RecoveryState.ELSEWHERE if killed else RecoveryState.WHOLE, host=host)
    with ExitStack() as held:
        paths = spool_paths(str(attributes["spool"]))
        spools = {p: held.enter_context(_open_locked(p)) for p in paths}
        fate, calls = _fold(path, [s.read() for s in spools.values()]) if killed else (RecoveryState.WHOLE, 0)
        if fate != RecoveryState.GONE and attributes["state"] != ProcessState.FULL and not is_alive(attributes):
            for spool in spools:
                spool.unlink(missing_ok=True)
    return RankRecovery(rank, fate, calls, host)


def _open_locked(path: Path) -> BinaryIO:
    """Open a spool, and lock it against other recoveries until it is closed."""
    try:
        file = path.open("rb")
    except OSError as error:
        hint = "recover as the user who ran the program"
        raise TracelibError(f"cannot read {path}: {error.strerror}", hint) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise TracelibError(f"another recovery is reading {path}", "wait for its end") from error
    return file


def _fold(path: Path, contents: Sequence[bytes]) -> tuple[RecoveryState, int]:
    """Add the rows of spools to the file. The file is replaced as a whole, or stays as it is.

    Returns:
        The state of the rank, and the number of calls that were added.
    """
    copy = path.with_name(path.name + ".tmp")
    try:
        copy_sparse(path, copy)
        with h5py.File(copy, "r+", locking=False) as file:
            state = int(SoundAttributes(file)["state"])
            spools = _read_spools(file, path.name, contents)
            if state == ProcessState.RECORDING and spools:
                append_spools(file, spools)
        if (
            state != ProcessState.RECORDING or not spools
        ):  # another recovery came first, or nothing is left of the spools
            copy.unlink()
            return (RecoveryState.GONE if state == ProcessState.RECORDING else RecoveryState.WHOLE), 0
        _put_in_place(copy, path)
    except (KeyError, RuntimeError, ValueError, TypeError, OverflowError) as error:  # h5py's
        copy.unlink(missing_ok=True)
        raise TracelibError(f"{path} is damaged: {' '.join(str(error).split())}", "nothing was changed") from error
    except OSError as error:
        copy.unlink(missing_ok=True)
        hint = "nothing was changed; the copy that is made needs as much room as the file"
        raise TracelibError(f"cannot complete {path}: {error.strerror or error}", hint) from error
    return RecoveryState.RECOVERED, sum(len(spool.rows["calls"]) for spool in spools if not spool.left_out)


def _read_spools(file: h5py.File, name: str, contents: Sequence[bytes]) -> list[ThreadSpool]:
    _check_tables(file)
    lengths = {table: len(file[table]) for table in schema.TABLES if table in file}
    read = (read_spool(data, name, lengths) for data in contents)
    return [spool for spool in read if spool is not None]


def _check_tables(file: h5py.File) -> None:
    """Raise TypeError if a table is no table, or has columns that the format does not have."""
    for name, dtype in schema.TABLES.items():
        table = file.get(name)
        if table is not None and not (isinstance(table, h5py.Dataset) and is_sound(table.id.get_type())):
            raise TypeError(f"{name} is no table")
        if table is not None and not _columns(table.dtype).items() <= _columns(dtype).items():
            raise TypeError(f"{name} has other columns")


def _columns(dtype: np.dtype) -> dict[str, tuple[np.dtype, int]]:
    """Return type and number of dimensions of each column. A later version may have more elements in one."""
    fields = dtype.fields or {"": (dtype, 0)}
    return {name: (of[0].base, of[0].ndim) for name, of in fields.items()}


def _put_in_place(copy: Path, path: Path) -> None:
    """Let a finished copy take a file's place. Readers use the time of the last change as the end of the process."""
    before = path.stat()
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
    with copy.open("rb") as file:
        os.fsync(file.fileno())
    copy.replace(path)


def append_spools(file: h5py.File, spools: Sequence[ThreadSpool]) -> None:
    """Append the rows of a process's spools to its file, in the order in which readers expect them, and set its state.

    Spools of a flush that was cut short come first: their rows have their place in the file already.
    """
    kept = [spool for spool in spools if not spool.left_out]
    lost = int(SoundAttributes(file)["lost_calls"])
    file.attrs.modify("lost_calls", np.uint64(lost + lost_calls(spools, {"lost_calls": lost})))
    for spool in sorted(kept, key=lambda spool: (spool.base is None, spool.thread)):
        _append_spool(file, spool)
    inside = [spool.inside for spool in spools if spool.inside]
    if inside:
        file.attrs["inside"] = np.array(inside, schema.INSIDE)
    file.attrs.modify("state", np.uint64(ProcessState.RECOVERED))


def _append_spool(file: h5py.File, spool: ThreadSpool) -> None:
    blocks = file["blocks"]
    block = np.zeros(1, blocks.dtype)
    names = list(schema.BUFFERED)[: block["first"].shape[1]]
    for position, table in enumerate(names):
        rows, dataset = spool.rows[table], file[table]
        first = len(dataset) if spool.base is None else spool.base[table]
        if len(rows):
            dataset = _growing(file, table, first + len(rows))
            dataset[first : first + len(rows)] = rows
        block["first"][0, position] = first
        block["count"][0, position] = len(dataset) - first  # a flush may have added the event of its end
    if not block["count"].any() or _is_named(blocks[:], block):
        return
    for name in ("thread", "set"):
        if spool.has(name) and name in (block.dtype.names or ()):
            block[name] = spool.header[name]
    block["flags"] = schema.BLOCK_RECOVERED
    _growing(file, "blocks", len(blocks) + 1)[-1:] = block


def _growing(file: h5py.File, table: str, length: int) -> h5py.Dataset:
    """Return a table with room for `length` rows.

    The tree in which an empty table would find its chunks has two levels from the beginning, which HDF5 cannot fill.
    So an empty table is made anew.
    """
    dataset = file[table]
    if len(dataset) == 0:
        dtype, properties = dataset.id.get_type(), dataset.id.get_create_plist()
        space = h5s.create_simple((length,), (h5s.UNLIMITED,))
        del file[table]
        return h5py.Dataset(h5d.create(file.id, table.encode(), dtype, space, properties))
    if len(dataset) < length:
        dataset.resize(length, axis=0)
    return dataset


def _is_named(blocks: np.ndarray, block: np.ndarray) -> bool:
    """Return True if a flush has already written its row of `blocks`."""
    written = (blocks["flags"] & schema.BLOCK_UNWRITTEN == 0) & (blocks["count"] > 0).any(axis=1)
    return bool((written & (blocks["first"] == block["first"]).all(axis=1)).any())
