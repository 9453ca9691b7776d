"""Signals of traces whose values a person gets by hand, and their integrals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from random_runs import runs
from synthetic import write_run

from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.signals import csv_signal, signals
from analyzer.structure.signals.bins import Bins
from analyzer.trace import EVENT
from analyzer.trace.annotated import Annotated


def two_ranks() -> MemoryTrace:
    return MemoryTrace(
        [
            [("MPI_Send", 10, 20, {"peer": 1}), ("MPI_Barrier", 50, 60, {})],
            [("MPI_Recv", 0, 30, {"peer": 0}), ("MPI_Barrier", 40, 60, {})],
        ],
        spans=[(0, 60), (0, 60)],
        messages=[(0, 1, 8, 0, 10, 30)],
    )


def test_signals_by_hand():
    found = signals(two_ranks(), Team(), ("computing", "bursts", "p2p", "collective"), samples=6)
    assert found["computing"].values.tolist() == [1, 0, 1, 2, 1, 0]
    assert found["bursts"].values.tolist() == [10, 0, 30, 40, 30, 0]
    assert found["p2p"].values.tolist() == [1, 2, 1, 0, 0, 0]
    assert found["collective"].values.tolist() == [0, 0, 0, 0, 1, 2]
    assert found["computing"].alpha_hz == 1e8


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 999), st.integers(0, 400), st.floats(-9, 9)), max_size=20),
    st.integers(1, 70),
)
def test_bins_are_exact_means(intervals, samples):
    dense = np.zeros(1000)
    bins = Bins(0, 1000, samples)
    for begin, length, weight in intervals:
        dense[begin : begin + length] += weight
    rows = np.array([(b, b + n) for b, n, _ in intervals], np.int64).reshape(-1, 2)
    bins.add(rows[:, 0], rows[:, 1], np.array([w for *_, w in intervals]))
    edges = np.minimum(np.arange(bins.count + 1) * bins.width_ns, 1000)
    wanted = [dense[a:b].mean() for a, b in itertools.pairwise(edges)]
    assert bins.means(bins.packed()) == pytest.approx(wanted, abs=1e-9)


def test_a_counter_that_was_not_recorded_is_refused():
    with pytest.raises(TracelibError, match="no counter for --signal PAPI_L1_DCM"):
        signals(two_ranks(), Team(), ("PAPI_L1_DCM",))


def test_any_times_and_values(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("time,value\n0,1\n0.5,3\n1,7\n")
    assert csv_signal(str(path)).values.tolist() == [1, 3]
    path.write_text("time,value\n0,1\nx,3\n")
    with pytest.raises(TracelibError, match=r"values.csv:3: expected time,value"):
        csv_signal(str(path))


@settings(max_examples=15)
@given(runs())
def test_rows_of_files_make_the_signals_that_their_records_make(tmp_path_factory, made):
    ranks, tsc_per_us = made
    trace = open_trace(str(write_run(tmp_path_factory.mktemp("run"), ranks, tsc_per_us=tsc_per_us)), matched=False)
    try:
        records = Annotated(trace, {}, lambda begin, end: np.zeros(0, EVENT))
        for samples in (7, 1 << 12):
            found, wanted = (signals(of, Team(), samples=samples) for of in (trace, records))
            assert {name: one.values.tolist() for name, one in found.items()} == {
                name: one.values.tolist() for name, one in wanted.items()
            }
    finally:
        trace.close()
