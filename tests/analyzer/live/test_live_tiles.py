"""Sums of the live view at any zoom, against a count of each ns, sums of other analyses, and what is at a moment."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from random_runs import runs
from synthetic import write_run
from uneven_runs import iterative, written

from analyzer.live.axis import Axis
from analyzer.live.rows import RowGrouping
from analyzer.live.run import LiveRun
from analyzer.live.tiles import BINS, BLOCK, STEPS, Tile, Tiles
from analyzer.metrics.overhead import flushes
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.snapshot import take_snapshot
from analyzer.timeline import ActivityKind
from analyzer.trace import State
from analyzer.waits.analysis import analyze_waits

LENGTH = 60


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, LENGTH - 1), st.integers(0, 20)), max_size=20),
    st.lists(st.integers(-5, LENGTH + 5), min_size=2, max_size=6),
)
def test_an_axis_against_each_ns(intervals, edges):
    """Compare three lanes, whose intervals may lie in each other."""
    edges, axis = np.sort(np.array(edges)), Axis(LENGTH)
    rows = np.array(sorted((lane, at, min(long, LENGTH - at)) for lane, at, long in intervals), int).reshape(-1, 3)
    for part in np.array_split(rows, 3):
        axis.append(*part.T)
    axis.close()
    expected, counts = np.zeros((2, 3, len(edges) - 1), int)
    for lane, at, long in rows.tolist():
        for k, (low, high) in enumerate(pairwise(edges.tolist())):
            counts[lane, k] += low <= at < high
            expected[lane, k] += sum(low <= ns < high for ns in range(at, at + long))
    nested = any(a[0] == b[0] and b[1] < a[1] + a[2] for a, b in pairwise(rows.tolist()))
    found = axis.times(np.arange(3), edges)
    if not nested:
        assert found.tolist() == expected.tolist()
    assert axis.times(np.arange(3), np.array([0, LENGTH]))[:, 0].tolist() == [
        rows[rows[:, 0] == lane, 2].sum() for lane in range(3)
    ]
    assert axis.counts(np.arange(3), edges)[0].tolist() == counts.tolist()
    assert len(axis) == len(rows)


def late(**options):
    """Rank 0 computes 100 ns and waits for rank 1, which computes 300; the barrier takes 100 more."""
    calls = [[("MPI_Barrier", begin, 400, {"comm": 0})] for begin in (100, 300)]
    return MemoryTrace(calls, **options)


def test_by_hand():
    run = LiveRun(late(flushes={1: [(0, 50)]}))
    found = run.times(np.array([0, 1]), np.array([0, 40, 200, 350, 400]))
    assert found[ActivityKind.COMPUTING].tolist() == [[40, 60, 0, 0], [0, 150, 100, 0]]
    assert found[ActivityKind.WAITING].tolist() == [[0, 100, 100, 0], [0, 0, 0, 0]]
    assert found[ActivityKind.IN_MPI].tolist() == [[0, 0, 50, 50], [0, 0, 50, 50]]
    assert found[ActivityKind.TRACER].tolist() == [[0, 0, 0, 0], [40, 10, 0, 0]]


def whole_tiles(run, level, by):
    """The sum of all tiles of a level, by row."""
    tiles, rows = Tiles(run), run.rows(by, "")
    count = (run.trace.duration_ns >> level) // BINS + 1
    blocks = -(-len(rows) // BLOCK)
    return np.concatenate([
        sum(tiles.ns(Tile(by, "", level, index, block)).sum(axis=2) for index in range(count))
        for block in range(blocks)
    ], axis=1)  # fmt: skip


@given(runs(), st.integers(2, 14), st.sampled_from(list(RowGrouping)), st.data())
@settings(max_examples=10)
def test_any_stretch_is_what_other_analyses_say(tmp_path_factory, drawn, level, by, data):
    ranks, tsc_per_us = drawn
    trace = open_trace(write_run(tmp_path_factory.mktemp("live"), ranks, tsc_per_us=tsc_per_us))
    run, team = LiveRun(trace), Team()
    computed, calls = useful(trace, team), profile(trace, team)
    waited = analyze_waits(trace, team, calls, causes=False).time_ns.sum(axis=1)
    assert (run.by_rank[ActivityKind.COMPUTING] == computed.by_rank()).all()
    assert (run.by_rank[ActivityKind.WAITING] + run.by_rank[ActivityKind.IN_MPI] == calls.mpi_ns()).all()
    assert (run.by_rank[ActivityKind.TRACER] == computed.tracer_by_rank() + flushes(trace, team).time_ns).all()
    assert (run.by_rank[ActivityKind.WAITING] <= waited).all() and (run.by_rank >= 0).all()
    assert whole_tiles(run, level, by).sum(axis=1).tolist() == run.by_rank.sum(axis=1).tolist()
    _at_a_moment(run, data)
    trace.close()


def _at_a_moment(run, data):
    """Assert that one ns of each thread equals the snapshot at this time."""
    trace = run.trace
    time = data.draw(st.integers(0, trace.duration_ns - 1))
    for rank in range(trace.size):
        for one in take_snapshot(trace, rank, time, messages=False).threads:
            lane = np.array([run.lanes.first[rank] + one.thread])
            ns = run.times(lane, np.array([time, time + 1]))[:, 0, 0]
            assert ns[ActivityKind.COMPUTING] == (one.state == State.RUNNING)
            assert ns[ActivityKind.WAITING] + ns[ActivityKind.IN_MPI] == one.inside
            assert ns.sum() <= 1 and (ns >= 0).all()


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    work = iterative(30, 4, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return LiveRun(open_trace(written(tmp_path_factory.mktemp("run"), work)))


def test_all_waiting_is_there_where_nobody_polls(uneven):
    team = Team()
    waited = analyze_waits(uneven.trace, team, profile(uneven.trace, team), causes=False)
    assert waited.total_ns > 0
    assert uneven.by_rank[ActivityKind.WAITING].tolist() == waited.time_ns.sum(axis=1).tolist()


@given(st.integers(6, 20), st.data())
@settings(max_examples=20)
def test_cells_are_the_shares_of_their_ns(uneven, level, data):
    tiles = Tiles(uneven)
    last = (uneven.trace.duration_ns >> level) // BINS
    tile = Tile(RowGrouping.RANKS, "", level, data.draw(st.integers(0, last)), 0)
    cells = np.frombuffer(tiles.cells(tile), np.uint8).reshape(4, BINS, len(ActivityKind))
    edges = np.minimum(tile.edges, uneven.trace.duration_ns)
    shares = tiles.ns(tile) / np.maximum(np.diff(edges), 1)
    assert np.abs(np.moveaxis(cells, 2, 0) / STEPS - shares).max() <= 1 / STEPS
    assert (cells.sum(axis=2) <= STEPS).all()


def test_a_tile_is_four_of_the_level_below(uneven):
    tiles = Tiles(uneven)
    coarse = tiles.ns(Tile(RowGrouping.RANKS, "", 14, 1, 0))
    fine = np.concatenate([tiles.ns(Tile(RowGrouping.RANKS, "", 12, index, 0)) for index in range(4, 8)], axis=2)
    assert coarse.tolist() == fine.reshape(*fine.shape[:2], BINS, 4).sum(axis=3).tolist() and coarse.any()


def test_tiles_are_kept_up_to_a_limit(uneven):
    size = 4 * BINS * len(ActivityKind)
    tiles = Tiles(uneven, most_bytes=3 * size)
    made = [tiles.cells(Tile(RowGrouping.RANKS, "", 10, index, 0)) for index in range(5)]
    assert tiles.kept_bytes == 3 * size
    assert [tiles.cells(Tile(RowGrouping.RANKS, "", 10, index, 0)) for index in range(5)] == made


def crowd(ranks):
    """Half of the ranks compute for 100 ns and wait, half for 300; rank 7 for 390."""
    return MemoryTrace([
        [("MPI_Barrier", 390 if rank == 7 else 300 if rank % 2 else 100, 400, {"comm": 0})] for rank in range(ranks)
    ])  # fmt: skip


def test_rows_are_ranks_or_groups_of_them():
    run = LiveRun(crowd(130))
    ranks, groups, some = (
        run.rows(RowGrouping.RANKS, ""),
        run.rows(RowGrouping.GROUPS, ""),
        run.rows(RowGrouping.RANKS, "3-7:2,129"),
    )
    assert len(ranks) == 130 and [len(ranks.part(low, low + BLOCK)) for low in (0, 64, 128)] == [64, 64, 2]
    assert groups.threads.tolist() == [65, 64, 1] and groups.of_rank[7] == 2
    assert some.names == ("3", "5", "7", "129") and (some.of_rank >= 0).sum() == 4
    assert (
        whole_tiles(run, 0, RowGrouping.RANKS)[ActivityKind.COMPUTING].tolist()
        == run.by_rank[ActivityKind.COMPUTING].tolist()
    )
    assert whole_tiles(run, 0, RowGrouping.GROUPS)[ActivityKind.COMPUTING].tolist() == [65 * 100, 64 * 300, 390]
    assert run.rows(RowGrouping.THREADS, "7").names == ("7.0",)


def test_the_whole_run_in_stretches(uneven):
    shares = Tiles(uneven).overview(RowGrouping.RANKS, "")
    lengths = np.diff(np.linspace(0, uneven.trace.duration_ns, shares.shape[1] + 1).astype(np.int64))
    assert np.allclose((shares * lengths * 4).sum(axis=1), uneven.by_rank.sum(axis=1))
