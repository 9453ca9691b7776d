"""Threads of a process share what it has opened: one may close a file that another one reads."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import h5py
import pytest
from synthetic import WORLD, call, write_run

from analyzer.recording.rank_file import file as rank_file
from analyzer.recording.rank_file.chunks import Descriptor
from analyzer.recording.rank_file.tables import KeptOpen
from analyzer.recording.run.rank_files import find_ranks
from analyzer.trace.read_sizes import ReadSizes
from analyzer.writers.packed import pack_run


def test_a_file_is_open_while_somebody_holds_it(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    files = KeptOpen(1, Descriptor)
    held = files.get(str(tmp_path / "a"))
    files.drop(str(tmp_path / "a"))
    with open(held.number, "rb", closefd=False) as file:
        assert file.read() == b"abc"
    number = held.number
    del held
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_the_oldest_is_forgotten():
    made = []
    kept = KeptOpen(2, lambda name: made.append(name) or f"{name} {len(made)}")
    assert [kept.get(name) for name in "abacab"] == ["a 1", "b 2", "a 1", "c 3", "a 1", "b 4"]
    assert len(kept) == 2 and "c" not in kept


def test_one_that_another_thread_opens_and_drops_meanwhile():
    """As if it had come between: what was opened first is good for who has it, and what is kept is whole."""

    def opened(name):
        if name == "a" and not kept.get("b"):
            raise AssertionError
        if name == "c":
            kept.get("c" if len(kept) < 2 else "b")
            kept.drop("b")
        return name

    kept = KeptOpen(2, opened)
    assert [kept.get(name) for name in "abac"] == ["a", "b", "a", "c"]
    assert len(kept) <= 2 and all(name in kept for name in "ac")


@pytest.mark.parametrize("packed", [False, True])
def test_each_opens_reads_and_closes(tmp_path, packed, monkeypatch):
    """Few files and groups are open, and turns are as short as can be."""
    monkeypatch.setattr(rank_file, "_descriptors", KeptOpen(1, Descriptor))
    calls = [call("MPI_Barrier", 10 * k, 10 * k + 5, comm=WORLD) for k in range(3000)]
    run = str(write_run(tmp_path, [{"calls": calls}] * 2))
    if packed:
        pack_run(run, tmp_path / "packed.h5")
        run = str(tmp_path / "packed.h5")

    def reads(_):
        files = find_ranks(run, sizes=ReadSizes(open_groups=1)).files
        found = [file.read("calls", first, first + 2)["enter"].tolist() for first in range(100, 200) for file in files]
        for file in files:
            file.close()
        return found

    with h5py.File(run) as file:
        enter = [file[f"ranks/{rank:06d}/calls"]["enter"] for rank in range(2)]
    expected = [rows[first : first + 2].tolist() for first in range(100, 200) for rows in enter]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(found == expected for found in pool.map(reads, range(8)))
    finally:
        sys.setswitchinterval(interval)
