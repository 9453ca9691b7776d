"""Signals of traces whose values a person gets by hand, and their integrals.

Source of what each is: M. Casas, "Spectral analysis of executions" (2009), section 3.3.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace
from nested_runs import Loop, Planted, Start, Work
from phased import write_phases
from random_runs import runs
from synthetic import write_run
from thread_team import by_team

from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.signals import csv_signal, signals
from analyzer.structure.signals.counters import StepBins
from analyzer.trace import EVENT, State
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


PROCEDURES = {"MPI_Send": "p2p", "MPI_Barrier": "collective", "MPI_Comm_rank": None}
one_rank = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(list(PROCEDURES)), st.integers(1, 30)), max_size=8)
flights = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 80)), max_size=6)


@settings(max_examples=60)
@given(st.lists(one_rank, min_size=1, max_size=4), flights)
def test_each_signal_at_each_ns_and_its_integral(ranks, flown):
    """Against counting in dense arrays, an element for each ns."""
    calls = []
    for made in ranks:
        at, rows = 0, []
        for gap, procedure, length in made:
            rows.append((procedure, at + gap, at + gap + length, {}))
            at += gap + length
        calls.append(rows)
    end = max([row[2] for rows in calls for row in rows] + [begin + length for begin, length in flown] + [0]) + 5
    messages = [(0, len(ranks) - 1, 8, 0, begin, begin + length) for begin, length in flown]
    trace = MemoryTrace(calls, spans=[(0, end)] * len(ranks), messages=messages)
    names = ("computing", "bursts", "p2p", "collective", "flying")
    found = {name: one.values for name, one in signals(trace, Team(), names, samples=end).items()}
    dense = {name: np.zeros(end) for name in names}
    lengths = []
    for rows in calls:
        left = 0
        for procedure, enter, leave, _ in [*rows, ("", end, end, {})]:
            dense["computing"][left:enter] += 1
            dense["bursts"][left:enter] += enter - left
            lengths.append(enter - left)
            left = leave
            if PROCEDURES.get(procedure):
                dense[PROCEDURES[procedure]][enter:leave] += 1
    for begin, length in flown:
        dense["flying"][begin : begin + length] += 1
    for name in names:
        assert found[name] == pytest.approx(dense[name]), name
    for name in ("computing", "p2p", "collective"):
        assert set(found[name].round(9).tolist()) <= set(range(len(ranks) + 1)), name
    assert all(found[name][-1] == 0 for name in ("p2p", "collective", "flying"))
    running = trace.states()[trace.states()["state"] == State.RUNNING]
    assert found["computing"].sum() == pytest.approx((running["end"] - running["begin"]).sum())
    assert found["bursts"].sum() == pytest.approx(sum(length**2 for length in lengths))
    assert found["flying"].sum() == pytest.approx(sum(length for _, length in flown))


def test_counters_of_an_imported_trace_by_hand(tmp_path):
    """Three ranks, two phases of 60 ns: the mean over ranks of what each burst counted, while it lasts, in bins of
    20 ns. Two cycles pass in each ns."""
    durations = np.array([[40, 20, 60], [60, 60, 20]])
    instructions = np.array([[80, 80, 60], [240, 60, 40]])  # per cycle: 1, 2, 1/2 and 2, 1/2, 1
    path = write_phases(tmp_path / "run.prv", durations, instructions=instructions)
    labels = "EVENT_TYPE\n7 42000050 PAPI_TOT_INS [instructions]\n\nEVENT_TYPE\n7 42000059 PAPI_TOT_CYC [cycles]\n"
    path.with_suffix(".pcf").write_text(labels)
    found = mean_of_ranks(path, "ipc", "cpi", "instructions", "cycles")
    assert found["ipc"] == pytest.approx([3.5 / 3, 1.5 / 3, 0.5 / 3, 3.5 / 3, 2.5 / 3, 2.5 / 3])
    assert found["cpi"] == pytest.approx([3.5 / 3, 3 / 3, 2 / 3, 3.5 / 3, 2.5 / 3, 2.5 / 3])
    assert found["instructions"] == pytest.approx([220 / 3, 140 / 3, 60 / 3, 340 / 3, 300 / 3, 300 / 3])
    assert found["cycles"] == pytest.approx([240 / 3, 200 / 3, 120 / 3, 280 / 3, 240 / 3, 240 / 3])
    path.with_suffix(".pcf").write_text(labels.replace("PAPI_TOT_INS", "PAPI_FP_OPS"))
    assert mean_of_ranks(path, "flops")["flops"] == pytest.approx(found["instructions"])


def test_signals_do_not_depend_on_how_many_processes_share_the_ranks(tmp_path):
    """To the last bit: what is found in them must be the same."""
    steps = (Start(100), Loop(6, (Work(60, "ring"), Work(40, "reduction"))))
    path = Planted(5).run(steps).written(tmp_path)
    names = ("computing", "bursts", "p2p", "flying", "ipc", "cpi", "instructions")

    def found(team: Team) -> dict[str, list[float]]:
        trace = open_trace(path, team)
        try:
            return {name: one.values.tolist() for name, one in signals(trace, team, names, samples=1 << 12).items()}
        finally:
            trace.close()

    alone = found(Team())
    for size in (2, 3):
        assert all(one == alone for one in by_team(size, found))


def mean_of_ranks(path, *names):
    trace = open_trace(path)
    try:
        return {name: one.values for name, one in signals(trace, Team(), names, samples=6).items()}
    finally:
        trace.close()


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 999), st.integers(0, 400), st.floats(-9, 9)), max_size=20),
    st.integers(1, 70),
)
def test_bins_are_exact_means(intervals, samples):
    dense = np.zeros(1000)
    bins = StepBins(0, 1000, samples)
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
