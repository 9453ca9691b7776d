"""Several sets of counters: which is read when, and what each counts, against the program's own numbers."""

from __future__ import annotations

import numpy as np
import pytest
from own_counters import ALPHA, BETA, added, barriers
from patience import crowd

from analyzer.opening import open_trace
from analyzer.trace import UNKNOWN
from tracelib import schema

CPU = "CPU_NS"


@pytest.mark.parametrize(("rotate", "cpu_time"), [("collectives:7", "off"), ("collectives:7,spread", "on")])
def test_sets_take_turns_by_collectives(openmpi, own_counters, traced, rotate, cpu_time):
    """A burst belongs to one set wholly, also the first one of a turn; CPU time goes on through all."""
    env = {"TRACELIB_COUNTERS": f"{ALPHA};{BETA}", "TRACELIB_CPUTIME": cpu_time, "TRACELIB_ROTATE": rotate}
    result = traced(openmpi, own_counters(openmpi), "100", ranks=2, env=env)
    trace = open_trace(str(result.run))
    for rank in range(2):
        found, values = barriers(trace, rank), added(rank, 100)
        turn = (np.arange(100) // 7 + ("spread" in rotate) * rank) % 2
        assert found[ALPHA].tolist() == np.where(turn == 0, values[ALPHA], UNKNOWN).tolist()
        assert found[BETA].tolist() == np.where(turn == 1, values[BETA], UNKNOWN).tolist()
        if cpu_time == "on":
            assert (found[CPU] > 0).all()


SCHEDULE = """# rank 0 and the others
0     collectives:5   2
0     collectives:20  1
1-3   start           2
1     collectives:30  1   # rank 1 alone
*     collectives:60  2
"""


def scheduled(rank):
    """Which set counts before each of 100 barriers, from 0, by SCHEDULE."""
    i = np.arange(100)
    if rank == 0:
        return np.where(i < 5, 0, np.where(i < 20, 1, np.where(i < 60, 0, 1)))
    return np.where((i >= 30) & (i < 60) & (rank == 1), 0, 1)


@pytest.mark.parametrize(
    ("mpi_name", "ranks", "rotate", "turns"),
    [
        ("openmpi", 3, "file:schedule", scheduled),
        ("mpich", 2, "file:schedule", scheduled),
        ("openmpi", 3, "never,spread", lambda rank: np.full(100, rank % 2)),
    ],
)
def test_sets_of_each_rank(request, own_counters, traced, tmp_path, mpi_name, ranks, rotate, turns):
    mpi = request.getfixturevalue(mpi_name)
    (tmp_path / "schedule").write_text(SCHEDULE)
    env = {"TRACELIB_COUNTERS": f"{ALPHA};{BETA}", "TRACELIB_CPUTIME": "off", "TRACELIB_ROTATE": rotate}
    result = traced(mpi, own_counters(mpi), "100", ranks=ranks, env=env)
    assert "TRACELIB_ROTATE" not in result.finished.stderr
    trace = open_trace(str(result.run))
    for rank in range(ranks):
        found, values, turn = barriers(trace, rank), added(rank, 100), turns(rank)
        for number, name in enumerate((ALPHA, BETA)):
            counted = found.get(name, np.full(100, UNKNOWN))
            assert counted.tolist() == np.where(turn == number, values[name], UNKNOWN).tolist()


@pytest.mark.timed
def test_a_schedule_by_time(openmpi, own_counters, traced, tmp_path):
    """The second set from 50 ms to 100 ms; a burst takes 1 ms at least, and its number is the truth of each set. All of
    it takes longer where others want the CPUs, so that a rank hardly sleeps through that time."""
    slower = crowd()
    (tmp_path / "schedule").write_text(f"* {50 * slower:.0f}ms 2\n* {100 * slower:.0f}ms 1\n")
    env = {"TRACELIB_COUNTERS": f"{ALPHA};{BETA}", "TRACELIB_CPUTIME": "off", "TRACELIB_ROTATE": "file:schedule"}
    result = traced(openmpi, own_counters(openmpi), "200", f"{1000 * slower:.0f}", ranks=2, env=env)
    trace = open_trace(str(result.run))
    for rank in range(2):
        found, values = barriers(trace, rank), added(rank, 200)
        second = np.flatnonzero(found[BETA] != UNKNOWN)
        assert 0 < len(second) <= 51
        assert second.tolist() == list(range(second[0], second[-1] + 1)), "one turn"
        assert found[BETA][second].tolist() == values[BETA][second].tolist()
        first = np.delete(np.arange(200), second)
        assert found[ALPHA][first].tolist() == values[ALPHA][first].tolist()
        assert (found[ALPHA][second] == UNKNOWN).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("* start 2\n\n* 1s 3\n", "line 3 of schedule has no number of a set, from 1 on"),
        (None, "cannot read schedule (No such file or directory)"),
    ],
)
def test_a_wrong_schedule_is_said_once_and_the_first_set_stays(openmpi, own_counters, traced, tmp_path, text, said):
    if text:
        (tmp_path / "schedule").write_text(text)
    env = {"TRACELIB_COUNTERS": f"{ALPHA};{BETA}", "TRACELIB_CPUTIME": "off", "TRACELIB_ROTATE": "file:schedule"}
    result = traced(openmpi, own_counters(openmpi), "20", ranks=2, env=env)
    lines = [line for line in result.finished.stderr.splitlines() if "ROTATE" in line]
    assert lines == [f"tracelib: TRACELIB_ROTATE: {said}; sets do not take turns"]
    trace = open_trace(str(result.run))
    for rank in range(2):
        assert barriers(trace, rank)[ALPHA].tolist() == added(rank, 20)[ALPHA].tolist()


def test_sets_take_turns_by_time(openmpi, own_counters, traced):
    """Every burst is counted by one of the sets, and both had many turns."""
    env = {"TRACELIB_COUNTERS": f"{ALPHA};{BETA}", "TRACELIB_CPUTIME": "off", "TRACELIB_ROTATE": "5ms"}
    result = traced(openmpi, own_counters(openmpi), "200", "500", ranks=2, env=env)
    changes = [file.tables["events"]["type"] == schema.COUNTER_SET_TYPE for file in result.ranks]
    assert all(change.sum() > 10 for change in changes)
    trace = open_trace(str(result.run))
    for rank in range(2):
        found, values = barriers(trace, rank), added(rank, 200)
        by_alpha = found[ALPHA] != UNKNOWN
        assert 40 < by_alpha.sum() < 160
        assert found[ALPHA].tolist() == np.where(by_alpha, values[ALPHA], UNKNOWN).tolist()
        assert found[BETA].tolist() == np.where(by_alpha, UNKNOWN, values[BETA]).tolist()
