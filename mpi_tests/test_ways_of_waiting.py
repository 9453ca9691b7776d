"""A program in which ranks are late in each way that another can wait for them: the path is where that one sleeps."""

import numpy as np
import pytest

import analyzer
from analyzer.critical.path import critical_path
from analyzer.metrics.regions import region_visits
from tracelib.preload import INCLUDE

SLEEP_MS = 20
MPI_4 = {"persistent collective", "partitioned"}
WAYS = {
    "test", "testany", "testall", "testsome", "test of a send", "iprobe", "improbe", "probe", "two polls in turns",
    "test of a collective", "fence", "late target", "late origin", "late origin tested", "lock", "neighbours",
    "nonblocking neighbours", "persistent", "join",
}  # fmt: skip


@pytest.mark.parametrize(("name", "ways"), [("openmpi", WAYS), ("mpich", WAYS | MPI_4)])
def test_the_path_is_where_the_late_one_sleeps(request, compiled, traced, name, ways):
    leg = request.getfixturevalue(name)
    program = compiled(leg, "ways_of_waiting.c", "-I", str(INCLUDE), "-pthread")
    made = traced(leg, program, str(SLEEP_MS), ranks=2, env={"TRACELIB_CPUTIME": "off"})
    trace = analyzer.open(made.run)
    path = critical_path(trace)
    assert (path.length_ns, path.contradictions) == (trace.duration_ns, 0)
    assert (path.slack >= 0).all()
    played = list(rounds(trace))
    assert {way for way, *_ in played} <= ways
    assert len(played) >= len(ways) // 2
    for way, rank, middle in played:
        at = np.searchsorted(path.segments["begin"], middle, "right") - 1
        thread = path.segments["thread"][at]
        assert path.nodes.rank[thread] == rank, way
        assert (path.nodes.thread[thread] > 0) == (way == "join"), way
    trace.close()


def rounds(trace):
    """Way, late rank, and a time at which that slept and the other waited; without those in which it did not (a machine
    under load holds it back)."""
    visits = [region_visits(trace, rank) for rank in range(2)]
    for rank in range(2):
        for visit in visits[rank]:
            kind, _, way = trace.region_names[visit["region"]].partition(" ")
            if kind != "late":
                continue
            begin, end = int(visit["begin"]), int(visit["end"])
            assert end - begin >= SLEEP_MS * 10**6
            number = trace.region_names.index(f"waits {way}")
            waits = visits[1 - rank][visits[1 - rank]["region"] == number]
            assert len(waits) == 1
            since = max(int(waits["begin"][0]), begin)
            if (
                since < end - SLEEP_MS * 10**5
                and end - since - in_calls(trace, 1 - rank, since, end) < (end - begin) / 4
            ):
                yield way, rank, (since + end) // 2


def in_calls(trace, rank, begin, end):
    """How much of a time a rank was in calls."""
    calls = np.concatenate(list(trace.calls(rank)))
    return int((calls["exit"].clip(begin, end) - calls["enter"].clip(begin, end)).sum())
