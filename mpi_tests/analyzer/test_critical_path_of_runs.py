"""The critical path of a program in which ranks take turns at being late, each way of waiting in turn."""

import numpy as np
import pytest

from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.metrics.regions import region_visits
from analyzer.opening import open_trace
from tracelib.launchers import INCLUDE

pytestmark = pytest.mark.timed

WAYS = 4
WAITING = ("MPI_Allreduce", "MPI_Wait", "MPI_Send", "MPI_Bcast")
SLEEP_MS = 40


@pytest.fixture(params=["openmpi", "mpich"])
def leg(request):
    return request.getfixturevalue(request.param)


def test_ranks_take_turns(leg, compiled, traced):
    """The path is on the rank that is late, in each round in which it was later than all others (a machine under load
    may hold back any); nobody sleeps off the path without slack."""
    made = traced(leg, compiled(leg, "turns.c", "-I", str(INCLUDE)), str(SLEEP_MS), env={"TRACELIB_CPUTIME": "off"})
    trace = open_trace(made.run)
    path = critical_path(trace)
    assert path.length_ns == trace.duration_ns == sum(share.path_ns for share in path_shares(trace, path).functions)
    assert path.contradictions == 0
    sleeps = [region_visits(trace, rank) for rank in range(trace.size)]
    assert [len(visits) for visits in sleeps] == [WAYS] * trace.size
    waits = [_entries(trace, rank) for rank in range(trace.size)]
    expected = 0
    for way in range(WAYS):
        for late in range(trace.size):
            begin, end = (int(sleeps[late][way][name]) for name in ("begin", "end"))
            assert end - begin >= SLEEP_MS * 10**6
            others = [way_of[way, late] for rank, way_of in enumerate(waits) if rank != late]
            if max(others) >= end:
                continue
            expected += 1
            middle = (begin + end) // 2
            at = np.searchsorted(path.segments["begin"], middle, "right") - 1
            assert path.nodes.rank[path.segments["thread"][at]] == late, (WAITING[way], late)
    assert expected >= WAYS * trace.size // 2
    assert path.hops >= expected - 1
    trace.close()


def _entries(trace, rank) -> dict[tuple[int, int], int]:
    """When a rank began to wait in each round in which another was late, by (way, who was late)."""
    found = {}
    calls = np.concatenate(list(trace.calls(rank)))
    for way, name in enumerate(WAITING):
        rows = calls[calls["call"] == trace.procedures.index(name)]
        if name == "MPI_Send":
            rows = rows[rows["sent"] > 8]
        others = [late for late in range(trace.size) if late != rank or name in ("MPI_Allreduce", "MPI_Bcast")]
        assert len(rows) == len(others)
        found |= {(way, late): int(row["enter"]) for late, row in zip(others, rows, strict=True)}
    return found
