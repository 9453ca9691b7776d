"""Costs of delays: by hand to the nanosecond, and against a slow second implementation in random runs."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_waits import STEPS, costs_of, run_of
from synthetic import WORLD, call, event, flush, label, request, write_run

from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.kinds import WaitKind
from analyzer.waits.wait_states import WaitSearch, find_wait_states
from tracelib import schema
from tracelib.schema import RequestKind

ONE = Team()
LABELS = [label(schema.LabelKind.REGION, 1, "solve"), label(schema.LabelKind.REGION, 2, "pack")]


def found(path):
    trace = open_run(str(path))
    try:
        return analyze_waits(trace, ONE, profile(trace, ONE))
    finally:
        trace.close()


def causes(result):
    return {(c.rank, c.path, c.what): (c.direct_ns, c.indirect_ns) for c in result.causes}


def send(enter, exit_, peer=1):
    return call("MPI_Send", enter, exit_, comm=WORLD, peer=peer, tag=1, sent=8)


def receive(enter, exit_, peer=0):
    return call("MPI_Recv", enter, exit_, comm=WORLD, peer=peer, tag=1, received=8)


def barrier(enter, exit_):
    return call("MPI_Barrier", enter, exit_, comm=WORLD)


def test_the_excess_of_the_late_one(tmp_path):
    path = write_run(tmp_path, [{"calls": [send(100, 110)]}, {"calls": [receive(40, 115)]}])
    assert causes(found(path)) == {(0, "", "computing"): (60, 0)}


def test_a_delay_goes_on_through_those_that_wait(tmp_path):
    """Rank 1 waits 90 ns for rank 0, then rank 2 110 ns for rank 1: 8 for its computation, 12 for the rest of its
    receive, 90 because it had waited, which rank 0 has to answer for."""
    ranks = [[send(100, 110)], [receive(10, 112), send(120, 125, peer=2)], [receive(10, 130, peer=1)]]
    result = found(write_run(tmp_path, [{"calls": calls} for calls in ranks]))
    assert causes(result) == {
        (0, "", "computing"): pytest.approx((90, 90)),
        (1, "", "computing"): pytest.approx((8, 0)),
        (1, "", "MPI_Recv"): pytest.approx((12, 0)),
    }
    assert [(p.kind, p.time_ns, p.indirect_ns) for p in result.places] == [
        (WaitKind.LATE_SENDER, 200, pytest.approx(90))
    ]
    second, first = result.longest
    assert (first.rank, first.cause_rank, first.begin_ns, first.time_ns) == (1, 0, 10, 90)
    assert (first.caused_ns, second.caused_ns) == (pytest.approx(90), 0)


def test_a_delay_goes_on_through_a_thread_that_waits(tmp_path):
    """The same where it is the second thread of rank 1 that waits and makes rank 2 wait; its first call shows that it
    was there from 0 on."""
    second = [call("MPI_Comm_rank", 0, 1), receive(10, 112), send(120, 125, peer=2)]
    ranks = [
        [send(100, 110)],
        [call("MPI_Comm_rank", 300, 305), *(row | {"thread": 1} for row in second)],
        [receive(10, 130, peer=1)],
    ]
    assert causes(found(write_run(tmp_path, [{"calls": calls} for calls in ranks]))) == {
        (0, "", "computing"): pytest.approx((90, 90)),
        (1, "", "computing"): pytest.approx((7, 0)),
        (1, "", "MPI_Comm_rank"): pytest.approx((1, 0)),
        (1, "", "MPI_Recv"): pytest.approx((12, 0)),
    }


def test_what_a_rank_did_before_its_process_began_is_no_computing(tmp_path):
    """Rank 0 began at 60 and computed 20 ns, rank 1 began at 0 and computed 40: all that rank 0 did longer is its
    MPI_Comm_rank."""
    late = {"calls": [call("MPI_Comm_rank", 70, 90), send(100, 110)], "start": 60}
    path = write_run(tmp_path, [late, {"calls": [receive(40, 115)]}])
    assert causes(found(path)) == {(0, "", "MPI_Comm_rank"): (60, 0)}


def test_what_was_made_up_for_before_counts_no_more(tmp_path):
    """Rank 0 computes longer before the barrier, rank 1 after it."""
    zero = [barrier(90, 100), send(110, 115), barrier(200, 210)]
    one = [barrier(20, 100), receive(105, 120), barrier(150, 210)]
    result = found(write_run(tmp_path, [{"calls": zero}, {"calls": one}]))
    assert causes(result) == {(0, "", "computing"): pytest.approx((70 + 5 + 50, 0))}
    zero, one = (
        [barrier(90, 100), send(103, 105), barrier(110, 210)],
        [barrier(20, 100), receive(101, 120), barrier(180, 210)],
    )
    (tmp_path / "other").mkdir()
    result = found(write_run(tmp_path / "other", [{"calls": zero}, {"calls": one}]))
    # The last barrier: since rank 0 left its send, rank 1 was in its receive for 15 ns and computed 60, rank 0 for 5.
    assert causes(result) == {
        (0, "", "computing"): pytest.approx((70 + 2, 0)),
        (1, "", "computing"): pytest.approx((55, 0)),
        (1, "", "MPI_Recv"): pytest.approx((15, 0)),
    }


def test_who_leaves_a_collective_later(tmp_path):
    """Rank 0 leaves the barrier 30 ns later; then both compute 20 ns."""
    ranks = [[barrier(10, 80), send(100, 105)], [barrier(10, 50), receive(70, 110)]]
    result = found(write_run(tmp_path, [{"calls": calls} for calls in ranks]))
    assert causes(result) == {(0, "", "MPI_Barrier"): (30, 0)}


def test_a_wait_that_began_before_both_were_in_step(tmp_path):
    """Rank 1 waits for rank 2 from 10 to 100; in step with rank 0 it is at 40, when that has sent. Since then rank 1
    waited for 60 ns and was 4 in its Waitall: these make rank 0 wait for 60."""
    posts = [call("MPI_Irecv", 2, 3, comm=WORLD), call("MPI_Irecv", 4, 5, comm=WORLD)]
    rows = [request(RequestKind.RECV_DONE, at, 104, peer=peer, tag=1, bytes=8) for at, peer in ((2, 2), (4, 0))]
    ranks = [
        {"calls": [send(30, 40), receive(60, 130, peer=1)]},
        {"calls": [*posts, call("MPI_Waitall", 10, 104), send(120, 125, peer=0)], "requests": rows},
        {"calls": [send(100, 110)]},
    ]
    assert causes(found(write_run(tmp_path, ranks))) == {
        (1, "", "MPI_Waitall"): pytest.approx((3.75, 0)),
        (2, "", "computing"): pytest.approx((90, 56.25)),
    }


def test_regions_flushes_and_calls_of_the_late_one(tmp_path):
    """Since the start rank 0 spent 30 ns more in solve, 20 in pack inside it, 15 flushing, 5 in MPI_Comm_rank."""

    def region(number, begin, end):
        return [event(t, schema.REGION_TYPE, number, flags=f) for t, f in ((begin, 1), (end, 2))]

    zero = [*region(1, 10, 100), *region(2, 50, 70), *flush(70, 85)]
    ranks = [
        {"labels": LABELS, "events": sorted(zero, key=lambda e: (e["time"], e["flags"])),
         "calls": [call("MPI_Comm_rank", 90, 95), send(110, 115)]},
        {"labels": LABELS, "events": region(1, 10, 30), "calls": [receive(40, 120)]},
    ]  # fmt: skip
    result = found(write_run(tmp_path, ranks))
    spent = {("solve", "computing"): 50 - 20, ("solve/pack", "computing"): 20, ("solve", "the tracer"): 15,
             ("solve", "MPI_Comm_rank"): 5}  # fmt: skip
    assert result.total_ns == 70 == sum(spent.values())
    assert causes(result) == {(0, *where): pytest.approx((ns, 0)) for where, ns in spent.items()}


def test_waits_are_in_the_regions_of_their_calls(tmp_path):
    marks = [event(t, schema.REGION_TYPE, n, flags=f) for t, n, f in ((10, 1, 1), (20, 2, 1), (95, 2, 2), (200, 1, 2))]
    calls = [receive(12, 18), receive(40, 90), receive(100, 180)]
    path = write_run(tmp_path, [{"calls": [send(15, 16), send(70, 75), send(150, 155)]},
                                {"labels": LABELS, "events": marks, "calls": calls}])  # fmt: skip
    assert [(p.path, p.procedure, p.time_ns, p.count) for p in found(path).places] == [
        ("solve", "MPI_Recv", 53, 2), ("solve/pack", "MPI_Recv", 30, 1)
    ]  # fmt: skip


def test_regions_are_those_of_their_thread(tmp_path):
    """The second thread's region is not the first one's; its activity before it was seen is not known."""
    marks = [event(t, schema.REGION_TYPE, 1, flags=f, thread=1) for t, f in ((10, 1), (95, 2))]
    late = [call("MPI_Comm_rank", 50, 55, thread=1), send(100, 110) | {"thread": 1}]
    other = {"labels": LABELS, "events": marks, "calls": [call("MPI_Comm_rank", 1, 2, thread=1), receive(40, 120)]}
    result = found(write_run(tmp_path, [{"calls": late}, other]))
    assert [(p.path, p.procedure, p.time_ns) for p in result.places] == [("", "MPI_Recv", 60)]
    assert causes(result) == {(0, "", "computing"): (30, 0), (0, "", "MPI_Comm_rank"): (30, 0)}


def test_a_long_time_out_of_step(tmp_path):
    """There are many calls in between, so that their times are taken from sums.

    Rank 0 makes 2500 calls of 3 ns, 7 ns apart, then as many of 8 ns, rank 1 a thousand.
    """

    def calls(n):
        return [call("MPI_Comm_rank", 10 * k + (7 if k < 2500 else 2), 10 * k + 10) for k in range(n)]

    zero, one = [*calls(5000), send(50_000, 50_010)], [*calls(1000), receive(10_000, 50_020)]
    result = found(write_run(tmp_path, [{"calls": zero}, {"calls": one}]))
    assert causes(result) == {
        (0, "", "computing"): pytest.approx((22_500 - 7000, 0)),
        (0, "", "MPI_Comm_rank"): pytest.approx((27_500 - 3000, 0)),
    }  # fmt: skip


@settings(max_examples=15)
@given(st.integers(2, 4), STEPS)
def test_random_runs(ranks, steps):
    run = run_of(ranks, steps)
    with tempfile.TemporaryDirectory() as folder:
        content = [{"calls": calls, "requests": run.requests[r]} for r, calls in enumerate(run.calls)]
        path = write_run(Path(folder), content)
        trace = open_run(str(path))
        rows = find_wait_states(WaitSearch(trace)).waits
        trace.close()
        result = found(path)
    rows["kind"][rows["kind"] == WaitKind.WRONG_ORDER] = WaitKind.LATE_SENDER  # orders have tests of their own
    seen = rows[["kind", "lane", "cause", "enter", "end"]].tolist()
    assert sorted(seen) == sorted((w.kind, w.rank, w.cause, w.enter, w.end) for w in run.waits)
    assert (result.time_ns.sum(axis=1) <= result.mpi_ns).all()
    direct, indirect = costs_of(run)
    expected = {key: (direct[key], indirect[key]) for key in direct if direct[key] + indirect[key] > 0}
    got = {(rank, what): cost for (rank, _, what), cost in causes(result).items()}
    assert got == {key: pytest.approx(cost, abs=1e-6) for key, cost in expected.items()}
    assert sum(map(sum, got.values())) == pytest.approx(result.total_ns, abs=1e-6)
    assert sum(p.time_ns for p in result.places) == result.total_ns
