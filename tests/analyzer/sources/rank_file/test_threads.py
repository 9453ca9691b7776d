"""Threads of a process share what it has opened: one may close a file that another one reads."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from synthetic import WORLD, call, write_run

from analyzer.sources.rank_file.chunks import Descriptors
from analyzer.sources.run.rank_files import find_ranks
from analyzer.writers.packed import pack_run


def test_a_file_is_open_while_somebody_holds_it(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    files = Descriptors()
    held = files.get(str(tmp_path / "a"))
    files.drop(str(tmp_path / "a"))
    with open(held.number, "rb", closefd=False) as file:
        assert file.read() == b"abc"
    number = held.number
    del held
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


@pytest.mark.parametrize("packed", [False, True])
def test_each_opens_reads_and_closes(tmp_path, packed, monkeypatch):
    """Few files are open, and turns are as short as can be."""
    monkeypatch.setattr("analyzer.sources.rank_file.chunks.OPEN_FILES", 1)
    monkeypatch.setattr("analyzer.sources.rank_file.tables.OPEN_GROUPS", 1)
    calls = [call("MPI_Barrier", 10 * k, 10 * k + 5, comm=WORLD) for k in range(3000)]
    run = str(write_run(tmp_path, [{"calls": calls}] * 2))
    if packed:
        pack_run(run, tmp_path / "packed.h5")
        run = str(tmp_path / "packed.h5")

    def reads(_):
        files = find_ranks(run).files
        found = [file.read("calls", first, first + 2)["enter"][1] for first in range(100, 200) for file in files]
        for file in files:
            file.close()
        return found

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(found == reads(0) for found in pool.map(reads, range(8)))
    finally:
        sys.setswitchinterval(interval)
