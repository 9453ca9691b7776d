"""Ticks to nanoseconds: exact, ordered, shared, aligned."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from analyzer.sources.clock import Clock, ClockSource, fit_clocks

TICKS = st.integers(0, 2**63)
SLOPES = st.fractions(min_value=Fraction(1, 16), max_value=64).filter(lambda f: f > 0)


def source(rank=0, boot="a", namespace=0, tsc=True, start=0, realtime=10**18, last=0, written=0, pairs=(), readings=()):
    return ClockSource(rank, boot, namespace, tsc, start, realtime, last, written, pairs, readings)


@given(TICKS, st.integers(0, 10**18), SLOPES)
def test_within_a_nanosecond_of_exact_arithmetic_for_10_to_18_ticks(origin, distance, slope):
    clock = Clock.through(origin, 77, slope)
    assert abs(clock.ns(origin + distance) - (77 + distance * slope)) <= Fraction(5, 4) + distance * slope / 10**18


@given(TICKS, st.integers(-(10**18), 10**18), SLOPES)
def test_ticks_is_the_first_tick_that_is_not_earlier(origin, ns, slope):
    clock = Clock.through(origin, 0, slope)
    first = clock.ticks(ns)
    if 0 < first < 2**64 - 1:
        assert clock.ns(first) >= ns > clock.ns(first - 1)


def test_monotonic_ticks_are_nanoseconds_unchanged():
    clocks, problems = fit_clocks([source(tsc=False, start=10**18 + 1)])
    assert not problems
    assert [clocks[0].ns(10**18 + 1 + n) for n in (0, 1, 123456789)] == [0, 1, 123456789]


def test_ranks_of_one_counter_share_the_map_and_its_pairs():
    first = source(rank=0, start=1000, pairs=[(1000, 5000)])
    second = source(rank=1, start=4000, realtime=10**18 + 1500, pairs=[(4000, 6500)])
    clocks, problems = fit_clocks([first, second])
    assert not problems
    assert clocks[0] == clocks[1]
    assert [clocks[0].ns(t) for t in (1000, 2000, 4000)] == [0, 500, 1500]


def test_one_late_reading_does_not_tilt_the_line():
    pairs = [(t, t // 2) for t in range(0, 10**10, 10**9)]
    pairs[0] = (0, 50_000_000)
    clocks, _ = fit_clocks([source(pairs=pairs)])
    assert abs(clocks[0].ns(9 * 10**9) - clocks[0].ns(10**9) - 4 * 10**9) <= 1


def test_nodes_are_aligned_by_their_wall_clocks_and_that_is_said():
    near = source(rank=0, boot="a", tsc=False, start=10**9, realtime=10**18)
    far = source(rank=1, boot="b", tsc=False, start=7, realtime=10**18 + 250)
    clocks, problems = fit_clocks([near, far])
    assert clocks[0].ns(10**9) == 0
    assert clocks[1].ns(7) == 250
    assert [p.rank for p in problems] == [-1]
    assert "wall clock" in problems[0].text


def test_a_tsc_and_a_monotonic_rank_of_one_node_share_the_timeline():
    tsc = source(rank=0, start=2000, realtime=10**18, pairs=[(2000, 10**6), (4000, 10**6 + 1000)])
    plain = source(rank=1, tsc=False, start=10**6 + 300, realtime=10**18 + 300)
    clocks, problems = fit_clocks([tsc, plain])
    assert not problems
    assert clocks[1].ns(10**6 + 300) == 300 == clocks[0].ns(2600)


def test_a_single_reading_gives_an_estimate_and_says_so():
    lonely = source(start=1000, pairs=[(1000, 5)], last=3001000, written=10**18 + 10**6)
    clocks, problems = fit_clocks([lonely])
    assert "rate of the clock" in problems[0].text
    assert abs(clocks[0].ns(3001000) - 10**6) <= 1
    clocks, problems = fit_clocks([source(start=5, pairs=[])])
    assert problems
    assert clocks[0].ns(1005) == 1000


def test_readings_of_rank_0s_clock_align_a_node_and_remove_its_drift():
    """Node b is 5 s ahead of node a at 10 s and gains 20 us a second: 5.000 200 s ahead at 20 s."""
    near = source(rank=0, boot="a", tsc=False, start=10**10)
    readings = [(15 * 10**9, 10**10), (25 * 10**9 + 200_000, 2 * 10**10)]
    far = source(rank=1, boot="b", tsc=False, start=15 * 10**9, realtime=10**18 + 77, readings=readings)
    clocks, problems = fit_clocks([near, far])
    assert not problems
    assert clocks[0].ns(10**10) == clocks[1].ns(15 * 10**9) == 0
    assert abs(clocks[1].ns(25 * 10**9 + 200_000) - 10**10) <= 1
    assert abs(clocks[1].ns(20 * 10**9 + 100_000) - 5 * 10**9) <= 1


def test_readings_too_close_together_give_no_drift():
    near = source(rank=0, boot="a", tsc=False, start=1000)
    far = source(rank=1, boot="b", tsc=False, start=0, readings=[(0, 1000), (100, 1200)])
    clocks, _ = fit_clocks([near, far])
    assert [clocks[1].ns(t) for t in (0, 100, 10**9)] == [0, 100, 10**9]


def test_a_node_without_readings_is_still_aligned_by_its_wall_clock():
    near = source(rank=0, boot="a", tsc=False, start=0)
    told = source(rank=1, boot="b", tsc=False, start=50, readings=[(50, 0)])
    silent = source(rank=2, boot="c", tsc=False, start=7, realtime=10**18 + 250)
    clocks, problems = fit_clocks([near, told, silent])
    assert [clocks[1].ns(50), clocks[2].ns(7)] == [0, 250]
    assert [p.text.split(":")[0] for p in problems] == ["1 of 3 nodes are aligned by their wall clocks"]


def test_ranks_of_a_node_use_the_readings_of_its_first():
    near = source(rank=0, boot="a", tsc=False, start=0)
    first = source(rank=1, boot="b", tsc=False, start=10**6, readings=[(10**6, 500)])
    second = source(rank=2, boot="b", tsc=False, start=10**6 + 30)
    clocks, problems = fit_clocks([near, first, second])
    assert not problems
    assert clocks[1] == clocks[2]
    assert clocks[2].ns(10**6 + 30) == 530
