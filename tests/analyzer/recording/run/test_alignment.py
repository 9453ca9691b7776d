"""The clocks of several nodes brought together from their readings of rank 0's clock."""

from hypothesis import given
from hypothesis import strategies as st

from analyzer.recording.run.clock_alignment import ClockSource, Reading, fit_clocks, useful_readings


def source(rank=0, boot="a", namespace=0, tsc=True, start=0, realtime=10**18, last=0, written=0, pairs=(), readings=()):
    return ClockSource(
        rank, boot, namespace, tsc, start, realtime, lambda: last, written, pairs, [Reading(*r) for r in readings]
    )


def test_monotonic_ticks_are_nanoseconds_unchanged():
    clocks, problems, _ = fit_clocks([source(tsc=False, start=10**18 + 1)])
    assert not problems
    assert [clocks[0].ns(10**18 + 1 + n) for n in (0, 1, 123456789)] == [0, 1, 123456789]


def test_ranks_of_one_counter_share_the_map_and_its_pairs():
    first = source(rank=0, start=1000, pairs=[(1000, 5000)])
    second = source(rank=1, start=4000, realtime=10**18 + 1500, pairs=[(4000, 6500)])
    clocks, problems, _ = fit_clocks([first, second])
    assert not problems
    assert clocks[0] == clocks[1]
    assert [clocks[0].ns(t) for t in (1000, 2000, 4000)] == [0, 500, 1500]


def test_one_late_reading_does_not_tilt_the_line():
    pairs = [(t, t // 2) for t in range(0, 10**10, 10**9)]
    pairs[0] = (0, 50_000_000)
    clocks, _, _ = fit_clocks([source(pairs=pairs)])
    assert abs(clocks[0].ns(9 * 10**9) - clocks[0].ns(10**9) - 4 * 10**9) <= 1


def test_nodes_are_aligned_by_their_wall_clocks_and_that_is_said():
    near = source(rank=0, boot="a", tsc=False, start=10**9, realtime=10**18)
    far = source(rank=1, boot="b", tsc=False, start=7, realtime=10**18 + 250)
    clocks, problems, _ = fit_clocks([near, far])
    assert clocks[0].ns(10**9) == 0
    assert clocks[1].ns(7) == 250
    assert [p.rank for p in problems] == [-1]
    assert "wall clock" in problems[0].text


def test_a_tsc_and_a_monotonic_rank_of_one_node_share_the_timeline():
    tsc = source(rank=0, start=2000, realtime=10**18, pairs=[(2000, 10**6), (4000, 10**6 + 1000)])
    plain = source(rank=1, tsc=False, start=10**6 + 300, realtime=10**18 + 300)
    clocks, problems, _ = fit_clocks([tsc, plain])
    assert not problems
    assert clocks[1].ns(10**6 + 300) == 300 == clocks[0].ns(2600)


def test_a_single_reading_gives_an_estimate_and_says_so():
    lonely = source(start=1000, pairs=[(1000, 5)], last=3001000, written=10**18 + 10**6)
    clocks, problems, _ = fit_clocks([lonely])
    assert "rate of the clock" in problems[0].text
    assert abs(clocks[0].ns(3001000) - 10**6) <= 1
    clocks, problems, _ = fit_clocks([source(start=5, pairs=[])])
    assert problems
    assert clocks[0].ns(1005) == 1000


def test_readings_of_rank_0s_clock_align_a_node_and_remove_its_drift():
    """Node b is 5 s ahead of node a at 10 s and gains 20 us a second: 5.000 200 s ahead at 20 s."""
    near = source(rank=0, boot="a", tsc=False, start=10**10)
    readings = [(15 * 10**9, 10**10), (25 * 10**9 + 200_000, 2 * 10**10)]
    far = source(rank=1, boot="b", tsc=False, start=15 * 10**9, realtime=10**18 + 77, readings=readings)
    clocks, problems, _ = fit_clocks([near, far])
    assert not problems
    assert clocks[0].ns(10**10) == clocks[1].ns(15 * 10**9) == 0
    assert abs(clocks[1].ns(25 * 10**9 + 200_000) - 10**10) <= 1
    assert abs(clocks[1].ns(20 * 10**9 + 100_000) - 5 * 10**9) <= 1


def test_readings_too_close_together_give_no_drift():
    near = source(rank=0, boot="a", tsc=False, start=1000)
    far = source(rank=1, boot="b", tsc=False, start=0, readings=[(0, 1000), (100, 1200)])
    clocks, _, _ = fit_clocks([near, far])
    assert [clocks[1].ns(t) for t in (0, 100, 10**9)] == [0, 100, 10**9]


def test_a_node_without_readings_is_still_aligned_by_its_wall_clock():
    near = source(rank=0, boot="a", tsc=False, start=0)
    told = source(rank=1, boot="b", tsc=False, start=50, readings=[(50, 0)])
    silent = source(rank=2, boot="c", tsc=False, start=7, realtime=10**18 + 250)
    clocks, problems, _ = fit_clocks([near, told, silent])
    assert [clocks[1].ns(50), clocks[2].ns(7)] == [0, 250]
    assert [p.text.split(":")[0] for p in problems] == ["1 of 3 nodes are aligned by their wall clocks"]


def test_ranks_of_a_node_use_the_readings_of_its_first():
    near = source(rank=0, boot="a", tsc=False, start=0)
    first = source(rank=1, boot="b", tsc=False, start=10**6, readings=[(10**6, 500)])
    second = source(rank=2, boot="b", tsc=False, start=10**6 + 30)
    clocks, problems, _ = fit_clocks([near, first, second])
    assert not problems
    assert clocks[1] == clocks[2]
    assert clocks[2].ns(10**6 + 30) == 530


def test_readings_between_bend_the_clock_where_it_bent():
    """Node b gains 100 us in the first 10 s and loses it again in the next: only a reading between can tell."""
    second = 10**9
    near = source(rank=0, boot="a", tsc=False, start=second)
    readings = [
        (101 * second, second, 2000, 100),
        (111 * second + 100_000, 11 * second, 2000, 100),
        (121 * second, 21 * second, 2000, 300),
    ]
    far = source(rank=1, boot="b", tsc=False, start=100 * second + second // 2, readings=readings)
    clocks, problems, nodes = fit_clocks([near, far])
    assert not problems
    truth = {101 * second: 0, 106 * second + 50_000: 5, 111 * second + 100_000: 10, 116 * second + 50_000: 15}
    origin = clocks[0].ns(second)
    for local, s in truth.items():
        assert abs(clocks[1].ns(local) - origin - s * second) <= 1
    # Outside of the readings the mean slope holds, which is 1 here.
    assert clocks[1].ns(100 * second + second // 2) == origin - second // 2 == 0
    assert abs(clocks[1].ns(125 * second) - origin - 24 * second) <= 1
    (node,) = nodes
    assert (node.ranks, node.ahead_ns, node.readings) == ((1,), 100 * second, 3)
    assert (node.drift_ppm, node.accuracy_ns, node.bound_ns) == (0, 300, 1000)


def test_readings_too_close_together_for_their_errors_are_left_out():
    """Errors of 1 us each: 20 ms apart they may bend the clock by one part in 10 000."""
    ms = 10**6
    at = [0, 19 * ms, 21 * ms, 40 * ms, 60 * ms, 81 * ms, 100 * ms]
    readings = [Reading(t, t, 9999, 1000) for t in at]
    assert [r.local_ns for r in useful_readings(readings)] == [0, 21 * ms, 60 * ms, 81 * ms]
    poor = [Reading(t, t, 10**6 if t == 21 * ms else 200, 0) for t in at]
    assert [r.local_ns for r in useful_readings(poor)] == [0, 19 * ms, 40 * ms, 60 * ms, 81 * ms, 100 * ms]


@given(st.lists(st.tuples(st.integers(1, 10**10), st.integers(-3000, 3000)), min_size=2, max_size=20))
def test_between_readings_the_aligned_clock_is_as_right_as_they_are(steps):
    """A clock 7 s ahead, read with errors up to 3 us (round trips of 6 us): never further off than that between them,
    and no duration is bent by more than a part in 10 000."""
    local, readings = 10**10, []
    for step, error in steps:
        local += step
        readings.append((local, local - 7 * 10**9 + error, 6000, 0))
    far = source(rank=1, boot="b", tsc=False, start=local, readings=readings)
    near = source(rank=0, boot="a", tsc=False, start=0)
    clock = fit_clocks([near, far]).clocks[1]
    used = useful_readings([Reading(*r) for r in readings])
    begin, end = used[0].local_ns, used[-1].local_ns
    times = [begin + (end - begin) * k // 50 for k in range(51)]
    errors = [clock.ns(t) - (t - 7 * 10**9) for t in times]
    assert max(map(abs, errors)) <= 3001


def test_a_shared_boot_id_does_not_hide_a_clock_of_its_own():
    """Measured on request, a rank of rank 0's own boot turns out to be 2 s ahead; another one to be the same clock."""
    near = source(rank=0, tsc=False, start=10**9)
    same = source(rank=1, tsc=False, start=10**9, readings=[(10**9, 10**9 + 40, 90)])
    other = source(rank=2, tsc=False, start=3 * 10**9, readings=[(3 * 10**9, 10**9, 90)])
    clocks, problems, nodes = fit_clocks([near, same, other])
    assert [clocks[1].ns(10**9), clocks[2].ns(3 * 10**9)] == [0, 0]
    assert [p.rank for p in problems] == [2]
    assert [n.ranks for n in nodes] == [(2,)]


def test_a_poor_reading_does_not_spoil_good_ones():
    """The first was made while the node was busy; without it a drift is known, or (one good reading only) none."""
    second = 10**9
    poor = (10 * second, 3 * second + 400_000, 4_000_000, 1_000_000)
    good = [(10 * second + k * second, 3 * second + k * second, 1000, 50) for k in range(1, 4)]
    near = source(rank=0, boot="a", tsc=False, start=3 * second)
    for readings in ([poor, good[0]], [poor, *good]):
        far = source(rank=1, boot="b", tsc=False, start=10 * second, readings=readings)
        clock = fit_clocks([near, far]).clocks[1]
        assert [clock.ns(10 * second + k * second) for k in range(5)] == [k * second for k in range(5)]
