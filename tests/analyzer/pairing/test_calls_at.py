"""Which call a thread was in at a time, beside a search through all calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.pairing.parts import CallsAt, RankRows
from analyzer.trace import CALL

_NUMBERS = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 30))


def last_begun(calls, rank, thread, time):
    """The number of the last call in order of enter, -1: none."""
    found = [(enter, k) for k, (of, own, enter) in enumerate(calls) if (of, own) == (rank, thread) and enter <= time]
    return max(found, default=(0, -1))[1]


@pytest.mark.parametrize("unit", [1, 1 << 57])
@given(st.lists(_NUMBERS), st.lists(_NUMBERS))
def test_last_call_begun(unit, calls, questions):
    calls = sorted(calls, key=lambda call: (call[0], call[2]))
    rows = np.zeros(len(calls), CALL)
    rank = np.array([call[0] for call in calls], np.int64)
    rows["thread"], rows["enter"] = [call[1] for call in calls], [unit * call[2] for call in calls]
    asked = np.array(questions, np.int64).reshape(-1, 3)
    found = CallsAt(RankRows(rank, rows)).last_begun(asked[:, 0], asked[:, 1], unit * asked[:, 2])
    assert found.tolist() == [last_begun(calls, *question) for question in questions]
