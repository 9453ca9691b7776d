"""Collectives of intercommunicators: each group waits for the other one, and nobody for his own."""

import pytest
from synthetic import FIRST, call, write_run

from analyzer.cli import main
from analyzer.critical.path import critical_path
from analyzer.metrics.checks import findings
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.waits.kinds import WaitKind, length
from analyzer.waits.wait_states import WaitSearch, find_wait_states
from tracelib.schema import Peer

GROUPS = [((0, 1), (2, 3))]
"""An intercommunicator of four ranks."""


def made(tmp_path, name, enters, *, exit_=100, peers=(-1,) * 4, sent=(8,) * 4, received=(8,) * 4):
    """One collective, entered by the ranks at these times and left by all at `exit_`."""
    rows = zip(enters, peers, sent, received, strict=True)
    calls = [call(name, t, exit_, comm=FIRST, peer=p, sent=s, received=r) for t, p, s, r in rows]
    return open_run(str(write_run(tmp_path, [{"calls": [c]} for c in calls], GROUPS)))


def waits_in(trace):
    """(kind, rank, the rank it waits for, ns) of each wait."""
    found = find_wait_states(WaitSearch(trace)).waits
    rows = zip(found, length(found), strict=True)
    return sorted((WaitKind(int(w["kind"])), int(w["lane"]), int(w["cause"]), int(ns)) for w, ns in rows)


@pytest.mark.parametrize("name, kind", [("MPI_Barrier", WaitKind.BARRIER), ("MPI_Allgather", WaitKind.N_TO_N)])
def test_all_wait_for_the_last_of_the_other_group(tmp_path, name, kind):
    """The last of the ranks 0 and 1 comes at 40, of the ranks 2 and 3 at 70: rank 2 waits no longer than for 40."""
    trace = made(tmp_path, name, (10, 40, 20, 70))
    assert waits_in(trace) == [(kind, 0, 3, 60), (kind, 1, 3, 30), (kind, 2, 1, 20)]
    assert findings(trace, Team()) == []


def test_a_broadcast(tmp_path):
    """From rank 1 to the ranks 2 and 3; rank 0, in the root's group, has no part in it."""
    peers, sent, received = (Peer.PROC_NULL, Peer.ROOT, 1, 1), (0, 8, 0, 0), (0, 0, 8, 8)
    trace = made(tmp_path, "MPI_Bcast", (5, 60, 20, 80), peers=peers, sent=sent, received=received)
    assert waits_in(trace) == [(WaitKind.LATE_BROADCAST, 2, 1, 40)]


def test_a_reduction(tmp_path):
    """Rank 2 takes what the ranks 0 and 1 give."""
    peers, sent, received = (0, 0, Peer.ROOT, Peer.PROC_NULL), (8, 8, 0, 0), (0, 0, 8, 0)
    trace = made(tmp_path, "MPI_Reduce", (50, 30, 20, 90), peers=peers, sent=sent, received=received)
    assert waits_in(trace) == [(WaitKind.EARLY_REDUCE, 2, 0, 30)]


def test_the_path_goes_to_the_last_of_the_other_group(tmp_path):
    """All end at 100, rank 3 at 110, which came at 70: before the entry of rank 1 at 80 the path is there."""
    calls = [call("MPI_Barrier", t, 100 + 10 * (t == 70), comm=FIRST) for t in (10, 80, 20, 70)]
    trace = open_run(str(write_run(tmp_path, [{"calls": [c]} for c in calls], GROUPS)))
    found = critical_path(trace)
    assert found.contradictions == 0
    assert found.segments.tolist() == [(0, 80, 1), (80, 110, 3)]


def test_a_replay_lets_nobody_wait_in_them(tmp_path):
    trace = made(tmp_path, "MPI_Barrier", (10, 40, 20, 70))
    assert main(["replay", trace.path, "--machine", "ideal", "-o", str(tmp_path / "ideal.h5"), "-q"]) == 0
    assert waits_in(open_run(str(tmp_path / "ideal.h5"))) == []
