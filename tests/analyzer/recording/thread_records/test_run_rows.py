"""Rows of tables as h5py reads them, from where they lie; requests as numpy chooses and orders them."""

import os

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.pairing.requests import Choice
from analyzer.recording.rank_file.chunks import Descriptor
from analyzer.recording.rank_file.tables import OpenFiles
from analyzer.trace import REQUEST
from tracelib import schema

ROWS = 7


def write(path, **options):
    """A file whose table grew in turns with another, so that its chunks do not lie together; returns the rows."""
    rows = np.zeros(60, schema.POLL)
    rows["enter"], rows["call"] = np.arange(60) * 1_000_003, np.arange(60) % 5
    with h5py.File(path, "w", **options) as file:
        a = file.create_dataset("polls", (0,), schema.POLL, chunks=(ROWS,), maxshape=(None,))
        b = file.create_dataset("others", (0,), schema.POLL, chunks=(ROWS,), maxshape=(None,))
        for last in (10, 11, 40, 60):
            for table in (a, b):
                first = len(table)
                table.resize((last,))
                table[first:] = rows[first:last]
                file.flush()
        file["whole"] = rows
        file.create_dataset("deflated", data=rows, chunks=(ROWS,), compression="gzip", shuffle=True)
        file.create_dataset("packed", data=rows, chunks=(ROWS,), compression="gzip")
        file.create_dataset("lzf", data=rows, chunks=(ROWS,), compression="lzf", shuffle=True)
        file.create_dataset("late", data=rows, chunks=(ROWS,), compression="gzip", shuffle=True)
        file["late"].id.write_direct_chunk((7,), rows[7:14].tobytes(), filter_mask=3)
        file.create_dataset("missing", (60,), schema.POLL, chunks=(ROWS,), compression="gzip", shuffle=True)
        file["missing"][20:] = rows[20:]
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_external(b"beside", 0, rows.nbytes)
        space, kind = h5py.h5s.create_simple((60,)), h5py.h5t.py_create(schema.POLL)
        h5py.h5d.create(file.id, b"external", kind, space, properties)
    return rows


def table(path, name):
    return OpenFiles().group(path, "/").table(name)


def test_rows_are_read_where_they_lie(tmp_path):
    rows = write(tmp_path / "a.h5")
    chunks = table(tmp_path / "a.h5", "polls").chunks()
    assert chunks.rows == ROWS and (np.diff(chunks.at) != ROWS * schema.POLL.itemsize).any()
    file = Descriptor(str(tmp_path / "a.h5"))
    for first in range(61):
        for last in range(first, 61):
            assert chunks.read(file, first, last).tobytes() == rows[first:last].tobytes()
    os.truncate(tmp_path / "a.h5", chunks.at.max())
    with pytest.raises(OSError, match="it ends before its rows do"):
        chunks.read(file, 0, 60)


@pytest.mark.parametrize("name", ["whole", "deflated"])
def test_rows_are_read_as_hdf5_reads_them(tmp_path, name):
    """Every step-th of any range, also into an array of the reader's."""
    rows = write(tmp_path / "a.h5")
    found = table(tmp_path / "a.h5", name)
    chunks, file = found.chunks(), Descriptor(str(tmp_path / "a.h5"))
    for first in range(61):
        for last in range(first, 61):
            for step in (1, 2, 7, 13):
                assert chunks.read(file, first, last, step).tobytes() == rows[first:last:step].tobytes()
    into = np.zeros(20, schema.POLL)
    assert chunks.read(file, 15, 35, into=into) is into
    assert into.tobytes() == rows[15:35].tobytes() == found.rows(15, 35).tobytes()


def test_what_is_damaged_among_deflated_rows_is_noticed(tmp_path):
    write(tmp_path / "a.h5")
    chunks, file = table(tmp_path / "a.h5", "deflated").chunks(), Descriptor(str(tmp_path / "a.h5"))
    with (tmp_path / "a.h5").open("r+b") as opened:
        opened.seek(chunks.at[2])
        opened.write(b"\xff" * 8)
    assert len(chunks.read(file, 0, 14)) == 14
    with pytest.raises(OSError, match="header"):
        chunks.read(file, 0, 15)
    os.truncate(tmp_path / "a.h5", chunks.at[1] + chunks.deflated[1] - 1)
    with pytest.raises(OSError, match="ends before its rows do"):
        chunks.read(file, 0, 8)
    with (tmp_path / "a.h5").open("r+b") as opened:
        opened.seek(chunks.at[0] + chunks.deflated[0] - 1)  # of the checksum
        last = opened.read(1)[0]
        opened.seek(-1, os.SEEK_CUR)
        opened.write(bytes([last ^ 1]))
    with pytest.raises(OSError, match="data check"):
        chunks.read(file, 0, 1)


@pytest.mark.parametrize("name", ["packed", "lzf", "late", "missing", "external"])
def test_what_is_stored_otherwise_is_read_by_hdf5(tmp_path, name):
    rows = write(tmp_path / "a.h5")
    found = table(tmp_path / "a.h5", name)
    assert found.chunks() is None
    if name in ("packed", "lzf"):
        for first, last, step in ((0, 60, 1), (3, 50, 7), (58, 99, 1), (9, 9, 1)):
            assert found.rows(first, last, step).tobytes() == rows[first:last:step].tobytes()


def test_a_file_that_begins_with_something_else_is_read_by_hdf5(tmp_path):
    write(tmp_path / "a.h5", userblock_size=512)
    assert table(tmp_path / "a.h5", "polls").chunks() is None


@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 4)), max_size=60),
    kinds=st.sets(st.integers(0, 4)),
    least=st.integers(0, 6),
    by_completed=st.booleans(),
)
def test_requests_are_chosen_and_ordered(rows, kinds, least, by_completed):
    table = np.zeros(len(rows), REQUEST)
    for row, (posted, completed, what) in zip(table, rows, strict=True):
        row["posted"], row["completed"], row["what"] = posted, completed, what
    table["bytes"] = np.arange(len(rows))
    wanted = table[np.isin(table["what"], list(kinds)) & (table["posted"] >= least)]
    wanted = wanted[np.argsort(wanted["completed" if by_completed else "posted"], kind="stable")]
    assert Choice(tuple(kinds), by_completed=by_completed).of(table, least).tolist() == wanted.tolist()
