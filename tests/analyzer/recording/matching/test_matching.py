"""Matching against a simulation of MPI's own rules, and cases worked out by hand."""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import COLUMNS, COMMUNICATORS, receive, send, simulations
from synthetic import FIRST, SELF, WORLD, call, request, write_run
from thread_team import by_team

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.recording.matching.ghosts import Ghosts
from analyzer.recording.matching.leftovers import Reach
from analyzer.recording.matching.messages import Matching
from analyzer.recording.run.opening import open_run
from analyzer.recording.thread_records.stored import StoredThreads
from analyzer.trace import Leftovers
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from tracelib.schema import Peer, RequestKind

SMALL_STEPS = ReadOptions(sizes=ReadSizes(index_rows=3))


def matched(ranks, communicators=(), records=4, missing=(), team=None):
    """Messages as tuples, and what is unmatched, by windows of a few records."""
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks, communicators, missing=missing)), options=SMALL_STEPS)
        bounds = trace.windows(records)
        ghosts = {file.rank: Ghosts(file, trace._lanes[file.rank][0]) for file in trace.files_of(range(trace.size))}
        args = trace._lanes, ghosts, bounds, trace.windows(records // 2 + 1), trace._parts.first_cpu
        team = team or Team()
        reach = Reach(np.zeros(trace.size, bool), np.zeros(9, bool))
        for lanes in {}, trace._lanes:  # read one by one, and by the kernel
            stored = StoredThreads(lanes, trace.size)
            matching = Matching(*args, team, Path(folder), reach, trace.share(team), stored)
            _check(trace, matching, bounds)
        messages = matching.messages(0, trace.duration_ns + 1)
        return messages[COLUMNS].tolist(), matching.unmatched(trace.procedures)


def _check(trace, matching, bounds):
    """Check that messages equal the trace's, however windows are cut."""
    messages = matching.messages(0, trace.duration_ns + 1)
    windows = [matching.messages(a, b) for a, b in pairwise(bounds)]
    assert (np.concatenate([messages[:0], *windows]) == messages).all()
    for (a, b), window in zip(pairwise(bounds), windows, strict=True):
        assert sorted(matching.unordered(a, b).tolist()) == sorted(window.tolist())
    whole = trace.messages()
    assert (whole == messages).all()
    left = matching.unmatched(trace.procedures)
    assert left == trace.extra(Leftovers).unmatched()


@settings(max_examples=100)
@given(simulations(), st.integers(1, 12))
def test_messages_are_those_that_mpi_would_deliver(mpi, records):
    ranks = [{"calls": r.calls, "requests": r.requests} for r in mpi.ranks]
    messages, left = matched(ranks, COMMUNICATORS, records)
    assert messages == sorted(mpi.truth)
    lost = Counter()
    for m in (m for r in mpi.ranks for m in r.unexpected):
        lost[m.source, m.peer, m.tag] += 1
    for rank, of_rank in enumerate(mpi.ranks):
        for freed in (r for r in of_rank.posted if r.freed):
            lost[rank, freed.world, freed.tag] += 1
    found = Counter()
    for row in left:
        found[row.rank, row.peer, row.tag] += row.count
    assert found == lost


def test_order_of_posting_decides_not_order_of_completion():
    waits = [call("MPI_Irecv", 1, 2, comm=WORLD, peer=Peer.ANY_SOURCE), call("MPI_Irecv", 3, 4, comm=WORLD, peer=0)]
    done = [
        request(RequestKind.RECV_DONE, 3, 30, peer=0, bytes=8),
        request(RequestKind.RECV_DONE, 1, 40, peer=0, bytes=4),
    ]
    ends = [call("MPI_Wait", 20, 30), call("MPI_Wait", 35, 40)]
    ranks = [{"calls": [send(10, 1, size=4), send(12, 1, size=8)]}, {"calls": waits + ends, "requests": done}]
    messages, left = matched(ranks)
    assert [(m[0], m[1], m[2], m[3]) for m in messages] == [(10, 1, 40, 4), (12, 3, 30, 8)]
    assert not left


def test_several_persistent_sends_started_at_once_and_one_cancelled():
    started = [request(RequestKind.SEND_STARTED, 10, 0, peer=1, tag=t, bytes=t) for t in (1, 2, 2)]
    ended = [
        request(RequestKind.SEND_DONE, 10, 30, peer=1, tag=1),
        request(RequestKind.SEND_CANCELLED, 10, 30, peer=1, tag=2),
    ]
    ended += [request(RequestKind.SEND_DONE, 10, 30, peer=1, tag=2)]
    ranks = [
        {"calls": [call("MPI_Startall", 10, 12), call("MPI_Waitall", 20, 30)], "requests": started + ended},
        {"calls": [receive(11, 15, 0, tag=2, size=2), receive(16, 18, 0, tag=1, size=1)]},
    ]
    messages, left = matched(ranks)
    assert [(m[0], m[1], m[6]) for m in messages] == [(10, 16, 1), (10, 11, 2)]
    assert not left


def test_nobody_self_and_zero_bytes():
    ranks = [
        {
            "calls": [
                send(1, Peer.PROC_NULL),
                call("MPI_Recv", 3, 4, comm=WORLD, peer=Peer.PROC_NULL),
                send(5, 0, size=0, name="MPI_Isend", comm=SELF),
                receive(7, 8, 0, size=0, comm=SELF),
            ]
        }
    ]
    messages, left = matched(ranks)
    assert [(m[0], m[1], m[3], m[4], m[5], m[7]) for m in messages] == [(5, 7, 0, 0, 0, 1)]
    assert not left


def test_what_has_no_other_side_is_summed_by_rank_call_and_peer():
    ranks = [
        {"calls": [send(1, 1, tag=9, size=5), send(3, 1, tag=9, size=7), send(5, 2)]},
        {
            "calls": [call("MPI_Irecv", 2, 3, comm=WORLD, peer=0, tag=8), call("MPI_Wait", 4, 6)],
            "requests": [request(RequestKind.RECV_DONE, 2, 6, peer=0, tag=8, bytes=3)],
        },
        {},
    ]
    messages, left = matched(ranks, missing=[2])
    assert not messages
    rows = [(u.rank, u.call, u.peer, u.tag, u.comm, u.bytes, u.count) for u in left]
    assert rows == [
        (0, "MPI_Send", 1, 9, 0, 12, 2),
        (0, "MPI_Send", 2, 0, 0, 1, 1),
        (1, "MPI_Irecv", 0, 8, 0, 3, 1),
    ]


def test_an_unknown_communicator_stays_unmatched():
    unknown = {"id": 0, "members": [0, 1]}
    ranks = [{"calls": [send(1, 1, comm=FIRST)]}, {"calls": [receive(1, 5, 0, comm=FIRST)]}]
    messages, left = matched(ranks, [unknown])
    assert not messages
    assert [(u.rank, u.call, u.comm, u.count) for u in left] == [(0, "MPI_Send", -1, 1), (1, "MPI_Recv", -1, 1)]


def test_the_same_time_is_no_reason_to_mix_ranks_or_sends():
    ranks = [{"calls": [send(10, 2, tag=t)]} for t in (5, 3)]
    ranks.append({"calls": [receive(20, 30, 1, tag=3), receive(31, 40, 0, tag=5)]})
    messages, _ = matched(ranks)
    assert [(m[4], m[6]) for m in messages] == [(0, 5), (1, 3)]


def test_many_keys_come_and_go():
    n = 3000
    first = {"calls": [send(10 * k + 1, 1, tag=k, size=k) for k in range(n)]}
    order = np.random.default_rng(3).permutation(n).tolist()
    start = 10 * n
    second = {"calls": [receive(start + 10 * i, start + 10 * i + 5, 0, tag=k, size=k) for i, k in enumerate(order)]}
    messages, left = matched([first, second], records=500)
    assert [(m[0], m[1]) for m in messages] == sorted((10 * k + 1, start + 10 * i) for i, k in enumerate(order))
    assert not left


@settings(max_examples=40)
@given(simulations(), st.integers(1, 12), st.integers(2, 4))
def test_members_of_a_team_hand_each_other_their_sends(mpi, records, size):
    """Each reads its own ranks only, and all of them find what one process finds."""
    ranks = [{"calls": r.calls, "requests": r.requests} for r in mpi.ranks]
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks, COMMUNICATORS)), options=SMALL_STEPS)
        ghosts = {file.rank: Ghosts(file, trace._lanes[file.rank][0]) for file in trace.files_of(range(trace.size))}
        reach = Reach(np.zeros(trace.size, bool), np.zeros(9, bool))
        bounds, cuts = trace.windows(records), trace.windows(records // 2 + 1)

        def found(team):
            mine = trace.share(team)
            lanes = {rank: lanes if rank in mine else None for rank, lanes in trace._lanes.items()}
            stored = StoredThreads({rank: trace._lanes[rank] for rank in mine}, trace.size)
            args = bounds, cuts, trace._parts.first_cpu, team, Path(folder), reach, mine, stored
            matching = Matching(lanes, ghosts, *args)
            return matching.messages(0, trace.duration_ns + 1).tobytes(), matching.unmatched(trace.procedures)

        assert by_team(size, found) == [found(Team())] * size


class Away(Team):
    """The second process, on a node that does not see the folder that the first one made."""

    rank, size = 1, 2

    def bcast(self, value):
        return "/not/here"


def test_who_does_not_see_the_shared_folder_says_so():
    """It is not the trace that is missing."""
    with pytest.raises(TracelibError, match="through which the processes exchange files") as error:
        Matching(
            {},
            {},
            *np.zeros((2, 1), np.int64),
            np.zeros(2, np.int32),
            Away(),
            Path(),
            Reach(*np.zeros((2, 2), bool)),
            range(2),
            StoredThreads({}, 2),
        )
    assert "TMPDIR" in error.value.hint
