"""Compressed chunks of `analyze pack` and of the runtime: HDF5's own filters find every row in them."""

import ctypes
import zlib

import compiled
import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.writers.rank_groups import deflated
from tracelib import schema

STUBS = """
#include "common/user_message.h"
#include "common/settings.h"
void say(const char *format, ...) { (void)format; }
void setting_trouble(const char *format, ...) { (void)format; }
"""
COLUMNS = st.sampled_from(["noise", "same", "rising", "few"])
MOST_ROWS = 500


def column(kind, n, rng):
    """n bytes as they stand in columns of a trace: noise, one value, slowly rising ones, a few values."""
    if kind == "same":
        return np.full(n, rng.integers(256), np.uint8)
    if kind == "rising":
        return (np.cumsum(rng.random(n) < 0.1) + rng.integers(256)).astype(np.uint8)
    return rng.integers(0, 256 if kind == "noise" else 4, n, np.uint8)


@st.composite
def rows(draw):
    """Some rows of one of the buffered tables, each byte of a row by its own rule."""
    dtype = draw(st.sampled_from(list(schema.BUFFERED.values())))
    n = draw(st.integers(1, MOST_ROWS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = draw(st.lists(COLUMNS, min_size=dtype.itemsize, max_size=dtype.itemsize))
    return np.stack([column(kind, n, rng) for kind in kinds], axis=1).reshape(-1).view(dtype)


@pytest.fixture(scope="module")
def compress_chunk(tmp_path_factory):
    """compress_chunk of the runtime, at level 6: the compressed chunk, None where it would not be smaller."""
    patch = pytest.MonkeyPatch()
    patch.setenv("TRACELIB_COMPRESS", "6")
    library = compiled.library(tmp_path_factory.mktemp("compress"), "record/compress.c", code=STUBS)
    library.compress_start.restype = ctypes.c_bool
    library.compress_chunk.restype = ctypes.c_uint64
    library.compress_chunk.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p]
    assert library.compress_start()
    patch.undo()

    def call(rows):
        out = ctypes.c_void_p()
        n = library.compress_chunk(rows.tobytes(), len(rows), rows.dtype.itemsize, ctypes.byref(out))
        return ctypes.string_at(out.value, n) if n else None

    return call


def read_by_hdf5(rows, chunk):
    """Return the rows that h5py reads if `chunk` is the only chunk of a table with our filters."""
    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        table = file.create_dataset("t", rows.shape, rows.dtype, chunks=rows.shape, shuffle=True, compression="gzip")
        table.id.write_direct_chunk((0,), chunk)
        return table[:]


@settings(max_examples=25)
@given(rows())
def test_hdf5_reads_the_same_rows(compress_chunk, rows):
    packed, live = deflated(rows, 9), compress_chunk(rows)
    assert read_by_hdf5(rows, packed).tobytes() == rows.tobytes()
    if live is None:
        assert len(packed) >= 0.9 * rows.nbytes or rows.nbytes < 5000
    else:
        assert len(live) < rows.nbytes
        assert read_by_hdf5(rows, live).tobytes() == rows.tobytes()


def test_times_take_what_differs_in_them(compress_chunk):
    """Stamps with 16 random bits each, of rows a millisecond apart: these bits, what the clock goes on by, and little
    for the columns that say the same in each row. A library that is given the same rows needs more."""
    rng = np.random.default_rng(7)
    calls = np.zeros(schema.COMPRESSED_CHUNK_ROWS, schema.CALL)
    calls["enter"] = (np.arange(len(calls), dtype=np.uint64) << np.uint64(20)) + rng.integers(0, 2**16, len(calls))
    calls["exit"] = (calls["enter"] & ~np.uint64(0xFFFF)) + rng.integers(0, 2**16, len(calls))
    calls["sent"], calls["peer"], calls["tag"] = 8, 1, 99
    shuffled = calls.view(np.uint8).reshape(len(calls), -1).T.tobytes()
    for chunk in (deflated(calls, 9), compress_chunk(calls)):
        assert 4 * len(calls) < len(chunk) < 4.5 * len(calls)
        assert len(chunk) < len(zlib.compress(shuffled, 9))
