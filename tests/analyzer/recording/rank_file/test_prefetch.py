"""A small rank file that is not in memory is asked for as a whole when it is opened."""

import ctypes
import mmap
import os
import time

import h5py
import numpy as np
import pytest
from synthetic import call, write_run

from analyzer.recording.rank_file.file import open_rank

CALLS = 10_000
HOLE_PAGES = 80
ENOUGH_S = 20


def in_memory(path):
    """Whether each page of a file is in memory (mincore(2)). To read one, or to try, would bring others there."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        data = np.frombuffer(mapped, np.uint8)
        pages = np.zeros(-(-len(data) // mmap.PAGESIZE), np.uint8)
        assert not ctypes.CDLL(None).mincore(*map(ctypes.c_void_p, (data.ctypes.data, len(data), pages.ctypes.data)))
        del data
    return (pages & 1).astype(bool)


def evict(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


@pytest.fixture
def rank(tmp_path):
    """A file whose rows of calls lie in several pages behind what is small in it, and a long hole at its end."""
    rows = [call("MPI_Send", 10 * k, 10 * k + 5, peer=0, sent=k) for k in range(CALLS)]
    written, path = write_run(tmp_path, [{"calls": rows}]).with_suffix(".ranks") / "000000.h5", tmp_path / "rank.h5"
    with h5py.File(written) as file, h5py.File(path, "w", libver="earliest") as copy:
        for name in file:
            file.copy(name, copy)
        copy.attrs.update(file.attrs)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + HOLE_PAGES * mmap.PAGESIZE)
    return path


def test_it_says_the_same_from_memory_and_from_disk(rank):
    from_memory = open_rank(rank)
    rows = from_memory.read("calls", 0, CALLS)
    evict(rank)
    from_disk = open_rank(rank)
    assert from_disk.attributes == from_memory.attributes and from_disk.lengths == from_memory.lengths
    assert np.array_equal(from_disk.read("calls", 0, CALLS), rows)


def test_what_is_not_read_yet_is_on_its_way(rank):
    chunks = open_rank(rank).chunks["calls"]
    middle = (int(chunks.at[0]) + CALLS // 2 * chunks.dtype.itemsize) // mmap.PAGESIZE
    evict(rank)
    if in_memory(rank).any():  # its file system has it nowhere else (tmpfs), or the system does not follow the advice
        assert len(open_rank(rank).read("calls", 0, CALLS)) == CALLS
        return
    open_rank(rank)  # reads the first row and the last one
    end = time.monotonic() + ENOUGH_S
    while not in_memory(rank)[middle] and time.monotonic() < end:
        time.sleep(0.01)
    assert in_memory(rank)[middle]
    assert not in_memory(rank)[-HOLE_PAGES // 2 :].any()  # holes are not asked for
