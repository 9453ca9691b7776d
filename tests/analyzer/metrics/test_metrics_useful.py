"""Useful time, efficiencies, flushes and bursts of traces of a few lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from synthetic import call, write_run
from synthetic import flush as flush_rows

from analyzer.efficiency.factors import efficiency
from analyzer.metrics.overhead import flushes
from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import bursts, useful
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace import State

ONE = Team()


def efficiency_of(trace):
    return efficiency(trace, useful(trace, ONE), flushes(trace, ONE), unrecorded(trace, ONE))


def two_ranks(**options):
    """Rank 0 computes 60 of 100 ns, rank 1 90."""
    calls = [[("MPI_Barrier", 60, 100, {})], [("MPI_Barrier", 90, 100, {})]]
    return MemoryTrace(calls, **options)


def test_the_factors_by_hand():
    e = efficiency_of(two_ranks())
    assert e.load_balance == pytest.approx(75 / 90)
    assert e.communication_efficiency == pytest.approx(0.9)
    assert e.parallel_efficiency == pytest.approx(0.75)
    assert e.runtime_ns == 100


def test_flushes_that_every_rank_made_are_not_part_of_the_runtime():
    trace = two_ranks(flushes={0: [(10, 20), (30, 40)], 1: [(0, 10)]})
    f = flushes(trace, ONE)
    assert (f.count.tolist(), f.time_ns.tolist()) == ([2, 1], [20, 10])
    assert useful(trace, ONE).by_rank().tolist() == [40, 80]
    e = efficiency_of(trace)
    assert e.runtime_ns == 90
    assert e.communication_efficiency == pytest.approx(80 / 90)
    assert e.parallel_efficiency == pytest.approx(60 / 90)


def test_what_no_rank_recorded_is_not_part_of_the_runtime():
    trace = two_ranks(unrecorded={0: [(10, 20), (30, 40)], 1: [(0, 10)]})
    u = unrecorded(trace, ONE)
    assert (u.time_ns.tolist(), u.shared_ns.tolist()) == ([20, 10], [20, 10])
    assert useful(trace, ONE).by_rank().tolist() == [40, 80]
    assert efficiency_of(trace).communication_efficiency == pytest.approx(80 / 90)


def test_imported_traces_keep_their_flushes():
    states = [(0, 60, 0, 0, State.RUNNING), (60, 100, 0, 0, State.GROUP_COMMUNICATION), (0, 90, 1, 0, State.RUNNING)]
    trace = two_ranks(flushes={0: [(10, 20)], 1: [(10, 20)]}, states=states, tracer_times=False)
    assert efficiency_of(trace).runtime_ns == 100
    assert useful(trace, ONE).time_ns.tolist() == [60, 90]


def test_a_trace_without_computation_has_no_efficiency():
    assert efficiency_of(MemoryTrace([[], []])).parallel_efficiency is None


rank = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(0, 20)), max_size=20)


@given(st.lists(rank, min_size=1, max_size=6), st.sampled_from([None, 3, 64]))
def test_the_factors_multiply_and_stay_within_one(ranks, window):
    calls, lost = [], {}
    for number, pieces in enumerate(ranks):
        now, rows, gone = 0, [], []
        for compute, inside, flush in pieces:
            rows.append(("MPI_Send", now + compute, now + compute + inside, {}))
            now += compute + inside
            gone.append((now, now + flush))
            now += flush
        calls.append(rows)
        lost[number] = [g for g in gone if g[1] > g[0]]
    ends = [max([r[2] for r in rows] + [f[1] for f in lost[n]], default=0) for n, rows in enumerate(calls)]
    trace = MemoryTrace(calls, flushes=lost, spans=[(0, e) for e in ends], window=window)
    u = useful(trace, ONE)
    assert u.by_rank().tolist() == [sum(p[0] for p in pieces) for pieces in ranks]
    e = efficiency_of(trace)
    if e.parallel_efficiency is not None:
        assert e.parallel_efficiency == pytest.approx(e.load_balance * e.communication_efficiency)
        assert 0 < e.parallel_efficiency <= e.communication_efficiency <= 1
        assert 0 < e.load_balance <= 1 + 1e-12


def test_threads_count_one_by_one():
    trace = MemoryTrace(
        [[("MPI_Barrier", 90, 100, {})]], states=[(0, 90, 0, 0, 1), (0, 30, 0, 1, 1)], tracer_times=False
    )
    trace.threads = np.array([2])
    assert useful(trace, ONE).time_ns.tolist() == [90, 30]
    assert efficiency_of(trace).load_balance == pytest.approx(60 / 90)


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=200), st.sampled_from([None, 10**9]))
def test_burst_percentiles_are_within_a_64th(lengths, window):
    begins = np.cumsum([0, *lengths[:-1]])
    rows = [(int(b), int(b) + n, 0, 0, State.RUNNING) for b, n in zip(begins, lengths, strict=True)]
    window = window and max(window, sum(lengths) // 50)
    trace = MemoryTrace([[]], states=rows, spans=[(0, sum(lengths))], window=window)
    b = bursts(trace, ONE)
    assert (b.count, b.time_ns, b.longest_ns) == (len(lengths), sum(lengths), max(lengths))
    for percent, bound in b.percentiles_ns.items():
        exact = sorted(lengths)[max(0, -(-len(lengths) * percent // 100) - 1)]
        assert exact <= bound <= exact * (1 + 1 / 64)


def test_no_bursts_at_all():
    b = bursts(MemoryTrace([[]]), ONE)
    assert (b.count, b.mean_ns, b.percentiles_ns) == (0, 0.0, {})


def test_flushes_of_threads_do_not_add_up_to_a_runtime(tmp_path):
    """Two threads that flush 30 and 20 of 100 ns: at most 20 ns were certainly not the program's."""
    second = [call("MPI_Send", 1, 2, thread=1), call("MPI_Send", 90, 100, thread=1)]
    events = [*flush_rows(10, 40), *flush_rows(10, 30, thread=1)]
    trace = open_run(str(write_run(tmp_path, [{"calls": [call("MPI_Send", 90, 100), *second], "events": events}])))
    lost = flushes(trace, Team())
    assert (lost.time_ns.tolist(), lost.shared_ns.tolist()) == ([50], [20])
    factors = efficiency(trace, useful(trace, Team()), lost, unrecorded(trace, Team()))
    assert factors.runtime_ns == 80
    assert factors.communication_efficiency == 64 / 80  # 0 to 90 less 30, and 2 to 90 less 20: on average
    trace.close()
