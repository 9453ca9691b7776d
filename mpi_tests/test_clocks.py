"""Nodes whose clocks disagree: odd ranks see a CLOCK_MONOTONIC that is 1000 s ahead."""

import shutil

import h5py
import pytest
from conftest import PROGRAMS

from analyzer.sources.run import open_run

SKEW_NS = 1000 * 10**9


@pytest.fixture(params=["openmpi", "mpich"])
def leg(request, root_only):
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["tsc", "monotonic"])
def skewed(request, leg, compiled, traced):
    """A run of a ring, with stamps from either clock."""
    ring = compiled(leg, "steady.c")
    # Two ranks, one a core: where ranks wait for a core the round trips are too long to tell a message's time.
    return traced(leg, PROGRAMS / "skewed", str(ring), "2000", ranks=2, env={"TRACELIB_CLOCK": request.param})


def test_the_skew_is_measured_at_init_and_finalize(skewed):
    for rank, file in enumerate(sorted((skewed.folder / "run.ranks").iterdir())):
        with h5py.File(file) as f:
            rows = f["sync"][:]
        assert len(rows) == (2 if rank % 2 else 0)
        assert (abs(rows["local_ns"] - rows["reference_ns"] - SKEW_NS) <= rows["round_trip_ns"]).all()
        assert (rows["round_trip_ns"] > 0).all()


def test_messages_are_never_backwards_after_alignment(skewed, analyze):
    analyze("check", skewed.run).check()
    trace = open_run(str(skewed.run))
    messages = trace.messages()
    assert len(messages) == 2000 * trace.size
    assert (messages["physical_receive"] > messages["logical_send"]).all()
    assert trace.duration_ns < 60 * 10**9
    assert trace.problems == []
    trace.close()


def test_one_clock_is_not_measured(leg, compiled, traced):
    run = traced(leg, compiled(leg, "steady.c"), "10")
    for file in (run.folder / "run.ranks").iterdir():
        with h5py.File(file) as f:
            assert len(f["sync"]) == 0
