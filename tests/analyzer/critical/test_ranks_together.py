"""Ranks that are looked at together: the same nodes as one by one, and the sums of their parts."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from analyzer._kernels import lib
from hypothesis import given, settings
from random_runs import runs
from synthetic import write_run

from analyzer.c_arrays import pointer
from analyzer.critical import nodes
from analyzer.critical.activities import PathTimeBefore, ThreadActivities, pieces_of
from analyzer.critical.nodes import read_nodes
from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.critical.single_threaded import _LANE
from analyzer.critical.thread_nodes import MARKED, NODE
from analyzer.opening import open_trace


def one_by_one(trace, _polls):
    """In place of `plain_ranks`."""
    return ((range(rank, rank + 1), None) for rank in range(trace.size))


def columns(found):
    """All that a Timeline says."""
    names = ("offsets", "rank", "thread", "first_thread", "joined", "polling_offsets")
    rows = found.rows.tolist(), found.polling.mapped().tolist(), np.sort(found.noted).tolist()
    return rows, [getattr(found, name).tolist() for name in names]


@settings(max_examples=60)
@given(runs())
def test_the_same_nodes_as_one_by_one(run):
    ranks, _ = run
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(write_run(Path(folder), ranks))
        noted = frozenset(trace.procedures)
        together = columns(read_nodes(trace, noted))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nodes, "plain_ranks", one_by_one)
            assert columns(read_nodes(trace, noted)) == together
        trace.close()


@settings(max_examples=40)
@given(runs())
def test_shares_are_sums_over_all_that_threads_did(run):
    ranks, _ = run
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(write_run(Path(folder), ranks))
        path, functions = critical_path(trace), ThreadActivities(trace)
        found, on_path, in_all = path_shares(trace, path), Counter(), Counter()
        slack = {rank: [] for rank in range(trace.size)}
        for thread in range(path.nodes.threads):
            whole, own = path.nodes.whole(thread), path.nodes.thread_slice(thread)
            before = PathTimeBefore(path.segments[path.segments["thread"] == thread])
            begin = 0 if path.nodes.thread[thread] == 0 else int(whole["enter"][0])
            for first, did in pieces_of(functions, whole, begin):
                tracer = np.full(len(did.held), functions.tracer)
                ahead, inside = (did.held, did.enter, did.ahead), (did.enter, did.exit, did.inside)
                for low, high, function in ((did.begin, did.held, tracer), ahead, inside):
                    for sums, ns in ((on_path, before.until(high) - before.until(low)), (in_all, high - low)):
                        for number, time in zip(function.tolist(), ns.tolist(), strict=True):
                            sums[functions.every[number]] += time
                of_node = np.searchsorted(path.nodes.exit[own], did.enter).clip(max=own.stop - own.start - 1)
                if len(whole) == own.stop - own.start:
                    of_node = first + np.arange(len(did.enter))
                burst = did.enter - did.held
                rows = zip(burst.tolist(), path.slack[own][of_node].tolist(), strict=True)
                slack[int(path.nodes.rank[thread])] += [row for row in list(rows)[first == 0 :] if row[0]]
        assert {share.function: share.path_ns for share in found.functions} == +on_path
        assert found.total_ns == +in_all
        for of_rank, bursts in zip(found.rank_slack, slack.values(), strict=True):
            assert (of_rank is None) == (not bursts)
            if of_rank:
                assert of_rank.computing_ns == sum(burst for burst, _ in bursts)
                assert of_rank.none_ns == sum(burst for burst, slack in bursts if not slack)
                assert of_rank.least_ns == min(slack for _, slack in bursts)
                assert of_rank.mean_ns == pytest.approx(sum(b * s for b, s in bursts) / of_rank.computing_ns)
        trace.close()


@pytest.mark.parametrize(("end", "ends"), [(7, 9), (9, 9), (12, 12)])
def test_a_thread_is_over_when_its_last_node_is(end, ends):
    """A rank's file may say that it ended before its last call did, if that was cut off."""
    lanes, call, found = np.array([(1, 0, 5, end)], _LANE), np.zeros(1, NODE), np.zeros(3, NODE)
    call["enter"], call["exit"], call["call"] = 6, 9, 3
    nodes = (pointer(rows, "struct node *") for rows in (call, call[:0], found))
    lib.nodes_of_lanes(pointer(lanes, "struct node_lane *"), 1, *nodes)
    assert found[["enter", "exit", "call"]].tolist() == [(5, 5, MARKED), (6, 9, 3), (ends, ends, MARKED)]
