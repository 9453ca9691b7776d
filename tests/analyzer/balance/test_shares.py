"""Whole-number shares beside brute force, and plans as files."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelib.schema.shares import MOST_ITEMS, Expectation, SharePlan, read_plan, split

SPEED = st.floats(0.01, 100)


def last_end(counts, speeds):
    return max(count / speed for count, speed in zip(counts, speeds, strict=True))


@given(st.integers(0, 12), st.lists(SPEED, min_size=1, max_size=4))
@settings(max_examples=300)
def test_brute_force(items, speeds):
    """No other whole numbers with this sum, at most 1 from the shares, finish earlier."""
    counts, total = split(items, speeds), sum(speeds)
    shares = [items * speed / total for speed in speeds]
    near = [[count for count in range(items + 1) if abs(count - share) <= 1 + 1e-9] for share in shares]
    best = min(last_end(found, speeds) for found in product(*near) if sum(found) == items)
    assert last_end(counts, speeds) <= best * (1 + 1e-12)


@given(st.integers(0, 10**9), st.lists(SPEED, min_size=1, max_size=40))
@settings(max_examples=300)
def test_sums_are_exact_and_nobody_is_far_off(items, speeds):
    counts, total = split(items, speeds), sum(speeds)
    assert sum(counts) == items and min(counts) >= 0
    assert all(abs(count - items * speed / total) <= 1 + 1e-6 for count, speed in zip(counts, speeds, strict=True))


@given(st.integers(1, 2000), st.lists(SPEED, min_size=1, max_size=12))
@settings(max_examples=300)
def test_never_worse_than_rounding(items, speeds):
    """By the largest remainders; and shares rounded to the nearest, where these happen to add up."""
    total = sum(speeds)
    shares = [items * speed / total for speed in speeds]
    largest = [int(share) for share in shares]
    order = sorted(range(len(speeds)), key=lambda rank: largest[rank] - shares[rank])
    for rank in order[: items - sum(largest)]:
        largest[rank] += 1
    ours = last_end(split(items, speeds), speeds) * (1 - 1e-12)
    if sum(largest) == items:
        assert ours <= last_end(largest, speeds)
    if sum(map(round, shares)) == items:
        assert ours <= last_end(list(map(round, shares)), speeds)


def test_by_hand():
    assert split(10, [1, 1]) == [5, 5] and split(7, [1, 1, 1]) == [3, 2, 2]
    assert split(10, [3, 1]) == [8, 2]  # 7.5 and 2.5: with one more they end at 8/3 and 3
    assert split(0, [5]) == [0] and split(MOST_ITEMS, [1, 1]) == [MOST_ITEMS // 2] * 2


@pytest.mark.parametrize("speeds", [[1, 0], [1, -1], [1, float("nan")], [1, float("inf")], [], [1e308, 1e308]])
def test_refused(speeds):
    with pytest.raises(ValueError, match=r"speed|nobody"):
        split(3, speeds)


def test_refused_items():
    with pytest.raises(ValueError, match="cannot be shared"):
        split(-1, [1])


PLAN = SharePlan((100.0, 300.0), ((1.0, 2.0), (1.0, 4.0)), ((100.0, Expectation(5, 4.5, 6, 8)),))


def test_speeds_between_sizes():
    assert PLAN.speeds_at(100) == [1, 2] and PLAN.speeds_at(200) == [1, 3] and PLAN.speeds_at(300) == [1, 4]
    assert PLAN.speeds_at(5) == [1, 2] and PLAN.speeds_at(1e9) == [1, 4]
    assert PLAN.shares(100) == [33, 67] and PLAN.shares(10, size=200) == [2, 8]
    assert PLAN.expectation(100).gain == pytest.approx(3 / 8) and PLAN.expectation(7) is None


@given(st.lists(st.lists(SPEED, min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=50)
def test_a_file_has_the_plan(rows):
    plan = SharePlan(tuple(float(7 * k) for k in range(len(rows))), tuple(map(tuple, rows)), PLAN.expected)
    assert read_plan("# mine\n\n" + plan.text()) == plan
    timed = replace(plan, times=((7.0, (0.5, 0.25, 1 / 3)),))
    assert read_plan(timed.text()) == timed and timed.times_at(7) == (0.5, 0.25, 1 / 3) and timed.times_at(8) is None


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "does not begin"),
        ("tracelib-plan 2\n", "does not begin"),
        ("tracelib-plan 1\nranks 2\n", "one size or more"),
        ("tracelib-plan 1\nspeeds 1 1 1\n", "line 2"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1\n", "line 3"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1 0\n", "above 0"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1 x\n", "line 3"),
        ("tracelib-plan 1\nranks 2\nspeeds 2 1 1\nspeeds 1 1 1\n", "rise"),
        ("tracelib-plan 1\nranks 2\nspeeds nan 1 1\n", "rise"),
        ("tracelib-plan 1\nranks 1e99\n", "one size or more"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1 1\nexpect 1 2 3\n", "line 4"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1 1\ntimes 1 2\n", "line 4"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1 1\ntimes 1 2 x\n", "line 4"),
        ("tracelib-plan 1\nranks 2\nspeeds 1 1 1\ntimes 1 2 -1\n", "0 or more"),
    ],
)
def test_bad_plans(text, said):
    with pytest.raises(ValueError, match=said):
        read_plan(text)
