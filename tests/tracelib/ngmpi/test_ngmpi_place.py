"""Where ranks run: ranges of CPUs as text, and a core for each."""

import pytest

from tracelib.ngmpi import place

PLAIN = {cpu: cpu for cpu in range(8)}
SIBLINGS_APART = {cpu: cpu % 4 for cpu in range(8)}
SIBLINGS_BESIDE = {cpu: cpu - cpu % 2 for cpu in range(8)}


@pytest.mark.parametrize(
    ("numbers", "text"), [((), ""), ((3,), "3"), ((0, 1, 2, 3), "0-3"), ((8, 0, 1, 2, 3), "0-3,8"), ((1, 3), "1,3")]
)
def test_ranges(numbers, text):
    assert place.ranges(set(numbers)) == text


@pytest.mark.parametrize(
    ("cores", "expected"),
    [(PLAIN, [0, 1, 2]), (SIBLINGS_APART, [0, 1, 2]), (SIBLINGS_BESIDE, [0, 2, 4]), ({}, [0, 1, 2])],
)
def test_each_rank_gets_a_core(cores, expected):
    allowed = [frozenset(range(8))] * 3
    assert [place.own_cpu(rank, allowed, cores) for rank in range(3)] == expected


def test_ranks_that_are_bound_or_too_many_are_left_alone():
    assert place.own_cpu(1, [frozenset({0}), frozenset({1})], PLAIN) is None
    assert [place.own_cpu(rank, [frozenset({0, 1})] * 3, PLAIN) for rank in range(3)] == [None] * 3
    assert place.own_cpu(0, [frozenset(range(8))] * 5, SIBLINGS_BESIDE) is None


def test_ranks_of_two_sockets():
    left, right = frozenset(range(4)), frozenset(range(4, 8))
    assert [place.own_cpu(rank, [left, right, left, right], PLAIN) for rank in range(4)] == [0, 4, 1, 5]


def test_this_machine_has_cores():
    assert set(place.cores().values()) <= set(place.cores())
