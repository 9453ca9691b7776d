"""The critical path by place: by hand, against looking at each node, and its sum is the path."""

import json
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathed_runs import pathed_runs
from placed_runs import placed
from synthetic import WORLD, call, event, write_run

from analyzer.cli import main
from analyzer.critical import activities
from analyzer.critical.activities import CALL, COMPUTATION
from analyzer.critical.by_place import place_shares
from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.opening import open_trace
from analyzer.pairing.call_paths import calls_with_paths
from analyzer.places.call_gaps import CallGaps
from analyzer.places.phrases import call_at, computing_at, known_text
from analyzer.trace import CallPaths
from tracelib import schema

MAIN = ("main", 40)


def two_ranks(tmp_path):
    """Rank 1 waits in line 7 of halo for rank 0, which computes from line 3 to line 9 of work."""
    ranks = [
        placed(
            {"calls": [call("MPI_Init", 0, 10), call("MPI_Send", 510, 520, comm=WORLD, peer=1, tag=3, sent=8)]},
            [(MAIN, ("work", 3)), (MAIN, ("work", 9))],
        ),
        placed(
            {"calls": [call("MPI_Init", 0, 10), call("MPI_Recv", 100, 540, comm=WORLD, peer=0, tag=3, received=8)]},
            [(("main", 39),), (MAIN, ("halo", 7))],
        ),
    ]
    return write_run(tmp_path, ranks)


def test_by_hand(tmp_path, capsys):
    """The path is in rank 0 to 510, and from then on in the receive of rank 1."""
    run = two_ranks(tmp_path)
    trace = open_trace(run)
    found = place_shares(trace, critical_path(trace))
    assert [(share.text, share.ns) for share in found] == [
        ("computing at work.py:3-9 in work before MPI_Send", 500),
        ("MPI_Recv at halo.py:7 in halo", 30),
        ("MPI_Init at work.py:3 in work", 10),
    ]
    trace.close()
    assert main(["critical-path", str(run)]) == 0
    said = capsys.readouterr().out
    assert "On the path, by place" in said and max(map(len, said.splitlines())) <= 80
    assert "at work.py:3-9 in work before MPI_Send" in " ".join(said[said.index("Longest") :].split())
    assert main(["critical-path", "--json", str(run)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["places"][0] == {
        "place": "work.py:3-9", "function": "work", "kind": "computation", "call": "MPI_Send",
        "name": "computing at work.py:3-9 in work before MPI_Send", "path_s": 500e-9,
    }  # fmt: skip
    assert data["places"][1]["place"] == "halo.py:7" and data["places"][1]["kind"] == "call"
    assert [stay["place"] for stay in data["stays"]] == [
        "at work.py:3-9 in work before MPI_Send",
        "at halo.py:7 in halo",
    ]


@pytest.mark.parametrize("at_once", [2, 100])
def test_computing_after_the_last_call(tmp_path, monkeypatch, at_once):
    """Rank 1 leaves its receive, in a piece without any of the path, as rank 0 sends, and computes until recording
    stops. Rank 0 has another thread."""
    monkeypatch.setattr(activities, "_NODES_AT_ONCE", at_once)
    sends = call("MPI_Send", 510, 520, comm=WORLD, peer=1, tag=3, sent=8)
    receives = call("MPI_Recv", 100, 510, comm=WORLD, peer=0, tag=3, received=8)
    ranks = [
        placed(
            {"calls": [call("MPI_Init", 0, 10), sends, call("MPI_Initialized", 530, 535, thread=1)]},
            [(MAIN, ("work", 3)), (MAIN, ("work", 9)), (("other", 1),)],
        ),
        placed(
            {
                "calls": [call("MPI_Init", 0, 10), call("MPI_Type_size", 20, 30), receives],
                "events": [event(700, schema.TRACING_TYPE, 0), event(800, schema.TRACING_TYPE, 1)],
            },
            [(MAIN,), (MAIN,), (MAIN, ("halo", 7))],
        ),
    ]
    trace = open_trace(write_run(tmp_path, ranks))
    found = place_shares(trace, critical_path(trace))
    assert [(share.stretch.text if share.stretch else share.text, share.procedure, share.ns) for share in found] == [
        ("work.py:3-9 in work", "MPI_Send", 500),
        ("halo.py:7 in halo", "", 190),
        ("MPI_Init at work.py:3 in work", "MPI_Init", 10),
    ]
    trace.close()


def test_without_paths_it_says_nothing_of_places(tmp_path, capsys):
    run = write_run(tmp_path, [{"calls": [call("MPI_Init", 0, 10), call("MPI_Finalize", 400, 410)]}])
    assert main(["critical-path", str(run)]) == 0
    assert "by place" not in capsys.readouterr().out


def by_looking_at_each(trace, path):
    """ns by what is said of a place: node by node, each against all of the path in its thread."""
    places = trace.extra(CallPaths).named()
    between, found = CallGaps(places), Counter()

    def add_computing(ns, procedure, *paths):
        (number,) = between.numbers(*(np.array([one]) for one in paths))
        found[computing_at(between.every[number], procedure)] += ns

    for thread, stays in path.stays.items():
        rank, number = int(path.nodes.rank[thread]), int(path.nodes.thread[thread])
        own = {
            int(call["enter"]): row
            for calls, rows in calls_with_paths(trace, rank)
            for call, row in zip(calls, rows.tolist(), strict=True)
            if call["thread"] == number
        }
        before = ahead = since = 0
        for k, node in enumerate(path.nodes.whole(thread)):
            enter, exit_, call = (int(node[name]) for name in ("enter", "exit", "call"))
            ahead += on_path(stays, since, enter) if k else 0  # before the first one it is started
            since = max(since, exit_ + int(node["tracer"]))
            if call >= 0:
                procedure, row = trace.procedures[call], own[enter]
                add_computing(ahead, procedure, before, row)
                found[call_at(procedure, known_text(places, row))] += on_path(stays, enter, exit_)
                before, ahead = row, 0
        add_computing(ahead, "", before, 0)
    return {text: ns for text, ns in found.items() if ns}


def on_path(stays, begin, end):
    return sum(max(min(end, int(stay["end"])) - max(begin, int(stay["begin"])), 0) for stay in stays)


@settings(max_examples=30)
@given(pathed_runs(), st.integers(1, 4))
def test_places_are_those_of_each_node_and_their_sum_is_the_path(tmp_path_factory, run, at_once):
    ranks, tsc_per_us = run
    trace = open_trace(write_run(tmp_path_factory.mktemp("path"), ranks, tsc_per_us=tsc_per_us))
    path = critical_path(trace)
    with mock.patch.object(activities, "_NODES_AT_ONCE", at_once):
        every, by_place = path_shares(trace, path), place_shares(trace, path)
    assert {share.text: share.ns for share in by_place} == by_looking_at_each(trace, path)
    for kind in (COMPUTATION, CALL):
        mine = [share for share in by_place if (share.stretch is not None) == (kind == COMPUTATION)]
        assert sum(share.ns for share in mine) == sum(s.path_ns for s in every.functions if s.function.kind == kind)
    for name in trace.procedures:
        of_call = [s.path_ns for s in every.functions if s.function.kind == CALL and s.function.name == name]
        assert sum(s.ns for s in by_place if s.stretch is None and s.procedure == name) == sum(of_call)
    trace.close()
