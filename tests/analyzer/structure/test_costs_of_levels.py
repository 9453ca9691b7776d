"""Time before given times, of the intervals of any number of threads at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from synthetic import call, write_run

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.parts import spent, time_before

FAR = 2**62
SPANS = st.lists(st.tuples(st.integers(0, FAR), st.integers(0, FAR)).map(sorted), max_size=12)


@given(SPANS, st.lists(st.integers(0, FAR), max_size=8).map(sorted))
def test_time_before_is_what_one_gets_interval_by_interval(spans, times):
    """Also where products overflow."""
    begin, end = (np.array([span[i] for span in spans], np.int64) for i in (0, 1))
    sums = [sum(min(max(t - b, 0), e - b) for b, e in spans) for t in times]
    expected = np.array([(s + 2**63) % 2**64 - 2**63 for s in sums], np.int64)
    assert time_before(begin, end, np.array(times, np.int64)).tolist() == expected.tolist()


def reads(tmp_path, monkeypatch, threads):
    """Count how often the rows of a thread are read to find the time of a rank with `threads` threads."""
    calls = [call("MPI_Init", 0, 10)]
    calls += [call("MPI_Comm_rank", 20 + 2 * n, 21 + 2 * n, thread=n) for n in range(threads)]
    (tmp_path / str(threads)).mkdir()
    trace = open_trace(str(write_run(tmp_path / str(threads), [{"calls": calls}])), Team())
    count = 0
    states = type(trace).states

    def counted(self, *arguments):
        nonlocal count
        count += 1
        return states(self, *arguments)

    monkeypatch.setattr(type(trace), "states", counted)
    found = spent(trace, 0, np.array([0, 10**6]))
    monkeypatch.undo()
    trace.close()
    assert found.shape == (3, 2)
    return count


def test_threads_are_not_read_once_for_each_thread(tmp_path, monkeypatch):
    assert reads(tmp_path, monkeypatch, 40) == reads(tmp_path, monkeypatch, 4)
