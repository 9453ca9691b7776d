"""A packed run: all ranks in one compressed HDF5 file, with the very tables, columns and values of the rank files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from h5py import h5g, h5p

from analyzer.errors import TracelibError
from analyzer.places import PLACES, to_group
from analyzer.signals import discard
from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.rank_file.versions import upgraded
from analyzer.sources.run.call_paths import RunPaths
from analyzer.sources.run.rank_files import Findings, find_ranks
from analyzer.sources.run.system import PACKED, load_samples, sample_places
from analyzer.whole import cannot_write, temporary_name
from analyzer.writers.deflate import deflated
from analyzer.writers.hdf5 import new_hdf5
from tracelib import schema
from tracelib.schema import node

CODECS: dict[str, dict[str, object]] = {
    "gzip": {"compression": "gzip", "compression_opts": 9, "shuffle": True},
    "lzf": {"compression": "lzf", "shuffle": True},
}
"""Filters that every h5py has: gzip is part of HDF5 and the smallest, lzf the fastest."""

CHUNK_ROWS = schema.COMPRESSED_CHUNK_ROWS
STRETCH_ROWS = 8 * CHUNK_ROWS
SMALL_BYTES = 1024
"""Tables up to this size are stored as they are: a chunk's index would cost more than compressing saves."""


@dataclass(frozen=True)
class Packed:
    """What packing did."""

    path: Path
    ranks: int
    calls: int  # folded polls counted one by one
    size_bytes: int
    before_bytes: int  # on the disk

    @property
    def bytes_a_call(self) -> float:
        return self.size_bytes / max(self.calls, 1)


def pack_run(path: str, output: Path, codec: str = "gzip") -> Packed:
    """Write the run at `path` into `output`, read it back and compare; the file appears whole or not at all.

    Raises TracelibError where a rank cannot be read, or has rows that lie in its spool only.
    """
    found = find_ranks(path)
    part = temporary_name(output, "part")
    try:
        _check_complete(found)
        _write(found, part, CODECS[codec])
        _compare(found, part)
        packed = Packed(
            output, len(found.files), sum(map(_calls, found.files)), part.stat().st_size, _disk_bytes(found.files)
        )
        part.replace(output)
        return packed
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        discard(part)
        for file in found.files:
            file.close()


def _check_complete(found: Findings) -> None:
    if found.problems:
        raise TracelibError(f"{found.path}: {found.problems[0].line}", "only a run with all of its ranks can be packed")
    for file in found.files:
        if file.attributes["state"] == schema.State.RECORDING:
            text = f"{found.path}: rank {file.rank} was killed or is still running"
            raise TracelibError(text, "`tracelib recover` first adds to its file what its buffer held")


def _write(found: Findings, path: Path, codec: dict[str, object]) -> None:
    with new_hdf5(path) as out:
        out.attrs["schema_version"] = np.uint64(schema.VERSION)
        out.attrs["size"] = np.uint64(found.size)
        out.attrs["created_realtime_ns"] = np.uint64(min(int(f.attributes["start_realtime_ns"]) for f in found.files))
        types = out.create_group("types")
        for table, dtype in schema.TABLES.items():
            if dtype.names and any(file.lengths[table] for file in found.files):
                types[table] = dtype
        if len({file.procedures for file in found.files}) == 1:
            _write_names(found.files[0], out)
        same: dict[bytes, h5py.Dataset] = {}
        for file in found.files:
            group = _compact_group(out, f"ranks/{file.rank:06d}")
            _write_attributes(file, group)
            if "procedures" not in out:
                _write_names(file, group)
            for table in (t for t in schema.TABLES if file.lengths[t]):
                _write_table(file, table, group, codec, same)
        for path, place in sample_places(found.files):
            _write_samples(path, place, out, codec)
        _write_places(found, out)


def _write_places(found: Findings, out: h5py.File) -> None:
    """What the places of calls are called: where the packed run goes, the program may not be there."""
    paths = RunPaths(Path(found.path), found.files)
    if paths.known and paths.named.known.modules:
        to_group(paths.named.known, out.create_group(PLACES))


def _compact_group(out: h5py.File, name: str) -> h5py.Group:
    """A group with its attributes in its header: their heap would take as much as the rows of a small run."""
    properties = h5p.create(h5p.GROUP_CREATE)
    properties.set_attr_phase_change(64, 32)
    links = h5p.create(h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    return h5py.Group(h5g.create(out.id, name.encode(), lcpl=links, gcpl=properties))


def _write_attributes(file: RankFile, group: h5py.Group) -> None:
    group.attrs["schema_version"] = np.uint64(schema.VERSION)
    for name, value in file.attributes.items():
        if isinstance(value, str):
            group.attrs[name] = np.bytes_(value.encode())
        else:  # of a damaged file a number may be negative
            group.attrs[name] = np.int64(value) if value < 0 else np.uint64(value)
    if len(file.inside):
        group.attrs["inside"] = file.inside


def _write_names(file: RankFile, group: h5py.Group) -> None:
    names = np.array([name.encode() for name in file.procedures], "S")
    options = CODECS["gzip"] | {"chunks": names.shape} if len(names) else {}  # of a damaged file there may be none
    group.create_dataset("procedures", data=names, track_times=False, **options)


def _once(group: h5py.Group, name: str, rows: np.ndarray, same: dict[bytes, h5py.Dataset], **options: object) -> None:
    """A small table; where another rank has the same rows, a link to its table."""
    key = name.encode() + b"\0" + rows.tobytes()
    if key not in same:
        same[key] = group.create_dataset(name, data=rows, track_times=False, **options)
    else:
        group[name] = same[key]


def _write_table(
    file: RankFile, table: str, group: h5py.Group, codec: dict[str, object], same: dict[bytes, h5py.Dataset]
) -> None:
    dtype, length = schema.TABLES[table], file.lengths[table]
    stored = group.file["types"][table] if dtype.names else dtype
    if length * dtype.itemsize <= SMALL_BYTES:
        _once(group, table, upgraded(table, file.read(table, 0, length)), same, dtype=stored)
        return
    chunk = (min(length, CHUNK_ROWS),)
    dataset = group.create_dataset(table, (length,), stored, chunks=chunk, track_times=False, **codec)
    for first, rows in _stretches(file, table):
        if codec is CODECS["gzip"]:
            _write_deflated(dataset, first, rows)
        else:
            dataset[first : first + len(rows)] = rows


def _write_deflated(dataset: h5py.Dataset, first: int, rows: np.ndarray) -> None:
    """Rows from the beginning of a chunk on; behind the table's end a chunk has zeros."""
    of_chunk = dataset.chunks[0]
    for at in range(0, len(rows), of_chunk):
        chunk = np.zeros(of_chunk, rows.dtype)
        part = rows[at : at + of_chunk]
        chunk[: len(part)] = part
        dataset.id.write_direct_chunk((first + at,), deflated(chunk))


def _write_samples(path: Path, place: str, out: h5py.File, codec: dict[str, object]) -> None:
    """The samples of a node: a copy of system-HOST.h5, its table compressed."""
    attributes, rows = load_samples(path, place)
    host = path.stem.removeprefix("system-") if place == "/" else place.rpartition("/")[2]
    group = _compact_group(out, f"{PACKED}/{host}")
    options = codec | {"chunks": (min(len(rows), CHUNK_ROWS),)} if len(rows) else {}
    dataset = group.create_dataset("samples", data=rows, track_times=False, **options)
    for name, value in attributes.items():
        group.attrs[name] = value
    columns = rows.dtype.names or ()
    for name in (name for name in node.SYSTEM if name in columns):
        dataset.attrs[name] = np.bytes_(node.SYSTEM[name][0])


def _stretches(file: RankFile, table: str) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of a table, a bounded number at a time."""
    length = file.lengths[table]
    for first in range(0, length, STRETCH_ROWS):
        yield first, upgraded(table, file.read(table, first, min(first + STRETCH_ROWS, length)))


def _compare(found: Findings, path: Path) -> None:
    """Nothing replaces a run that does not hold the same."""
    copies = find_ranks(str(path)).files
    if _samples(found.files) != _samples(copies):
        raise TracelibError(
            f"{path}: the packed file differs from the samples of a node", "is the run still being recorded?"
        )
    for file, packed in zip(found.files, copies, strict=True):
        equal = file.attributes == packed.attributes and file.procedures == packed.procedures
        equal = equal and file.lengths == packed.lengths
        for table in schema.TABLES if equal else ():
            pairs = zip(_stretches(file, table), _stretches(packed, table), strict=True)
            equal = equal and all(a.tobytes() == b.tobytes() for (_, a), (_, b) in pairs)
        packed.close()
        if not equal:
            raise TracelibError(
                f"{path}: the packed file differs from rank {file.rank}", "is the run still being recorded?"
            )


def _samples(files: list[RankFile]) -> list[bytes]:
    """The samples of all nodes, in an order that no name has a part in."""
    return sorted(load_samples(*place)[1].tobytes() for place in sample_places(files))


def _calls(file: RankFile) -> int:
    polls = sum(int(rows["count"].sum()) for _, rows in _stretches(file, "polls"))
    return file.lengths["calls"] + polls


def _disk_bytes(files: list[RankFile]) -> int:
    return sum(path.stat().st_blocks * 512 for path in {file.path for file in files})
