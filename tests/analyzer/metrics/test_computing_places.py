"""Computing between calls by place: against a walk through all calls, and by hand in limits, profile and replay."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from pathed_runs import pathed_runs
from placed_runs import placed
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.metrics.computing import ComputingSums, uneven_computing
from analyzer.metrics.parallelism import at_places, parallelism
from analyzer.metrics.profile import profile
from analyzer.metrics.sums import add_up
from analyzer.opening import open_trace
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.parallel import Team
from analyzer.trace import CallPaths

MAIN = ("main", 40)


@settings(max_examples=40)
@given(pathed_runs())
def test_sums_are_those_of_a_walk(tmp_path_factory, run):
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("computing"), ranks, tsc_per_us=tsc_per_us))
    rows = add_up(trace, Team(), ComputingSums(trace))
    expected = Counter()
    for rank in range(trace.size if trace.extra(CallPaths).known else 0):
        last = {}
        for calls, paths in calls_with_paths(trace, rank):
            for row, path in zip(calls, paths.tolist(), strict=True):
                left, before = last.get(int(row["thread"]), (int(row["enter"]), 0))
                expected[rank, before, path, int(row["call"])] += max(int(row["enter"]) - left, 0)
                last[int(row["thread"])] = int(row["enter"] + row["inside"] + row["tracer"]), path
    assert {tuple(row.tolist()[:4]): int(row["ns"]) for row in rows} == {k: ns for k, ns in expected.items() if ns}
    found = uneven_computing(rows, trace)
    assert round(sum(one.mean_ns for one in found) * trace.size) == rows["ns"].sum()
    trace.close()


@settings(max_examples=20)
@given(pathed_runs())
def test_threads_in_calls_by_place_are_those_in_calls(tmp_path_factory, run):
    """The means of all places together are the time in MPI, as long as there are few places."""
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("threads"), ranks, tsc_per_us=tsc_per_us))
    if trace.extra(CallPaths).known:
        found = at_places(parallelism(trace, Team(), 7), trace, Team(), most=100)
        unknown = sum(
            int(calls["inside"][paths == 0].sum())
            for rank in range(trace.size)
            for calls, paths in calls_with_paths(trace, rank)
        )
        whole = int(profile(trace, Team()).inside_ns.sum()) - unknown
        widths = np.diff(found.edges)
        assert sum(float((found.series[name] * widths).sum()) for name in found.places) == pytest.approx(whole)
    trace.close()


def two_ranks(tmp_path):
    """Rank 1 computes 500 from line 3 to line 9 of work, rank 0 100; both meet in a barrier in line 9."""
    times = [((0, 10), (110, 520)), ((0, 10), (510, 520))]
    chains = [(MAIN, ("work", 3)), (MAIN, ("work", 9))]
    ranks = [
        placed({"calls": [call("MPI_Init", *init), call("MPI_Barrier", *barrier, comm=WORLD)]}, chains)
        for init, barrier in times
    ]
    return str(write_run(tmp_path, ranks))


def test_limits_say_where(tmp_path, capsys):
    run = two_ranks(tmp_path)
    assert main(["limits", run, "--quick", "--machine", "ideal"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Most uneven, as measured: computing at work.py:3-9 in work before MPI_Barrier; rank 1 computes 500 ns there, "
        "a rank on average 300 ns."
    ) in said
    assert "Longest in calls, as measured, all ranks together: MPI_Barrier at work.py:9 in work (420 ns)." in said
    assert main(["limits", run, "--quick", "--machine", "ideal", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["uneven"][0] == {
        "name": "computing at work.py:3-9 in work before MPI_Barrier", "rank": 1, "most_s": 500e-9, "mean_s": 300e-9,
    }  # fmt: skip
    assert data["in_calls"] == [{"name": "MPI_Barrier at work.py:9 in work", "time_s": 420e-9}]


def test_efficiency_says_where_it_is_lost(tmp_path, capsys):
    """In 2 x 520 ns, 420 are in the barrier and 20 in MPI_Init."""
    run = two_ranks(tmp_path)
    assert main(["efficiency", run]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Load balance is lost most in computing at work.py:3-9 in work before MPI_Barrier; rank 1 computes 500 ns "
        "there, a rank on average 300 ns. Of the time of all threads most is in calls of MPI_Barrier at work.py:9 in "
        "work (40.4 %), MPI_Init at work.py:3 in work (1.9 %)."
    ) in said
    assert main(["efficiency", run, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [(u["rank"], u["most_s"], u["mean_s"]) for u in data["uneven"]] == [(1, 500e-9, 300e-9)]
    assert [round(one["time_s"] * 1e9) for one in data["in_calls"]] == [420, 20]


def test_efficiency_of_a_run_without_places_names_none(tmp_path, capsys):
    calls = [call("MPI_Init", 0, 10), call("MPI_Barrier", 510, 520, comm=WORLD)]
    run = str(write_run(tmp_path, [{"calls": calls}]))
    assert main(["efficiency", run, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["uneven"] == data["in_calls"] == []
    assert main(["efficiency", run]) == 0
    assert " is lost most in " not in capsys.readouterr().out


def test_a_replay_says_what_changes_where(tmp_path, capsys):
    """On an ideal network rank 0 waits as it did, rank 1 no more."""
    run = two_ranks(tmp_path)
    assert main(["replay", run, "--by", "place", "--json"]) == 0
    places = json.loads(capsys.readouterr().out)["places"]
    (barrier,) = (row for row in places if row["call"] == "MPI_Barrier")
    assert barrier == {
        "place": "work.py:9", "function": "work", "call": "MPI_Barrier", "count": 2, "measured_s": 420e-9,
        "predicted_s": 400e-9,
    }  # fmt: skip
    assert main(["replay", run, "--by", "place"]) == 0
    assert "work.py:9 in work" in capsys.readouterr().out
    assert main(["replay", run, "--by", "place", "--repeat", "2"]) == 2
    assert "--by place cannot be used here" in capsys.readouterr().err


def test_a_profile_by_place(tmp_path, capsys):
    run = two_ranks(tmp_path)
    base = str(tmp_path / "x")
    assert main(["profile", run, "--by", "place", "--bins", "2", "--json", "-o", base]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["places"] == ["work.py:9 in work", "work.py:3 in work"]
    assert data["series"]["work.py:9 in work"] == pytest.approx([150 / 260, 270 / 260])
    assert (tmp_path / "x.profile.csv").read_text().splitlines()[0].endswith(",work.py:9 in work,work.py:3 in work")
    assert main(["profile", run, "--place", "work.py:3", "-o", base]) == 0
    said = capsys.readouterr().out
    assert "Threads in calls at" in said and "work.py:3 in work" in said and "work.py:9" not in said
    assert main(["profile", run, "--place", "work", "--latency", "1us", "-o", base]) == 2


@pytest.mark.parametrize("line", ["replay FILE --by place", "profile FILE --by place -o OUT"])
def test_a_run_without_places_is_refused(tmp_path, capsys, line):
    run = str(write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10)]}]))
    words = [{"FILE": run, "OUT": str(tmp_path / "x")}.get(word, word) for word in line.split()]
    assert main(words) in (1, 2)
    assert "does not say where its calls come from" in capsys.readouterr().err
