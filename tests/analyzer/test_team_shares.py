"""Shares of a team: each rank is one member's, in order, with about equal sizes.

Together the members add up to the same as one process.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from thread_team import by_team

from analyzer.parallel import Team


def member(rank, size):
    team = Team()
    team.rank, team.size = rank, size
    return team


@given(st.lists(st.integers(0, 1000), min_size=0, max_size=60), st.integers(1, 9))
def test_all_are_shared_out_once_and_nobody_has_more_than_a_share_and_one(sizes, members):
    shares = [member(rank, members).share(len(sizes), sizes) for rank in range(members)]
    assert [piece for share in shares for piece in share] == list(range(len(sizes)))
    fair = sum(sizes) / members
    for share in shares:
        own = [sizes[piece] for piece in share]
        assert sum(own) <= fair + max(own, default=0) + 1 or not sum(sizes)


def test_by_number_and_by_size():
    assert [member(rank, 2).share(4) for rank in (0, 1)] == [range(2), range(2, 4)]
    assert [member(rank, 2).share(4, [9, 1, 4, 4]) for rank in (0, 1)] == [range(1), range(1, 4)]
    assert [member(rank, 2).share(4, [1, 1, 1, 9]) for rank in (0, 1)] == [range(3), range(3, 4)]


@given(st.integers(1, 9), st.integers(0, 3), st.integers(0, 4), st.booleans(), st.integers(0, 9))
def test_sums_of_a_team_are_those_of_one(members, rows, columns, whole, seed):
    """To the last bit, however many elements there are for each; nobody's own array changes."""
    random = np.random.default_rng(seed)
    arrays = [random.normal(size=(rows, columns)) for _ in range(members)]
    arrays = [(1000 * array).astype(np.int64) if whole else array for array in arrays]
    before = [array.copy() for array in arrays]
    found = by_team(members, lambda team: team.total(arrays[team.rank]))
    for array in found:
        assert array.shape == (rows, columns) and array.dtype == arrays[0].dtype
        assert np.array_equal(array, sum(before))
    assert all(map(np.array_equal, arrays, before))
