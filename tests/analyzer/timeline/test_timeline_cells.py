"""Activities of ranks over time, by hand, against sums of other analyses, and against a count of each ns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from random_runs import runs
from synthetic import write_run

from analyzer.metrics.overhead import flushes
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.timeline import MOST_RANKS, ActivityKind, _Filled, lines_of, marks_of, timeline
from analyzer.waits.analysis import analyze_waits


def drawn(trace, bins, **options):
    team = Team()
    calls = profile(trace, team)
    lines = lines_of(trace, calls, useful(trace, team), analyze_waits(trace, team, calls, causes=False))
    return timeline(trace, team, calls, lines, bins, **options)


def late(window=None, **options):
    """Rank 0 computes 100 ns and waits for rank 1, which computes 300; the barrier takes 100 more."""
    calls = [[("MPI_Barrier", begin, 400, {"comm": 0})] for begin in (100, 300)]
    return MemoryTrace(calls, window=window, **options)


def test_by_hand():
    found = drawn(late(), 4)
    assert found.edges.tolist() == [0, 100, 200, 300, 400]
    assert found.ns[ActivityKind.COMPUTING].tolist() == [[100, 0, 0, 0], [100, 100, 100, 0]]
    assert found.ns[ActivityKind.WAITING].tolist() == [[0, 100, 100, 0], [0, 0, 0, 0]]
    assert found.ns[ActivityKind.IN_MPI].tolist() == [[0, 0, 0, 100], [0, 0, 0, 100]]
    assert not found.ns[ActivityKind.TRACER].any()
    assert found.shares.sum(axis=0).tolist() == [[1.0] * 4] * 2


@pytest.mark.parametrize("window", [7, 100, 150])
def test_windows_change_nothing(window):
    assert (drawn(late(window), 16).ns == drawn(late(), 16).ns).all()


def test_a_part_of_the_run():
    found = drawn(late(), 2, begin_ns=200, end_ns=400)
    assert found.ns[ActivityKind.WAITING].tolist() == [[100, 0], [0, 0]]
    assert found.ns[ActivityKind.COMPUTING].tolist() == [[0, 0], [100, 0]]


def test_flushes_are_the_tracer_and_are_marked():
    trace = late(flushes={1: [(0, 50)]})
    found = drawn(trace, 8)
    assert found.ns[ActivityKind.TRACER].tolist() == [[0] * 8, [50, *[0] * 7]]
    assert marks_of(trace, found.lines.of_rank, 0, None).flushes == ((1, 0),)


def test_coarser_cells_are_those_of_fewer_bins():
    fine, few = drawn(late(), 8), drawn(late(), 4)
    assert (fine.coarser(2).ns == few.ns).all() and fine.coarser(2).edges.tolist() == few.edges.tolist()
    assert fine.coarser(3).edges.tolist() == [0, 150, 300, 400]


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-5, 60), st.integers(0, 60)), max_size=20),
    st.integers(1, 9), st.integers(1, 12), st.integers(0, 20),
)  # fmt: skip
def test_each_ns_counts_where_it_is(intervals, width, bins, begin):
    counted = _Filled(begin, width, bins, 3)
    line, first, length = (np.array([one[k] for one in intervals], np.int64) for k in range(3))
    counted.add(line, first, first + length)
    expected = np.zeros((3, bins), np.int64)
    for k, at, long in intervals:
        for ns in range(at, at + long):
            if k >= 0 and begin <= ns < begin + width * bins:
                expected[k, (ns - begin) // width] += 1
    assert (counted.ns() == expected).all()


@given(runs())
@settings(max_examples=8)
def test_all_bins_together_are_the_sums_of_the_run(tmp_path_factory, run):
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("cells"), ranks, tsc_per_us=tsc_per_us))
    team, found = Team(), drawn(trace, 13)
    computed, calls = useful(trace, team), profile(trace, team)
    sums = found.ns.sum(axis=2)
    assert (sums[ActivityKind.COMPUTING] == computed.by_rank()).all()
    assert (sums[ActivityKind.WAITING] + sums[ActivityKind.IN_MPI] == calls.mpi_ns()).all()
    assert (sums[ActivityKind.TRACER] == computed.tracer_by_rank() + flushes(trace, team).time_ns).all()
    whole = analyze_waits(trace, team, calls, causes=False).time_ns.sum(axis=1)
    assert (sums[ActivityKind.WAITING] <= whole).all() and (found.ns >= 0).all()
    trace.close()


def crowd(ranks):
    """Half of the ranks compute for 100 ns and wait, half for 300; rank 7 for 390."""
    return MemoryTrace([
        [("MPI_Barrier", 390 if rank == 7 else 300 if rank % 2 else 100, 400, {"comm": 0})] for rank in range(ranks)
    ])  # fmt: skip


def test_many_ranks_are_groups():
    assert not drawn(crowd(MOST_RANKS), 4).lines.grouped
    found = drawn(crowd(MOST_RANKS + 2), 4)
    lines = found.lines
    assert lines.grouped and len(lines.names) == 3
    assert len(set(lines.of_rank[::2].tolist())) == 1 and lines.of_rank[7] == 2
    assert lines.threads.tolist() == [65, 64, 1]
    assert found.shares[ActivityKind.COMPUTING, lines.of_rank[0]].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert found.shares[ActivityKind.COMPUTING, lines.of_rank[1]].tolist() == [1.0, 1.0, 1.0, 0.0]
