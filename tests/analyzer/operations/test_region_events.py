"""Which event begins the region that another one ends, against a stack."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.operations.region_events import begun_by, outermost_visits, region_of_each

values = st.lists(st.integers(0, 3), max_size=30).map(lambda rows: np.array(rows, np.int64))


def by_a_stack(values):
    """For each event where its region began, and whether it ends a visit that is in no other one of its region."""
    open_, begun, outer = [], [], []
    for place, value in enumerate(values.tolist()):
        if value:
            open_.append(place)
        begun.append(place if value else open_.pop() if open_ else -1)
        if not value and begun[-1] >= 0 and values[begun[-1]] not in values[open_]:
            outer.append((begun[-1], place))
    return begun, outer


@given(values)
@example(np.array([0, 1, 0, 0, 2, 1, 2, 0, 0, 0], np.int64))  # ends of nothing; 2 in 1 in 2
@example(np.array([1, 1, 0], np.int64))  # a visit inside of one that does not end
def test_against_a_stack(values):
    begun, outer = by_a_stack(values)
    assert begun_by(values).tolist() == begun
    assert region_of_each(values).tolist() == [values[place] if place >= 0 else 0 for place in begun]
    assert list(zip(*(places.tolist() for places in outermost_visits(values)), strict=True)) == outer
