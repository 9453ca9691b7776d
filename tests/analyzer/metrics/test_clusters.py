"""Groups of ranks that behave alike: planted groups and outliers are found, whatever the unit and the order."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.metrics.clusters import MOST_GROUPS, RankMeasure, groups_of

NAMES = ("computing", "in MPI", "waiting", "calls", "bytes")
UNITS = ("time", "time", "time", "calls", "bytes")
KINDS = np.array(
    [
        [900e6, 100e6, 50e6, 1000, 4e6],
        [500e6, 500e6, 450e6, 1000, 4e6],
        [900e6, 100e6, 50e6, 4000, 4e6],
        [10e6, 990e6, 900e6, 50, 0],
    ]
)
"""Workers, workers that wait, workers with more neighbours, ranks that only do input."""
STRANGE = np.array([[2700e6, 100e6, 50e6, 1000, 4e6], [900e6, 100e6, 50e6, 1000, 400e6], [0, 1, 0, 3, 0]])
WHERE = (0, 4, None)


def columns_of(values):
    return [RankMeasure(name, values[:, k], unit) for k, (name, unit) in enumerate(zip(NAMES, UNITS, strict=True))]


def planted(sizes, strange, seed, noise=0.01):
    """Return values of ranks in random order, and each rank's kind; the ranks of STRANGE have -1, -2, -3."""
    kinds = np.repeat(np.arange(len(sizes)), sizes)
    draws = np.random.default_rng(seed)
    values = KINDS[kinds] * np.exp(noise * draws.standard_normal((len(kinds), len(NAMES))))
    values = np.concatenate([values, STRANGE[:strange]])
    kinds = np.concatenate([kinds, -1 - np.arange(strange)])
    order = draws.permutation(len(values))
    return values[order], kinds[order]


def parts(found):
    return {frozenset(group.ranks.tolist()) for group in found.groups}


@settings(max_examples=40)
@given(st.lists(st.integers(9, 300), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_planted_groups_and_outliers_are_found(sizes, strange, seed):
    values, kinds = planted(sizes, strange, seed)
    found = groups_of(np.arange(len(values)), columns_of(values))
    assert parts(found) == {frozenset(np.flatnonzero(kinds == k).tolist()) for k in range(len(sizes))}
    assert {one.rank for one in found.outliers} == set(np.flatnonzero(kinds < 0).tolist())
    assert [len(group.ranks) for group in found.groups] == sorted(map(len, parts(found)), reverse=True)
    for one in found.outliers:
        kind = -1 - int(kinds[one.rank])
        if WHERE[kind] is not None and 0 in range(len(sizes)):
            assert one.column == WHERE[kind]
        assert one.value == values[one.rank, one.column]


@settings(max_examples=40)
@given(st.integers(20, 400), st.integers(0, 2**32 - 1), st.floats(0, 2), st.sampled_from([1e-9, 1e-3, 7.0, 1e6]))
def test_neither_order_nor_unit_changes_a_group(size, seed, noise, factor):
    """Ranks in another order are the same ranks, and times in another unit the same times, for any values."""
    values, _ = planted((size, size // 3, 9), 3, seed, noise)
    found = groups_of(np.arange(len(values)), columns_of(values))
    order = np.random.default_rng(seed).permutation(len(values))
    again = groups_of(order, columns_of(values[order]))
    assert parts(again) == parts(found)
    assert {one.rank for one in again.outliers} == {one.rank for one in found.outliers}
    assert {g.typical for g in again.groups} == {g.typical for g in found.groups}
    scaled = values * np.where(np.array(UNITS) == "time", factor, 1)
    assert parts(groups_of(np.arange(len(values)), columns_of(scaled))) == parts(found)


@given(st.lists(st.tuples(*[st.integers(0, 10**12)] * 2), min_size=1, max_size=60))
@settings(max_examples=60)
def test_each_rank_is_in_one_group_or_alone_and_groups_are_few(rows):
    values = np.array(rows)
    found = groups_of(np.arange(len(rows)), [RankMeasure("a", values[:, 0]), RankMeasure("b", values[:, 1], "calls")])
    every = [rank for group in found.groups for rank in group.ranks.tolist()] + [one.rank for one in found.outliers]
    assert sorted(every) == list(range(len(rows)))
    assert 1 <= len(found.groups) <= MOST_GROUPS
    for group in found.groups:
        assert group.typical in group.ranks
        assert group.means == pytest.approx(tuple(values[group.ranks].mean(axis=0)))


def test_the_typical_member_is_the_one_next_to_the_mean():
    values = np.array([1.00, 1.02, 1.04, 1.05, 1.06])
    found = groups_of(np.array([7, 3, 5, 9, 1]), [RankMeasure("a", values)])
    assert [(group.ranks.tolist(), group.typical) for group in found.groups] == [([1, 3, 5, 7, 9], 5)]


def test_small_times_do_not_divide_ranks():
    """Waiting of 0 to 0.5 % of the time is no behaviour of its own."""
    waiting = np.linspace(0, 0.005, 100)
    found = groups_of(np.arange(100), [RankMeasure("computing", np.ones(100)), RankMeasure("waiting", waiting)])
    assert len(found.groups) == 1 and not found.outliers


def test_a_slope_is_divided_into_few_groups():
    found = groups_of(np.arange(5000), [RankMeasure("computing", np.linspace(1, 20, 5000))])
    assert 2 <= len(found.groups) <= MOST_GROUPS and not found.outliers
    assert all((np.diff(group.ranks) == 1).all() for group in found.groups)


def test_no_ranks():
    assert groups_of(np.zeros(0, int), [RankMeasure("a", np.zeros(0))]).groups == []


@pytest.mark.parametrize("noise", [0.01, 0.3, 3.0])
def test_100000_ranks_take_less_than_a_second_of_this_process(noise):
    values, _ = planted((60_000, 30_000, 9_000, 1_000), 3, 1, noise)
    begin = time.process_time()
    found = groups_of(np.arange(len(values)), columns_of(values))
    assert time.process_time() - begin < 3  # 0.2 to 0.5 s where nothing else runs
    assert len(found.groups) <= MOST_GROUPS
