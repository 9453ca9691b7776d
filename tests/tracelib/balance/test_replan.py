"""When a monitor shares anew: simulated ranks whose speeds are known, in C and in Python."""

import ctypes

import compiled
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelib.balance.replan import PaceMonitor, one_each
from tracelib.launchers import INCLUDE
from tracelib.schema.shares import split

IN_C = """
#include <tracelib_replan.h>
void *start(long long items, int ranks, double threshold)
{
    struct tracelib_watch *w = malloc(sizeof *w);
    return w && tracelib_watch_start(w, items, ranks, threshold) == TRACELIB_PLANNED ? w : NULL;
}
int look(void *w, long long *counts, const double *seconds, double steps)
{
    return tracelib_watch_look(w, counts, seconds, steps);
}
void moved(void *w, double seconds)
{
    tracelib_watch_moved(w, seconds);
}
void end(void *w)
{
    tracelib_watch_end(w);
    free(w);
}
"""


@pytest.fixture(scope="module", name="c")
def library(tmp_path_factory):
    found = compiled.library(tmp_path_factory.mktemp("replan"), code=IN_C, includes=[INCLUDE])
    found.start.restype, found.start.argtypes = ctypes.c_void_p, [ctypes.c_longlong, ctypes.c_int, ctypes.c_double]
    numbers = ctypes.POINTER(ctypes.c_longlong), ctypes.POINTER(ctypes.c_double)
    found.look.argtypes = [ctypes.c_void_p, *numbers, ctypes.c_double]
    found.moved.argtypes, found.end.argtypes = [ctypes.c_void_p, ctypes.c_double], [ctypes.c_void_p]
    return found


class WatchInC:
    """The same interface as PaceMonitor."""

    def __init__(self, c, counts, threshold):
        self._c, self._counts = c, (ctypes.c_longlong * len(counts))(*counts)
        self._own = c.start(sum(counts), len(counts), threshold)

    @property
    def counts(self):
        return list(self._counts)

    def moved(self, seconds):
        self._c.moved(self._own, seconds)

    def look(self, seconds, steps=1):
        return bool(self._c.look(self._own, self._counts, (ctypes.c_double * len(seconds))(*seconds), steps))

    def __del__(self):
        self._c.end(self._own)


@pytest.fixture(params=["C", "Python"])
def watching(request, c):
    """watching(counts, threshold): a watch in each language."""
    return PaceMonitor if request.param == "Python" else lambda counts, threshold: WatchInC(c, counts, threshold)


def follow(watch, paces):
    """Looks at paces (s an item, by look and rank): the looks with new shares, and the steps' times (s)."""
    plans, took = [], []
    for k, row in enumerate(paces.tolist()):
        seconds = [count * pace for count, pace in zip(watch.counts, row, strict=True)]
        took.append(max(seconds))
        if watch.look(seconds, 1):
            plans.append(k)
    return plans, np.array(took)


def varied(seed, looks, ranks, noise):
    """Paces around 1 ms: standard deviation of the logarithm."""
    return 1e-3 * np.exp(noise * np.random.default_rng(seed).standard_normal((looks, ranks)))


def test_by_hand(watching):
    """Rank 0 is 3 times as slow in steps 10 to 19. The third of these asks for 300 / 7 items (speeds 1 : 3 : 3).

    With these a step takes 129 ms. The third step after the slow ones asks for equal shares.
    """
    paces = np.full((30, 3), 1e-3)
    paces[10:20, 0] *= 3
    watch, shares = watching([100] * 3, 0.1), []
    for row in paces.tolist():
        if watch.look([count * pace for count, pace in zip(watch.counts, row, strict=True)], 1):
            shares.append(watch.counts)
    assert sum(shares[0]) == 300 and max(3 * shares[0][0], *shares[0][1:]) == 129
    assert shares[1:] == [[100, 100, 100]]
    assert follow(watching([100] * 3, 0.1), paces)[0] == [12, 22]


@pytest.mark.parametrize("factor, found", [(1.1, []), (1.3, [12])])
def test_a_gain_below_the_threshold_changes_nothing(watching, factor, found):
    """One of two ranks becomes slower: (1.1 - 2.2 / 2.1) / 1.1 = 4.8 %, and (1.3 - 2.6 / 2.3) / 1.3 = 13 %."""
    paces = np.full((40, 2), 1e-3)
    paces[10:, 0] *= factor
    assert follow(watching([1000, 1000], 0.1), paces)[0] == found


@pytest.mark.parametrize("length", [1, 2])
def test_a_rank_that_is_slow_for_a_moment(watching, length):
    paces = varied(1, 60, 4, 0.02)
    for at in (10, 30, 50):
        paces[at : at + length, 1] *= 10
    assert follow(watching([100] * 4, 0.1), paces)[0] == []


@pytest.mark.parametrize("noise, average", [(0.05, 0), (0.1, 0.02), (0.2, 0.1), (0.4, 0.3)])
def test_noise_without_change(c, noise, average):
    """100 looks: at most one needless plan in nearly every run, and the run is not slower for it."""
    plans, times = [], []
    for seed in range(150):
        ranks = 2 + seed % 7
        paces = varied(seed, 100, ranks, noise)
        found, took = follow(WatchInC(c, [100] * ranks, 0.1), paces)
        plans.append(len(found))
        times.append(took.sum() / (100 * paces.max(axis=1)).sum())
    assert np.mean(plans) <= average and np.mean(np.array(plans) > 1) <= 0.07
    assert np.mean(times) < 1.02


@pytest.mark.parametrize("noise, factor, median, most", [
    (0.02, 2, 3, 3), (0.05, 2, 3, 4), (0.1, 2, 3, 8), (0.1, 3, 3, 4), (0.2, 3, 3, 8), (0.4, 4, 5, 40)])  # fmt: skip
def test_a_step_change_is_found(c, noise, factor, median, most):
    """Looks from the change to shares that follow it, over 150 runs of 4 ranks, and plans in all: few more than one."""
    delays, plans = [], []
    for seed in range(150):
        paces = varied(seed, 100, 4, noise)
        paces[50:, 0] *= factor
        found, _ = follow(WatchInC(c, [100] * 4, 0.1), paces)
        delays.append(next((k - 49 for k in found if k >= 50), 99))
        plans.append(len(found))
    assert np.median(delays) <= median and max(delays) <= most
    assert np.mean(plans) < 1.3


def known_best(paces, items):
    """The time of all steps with the best shares of what each rank's pace really is."""
    return sum(max(n * p for n, p in zip(split(items, (1 / row).tolist()), row, strict=True)) for row in paces)


@pytest.mark.parametrize("noise, least", [(0, 11), (0.05, 9), (0.1, 5)])
def test_a_load_that_comes_and_goes(c, noise, least):
    """Every 25 looks a rank becomes 3 times as slow, or as fast as before, 11 times: about one plan a change, a
    fifth or more of the time with equal shares is saved, and with little noise it is near to that of someone who knew.
    """
    for seed in range(20):
        truth = np.full((300, 4), 1e-3)
        for begin in range(25, 300, 50):
            truth[begin : begin + 25, seed % 4] *= 3
        paces = truth * varied(seed, 300, 4, noise) / 1e-3
        found, took = follow(WatchInC(c, [100] * 4, 0.1), paces)
        assert least <= len(found) <= 14
        assert took.sum() < 0.8 * (100 * paces.max(axis=1)).sum()
        assert noise == 0.1 or took.sum() < known_best(truth, 400) * (1.12 + 2 * noise)


def test_faster_than_it_can_follow(c):
    """A load that jumps from rank to rank at every second look: it is left alone, or at least planned seldom."""
    paces = np.full((400, 4), 1e-3)
    for k in range(400):
        paces[k, (k // 2) % 4] *= 3
    found, took = follow(WatchInC(c, [100] * 4, 0.1), paces)
    assert len(found) <= 4 and took.sum() <= 1.05 * (100 * paces.max(axis=1)).sum()


def test_plans_that_do_not_hold_make_it_careful(c):
    """Whatever a plan says, the rank with most items is slow from then on: no shares gain anything, and it sees that
    after some plans. Without care it would plan 400 / 3 times."""
    watch, plans = WatchInC(c, [100] * 4, 0.1), 0
    for _ in range(400):
        slow = int(np.argmax(watch.counts))
        plans += watch.look([count * (3e-3 if rank == slow else 1e-3) for rank, count in enumerate(watch.counts)])
    assert plans <= 40


@pytest.mark.parametrize("others, slice_s", [(3, 0.004), (6, 0.004), (1, 0.01)])
@pytest.mark.parametrize("noise", [0, 0.1])
def test_a_speed_that_depends_on_the_share(c, others, slice_s, noise):
    """The CPU of rank 0 has other processes. With little to do rank 0 is done within a slice of time; else it waits
    for the others' slices. Shares in proportion to the speeds that were measured would swing between little and much
    for ever; these settle: few plans, none of them in the last half, and a step near to the best of all shares."""

    def time_of(count):
        alone = count * 4e-4
        return alone if alone < slice_s else slice_s + (1 + others) * (alone - slice_s)

    random = np.random.default_rng(others)
    watch, plans, took = WatchInC(c, [50, 50], 0.1), [], []
    for k in range(200):
        vary = np.exp(noise * random.standard_normal(2))
        seconds = [time_of(watch.counts[0]) * vary[0], watch.counts[1] * 4e-4 * vary[1]]
        took.append(max(seconds))
        if watch.look(seconds):
            plans.append(k)
    best = min(max(time_of(n), (100 - n) * 4e-4) for n in range(1, 100))
    assert len(plans) <= 6 and max(plans) < 100
    assert np.mean(took[100:]) < 1.25 * best * (1 + noise)


def test_a_gain_pays_for_moving(watching):
    """Speeds 1 : 2 instead of equal ones: a step takes 0.2 s with equal shares and 2 / 3 of it with new ones. At the
    third look 3 such gains are 0.2 s. If moving costs 0.5 s, 5 more looks must have lost 1 / 15 s each."""
    for cost, look in ((0.0, 2), (0.19, 2), (0.5, 7)):
        watch = watching([150, 150], 0.1)
        watch.moved(cost)
        paces = np.tile([[2e-1 / 150, 1e-1 / 150]], (12, 1))
        assert follow(watch, paces)[0] == [look], cost


def test_the_cost_of_moving_is_measured():
    """The mean of what was seen and the latest; one that took less than a step costs nothing."""
    watch = PaceMonitor([1, 1], 0.1)
    watch.moved(0.4)
    assert watch.move_s == 0.4
    watch.moved(-1)
    assert watch.move_s == 0.2 and watch.moves == 2


def test_looks_that_say_nothing(watching):
    """A rank that measured nothing, or has nothing."""
    watch = watching([0, 300], 0.1)
    assert not any(watch.look([0.0, 0.3], 1) for _ in range(30)) and watch.counts == [0, 300]
    watch = watching([100, 300], 0.1)
    assert not any(watch.look([0.0, 0.3], 1) for _ in range(30))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_one_each(counts):
    found = one_each(counts)
    assert sum(found) == sum(counts)
    assert found == counts if 0 not in counts or sum(counts) < len(counts) else 0 not in found


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.02, 0.1, 0.4]),
    st.floats(0, 0.4),
    st.integers(1, 5),
)
@settings(max_examples=50)
def test_c_and_python_decide_alike(c, counts, seed, noise, threshold, steps):
    """The same shares at the same looks, number for number, while loads come and go and moving costs something."""
    random, ranks = np.random.default_rng(seed), len(counts)
    own, other = PaceMonitor(counts, threshold), WatchInC(c, counts, threshold)
    paces = varied(seed, 90, ranks, noise)
    for begin in range(0, 90, 15):
        paces[begin : begin + 15] *= random.choice([1, 1, 2, 5], ranks)
    for row in paces.tolist():
        seconds = [count * steps * pace for count, pace in zip(own.counts, row, strict=True)]
        changed = own.look(seconds, steps)
        assert other.look(seconds, steps) == changed and other.counts == own.counts
        if changed:
            cost = float(random.random() * 0.1)
            own.moved(cost)
            other.moved(cost)
