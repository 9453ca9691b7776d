"""However time is cut and ranks are put together, the trace and the sums over it are the same."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import runs
from synthetic import write_run

import analyzer
from analyzer.columns.joined import joined
from analyzer.metrics.bursts import bursts
from analyzer.metrics.collectives import collectives
from analyzer.metrics.profile import profile
from analyzer.metrics.useful import useful
from analyzer.pairing import parts as parts_of
from analyzer.pairing.call_paths import CallsByRank, calls_with_paths
from analyzer.pairing.parts import parts
from analyzer.parallel import Team
from analyzer.sources.rank_file import index
from analyzer.sources.run import cuts, matched
from analyzer.trace import EVENT, MESSAGE, STATE

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
    """Of each part what was posted, with the call that posted it where it is one."""
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
        whole = analyzer.open(path)
        expected = windowed(whole, 1 << 20), sums(whole), posted_and_found(whole)
        assert calls_of_ranks(whole) == calls_one_by_one(whole)
        whole.close()
        before = cuts.FEW_RANKS, cuts.RECORDS_A_RANK, index.STEP, parts_of.RECORDS, index.KEPT_BYTES
        cuts.FEW_RANKS, cuts.RECORDS_A_RANK, index.STEP, parts_of.RECORDS, index.KEPT_BYTES = 0, 1, 3, records, 100
        of_messages = matched.FEW_RANKS, matched.RECORDS_A_RANK, matched.RECORDS
        matched.FEW_RANKS, matched.RECORDS_A_RANK, matched.RECORDS = 0, 2, records
        try:
            cut = analyzer.open(path)
            assert (windowed(cut, records), sums(cut), posted_and_found(cut)) == expected
            assert calls_of_ranks(cut) == calls_one_by_one(cut)
            cut.close()
        finally:
            cuts.FEW_RANKS, cuts.RECORDS_A_RANK, index.STEP, parts_of.RECORDS, index.KEPT_BYTES = before
            matched.FEW_RANKS, matched.RECORDS_A_RANK, matched.RECORDS = of_messages
