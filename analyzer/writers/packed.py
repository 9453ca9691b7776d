"""A packed run: all ranks in one compressed HDF5 file, with the same tables, columns and values as the rank files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from analyzer.atomic_file import cannot_write, temporary_name
from analyzer.errors import TracelibError
from analyzer.places import PLACES, to_group
from analyzer.recording.rank_file.file import RankFile, close_file
from analyzer.recording.rank_file.versions import upgraded
from analyzer.recording.run.call_paths import RunPaths
from analyzer.recording.run.rank_files import RunFiles, find_ranks
from analyzer.recording.run.system import PACKED, load_samples, sample_places
from analyzer.signal_handling import discard
from analyzer.writers.hdf5_groups import new_group, new_table, set_attribute, write_rows
from analyzer.writers.hdf5_parts import attribute, text_attribute
from analyzer.writers.rank_groups import CHUNK_ROWS, new_run
from tracelib import schema
from tracelib.schema import node

STRETCH_ROWS = 8 * CHUNK_ROWS
LEVEL = 9


@dataclass(frozen=True)
class PackingResult:
    """Result of packing a run.

    Attributes:
        calls: Number of calls, with each folded poll counted.
        before_bytes: Space of the rank files on the disk in bytes.
    """

    path: Path
    ranks: int
    calls: int  # number of calls, each folded poll counted
    size_bytes: int
    before_bytes: int  # space on the disk before

    @property
    def bytes_a_call(self) -> float:
        """Size of the packed file divided by the number of calls, in bytes."""
        return self.size_bytes / max(self.calls, 1)


def pack_run(path: str, output: Path, codec: str = "gzip") -> PackingResult:
    """Write a run as one packed file, read it back, and compare it with the run.

    Args:
        path: The run.
        output: The new file. It appears complete or not at all.
        codec: Compression of tables: "gzip" or "lzf".

    Raises:
        TracelibError: A rank cannot be read or was killed, the file differs, or it cannot be written.
    """
    found = find_ranks(path)
    part = temporary_name(output, "part")
    try:
        _check_complete(found)
        _write(found, part, codec)
        _compare(found, part)
        packed = PackingResult(
            output, len(found.files), sum(map(_calls, found.files)), part.stat().st_size, _disk_bytes(found.files)
        )
        part.replace(output)
        close_file(str(output))
        return packed
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        discard(part)
        for file in found.files:
            file.close()


def _check_complete(found: RunFiles) -> None:
    if found.problems:
        raise TracelibError(f"{found.path}: {found.problems[0].line}", "only a run with all of its ranks can be packed")
    for file in found.files:
        if file.attributes["state"] == schema.ProcessState.RECORDING:
            text = f"{found.path}: rank {file.rank} was killed or is still running"
            raise TracelibError(text, "`tracelib recover` first adds to its file what its buffer held")


def _write(found: RunFiles, path: Path, codec: str) -> None:
    shared = len({file.procedures for file in found.files}) == 1

    def head(out: h5py.File) -> None:
        out.attrs["created_realtime_ns"] = np.uint64(min(int(f.attributes["start_realtime_ns"]) for f in found.files))
        if shared:
            names = _names(found.files[0])
            write_rows(new_table(out.id, "procedures", len(names), names.dtype, len(names), "gzip", LEVEL), names)
        for place in sample_places(found.files):
            _write_samples(*place, out, codec)
        _write_places(found, out)

    used = [table for table in schema.TABLES if any(file.lengths[table] for file in found.files)]
    with new_run(path, found.size, used, head, codec, LEVEL) as groups:
        for file in found.files:
            own = {} if shared else {"procedures": groups.table("procedures", len(file.procedures), [_names(file)])}
            tables = {table: length for table, length in file.lengths.items() if length}
            own |= {table: groups.table(table, length, _stretches(file, table)) for table, length in tables.items()}
            groups.add(file.rank, _attributes(file), own)


def _write_places(found: RunFiles, out: h5py.File) -> None:
    """Write the names of places into the file, because the program may be missing where the packed run is analyzed."""
    paths = RunPaths(Path(found.path), found.files)
    if paths.known and paths.named.known.modules:
        to_group(paths.named.known, out.create_group(PLACES))


def _attributes(file: RankFile) -> list[bytes]:
    messages = [attribute("schema_version", np.uint64(schema.VERSION))]
    for name, value in file.attributes.items():
        if isinstance(value, str):
            messages.append(text_attribute(name, value.encode()))
        else:  # a number of a damaged file may be negative
            messages.append(attribute(name, np.int64(value) if value < 0 else np.uint64(value)))
    return [*messages, attribute("inside", file.inside)] if len(file.inside) else messages


def _names(file: RankFile) -> np.ndarray:
    """Return the names of the procedures in a rank file. A damaged file may have none."""
    return np.array([name.encode() for name in file.procedures], "S")


def _write_samples(path: Path, place: str, out: h5py.File, codec: str) -> None:
    """Copy the samples of a node (system-HOST.h5) into the file, with a compressed table."""
    attributes, rows = load_samples(path, place)
    host = path.stem.removeprefix("system-") if place == "/" else place.rpartition("/")[2]
    group = h5py.Group(new_group(out, f"{PACKED}/{host}"))
    table = new_table(group.id, "samples", len(rows), rows.dtype, min(len(rows), CHUNK_ROWS), codec, LEVEL)
    write_rows(table, rows)
    for name, value in attributes.items():
        group.attrs[name] = value
    columns = rows.dtype.names or ()
    for name in (name for name in node.SYSTEM if name in columns):
        set_attribute(table, name, np.bytes_(node.SYSTEM[name][0]))


def _stretches(file: RankFile, table: str) -> Iterator[np.ndarray]:
    """Yield the rows of a table, at most STRETCH_ROWS at a time."""
    length = file.lengths[table]
    for first in range(0, length, STRETCH_ROWS):
        yield upgraded(table, file.read(table, first, min(first + STRETCH_ROWS, length)))


def _compare(found: RunFiles, path: Path) -> None:
    """Compare the packed file with the run that it will replace.

    Raises:
        TracelibError: The contents differ.
    """
    copies = find_ranks(str(path)).files
    try:
        if _samples(found.files) != _samples(copies):
            raise TracelibError(
                f"{path}: the packed file differs from the samples of a node", "is the run still being recorded?"
            )
        for file, copy in zip(found.files, copies, strict=True):
            if not _is_same(file, copy):
                raise TracelibError(
                    f"{path}: the packed file differs from rank {file.rank}", "is the run still being recorded?"
                )
            file.close()
    finally:
        copies[0].close()


def _is_same(file: RankFile, copy: RankFile) -> bool:
    """Return True if a copy has the same contents as its rank file. Opening a file has read its small tables."""
    if (file.attributes, file.procedures, file.lengths) != (copy.attributes, copy.procedures, copy.lengths):
        return False
    if file.inside.tobytes() != copy.inside.tobytes():
        return False
    pairs = (zip(_stretches(file, t), _stretches(copy, t), strict=True) for t in schema.TABLES if file.lengths[t])
    return all(a.tobytes() == b.tobytes() for of_table in pairs for a, b in of_table)


def _samples(files: Sequence[RankFile]) -> list[bytes]:
    """Return the samples of all nodes as bytes, in an order that does not depend on file names."""
    return sorted(load_samples(*place)[1].tobytes() for place in sample_places(files))


def _calls(file: RankFile) -> int:
    polls = sum(int(rows["count"].sum()) for rows in _stretches(file, "polls"))
    return file.lengths["calls"] + polls


def _disk_bytes(files: Sequence[RankFile]) -> int:
    return sum(path.stat().st_blocks * 512 for path in {file.path for file in files})
