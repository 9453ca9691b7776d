"""Ranks that outnumber their CPUs: who they are, and what the first look says of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import call, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.trace.sharing import Sharing, cpus_of, sharing
from tracelib import schema
from tracelib.ngmpi.place import ranges


@given(st.frozensets(st.integers(0, 200), min_size=1))
def test_lists_of_cpus_are_read_as_they_are_written(cpus):
    assert cpus_of(ranges(cpus)) == cpus


@pytest.mark.parametrize("text", ["", "...", "0-3,...", "x", "1-", ",1"])
def test_what_is_cut_is_not_known(text):
    assert cpus_of(text) == frozenset()


def run(folder, *ranks):
    """A run of ranks (node, CPUs), each in MPI for 90 of 100 us."""
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    return write_run(folder, [{"calls": calls, "host": n, "boot_id": n, "cpus": cpus} for n, cpus in ranks])


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([("a", "0-1")] * 4, [("a", 4, 2)]),
        ([("a", "0-1")] * 2, []),
        ([("a", "0"), ("a", "0"), ("a", "1-7")], [("a", 2, 1)]),  # two are bound to one CPU
        ([("a", "0-3"), ("a", "0"), ("a", "0"), ("b", "0")], [("a", 2, 1)]),
        ([("a", "0"), ("a", "1"), ("a", "0-1")], [("a", 3, 2)]),  # only together
        ([("a", "0")] * 2 + [("b", "5")] * 3, [("a", 2, 1), ("b", 3, 1)]),
        ([("a", "")] * 9, []),  # not known
    ],
)  # fmt: skip
def test_ranks_that_may_not_run_elsewhere_are_counted(tmp_path, ranks, expected):
    trace = open_trace(run(tmp_path, *ranks))
    assert sharing(trace) == tuple(Sharing(*one) for one in expected)
    trace.close()


def test_the_first_look_says_so(tmp_path, capsys):
    path = run(tmp_path, *[("a", "0-1")] * 4)
    assert main(["look", "--no-files", str(path)]) == 0
    assert (
        "4 ranks share 2 CPUs of a. They wait for a CPU, in MPI and while they compute; how long was not recorded."
        in " ".join(capsys.readouterr().out.split())
    )
    assert main(["look", "--no-files", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["shared_cpus"] == [{"node": "a", "ranks": 4, "cpus": 2}]


def test_it_says_how_long_they_had_one(tmp_path, capsys):
    """Each had one for 10 us of its barrier of 80 us; in MPI_Init nothing counts. All commands use the same words."""
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    block = np.zeros(1, schema.BLOCK)
    block["count"][0, [0, 6]], block["set"] = (2, 4), 1
    counts = np.array([schema.NOT_READ, schema.NOT_READ, 5_000, 15_000], np.uint64)
    counters = [(1, 0, schema.CPU_TIME_TYPE, 1, b"CPU_NS")]
    rank = {"calls": calls, "counts": counts, "counters": counters, "blocks": block, "cpus": "3"}
    path = write_run(tmp_path, [rank] * 4)
    for command in ("info", "waits", "efficiency", "critical-path"):
        assert main([command, str(path)]) == 0
        words = " ".join(capsys.readouterr().out.split())
        assert (
            "4 ranks share 1 CPU of node0. They have no CPU during 280 us (87.5 %) of the 320 us in MPI after "
            "MPI_Init" in words
        )


def test_a_replay_says_that_it_computes_cpu_time(tmp_path, capsys):
    """In the 10 us between the calls each rank had a CPU for 5; before MPI_Init, at 0, there is nothing."""
    calls = [call("MPI_Init", 0, 10_000), call("MPI_Barrier", 20_000, 100_000)]
    block = np.zeros(1, schema.BLOCK)
    block["count"][0, [0, 6]], block["set"] = (2, 4), 1
    counts = np.array([schema.NOT_READ, 10_000, 15_000, 25_000], np.uint64)
    counters = [(1, 0, schema.CPU_TIME_TYPE, 1, b"CPU_NS")]
    rank = {"calls": calls, "counts": counts, "counters": counters, "blocks": block}
    path = str(write_run(tmp_path, [rank] * 2))
    assert main(["replay", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cpu_time"] == [True] and found["predicted_s"] == pytest.approx(5e-6)
    assert main(["replay", path]) == 0
    assert "Computing is the CPU time that the ranks used" in capsys.readouterr().out
    without = str(write_run(tmp_path, [{"calls": calls}] * 2, name="without"))
    assert main(["replay", without, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cpu_time"] == [False] and found["predicted_s"] == pytest.approx(10e-6)
