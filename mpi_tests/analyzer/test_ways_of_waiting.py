"""A program in which ranks are late in each way that another can wait for them: the path is where that one sleeps."""

import numpy as np
import pytest

from analyzer.critical.path import critical_path
from analyzer.metrics.profile import profile
from analyzer.metrics.regions import region_visits
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.replay import Machine, program_of, simulate
from analyzer.trace import Regions
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.kinds import WaitKind
from analyzer.writers.prv import write_prv
from tracelib.launchers import INCLUDE

pytestmark = pytest.mark.timed

SLEEP_MS = 20
MPI_4 = {"persistent collective", "partitioned"}
PROBED = {"iprobe", "improbe", "probe", "iprobe, then matched", "probe, then matched"}
WAYS = {
    "test", "testany", "testall", "testsome", "test of a send", *PROBED, "two polls in turns",
    "test of a collective", "fence", "late target", "late origin", "late origin tested", "lock", "neighbours",
    "nonblocking neighbours", "persistent", "join",
}  # fmt: skip


@pytest.mark.parametrize(("name", "ways"), [("openmpi", WAYS), ("mpich", WAYS | MPI_4)])
def test_the_path_is_where_the_late_one_sleeps(request, compiled, traced, tmp_path, name, ways):
    leg = request.getfixturevalue(name)
    program = compiled(leg, "ways_of_waiting.c", "-I", str(INCLUDE), "-pthread")
    made = traced(leg, program, str(SLEEP_MS), ranks=2, env={"TRACELIB_CPUTIME": "off"})
    trace = open_trace(made.run)
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
    assert_waited(trace, {way for way, *_ in played} & PROBED)
    assert_received_in_replay(trace, tmp_path / "run.prv")
    trace.close()


def assert_waited(trace, ways):
    """Assert that a rank that probed waited for most of the time that the sender certainly slept, at least 2 ms.

    These times are in `rounds`.
    """
    places = analyze_waits(trace, Team(), profile(trace, Team())).places
    for way in ways:
        mine = [place for place in places if place.path == f"waits {way}" and place.kind == WaitKind.LATE_SENDER]
        assert sum(place.time_ns + place.overlap_ns for place in mine) > 10**6, way


def assert_received_in_replay(trace, prv):
    """All messages that a .prv holds are received in its replay, in whatever way they were."""
    write_prv(trace, prv)
    imported = open_trace(prv)
    found = simulate([program_of(imported)], Machine.ideal(eager_limit=1 << 30))
    assert int(found.usage["receives"].sum()) == len(imported.messages()) >= 2 * len(PROBED)
    imported.close()


def rounds(trace):
    """Yield way, late rank, and a time at which that rank slept and the other waited.

    Rounds without such a time are left out: a machine under load holds the waiting rank back.
    """
    visits = [region_visits(trace, rank) for rank in range(2)]
    for rank in range(2):
        for visit in visits[rank]:
            kind, _, way = trace.extra(Regions).names[visit["region"]].partition(" ")
            if kind != "late":
                continue
            begin, end = int(visit["begin"]), int(visit["end"])
            assert end - begin >= SLEEP_MS * 10**6
            number = trace.extra(Regions).names.index(f"waits {way}")
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
