"""Executions of regions as rows, against each nanosecond of random programs and against numbers by hand."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from counted import CPU, FAULTS, block
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import BEGIN, LABELS, LAST, NAMES, begin, end, threads
from synthetic import call, event, flush, label, write_run
from system_files import write_samples

from analyzer.experiments import executions as unit
from analyzer.experiments.columns import FIXED
from analyzer.experiments.executions import executions
from analyzer.metrics.region_parameters import from_around, parents
from analyzer.metrics.regions import VISIT
from analyzer.opening import open_trace
from analyzer.parallel import Team
from tracelib import schema
from tracelib.schema import PARALLEL_TYPE, PARAMETER_TYPE, LabelKind

PARAMETERS = [label(LabelKind.PARAMETER, 1, "n"), label(LabelKind.PARAMETER, 2, "time")]
REAL = 1 << 15


def integer(time, number, value, thread=0):
    return event(time, PARAMETER_TYPE, value, thread=thread, flags=number)


def real(time, number, value, thread=0):
    return event(time, PARAMETER_TYPE, int(np.float64(value).view(np.int64)), thread=thread, flags=number | REAL)


def rows_of(ranks, windows=(), folder=None):
    with tempfile.TemporaryDirectory() as made:
        trace = open_trace(str(write_run(Path(folder or made), ranks)))
        with pytest.MonkeyPatch.context() as patch:
            if windows:
                bounds = np.array([0, *sorted(set(windows)), trace.duration_ns + 1])
                patch.setattr(unit, "windows_of_rank", lambda trace, rank: bounds)
            frame = executions(trace, Team())
        trace.close()
    return frame


def test_by_hand():
    """Rank 0: solve [10, 100) with exchange [20, 50) in it, MPI in [30, 40) and [60, 80), a flush in [50, 55)."""
    calls = [call("MPI_Send", 30, 40), call("MPI_Recv", 60, 80), call("MPI_Send", 120, 125)]
    rows = [begin(10, 1), integer(10, 1, 3), begin(20, 2), real(25, 1, 0.5), integer(26, 2, 9), end(50, 2)]
    rows += [*flush(50, 55), integer(90, 1, 4), end(100, 1), begin(110, 2), end(115, 2)]
    other = {"labels": LABELS, "events": [begin(1, 1), end(41, 1)], "calls": [call("MPI_Send", 120, 125)]}
    frame = rows_of([{"labels": LABELS + PARAMETERS, "events": rows, "calls": calls}, other], windows=(35, 60, 70))
    assert tuple(frame.columns) == (*FIXED, "n", "parameter_time")
    times = frame[["region", "rank", "execution", "time", "exclusive", "computing", "mpi"]]
    assert times.to_numpy().tolist() == [
        ["exchange", 0, 1, 30e-9, 30e-9, 20e-9, 10e-9],
        ["exchange", 0, 2, 5e-9, 5e-9, 5e-9, 0],
        ["solve", 0, 1, 85e-9, 55e-9, 55e-9, 30e-9],
        ["solve", 1, 1, 40e-9, 40e-9, 40e-9, 0],
    ]
    assert frame["begin"].tolist() == [20e-9, 110e-9, 10e-9, 1e-9]
    assert frame["n"].fillna(-1).tolist() == [0.5, -1, 4, -1]  # what was said last, of the innermost region
    assert frame["parameter_time"].fillna(-1).tolist() == [9, -1, -1, -1]
    assert set(frame["ranks"]) == {2} and set(frame["nodes"]) == {1} and set(frame["node"]) == {"node0"}


def test_integers_that_all_executions_say_stay_integers():
    large = 2**53 + 1
    rows = [begin(10, 1), integer(10, 1, large), end(20, 1), begin(30, 1), integer(30, 1, -5), end(40, 1)]
    frame = rows_of([{"labels": LABELS + PARAMETERS, "events": rows, "calls": [call("MPI_Send", 50, 60)]}])
    assert frame["n"].dtype == np.int64 and frame["n"].tolist() == [large, -5]


def test_what_a_region_does_not_say_it_has_from_the_nearest_one_around_it():
    """1 [10, 100) says n = 3, and 2 [20, 50) inside says nothing, but 1 inside of that n = 5; 2 after all has none."""
    rows = [begin(10, 1), begin(20, 2), begin(30, 1), integer(31, 1, 5), end(40, 1), begin(41, 2), end(45, 2)]
    rows += [end(50, 2), real(90, 2, 0.5), integer(95, 1, 3), end(100, 1), begin(110, 2), end(115, 2)]
    frame = rows_of([{"labels": LABELS + PARAMETERS, "events": rows, "calls": [call("MPI_Send", 120, 125)]}])
    frame = frame.sort_values("begin")
    np.testing.assert_equal(frame["n"].to_numpy(), [3, 3, 5, 3, np.nan])
    np.testing.assert_equal(frame["parameter_time"].to_numpy(), [0.5, 0.5, 0.5, 0.5, np.nan])


@given(st.integers(0, 2**32))
def test_values_from_around_are_those_of_a_walk_outwards(seed):
    random = np.random.default_rng(seed)
    depth = [0]
    for _ in range(30):
        depth.append(int(random.integers(0, depth[-1] + 2)))
    visits = np.zeros(len(depth), VISIT)
    visits["depth"], visits["begin"] = depth, np.arange(len(depth))
    last = np.where(random.random(len(depth)) < 0.3, np.arange(len(depth)), -1)
    expected = []
    for row in range(len(depth)):
        at = row
        while at >= 0 and last[at] < 0:
            at = max((k for k in range(at) if depth[k] == depth[at] - 1), default=-1) if depth[at] else -1
        expected.append(-1 if at < 0 else last[at])
    from_around(last, visits, parents(visits))
    assert last.tolist() == expected


def test_no_regions():
    frame = rows_of([{"calls": [call("MPI_Send", 50, 60)]}])
    assert len(frame) == 0 and tuple(frame.columns) == FIXED


def by_nanosecond(calls, polls, events, thread):
    """Rows (region, thread, execution, time, exclusive, mpi) of one thread's events, by a stack."""
    inside = np.zeros(LAST)
    for row in calls:
        inside[row["enter"] : row["exit"]] = 1
    for row in polls:
        inside[row["enter"] : row["exit"]] = row["inside"] / max(row["exit"] - row["enter"], 1)
    found, stack, count = [], [], {}
    for row in events:
        if row["type"] == PARALLEL_TYPE:
            continue
        if row["flags"] == BEGIN:
            count[row["value"]] = count.get(row["value"], 0) + 1
            stack.append([row["value"], row["time"], count[row["value"]], 0])
            continue
        region, started, number, within = stack.pop()
        length = row["time"] - started
        if stack:
            stack[-1][3] += length
        mpi = inside[started : row["time"]].sum()
        found.append((NAMES[region - 1], thread, number, length, length - within, mpi))
    return found


@settings(max_examples=40)
@given(threads(0), threads(1), st.lists(st.integers(1, LAST - 1), max_size=6))
def test_each_nanosecond(first, second, windows):
    rank = {"labels": LABELS, "start": 0, "clock": [(0, 0), (LAST, LAST)]}
    for position, name in enumerate(("calls", "polls", "events")):
        rank[name] = first[position] + second[position]
    rank["events"] = sorted(rank["events"], key=lambda row: row["thread"])
    frame = rows_of([rank], windows)
    wanted = sorted(by_nanosecond(*first, 0) + by_nanosecond(*second, 1))
    found = frame[["region", "thread", "execution", "time", "exclusive", "mpi"]].sort_values(
        ["region", "thread", "execution"]
    )
    assert found[["region", "thread", "execution"]].to_numpy().tolist() == [list(row[:3]) for row in wanted]
    numbers = np.array([row[3:] for row in wanted], float).reshape(-1, 3)
    np.testing.assert_allclose(found[["time", "exclusive"]].to_numpy(float) * 1e9, numbers[:, :2])
    np.testing.assert_allclose(found["mpi"].to_numpy(float) * 1e9, numbers[:, 2], atol=1.01)  # polls are rounded
    np.testing.assert_allclose(frame["computing"] * 1e9, (frame["time"] - frame["mpi"]) * 1e9, atol=1.01)


def test_counters_between_begin_and_end():
    """CPU time goes on where another set of counters takes its turn; what the sets count begins anew."""
    sets = [(number, 0, 42009998, 1, CPU) for number in (1, 2)] + [
        (number, 1, 44000001, 2, FAULTS) for number in (1, 2)
    ]

    def read(time, cpu, faults):
        return [event(time, 42009998, cpu), event(time, 44000001, faults)]

    rows = [begin(10, 1), *read(10, 30, 2), begin(20, 2), *read(20, 38, 4), end(30, 2), *read(30, 45, 9)]
    rows += [end(40, 1), *read(40, 55, 9), begin(50, 1), *read(50, 60, 1)]
    rows += [event(55, schema.COUNTER_SET_TYPE, 2), end(60, 1), *read(60, 71, 6), begin(70, 2), end(80, 2)]
    blocks = block(0, 0, set=1, events=len(rows))
    frame = rows_of([{"labels": LABELS, "counters": sorted(sets), "events": rows, "blocks": blocks}])
    cpu, faults = (frame[name.decode()].fillna(-1).tolist() for name in (CPU, FAULTS))
    assert frame["region"].tolist() == ["exchange", "exchange", "solve", "solve"]
    assert cpu == [7, -1, 25, 11]
    assert faults == [5, -1, 7, -1]


def test_what_the_node_said_meanwhile(tmp_path):
    """Means of the samples over the execution; the reference adds up each sample's piece."""
    times = [0, 100, 300, 400]
    load = [9.0, 1.0, 2.0, 4.0]
    sent = [0, 1000, 1400, 1400]
    rows = [begin(50, 1), end(250, 1), begin(310, 1), end(330, 1), begin(380, 2), end(900, 2)]
    write_run(tmp_path, [{"labels": LABELS, "events": rows, "calls": [call("MPI_Send", 1000, 1001)]}])
    write_samples(tmp_path, times, {"load_1": load, "network_sent": sent})
    trace = open_trace(str(tmp_path / "run.h5"))
    frame = executions(trace, Team())
    assert frame["region"].tolist() == ["exchange", "solve", "solve"]
    assert frame["node_load_1"].tolist() == pytest.approx([4, (50 * 1 + 150 * 2) / 200, 4])
    assert frame["node_network_sent"].tolist() == pytest.approx([0, (50 * 10 + 150 * 2) / 200 * 1e9, 0])
