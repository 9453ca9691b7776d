"""MPI_THREAD_MULTIPLE: every thread's calls, requests and messages against what the thread itself has noted."""

import copy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from result import RankFile, Truth, rank_files, read_truth

import analyzer
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.machine import Network, Node
from analyzer.replay.section import section_of
from tracelib.preload import INCLUDE
from tracelib.schema import Peer, State, What

WHO = 9
"""Type of the event in which a thread of the programs says who it is."""

FLAGS = ("-I", str(INCLUDE), "-lpthread")


def by_thread(file: RankFile) -> dict[int, RankFile]:
    """The rows of each thread, by the number that it gives itself."""
    events = file.tables["events"]
    who = {int(row["thread"]): int(row["value"]) for row in events[events["type"] == WHO]}
    found: dict[int, RankFile] = {}
    for thread, number in who.items():
        part = copy.copy(file)
        part.tables = dict(file.tables)
        for name in ("calls", "requests", "polls", "events"):
            rows = file.tables[name]
            part.tables[name] = rows[rows["thread"] == thread]
        found[number] = part
    return found


def notes_of(folder: Path, rank: int) -> dict[int, Truth]:
    """What the threads of a rank have noted, by number."""
    return {int(path.stem.split("-")[2]): read_truth(path) for path in folder.glob(f"truth-{rank}-*.jsonl")}


def compare(folder: Path, threads: int, rounds: int) -> None:
    """All of what `programs/threads.c` did is in the trace, each thread's under its own number."""
    for rank, file in enumerate(rank_files(folder / "run.h5")):
        recorded, noted = by_thread(file), notes_of(folder, rank)
        assert recorded.keys() == noted.keys()
        assert len(noted) == threads
        assert file.attributes["lost_calls"] == file.attributes["lost_rows"] == 0
        for number, truth in noted.items():
            part = recorded[number]
            assert part.counts() == truth.calls, number
            refused = {("", Peer.NONE, -1, 0): rounds} if number < 1000 else {}  # no message
            assert part.sent() == truth.sent + Counter(refused), number
            assert part.received() == truth.received, number
        check_requests(file)


def check_requests(file: RankFile) -> None:
    """Each completion leads back to the call that posted it: threads may post at one time, never the same thing."""
    names = file.names.astype(str)
    posting = np.char.startswith(names, "MPI_I")
    calls = {
        (int(call["enter"]), name, int(call["comm"]), int(call["tag"])): call
        for call, name in zip(file.calls[posting], names[posting].tolist(), strict=True)
    }
    used = set()
    for row in file.tables["requests"]:
        name = {What.SEND_DONE: "MPI_Isend", What.RECV_DONE: "MPI_Irecv"}.get(What(row["what"]))
        key = int(row["posted"]), name, int(row["comm"]), int(row["tag"])
        if key not in calls:  # a persistent request, a collective; what led nowhere else is missing below
            continue
        if name == "MPI_Irecv":  # MPICH gives one handle to all sends that are complete at once
            assert row["completed"] > calls[key]["exit"]
        assert key not in used
        used.add(key)
    assert len(used) == np.isin(names, ("MPI_Isend", "MPI_Irecv")).sum()


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_every_thread_has_its_rows(request, compiled, traced, analyze, debian):
    """Workers of three generations, their helpers and the main thread, with buffers that are always full."""
    leg = request.getfixturevalue(debian)
    run = traced(leg, compiled(leg, "threads.c", *FLAGS), "3", "5", ranks=2, env={"TRACELIB_BUFFER": "4K"})
    compare(run.folder, threads=2 * 4 * 3 + 1, rounds=5)
    analyze("check", run.run).check()
    trace = analyzer.open(str(run.run))  # helpers complete what workers post, and all use the world
    assert simulate(program_of(trace), Machine.ideal(eager_limit=1 << 20)).end_ns <= trace.duration_ns


@pytest.mark.parametrize(("debian", "level"), [("openmpi", "multiple"), ("mpich", "multiple"), ("mpich", "serialized")])
def test_a_send_is_completed_by_the_thread_that_posted_it(request, compiled, traced, analyze, debian, level):
    """Also where MPI gave one handle to the small sends of all threads: of each more than requests.c looks at."""
    leg = request.getfixturevalue(debian)
    run = traced(leg, compiled(leg, "sends_of_threads.c", *FLAGS), level, "200", ranks=2)
    for rank, file in enumerate(rank_files(run.run)):
        recorded, noted = by_thread(file), notes_of(run.folder, rank)
        assert recorded.keys() == noted.keys()
        assert len(noted) == (6 if rank == 0 else 1)
        for number, truth in noted.items():
            part = recorded[number]
            assert part.counts() == truth.calls, number
            assert part.received() == truth.received, number
            assert part.sent() == part.completed() == truth.sent, number
            check_requests(part)
            waited = part.calls["tag"][part.names == "MPI_Wait"]
            assert waited.tolist() == part.tables["requests"]["tag"][len(waited) :].tolist(), number
    analyze("check", run.run).check()


@pytest.mark.parametrize("how", ["exit", "abort"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_exit_while_threads_are_in_mpi(request, compiled, launch, analyze, tmp_path, debian, how):
    """What had returned before exit() is there once, in order and without a hole."""
    leg = request.getfixturevalue(debian)
    finished = launch(leg, compiled(leg, "exits.c", *FLAGS), how, ranks=1)
    assert not finished.timed_out
    check_exit(tmp_path, finished.stdout)
    first, *others = analyze("check", tmp_path / "run.h5").stdout.splitlines()
    assert first == "rank 0: ended without MPI_Finalize"
    # What a thread did when the process ended: between its send and its receive, in the middle of a flush.
    allowed = ("unmatched", "its blocks name", "flushes are tagged")
    assert all(any(word in line for word in allowed) for line in others), others


def check_exit(folder: Path, said: str) -> None:
    """The trace of `programs/exits.c`, which has printed what it knew of itself."""
    (file,) = rank_files(folder / "run.h5")
    assert file.attributes["state"] == State.EXITED
    threads = by_thread(file)
    noted = [int(line) for line in said.split()]
    assert len(noted) == len(threads) == 5
    for number, least in enumerate(noted):
        part = threads[number]
        if number == 4:
            assert part.counts()["MPI_Iprobe"] >= least
            assert (np.diff(part.tables["polls"]["exit"].astype(np.int64)) > 0).all()
            continue
        tags = part.calls["tag"][part.names == "MPI_Send"]
        assert len(tags) >= least
        assert (tags == np.arange(len(tags))).all()
        done = part.tables["requests"]["tag"]
        assert (done == np.arange(len(done))).all()
        assert number < 2 or len(done) >= least


def hand_computed(busy: dict[int, list[float]]) -> float:
    """Seconds from the barrier on until both ranks are done, from what each thread (two numbers) was busy."""
    ends = []
    for (own, then), (its, at_last) in zip(*(np.reshape(busy[rank], (-1, 2)).tolist() for rank in (0, 1)), strict=True):
        answered = max(own, its) + at_last
        ends += [answered, max(max(own, its) + then, answered)]
    return max(ends)


@pytest.mark.timed
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_threads_are_replayed_side_by_side(request, compiled, traced, debian):
    """Four threads a rank; one after the other they would take twice as long and more.

    They take what they were busy, and what they were kept from their processors; no longer than they did.
    """
    leg = request.getfixturevalue(debian)
    times = ("150 50 60 240", "90 30 180 30", "300 15 60 30", "30 300 60 120")  # ms of each thread
    run = traced(leg, compiled(leg, "busy_threads.c", "-lpthread"), *" ".join(times).split(), ranks=2)
    lines = [line.split() for line in run.finished.stdout.splitlines()]
    busy = {int(rank): [*map(float, rest)] for rank, *rest in lines}
    section = section_of(analyzer.open(str(run.run)))
    assert np.bincount(section.program.rank).tolist() == [4, 4]
    like_here = Machine(node=Node(latency_s=1e-6), networks=(Network(bandwidth_mb=5000.0),))
    ideal, here = (simulate(section.program, machine).end_ns / 1e9 for machine in (Machine.ideal(), like_here))
    assert 0.99 * hand_computed(busy) <= ideal <= here <= 1.01 * section.measured_ns / 1e9
    assert here < max(map(sum, busy.values()))
