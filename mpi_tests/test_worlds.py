"""Programs that make further worlds: each is a run of its own, with communicators that its members name alike."""

import numpy as np
import pytest
from conftest import Traced

import analyzer


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


@pytest.mark.parametrize("mpi", ["apt-mpich", "wheel-openmpi", "wheel-mpich"], indirect=True)
def test_nothing_but_sessions_is_not_recorded_and_each_process_says_so(mpi, compiled, launch, tmp_path, spool):
    finished = launch(mpi, compiled(mpi, "sessions_only.c"), ranks=2).check()
    assert finished.stdout.count("2 together") == 2
    assert finished.stderr.count("never calls MPI_Init: it is not recorded") == 2
    assert not list(tmp_path.glob("run*"))
