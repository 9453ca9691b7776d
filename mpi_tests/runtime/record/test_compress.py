"""TRACELIB_COMPRESS: the same rows in fewer bytes, in a file that plain h5py reads at every moment."""

import shutil

import h5py
import pytest
from apps.application import INPUTS

from tracelib import schema

CALLS = 30000
OFF = {"TRACELIB_CPUTIME": "off"}
"""More ranks than cores would read it: four more numbers a call."""
MOST_BYTES = 10
"""Largest number of bytes for each call, in the chunks of all tables with rows."""


def stored_bytes(path) -> int:
    """Return the bytes of a rank file's rows, without holes and headers."""
    with h5py.File(path) as file:
        return sum(file[table].id.get_storage_size() for table in schema.BUFFERED)


def off_cpu_bytes(file) -> int:
    """Return the largest number of bytes of the times without a CPU, whose number depends on other processes."""
    types = file.tables["events"]["type"]
    return int(((types == schema.OFF_CPU_TYPE) | (types == schema.RUN_DELAY_TYPE)).sum()) * schema.EVENT.itemsize


def test_rows_shrink_and_stay_what_they_are(mpi, compiled, traced):
    env = {"TRACELIB_COMPRESS": "6", "TRACELIB_BUFFER": "256K"}  # many flushes, which no chunk ends with
    result = traced(mpi, compiled(mpi, "back_to_back.c"), str(CALLS), ranks=1, env=env)
    file = result.ranks[0]
    sends = file.calls[file.names == "MPI_Send"]
    assert len(sends) == CALLS
    assert (sends["peer"] == schema.Peer.PROC_NULL).all()
    assert (sends["enter"] <= sends["exit"]).all()
    assert (sends["exit"][:-1] <= sends["enter"][1:]).all()
    assert len(file.tables["blocks"]) > 5
    assert stored_bytes(file.path) <= MOST_BYTES * len(file.calls)


MOST_BESIDES = 128 << 10
"""Largest number of bytes that a rank file takes on the disk besides its rows, for any length of the run."""


def test_every_chunk_is_compressed_at_the_end(openmpi, compiled, traced):
    """A chunk that is not full yet lies at one place for all of its table, which is given back at the end."""
    env = {"TRACELIB_COMPRESS": "1", "TRACELIB_BUFFER": "16K"}
    result = traced(openmpi, compiled(openmpi, "back_to_back.c"), str(CALLS), ranks=1, env=env)
    path = result.ranks[0].path
    with h5py.File(path) as file:
        calls = file["calls"].id
        chunks = [calls.get_chunk_info(k) for k in range(calls.get_num_chunks())]
        assert len(chunks) == -(-len(file["calls"]) // schema.COMPRESSED_CHUNK_ROWS) > 5
        assert not any(chunk.filter_mask for chunk in chunks)
    assert path.stat().st_blocks * 512 <= stored_bytes(path) + MOST_BESIDES


def test_lammps_takes_as_little(openmpi, traced):
    """Only rows count: the file of each of these short ranks takes more besides them."""
    if not shutil.which("lmp"):
        pytest.skip("lmp is not installed")
    result = traced(openmpi, "lmp", "-in", str(INPUTS / "lammps" / "in.lj"), env={"TRACELIB_COMPRESS": "6"} | OFF)
    calls = sum(len(file.calls) for file in result.ranks)
    stored = sum(stored_bytes(file.path) for file in result.ranks)
    assert 0 < stored - sum(off_cpu_bytes(file) for file in result.ranks) <= MOST_BYTES * calls


def test_a_program_that_counts_itself(mpi, compiled, traced):
    """Requests, polls and several communicators through the filters: as without them."""
    result = traced(mpi, compiled(mpi, "nonblocking.c"), env={"TRACELIB_COMPRESS": "9", "TRACELIB_BUFFER": "16K"})
    for file, truth in zip(result.ranks, result.truths(), strict=True):
        counts = file.counts()
        assert {name: counts[name] for name in truth.calls} == dict(truth.calls)


def test_nonsense_is_said_once_and_nothing_compressed(openmpi, compiled, traced):
    result = traced(openmpi, compiled(openmpi, "back_to_back.c"), "10", ranks=1, env={"TRACELIB_COMPRESS": "fast"})
    assert result.finished.stderr.count("TRACELIB_COMPRESS=fast is not a level") == 1
    with h5py.File(result.ranks[0].path) as file:
        assert file["calls"].compression is None
