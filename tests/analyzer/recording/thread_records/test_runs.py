"""Merging runs of records, few and thousands of them, as a stable sort by time does it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.recording.thread_records.records import Runs, joined, merge_runs
from analyzer.trace import CALL, EVENT

FIRST = {EVENT: "time", CALL: "enter"}
NUMBER = {EVENT: "value", CALL: "sent"}


def made(lengths, dtype, times):
    """Runs of records that are numbered, with times of `times(n)` in order within each run."""
    records = np.zeros(sum(lengths), dtype)
    offsets = np.cumsum([0, *lengths])
    for low, high in itertools.pairwise(offsets):
        records[FIRST[dtype]][low:high] = np.sort(times(high - low))
    records[NUMBER[dtype]] = np.arange(len(records))
    return records, offsets.astype(np.int64)


def expected(records, dtype):
    return records[np.argsort(records[FIRST[dtype]], kind="stable")]


SPREADS = {
    "even": lambda rng: lambda n: rng.integers(0, 10**6, n),
    "few times": lambda rng: lambda n: rng.integers(0, 3, n),
    "one time": lambda rng: lambda n: np.full(n, 7),
    "bursts": lambda rng: lambda n: rng.choice([0, 10**12], n) + rng.integers(0, 50, n),
    "all of int64": lambda rng: lambda n: rng.choice([-(2**63), -1, 0, 2**63 - 1], n),
}


@given(
    st.sampled_from(sorted(SPREADS)),
    st.sampled_from([EVENT, CALL]),
    st.integers(0, 200),
    st.integers(0, 40),
    st.integers(0, 2**32 - 1),
)
def test_by_time_then_run(spread, dtype, runs, most, seed):
    rng = np.random.default_rng(seed)
    records, offsets = made(rng.integers(0, most + 1, runs).tolist(), dtype, SPREADS[spread](rng))
    assert merge_runs(records, offsets).tolist() == expected(records, dtype).tolist()


@pytest.mark.parametrize("dtype", [EVENT, CALL])
def test_runs_out_of_order(dtype):
    """As of a damaged file: nothing is lost, and what is many is in order."""
    rng = np.random.default_rng(1)
    records, offsets = made([50] * 100, dtype, lambda n: rng.integers(0, 10**6, n))
    records[FIRST[dtype]] = rng.permutation(records[FIRST[dtype]])
    assert merge_runs(records, offsets).tolist() == expected(records, dtype).tolist()


def test_joined():
    one, two = (made(lengths, EVENT, np.arange) for lengths in ([2, 0], [3, 1]))
    both = joined([Runs(*one), Runs(*two)])
    assert both.offsets.tolist() == [0, 2, 2, 5, 6]
    assert both.records.tolist() == [*one[0].tolist(), *two[0].tolist()]


def test_one_run_is_copied():
    records, offsets = made([0, 3, 0], EVENT, np.arange)
    merged = Runs(records, offsets).merged()
    assert merged.tolist() == records.tolist() and not np.shares_memory(merged, records)
