"""Nodes whose clocks disagree: odd ranks see a CLOCK_MONOTONIC that is 1000 s ahead, or one that is bent besides.

What the clocks really were the ranks of clocks.c know by the time stamp counter, which is the same for all.
"""

import os
import re
import shutil
from dataclasses import dataclass

import h5py
import numpy as np
import pytest
from conftest import source_of
from running import run

from analyzer.recording.run.opening import open_run
from analyzer.trace import Clocks, State, TracerTime
from tracelib.schema import SYNC_TYPE

pytestmark = pytest.mark.timed

SKEW_NS = 1000 * 10**9
CALLS_A_WINDOW = 40


@pytest.fixture(params=["openmpi", "mpich"])
def leg(request, root_only):
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    return request.getfixturevalue(request.param)


@pytest.fixture
def skewed(leg, compiled, traced):
    """skewed(program, *args, env): traced at two ranks, one a core: where ranks wait for a core the round trips are too
    long to tell a message's time."""

    def start(program, *args, env=None):
        return traced(leg, source_of("skewed"), str(compiled(leg, program)), *args, ranks=2, env=env)

    return start


@pytest.fixture(scope="session")
def bent(tmp_path_factory):
    """The environment in which the clocks of odd ranks are bent."""
    folder = tmp_path_factory.mktemp("bent")
    command = ["cc", "-shared", "-fPIC", "-O1", source_of("bent.c"), "-o", folder / "bent.so", "-lm"]
    run(command, folder, dict(os.environ), 60).check()
    return {"LD_PRELOAD": str(folder / "bent.so"), "TRACELIB_CLOCK": "monotonic"}


def readings(traced):
    """The table `sync` of each rank."""
    found = []
    for file in sorted((traced.folder / "run.ranks").iterdir()):
        with h5py.File(file) as f:
            found.append(f["sync"][:])
    return found


@dataclass(frozen=True)
class Truth:
    """Readings that clocks.c noted for one rank."""

    latency_ns: float  # the least that a message took
    hertz: float
    before: np.ndarray  # ticks at each MPI_Allreduce
    after: np.ndarray

    @classmethod
    def of(cls, traced, rank):
        noted = np.fromfile(traced.folder / f"clocks-{rank}.bin", np.uint64)
        pairs = noted[2:].astype(np.int64).reshape(-1, 2)
        return cls(float(noted[0]) * 1e9 / float(noted[1]), float(noted[1]), pairs[:, 0], pairs[:, 1])


def residuals(traced):
    """How far the aligned clock of rank 1 is from that of rank 0, in ns, for each window of calls."""
    truths = [Truth.of(traced, rank) for rank in (0, 1)]
    trace = open_run(str(traced.run))
    true_ns = [(truth.before - truths[0].before[0]) * 1e9 / truths[0].hertz for truth in truths]
    late = []
    for rank, truth in enumerate(truths):
        calls = np.concatenate(list(trace.calls(rank)))
        calls = calls[calls["call"] == trace.procedures.index("MPI_Allreduce")]
        assert len(calls) == len(truth.before)
        late.append(calls["enter"] - true_ns[rank])
    trace.close()
    # How the counter and rank 0's clock drift apart is not the matter here: the median slope over half the run.
    half = len(late[0]) // 2
    drift = np.median((late[0][half:] - late[0][:-half]) / (true_ns[0][half:] - true_ns[0][:-half]))
    # A stamp is taken after the program's own reading before the call: the error is what it is later at least.
    windows = len(late[0]) // CALLS_A_WINDOW
    least = [
        (x - drift * at)[: windows * CALLS_A_WINDOW].reshape(windows, -1).min(axis=1)
        for x, at in zip(late, true_ns, strict=True)
    ]
    # Where a core was busy a whole window of stamps may be late: the middle one of three windows is not.
    return np.median(np.lib.stride_tricks.sliding_window_view(least[1] - least[0], 3), axis=1)


def one_way_ns(traced):
    """How long the fastest messages took, the mean of both directions."""
    return (Truth.of(traced, 0).latency_ns + Truth.of(traced, 1).latency_ns) / 2


@pytest.fixture(params=["tsc", "monotonic"])
def ring(request, skewed):
    """Messages round a ring, with stamps from either clock."""
    return skewed("steady.c", "2000", env={"TRACELIB_CLOCK": request.param})


def test_the_skew_is_measured_at_init_and_finalize(ring):
    for rank, rows in enumerate(readings(ring)):
        assert len(rows) == (2 if rank % 2 else 0)
        assert (abs(rows["local_ns"] - rows["reference_ns"] - SKEW_NS) <= rows["round_trip_ns"]).all()
        assert (rows["accuracy_ns"] > 0).all()
        assert (rows["accuracy_ns"] <= rows["round_trip_ns"] // 2).all()


def test_messages_are_never_backwards_after_alignment(ring, analyze):
    analyze("check", ring.run).check()
    trace = open_run(str(ring.run))
    messages = trace.messages()
    assert len(messages) == 2000 * trace.size
    assert (messages["physical_receive"] > messages["logical_send"]).all()
    assert trace.duration_ns < 60 * 10**9
    assert trace.problems == []
    (clock,) = trace.extra(Clocks).known
    assert abs(clock.ahead_ns - SKEW_NS) <= 2 * clock.bound_ns
    trace.close()


@pytest.mark.parametrize("stamps", ["tsc", "monotonic"])
def test_what_is_left_of_a_skew_is_less_than_a_message_takes(skewed, stamps):
    traced = skewed("clocks.c", "800", "300", env={"TRACELIB_CLOCK": stamps})
    # A third of the run at a time. Beside busy processes some windows are late; an error of the clock is in all.
    left = max(abs(part).min() for part in np.array_split(residuals(traced), 3))
    known = readings(traced)[1]["round_trip_ns"].max() / 2  # where ranks take turns on a CPU, no round trip is short
    assert left < known
    assert left < one_way_ns(traced) or known > 10 * one_way_ns(traced)


def test_points_between_follow_a_bent_clock(skewed, bent, analyze):
    """100 us ahead and behind in a second: readings at both ends alone leave most of that, hundreds between nothing."""
    straight = skewed("clocks.c", "1200", "1000", env=bent)
    assert abs(residuals(straight)).max() > 50_000
    found = analyze("check", straight.run).stdout
    backwards = sum(int(n) for n in re.findall(r"(\d+) messages .* before they were sent", found))
    assert backwards > 100  # some 1000 where nobody else wants the cores: then messages are quick
    analyze("check", "--repair-clocks", "100ns", straight.run).check()
    shutil.rmtree(straight.folder / "run.ranks")
    (straight.folder / "run.h5").unlink()
    followed = skewed("clocks.c", "1200", "1000", env=bent | {"TRACELIB_SYNC": "collectives:3"})
    rows = readings(followed)[1]
    assert len(rows) == 2 + 1200 // 3
    # A straight line between points of a wave is off by its curvature times their distance squared / 8: nothing, unless
    # the machine was busy with something else and the points that say something are far apart.
    quick = rows["round_trip_ns"] < 10 * np.median(rows["round_trip_ns"])
    apart_s = np.percentile(np.diff(rows["local_ns"][quick]), 95) / 1e9
    off = 1e5 * (2 * np.pi) ** 2 * apart_s**2 / 8
    assert np.median(abs(residuals(followed))) < np.median(rows["round_trip_ns"]) / 2 + off
    trace = open_run(str(followed.run))
    messages = trace.messages()
    assert len(messages) == 2400
    assert (messages["physical_receive"] <= messages["logical_send"]).sum() < backwards / 4
    trace.close()


def test_points_between_are_the_tracers_own_time(skewed):
    """Each rank that takes part marks each of them, by number or by time, and computes nothing meanwhile."""
    traced = skewed("clocks.c", "300", "1000", env={"TRACELIB_SYNC": "collectives:25,every:20ms"})
    times = readings(traced)[1]["local_ns"]
    assert len(times) > 2 + 300 // 25
    trace = open_run(str(traced.run))
    for rank in (0, 1):
        rows = trace.extra(TracerTime).flushes(rank)
        measured = rows[rows["state"] == State.OTHERS]
        assert len(measured) == len(times) - 2
        states = trace.states()
        running = states[(states["rank"] == rank) & (states["state"] == 1)]
        for begin, end in zip(measured["begin"], measured["end"], strict=True):
            assert not ((running["begin"] < end) & (running["end"] > begin)).any()
        events = trace.events(ranks=range(rank, rank + 1))
        assert (events["type"] == SYNC_TYPE).sum() == 2 * len(measured)
    trace.close()


@pytest.mark.parametrize("kind", ["hidden", "ahead"])
def test_collectives_that_ranks_see_differently_stop_nothing(skewed, kind):
    """If the ranks' counts differ, measuring ends with one line; calls that only a root leaves early do not count."""
    traced = skewed("unequal.c", kind, env={"TRACELIB_SYNC": "collectives:1"})
    assert traced.finished.stdout.split() == ["100"]
    rows = readings(traced)[1]
    ended = "clocks are measured again in MPI_Finalize only"
    assert traced.finished.stderr.count(ended) == (2 if kind == "hidden" else 0)
    assert len(rows) == (2 if kind == "hidden" else 52)
    assert (abs(rows["local_ns"] - rows["reference_ns"] - SKEW_NS) <= rows["round_trip_ns"]).all()


def test_what_cannot_be_understood_is_said_once_and_passed_over(skewed):
    traced = skewed("steady.c", "10", env={"TRACELIB_SYNC": "sometimes,every:10,collectives:-1,every:10s"})
    assert traced.finished.stderr.count("TRACELIB_SYNC=sometimes") == 1
    assert len(readings(traced)[1]) == 3  # the barrier is the first collective


def test_one_clock_is_not_measured(leg, compiled, traced):
    run = traced(leg, compiled(leg, "steady.c"), "10", env={"TRACELIB_SYNC": "collectives:1"})
    assert all(len(rows) == 0 for rows in readings(run))


def test_every_clock_is_measured_on_request(leg, compiled, traced):
    """Ranks of one machine: their clocks are the same, as their readings confirm, and nothing is changed by them."""
    run = traced(leg, compiled(leg, "steady.c"), "10", ranks=2, env={"TRACELIB_SYNC": "all,collectives:1"})
    first, second = readings(run)
    assert (len(first), len(second)) == (0, 3)
    assert (abs(second["local_ns"] - second["reference_ns"]) <= second["round_trip_ns"] // 2 + 1).all()
    trace = open_run(str(run.run))
    assert (trace.problems, trace.extra(Clocks).known) == ([], ())
    trace.close()
