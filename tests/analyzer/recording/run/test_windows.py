"""However time is cut and ranks are put together, the trace and the sums over it are the same."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_runs import runs
from synthetic import WORLD, call, write_run

from analyzer.columns.arrays import joined
from analyzer.errors import TracelibError
from analyzer.metrics.collectives import collectives
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import bursts, useful
from analyzer.opening import open_trace
from analyzer.pairing.call_paths import CallsByRank, calls_with_paths
from analyzer.pairing.parts import parts
from analyzer.parallel import Team
from analyzer.trace import EVENT, MESSAGE, STATE
from analyzer.trace.read_sizes import ReadSizes
from analyzer.writers import packed, rank_groups

ONE = Team()


def windowed(trace, records):
    """States, events and messages, window by window."""
    bounds = list(pairwise(trace.windows(records).tolist()))
    read = (trace.states, STATE), (trace.events, EVENT), (trace.messages, MESSAGE)
    return [joined([of(begin, end) for begin, end in bounds], dtype).tolist() for of, dtype in read]


def calls_of_ranks(trace):
    """As CallsByRank tells them, in an order that is not that of the file."""
    by_rank = CallsByRank(trace)
    return [[column.tolist() for column in by_rank[rank]] for rank in [*range(trace.size)[::-1], *range(trace.size)]]


def calls_one_by_one(trace):
    found = []
    for rank in [*range(trace.size)[::-1], *range(trace.size)]:
        blocks = [(rows["thread"], rows["call"], paths) for rows, paths in calls_with_paths(trace, rank)]
        found.append([[int(x) for part in parts for x in part] for parts in zip(*blocks, strict=True)] or [[]] * 3)
    return found


def sums(trace):
    found = profile(trace, ONE), useful(trace, ONE), bursts(trace, ONE), collectives(trace, ONE)
    return [_plain(one) for one in found]


def _plain(one):
    if isinstance(one, list):
        return one
    return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in vars(one).items()}


def posted_and_found(trace):
    """Return the requests posted in each part, with the entry of the call that posted it."""
    found = []
    for part in parts(trace, range(trace.size)):
        posted = part.posted((1, 2, 3, 4))
        at = part.find(posted.rank, posted.rows["posted"])
        found += zip(posted.rank.tolist(), posted.rows.tolist(), part.calls.rows["enter"][at].tolist(), strict=True)
    return sorted(found)


@settings(max_examples=30)
@given(runs(), st.integers(1, 9))
def test_small_windows_of_many_ranks(run, records):
    """As if there were so many ranks that a window holds few calls of each."""
    ranks, tsc_per_us = run
    with tempfile.TemporaryDirectory() as folder:
        path = str(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us))
        whole = open_trace(path)
        expected = windowed(whole, 1 << 20), sums(whole), posted_and_found(whole)
        assert calls_of_ranks(whole) == calls_one_by_one(whole)
        whole.close()
        small = {"index_rows": 3, "recent_bytes": 100, "part_calls": records, "message_calls": records}
        cut = open_trace(path, sizes=ReadSizes(few_ranks=0, rank_calls=1, matched_calls=2, **small))
        assert (windowed(cut, records), sums(cut), posted_and_found(cut)) == expected
        assert calls_of_ranks(cut) == calls_one_by_one(cut)
        cut.close()


@settings(max_examples=30)
@given(runs(), st.integers(1, 9))
def test_small_chunks_that_are_deflated(run, records):
    """A packed run, in windows that begin and end within chunks."""
    ranks, tsc_per_us = run
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = str(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us))
        for module, name, value in (
            (rank_groups, "SMALL_BYTES", 0),
            (rank_groups, "CHUNK_ROWS", 4),
            (packed, "STRETCH_ROWS", 8),
        ):
            patch.setattr(module, name, value)
        try:
            packed.pack_run(path, Path(folder) / "packed.h5")
        except TracelibError as error:  # a rank was killed
            assume("recover" not in error.hint)
            raise
        sizes = ReadSizes(inflated_calls=records, index_rows=3, recent_bytes=100)
        whole, again = (open_trace(str(one), sizes=sizes) for one in (path, Path(folder) / "packed.h5"))
        assert windowed(again, records) == windowed(whole, 1 << 20)
        assert (sums(again), posted_and_found(again)) == (sums(whole), posted_and_found(whole))
        assert calls_of_ranks(again) == calls_one_by_one(again) == calls_one_by_one(whole)
        whole.close()
        again.close()


def test_windows_hold_whole_chunks_that_are_deflated(tmp_path):
    """A window has no more calls than MOST_RECORDS."""
    calls = [call("MPI_Barrier", 100 * k, 100 * k + 50, comm=WORLD) for k in range(12_000)]
    path = write_run(tmp_path, [{"calls": calls}] * 2)
    packed.pack_run(str(path), tmp_path / "packed.h5")
    counts = []
    for most in (1 << 20, 6000, 10):
        sizes = ReadSizes(inflated_calls=most)
        both = (open_trace(str(one), sizes=sizes) for one in (path, tmp_path / "packed.h5"))
        counts.append([len(trace.windows(2000)) - 1 for trace in both])
    plain, inflated = np.array(counts).T.tolist()
    assert plain == [12] * 3 and inflated == [3, 4, 12]
