"""Which ranks measure with which, in the four modes."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelib.errors import TracelibError
from tracelib.ngmpi.pairs import groups
from tracelib.schema.net import PairMode

HOSTS = st.lists(st.sampled_from("abc"), min_size=2, max_size=9)


def test_pairs_are_neighbours_at_the_same_time_and_an_odd_rank_idles():
    (intra,) = groups(PairMode.PAIRS, ["a"] * 5, (), 0)
    assert (intra.pairs, intra.where, intra.next()) == ([(0, 1), (2, 3)], "intra", [(0, 1), (2, 3)])
    (inter,) = groups(PairMode.PAIRS, ["a", "b", "a", "b"], (), 0)
    assert (inter.pairs, inter.where) == ([(0, 1), (2, 3)], "inter")


@given(HOSTS)
def test_full_is_every_pair_by_itself(hosts):
    found = groups(PairMode.FULL, hosts, (), 0)
    assert [group.next() for group in found] == [[pair] for pair in combinations(range(len(hosts)), 2)]
    assert all(group.where == ("intra" if hosts[a] == hosts[b] else "inter") for group in found for a, b in group.pairs)


@given(HOSTS, st.integers(0, 9))
def test_sampling_draws_from_all_pairs_of_a_kind(hosts, seed):
    found = groups(PairMode.SAMPLING, hosts, (), seed)
    assert sorted(pair for group in found for pair in group.pairs) == list(combinations(range(len(hosts)), 2))
    for group in found:
        drawn = [group.next() for _ in range(40 * len(group.pairs))]
        assert {pair for (pair,) in drawn} == set(group.pairs)


def test_the_same_seed_draws_the_same():
    def drawn(seed):
        (group,) = groups(PairMode.SAMPLING, ["a"] * 4, (), seed)
        return [group.next() for _ in range(50)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_subgroup():
    (group,) = groups(PairMode.SUBGROUP, ["a"] * 6, (1, 5, 3), 0)
    assert group.pairs == [(1, 3), (1, 5), (3, 5)]


@pytest.mark.parametrize(
    ("ranks", "what"), [((1, 6), "rank 6"), ((1,), "two ranks"), ((1, 1), "two ranks"), ((), "two")]
)
def test_a_subgroup_that_does_not_fit(ranks, what):
    with pytest.raises(TracelibError, match=what):
        groups(PairMode.SUBGROUP, ["a"] * 6, ranks, 0)
