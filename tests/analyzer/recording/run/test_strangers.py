"""Which ranks did not live when most others of their node did, against the definition rank by rank."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.recording.run.lifetimes import strangers

LIVES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(0, 3), st.booleans()), max_size=14)


@settings(max_examples=200)
@given(LIVES)
def test_as_defined(lives):
    """`lives`: begin, length, node, and whether the file could be read."""
    node_of = np.array([node for *_, node, _ in lives], np.int32)
    ranks = np.array([rank for rank, (*_, known) in enumerate(lives) if known], np.int64)
    begin, length = (np.array([lives[rank][k] for rank in ranks], np.int64) for k in (0, 1))
    expected = set()
    for rank, (b, n, node, known) in enumerate(lives):
        here = [(other, other + its) for other, its, where, there in lives if where == node and there]
        apart = sum(last < b or first > b + n for first, last in here)
        if known and 2 * apart >= len(here):
            expected.add(rank)
    found = strangers(ranks, begin, begin + length, node_of, np.zeros(len(ranks), bool))
    assert {problem.rank for problem in found} == expected
    assert [(node_of[p.rank], p.rank) for p in found] == sorted((node_of[p.rank], p.rank) for p in found)


def test_who_stopped_recording_early_may_have_lived_on():
    """The disk was full before rank 0 recorded anything; ranks 1 and 2 began later."""
    begin, end = np.array([0, 5, 6]), np.array([0, 90, 90])
    some = np.arange(3), begin, end, np.zeros(3, np.int32)
    assert [problem.rank for problem in strangers(*some, np.array([False] * 3))] == [0]
    assert not strangers(*some, np.array([True, False, False]))
