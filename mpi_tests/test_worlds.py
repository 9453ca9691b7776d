"""Programs that make further worlds: each is a run of its own, with communicators that its members name alike."""

import numpy as np
import pytest
from conftest import Traced

import analyzer
from tracelib.schema import State


def communicators(run: Traced) -> list[set[int]]:
    """Ids of the communicators that each rank made."""
    return [set(file.tables["communicators"]["id"][3:].tolist()) for file in run.ranks]


@pytest.mark.parametrize("mpi", ["apt-openmpi", "wheel-mpich"], indirect=True)
def test_spawned_world(mpi, compiled, traced, tmp_path):
    """Debian's MPICH cannot spawn."""
    run = traced(mpi, compiled(mpi, "spawns.c"), "1", ranks=2)
    spawned = Traced(run.finished, tmp_path, tmp_path / "run-2.h5")
    assert len(run.ranks) == 2
    assert len(spawned.ranks) == 1
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        assert file.counts() == truth.calls
    assert spawned.ranks[0].counts()["MPI_Comm_get_parent"] == 2
    assert spawned.ranks[0].counts()["MPI_Recv"] == 1
    for world in (run, spawned):
        ids = communicators(world)
        assert all(mine == ids[0] and 0 not in mine and len(mine) == 2 for mine in ids)
        for file in world.ranks:
            between, merged = file.tables["communicators"][3:]
            assert (between["size"], between["remote_size"]) == ((2, 1) if world is run else (1, 2))
            assert (merged["size"], merged["remote_size"]) == (3, 0)
            members = file.tables["members"][merged["members"] : merged["members"] + 3]
            assert np.count_nonzero(members == np.iinfo(np.uint32).max) == (1 if world is run else 2)
        analyzer.open(str(world.run)).messages()


@pytest.mark.parametrize("mpi", ["apt-mpich", "wheel-openmpi", "wheel-mpich"], indirect=True)
def test_communicators_of_sessions(mpi, compiled, traced, analyze):
    """Made from groups, under a name that all members give: alike on all of them, and messages find each other."""
    run = traced(mpi, compiled(mpi, "sessions.c"))
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        assert file.counts() == truth.calls
        assert file.sent() == truth.sent
        assert file.received() == truth.received
    ids = communicators(run)
    assert all(mine == ids[0] and 0 not in mine and len(mine) == 3 for mine in ids)
    analyze("check", run.run).check()


def assert_as_noted(run: Traced, ranks: int) -> None:
    """Every call and message of every rank, in one run."""
    assert len(run.ranks) == len(run.truths()) == ranks
    for rank, (truth, file) in enumerate(zip(run.truths(), run.ranks, strict=True)):
        assert file.counts() == truth.calls
        assert file.sent() == truth.sent
        assert file.received() == truth.received
        assert (file.attributes["rank"], file.attributes["size"]) == (rank, ranks)
    assert not list(run.folder.glob("run-*"))


WAYS = [
    *[(leg, how) for leg in ("apt-mpich", "wheel-openmpi", "wheel-mpich") for how in ("at-once", "beside")],
    *[(leg, "twice") for leg in ("wheel-mpich", "wheel-mpich-abi")],
]
"""Debian's MPICH and Open MPI 5 crash in the MPI_Session_init after all were finalized, traced or not."""


@pytest.mark.parametrize(("leg", "how"), WAYS)
def test_programs_of_sessions(legs, compiled, traced, analyze, leg, how):
    """One session, several, or one before MPI_Init: one run, and communicators with the same ids on their members."""
    mpi = legs[leg]
    if mpi.missing:
        pytest.skip(mpi.missing)
    run = traced(mpi, compiled(mpi, "sessions_only.c"), how, ranks=2)
    assert_as_noted(run, 2)
    assert "next: analyze run.h5" in run.finished.stderr
    for file in run.ranks:
        assert file.attributes["state"] == State.FINALIZED
        assert 0 not in file.tables["communicators"]["id"][1:]
        assert len(set(file.tables["communicators"]["id"][1:].tolist())) == len(file.tables["communicators"]) - 1
    rows = [file.tables["communicators"][3:] for file in run.ranks]
    whole, other = ({int(r["id"]) for r in table if r["size"] == 2} for table in rows)
    assert whole == other
    analyze("check", run.run).check()


@pytest.mark.parametrize("mpi", ["apt-mpich", "wheel-openmpi"], indirect=True)
def test_sessions_of_four_ranks_and_their_halves(mpi, compiled, traced, analyze):
    ranks = 2 if mpi.name == "apt-mpich" else 4
    run = traced(mpi, compiled(mpi, "sessions_only.c"), "once", ranks=ranks, env={"TRACELIB_SYNC": "all"})
    assert_as_noted(run, ranks)
    ids = communicators(run)
    assert all(ids[rank] == ids[rank % 2] for rank in range(ranks))
    assert len(ids[0] & ids[1]) == 1, "that of all"
    assert [len(file.tables["sync"]) for file in run.ranks] == [0] + [1] * (ranks - 1)


def test_a_program_of_sessions_that_aborts(legs, compiled, launch, tmp_path, analyze):
    mpi = legs["wheel-mpich"]
    if mpi.missing:
        pytest.skip(mpi.missing)
    finished = launch(mpi, compiled(mpi, "sessions_only.c"), "abort", ranks=2)
    assert finished.returncode != 0
    run = Traced(finished, tmp_path, tmp_path / "run.h5")
    before = run.truths()[0].calls
    counts = run.ranks[0].counts()
    assert {name: counts[name] for name in before} == before
    assert "rank 0: ended without MPI_Finalize" in analyze("check", run.run).stdout
