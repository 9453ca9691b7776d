"""MPI_THREAD_MULTIPLE: every thread's calls, requests and messages against what the thread itself has noted."""

import numpy as np
import pytest
from result import rank_files
from thread_notes import FLAGS, by_thread, check_exit, check_requests, compare, notes_of

from analyzer.machine.description import Network, Node
from analyzer.opening import open_trace
from analyzer.replay import Machine, program_of, simulate
from analyzer.replay.section import section_of


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_every_thread_has_its_rows(request, compiled, traced, analyze, debian):
    """Workers of three generations, their helpers and the main thread, with buffers that are always full."""
    leg = request.getfixturevalue(debian)
    run = traced(leg, compiled(leg, "threads.c", *FLAGS), "3", "5", ranks=2, env={"TRACELIB_BUFFER": "4K"})
    compare(run.folder, threads=2 * 4 * 3 + 1, rounds=5)
    analyze("check", run.run).check()
    trace = open_trace(str(run.run))  # helpers complete what workers post, and all use the world
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
    """Calls that had returned before exit() are there once, in order and without a hole."""
    leg = request.getfixturevalue(debian)
    finished = launch(leg, compiled(leg, "exits.c", *FLAGS), how, ranks=1)
    assert not finished.timed_out
    check_exit(tmp_path, finished.stdout)
    first, *others = analyze("check", tmp_path / "run.h5").stdout.splitlines()
    ends = {"exit": "rank 0: ended without MPI_Finalize", "abort": "rank 0 called MPI_Abort(0) on MPI_COMM_WORLD after"}
    assert first.startswith(ends[how])
    # What a thread did when the process ended: between its send and its receive, in the middle of a flush.
    allowed = ("left out, because rank 0 did not end in order", "its blocks have", "flushes are recorded")
    assert all(any(word in line for word in allowed) for line in others), others


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
    section = section_of(open_trace(str(run.run)))
    assert np.bincount(section.program.rank).tolist() == [4, 4]
    like_here = Machine(node=Node(latency_s=1e-6), networks=(Network(bandwidth_mb=5000.0),))
    ideal, here = (simulate(section.program, machine).end_ns / 1e9 for machine in (Machine.ideal(), like_here))
    assert 0.99 * hand_computed(busy) <= ideal <= here <= 1.01 * section.measured_ns / 1e9
    assert here < max(map(sum, busy.values()))
