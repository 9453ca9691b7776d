"""Ranks that die at random moments, by others' hands or their own: every file opens, no completed call is missing."""

import random
import signal
import time

import campaign
import pytest
from campaign import OWN_DEATHS, SIGNALS, Program, kill, kill_group, start

from analyzer.opening import open_trace

BUFFERS = ("4K", "16K", "1M")
FAMILIES = ("openmpi", "mpich")
ROUNDS = 4
SNAPSHOTS = 20


@pytest.fixture(scope="module")
def tally():
    """Kills and completed calls of the campaign."""
    return {"kills": 0, "calls": 0, "bad": 0}


@pytest.fixture(params=FAMILIES)
def deadly(request, compiled, tmp_path, tally):
    """deadly(ranks, death, at, killer, threads=): starts the program, kills it, checks what it left."""
    leg = request.getfixturevalue(request.param)
    program = compiled(leg, "dies.c", "-pthread")
    random_ = random.Random(f"{request.node.name}")

    def run(ranks, death, at, killer=None, threads=None, finalized_at=0):
        number = tally["kills"]
        threads = threads or random_.choice((1, 4))
        running = start(leg, program, tmp_path / str(number), ranks, random_.choice(BUFFERS), threads, death, at)
        try:
            if killer:
                killer(running)
        finally:
            running.end()
        tally["kills"] += 1
        tally["bad"] += 1
        tally["calls"] += campaign.check(running.folder, ranks, finalized_at)
        tally["bad"] -= 1

    run.random = random_
    return run


@pytest.mark.parametrize("death", OWN_DEATHS)
def test_by_its_own_hand(deadly, death):
    for _ in range(ROUNDS + 1):
        # What a handler interrupts may hold a lock of the MPI; a thread may find no memory left for its buffer.
        threads = 1 if death in ("exit-in-handler", "no-memory") else None
        deadly(1, death, deadly.random.randrange(2, 3000), threads=threads)


@pytest.mark.parametrize("name", SIGNALS)
def test_by_a_signal(deadly, name):
    """At any moment of its work, the middle of a flush included."""

    def killer(running: Program) -> None:
        running.wait_for(deadly.random.randrange(2, 50))
        kill(running.progress()[0].pid, name)

    for _ in range(ROUNDS):
        deadly(1, "wait", 0, killer)


def test_by_a_signal_before_and_in_init(deadly):
    def killer(running: Program) -> None:
        running.wait_for(1)  # MPI_Initialized
        time.sleep(deadly.random.uniform(0, 0.02))
        kill(running.progress()[0].pid, "SIGKILL")

    for _ in range(3 * ROUNDS):
        deadly(1, "wait", 0, killer)


def test_after_each_change_of_the_files_in_init(openmpi, compiled, tmp_path, tally, monkeypatch):
    """Whatever was written last: the file leads to the buffers, and they to it, from the moment it appears."""
    library = compiled(openmpi, "dies_at_write.c", "-shared", "-fPIC", "-ldl")
    program = compiled(openmpi, "dies.c", "-pthread")
    files = []
    for change in range(1, 200):
        monkeypatch.setenv("DIES_AT_WRITE", str(change))
        running = start(openmpi, program, tmp_path / str(change), 1, "1M", 1, "wait", 0, preload=[library])
        running.wait_for(2)
        kill(running.progress()[0].pid, "SIGKILL")  # when all changes of MPI_Init are behind it
        running.end()
        tally["kills"] += 1
        tally["calls"] += campaign.check(running.folder, 1)
        files.append((running.folder / "run.ranks/000000.h5").exists())
        if running.progress()[0].completed[0] >= 2:
            break
    assert files.index(True) > 10  # not before it was described
    assert all(files[files.index(True) :])


@pytest.mark.parametrize(("ranks", "variables"), [(1, {}), (1, {"TRACELIB_COMPRESS": "1"}), (2, {})])
def test_before_and_after_changes_of_the_files(openmpi, compiled, tmp_path, tally, ranks, variables):
    """Some of all that the files of a run ever were, from the first call to the end of the process."""
    library = compiled(openmpi, "snapshots.c", "-shared", "-fPIC", "-ldl", "-pthread")
    program = compiled(openmpi, "dies.c", "-pthread")
    folder, snapshots = tmp_path / "here", tmp_path / "snapshots"
    snapshots.mkdir()
    variables = variables | {"SNAPSHOTS_OF": str(folder), "SNAPSHOTS_IN": str(snapshots)}
    running = start(
        openmpi, program, folder, ranks, "4K", 1, "finalize", 30, preload=[library], variables=variables
    )  # fmt: skip
    running.end()
    assert running.process.returncode == 0
    found = sorted(snapshots.iterdir())
    assert len(found) > 250 * ranks
    for snapshot in random.Random(f"{ranks} {variables.get('TRACELIB_COMPRESS')}").sample(found, SNAPSHOTS):
        campaign.put_back(snapshot, folder)
        tally["kills"] += 1
        tally["calls"] += campaign.check(folder, ranks, 30)


def test_by_a_signal_in_finalize(deadly):
    def killer(running: Program) -> None:
        running.wait_for(at)
        time.sleep(deadly.random.uniform(0, 0.01))
        kill(running.progress()[0].pid, deadly.random.choice(SIGNALS))

    for _ in range(3 * ROUNDS):
        at = deadly.random.randrange(3, 600)
        deadly(1, "finalize", at, killer, threads=1, finalized_at=at)


def test_when_its_buffer_is_removed_the_file_says_that_all_is_there(openmpi, compiled, tmp_path, tally):
    library = compiled(openmpi, "dies_at_unlink.c", "-shared", "-fPIC", "-ldl")
    program = compiled(openmpi, "dies.c", "-pthread")
    running = start(openmpi, program, tmp_path / "run", 1, "16K", 1, "finalize", 600, preload=[library])
    running.end()
    assert running.process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)  # that of `timeout`
    tally["kills"] += 1
    tally["calls"] += campaign.check(running.folder, 1, 600)
    trace = open_trace(running.folder / "run.h5")
    assert not trace.problems
    trace.close()


def test_what_other_threads_write_while_the_file_is_closed_stays(openmpi, compiled, tmp_path, tally):
    """The room that was held at the end of the file is given back: not what has been written there meanwhile."""
    library = compiled(openmpi, "slow_to_cut.c", "-shared", "-fPIC", "-ldl")
    program = compiled(openmpi, "dies.c", "-pthread")
    running = start(openmpi, program, tmp_path / "run", 1, "4K", 4, "exit", 600, preload=[library])
    running.end()
    tally["kills"] += 1
    tally["calls"] += campaign.check(running.folder, 1)


@pytest.mark.parametrize("victims", ["0", "1", "all", "group", "scheduler"])
def test_ranks_of_a_launcher(deadly, victims):
    """One rank, both, the whole process group, or all that a scheduler tells to end."""

    def killer(running: Program) -> None:
        running.wait_for(3 + deadly.random.randrange(50))
        pids = [p.pid for p in running.progress()]
        if victims == "group":
            kill_group(running)
        elif victims == "scheduler":
            for pid in [*pids, running.process.pid]:  # `timeout` passes it on to mpirun
                kill(pid, "SIGTERM")
        else:
            for pid in pids if victims == "all" else [pids[int(victims)]]:
                kill(pid, "SIGKILL")

    for _ in range(2):
        deadly(2, "wait", 0, killer)


def test_the_campaign_missed_nothing(tally, record_property):
    """The last of them: says in pytest's summary what all of them counted."""
    missing = f"some missing after {tally['bad']} kills" if tally["bad"] else "0 missing"
    record_property("summary", f"kill campaign: {tally['kills']} kills, {tally['calls']} calls completed, {missing}")
    assert not tally["bad"]
