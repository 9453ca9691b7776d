"""States and events that a kernel reads of many ranks equal the ones made from each thread's rows."""

import itertools
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_runs import runs
from synthetic import call, flush, poll, write_run

from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.recording.thread_records import records
from analyzer.trace.read_sizes import ReadSizes
from tracelib.schema import FLUSH_TYPE


def one_by_one(trace, kind, begin, end, ranks):
    lanes = [lane for rank in ranks for lane in trace._lanes.get(rank, [])]
    return {"states": records.states, "events": records.events}[kind](lanes, begin, end)


def check(trace, begin, end, ranks):
    of = trace._parts.readers.windowed
    assert of.states(ranks, begin, end).tolist() == one_by_one(trace, "states", begin, end, ranks).merged().tolist()
    assert of.events(ranks, begin, end).tolist() == one_by_one(trace, "events", begin, end, ranks).merged().tolist()
    by_rank = one_by_one(trace, "states", begin, end, ranks).records.tolist()
    assert of.states_by_rank(ranks, begin, end).tolist() == by_rank


@given(runs(), st.lists(st.floats(0, 1), max_size=8), st.randoms(use_true_random=False))
def test_as_one_by_one(run, cuts, random):
    """In windows that follow each other, then in any others, of all ranks and of some."""
    ranks, tsc_per_us = run
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(str(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us)))
        stop = trace.duration_ns + 1
        bounds = sorted({0, stop, *(round(cut * stop) for cut in cuts)})
        windows = list(itertools.pairwise(bounds))
        for begin, end in windows:
            check(trace, begin, end, range(trace.size))
        random.shuffle(windows)
        for begin, _ in windows:
            first = random.randrange(trace.size)
            check(trace, begin, random.randint(begin, stop), range(first, random.randint(first, trace.size)))
        trace.close()


def long_rank(k, n=700):
    """More rows than a kernel reads at once."""
    calls = [call("MPI_Allreduce", 100 * i + k, 100 * i + 30, comm=1, sent=8) for i in range(1, n)]
    polls = [poll("MPI_Test", 100 * i + 40, 100 * i + 60, inside=7, count=3) for i in range(1, n)]
    return {"calls": calls, "polls": polls, "events": [row for i in range(9) for row in flush(9000 * i, 9000 * i + 70)]}


@pytest.fixture
def long(tmp_path):
    trace = open_trace(str(write_run(tmp_path, [long_rank(k) for k in range(3)])))
    yield trace
    trace.close()


def test_more_rows_than_are_read_at_once(long):
    assert long._parts.readers.windowed.are_stored(range(3))
    for begin in range(0, 70_000, 9_999):
        check(long, begin, begin + 40_000, range(3))
    check(long, 0, 1 << 40, range(3))


def test_a_thread_among_others(tmp_path):
    """One rank has two threads: it is read by itself, and comes in its place."""
    ranks = [long_rank(k, 20) for k in range(4)]
    ranks[1]["calls"] += [call("MPI_Send", 150, 170, comm=1, peer=0, thread=1)]
    trace = open_trace(str(write_run(tmp_path, ranks)))
    reader = trace._parts.readers.windowed
    assert not reader.are_stored(range(4)) and reader.are_stored(range(2, 4))
    for begin in range(0, 2000, 300):
        check(trace, begin, begin + 300, range(4))
    trace.close()


def test_a_file_that_is_gone(long):
    """Rows that the kernel cannot read are read in the other way, which reports the error."""
    for path in Path(long.path).parent.rglob("*.h5"):
        if path.name != "run.h5":
            os.truncate(path, 2000)
    with pytest.raises(TracelibError, match="rank"):
        long.states(0, 1 << 40)


def test_all_events_of_a_rank_are_shown(tmp_path):
    """Also where there are more than are kept."""
    path = str(write_run(tmp_path, [long_rank(0, 30)]))
    trace = open_trace(path)
    shown = trace.events(0, 1 << 40)
    trace.close()
    trace = open_trace(path, sizes=ReadSizes(shown_events=3))
    assert trace.events(0, 1 << 40).tolist() == shown.tolist()
    assert np.count_nonzero(shown["type"] == FLUSH_TYPE)
    trace.close()
