"""Files of older versions of the format open, and have the same contents: data/version_1.c made these."""

import tarfile
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
from paths import DATA
from synthetic import FIRST, call, write_run

from analyzer.opening import open_trace
from analyzer.recording.rank_file import spool
from analyzer.trace import Leftovers, TracerTime
from analyzer.writers.packed import pack_run
from tracelib import schema

ARCHIVE = DATA / "version_1.tar.xz"

EXCHANGE = {
    "MPI_Init": 1,
    "MPI_Comm_rank": 1,
    "MPI_Comm_dup": 1,
    "MPI_Irecv": 10,
    "MPI_Isend": 10,
    "MPI_Waitall": 10 + 3,
    "MPI_Send_init": 1,
    "MPI_Recv_init": 1,
    "MPI_Startall": 3,
    "MPI_Request_free": 2,
    "MPI_Sendrecv": 4,
    "MPI_Iprobe": 50,
    "MPI_Allreduce": 5,
}
"""Calls of each rank in both runs, as their source has them."""
BYTES = [10 * 550 + 3 * 64 + 4 * 8, 10 * 551 + 3 * 64 + 4 * 8]
"""Bytes that each rank sends to the other: 10 messages of 100, 200, ... bytes and its rank, 3 of 64, 4 of 8."""


@pytest.fixture
def unpacked(tmp_path, monkeypatch):
    """The files, on what seems to be the machine that wrote them, after all its processes ended."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spool, "is_here", lambda attributes: True)
    monkeypatch.setattr(spool, "is_alive", lambda attributes: False)  # the number may be another process's today


def made(trace, rank):
    """How often a rank called each procedure."""
    counts = Counter()
    for block in trace.calls(rank):
        for number, count in zip(block["call"], block["count"], strict=True):
            counts[trace.procedures[number]] += int(count)
    return counts


def sent(trace):
    """Bytes of the messages from each rank to the other."""
    messages = trace.messages()
    assert (messages["source"] + messages["destination"] == 1).all()
    return [int(messages["size"][messages["source"] == rank].sum()) for rank in (0, 1)]


def test_a_run_that_ended(unpacked):
    trace = open_trace("ended.h5")
    assert (trace.size, trace.origin.command, trace.problems, trace.extra(Leftovers).unmatched()) == (
        2,
        "./version_1",
        [],
        [],
    )
    for rank in (0, 1):
        assert made(trace, rank) == EXCHANGE | {"MPI_Comm_free": 1, "MPI_Finalize": 1}
        assert sum(len(block) for block in trace.requests(rank)) == 20 + 2 * 3 + 2 * 3 + 4
        assert len(trace.extra(TracerTime).flushes(rank)) == 1
    assert sent(trace) == BYTES
    copy = trace.communicators[-1]
    assert (copy.members, copy.remote) == ((0, 1), ())


def test_a_run_that_was_killed(unpacked):
    """Rank 0 died between two calls, after 800 sends to nobody; rank 1 in the flush of its rows 170 to 340."""
    trace = open_trace("killed.h5")
    assert [(p.rank, p.text) for p in trace.problems] == [
        (0, "was killed; 2 calls were recovered from its buffer"),
        (1, "was killed; 170 calls were recovered from its buffer"),
    ]
    assert made(trace, 0) == EXCHANGE | {"MPI_Send": 800}
    assert made(trace, 1) == EXCHANGE | {"MPI_Send": 288}
    assert [len(trace.extra(TracerTime).flushes(rank)) for rank in (0, 1)] == [5, 2]
    assert sent(trace) == BYTES
    trace.close()
    assert made(open_trace("killed.ranks"), 0)["MPI_Send"] == 800


def test_a_packed_copy_says_the_same(unpacked):
    pack_run("ended.h5", Path("packed.h5"))
    packed, trace = open_trace("packed.h5"), open_trace("ended.h5")
    for rank in (0, 1):
        assert made(packed, rank) == made(trace, rank)
    assert packed.messages().tobytes() == trace.messages().tobytes()


def without_paths(file):
    """Take from an open rank file what version 6 added."""
    for table in ("call_paths", "poll_paths", *schema.SOURCES):
        del file[table]
    blocks = file["blocks"][:]
    del file["blocks"]
    file["blocks"] = np.array(
        [(row["first"][:7], row["count"][:7], row["thread"], row["flags"], row["set"]) for row in blocks],
        [("first", "<u8", (7,)), ("count", "<u4", (7,)), ("thread", "<u4"), ("flags", "<u4"), ("set", "<u4")],
    )


def test_version_2_had_no_list_of_cpus(tmp_path):
    path = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 0, 10)], "cpus": "0"}])
    with h5py.File(tmp_path / "run.ranks" / "000000.h5", "r+") as file:
        without_paths(file)
        file.attrs["schema_version"] = 2
        del file.attrs["cpus"]
    trace = open_trace(path)
    assert (trace.nodes.affinity, trace.problems) == ((frozenset(),), [])
    trace.close()


def as_version_4(path):
    """Make all groups of a rank file rows of `members`, by docs/format.md."""
    with h5py.File(path, "r+") as file:
        table, members = file["communicators"][:], file["members"][:].tolist()
        for row in table:
            for group, size in (("members", "size"), ("remote", "remote_size")):
                said = int(row[group])
                if said >= 2**63:
                    row[group] = len(members)
                    first, stride = said % 2**32, (said - 2**63) // 2**32
                    members += [first + k * stride for k in range(int(row[size]))]
        file["communicators"][:] = table
        file["members"].resize((len(members),))
        file["members"][:] = np.array(members)
        without_paths(file)
        file.attrs["schema_version"] = 4


def communicators_and_peers(path):
    trace = open_trace(path)
    assert trace.problems == []
    peers = [block["peer"].tolist() for rank in range(trace.size) for block in trace.calls(rank)]
    trace.close()
    return trace.communicators, peers


def test_version_4_listed_the_members_of_all_groups(tmp_path):
    groups = [(0, 2), (3, 1, 0), ((0, 1), (2, 3)), (0, 1, 2, 3)]
    called_by = [0, 3, 0, 0]
    calls = [call("MPI_Send", 10 + k, 11 + k, comm=FIRST + k, peer=1, sent=8) for k in range(len(groups))]
    ranks = [{"calls": [call("MPI_Init", 0, 5)]} for _ in range(4)]
    for one, rank in zip(calls, called_by, strict=True):
        ranks[rank]["calls"].append(one)
    path = write_run(tmp_path, ranks, groups)
    new = communicators_and_peers(path)
    assert new[1] == [[-1, 2, 3, 1], [-1], [-1], [-1, 1]]
    for rank in range(4):
        as_version_4(tmp_path / "run.ranks" / f"{rank:06d}.h5")
    assert communicators_and_peers(path) == new
    pack_run(path, tmp_path / "packed.h5")
    assert communicators_and_peers(tmp_path / "packed.h5") == new
