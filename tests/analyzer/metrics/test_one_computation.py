"""All analyses mean the same by computing: on random runs each of them says the same time, by rank and in sum, of the
run.h5, of its .prv and of its .dim. And what is no computing is the same thing everywhere, too."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from random_runs import RATES, runs
from synthetic import WORLD, call, event, write_run

from analyzer.critical.activities import CALL, COMPUTATION, LAUNCH, THREADS, TRACER, UNRECORDED
from analyzer.critical.path import critical_path
from analyzer.critical.shares import PathShares, path_shares
from analyzer.efficiency.analysis import efficiencies
from analyzer.machine.description import Machine
from analyzer.metrics.parallelism import parallelism
from analyzer.metrics.profile import profile
from analyzer.metrics.regions import region_sums
from analyzer.metrics.useful import bursts, useful
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.replay.simulate import simulate
from analyzer.report.look.as_json import summary_json
from analyzer.report.look.summary import summarize
from analyzer.sensitivity.limits import limits
from analyzer.trace import State, Trace, TracerTime
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.kinds import WAIT
from analyzer.waits.region_paths import PathChanges, RegionPaths
from analyzer.waits.segments import COMPUTING, FIRST_CALL, OF_TRACER, Segments
from analyzer.waits.threads import Lanes
from analyzer.writers.dim import write_dim
from analyzer.writers.paraver_labels import write_pcf
from analyzer.writers.prv import write_prv
from tracelib.schema import FLUSH_TYPE

ONE = Team()
MOST_NS = 10**6
"""No random run is longer."""


@contextmanager
def opened(ranks, tsc_per_us) -> Iterator[Trace]:
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(str(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us)))
        try:
            yield trace
        finally:
            trace.close()


@contextmanager
def as_prv(trace: Trace) -> Iterator[Trace]:
    """A trace as its .prv is read."""
    path = Path(trace.path).with_suffix(".prv")
    write_prv(trace, path)
    write_pcf(trace, path.with_suffix(".pcf"))
    imported = open_trace(str(path))
    yield imported
    imported.close()


def as_dim(trace: Trace) -> list[int]:
    """The bursts of each rank in the .dim of a trace, which is read and replayed."""
    path = Path(trace.path).with_suffix(".dim")
    write_dim(trace, path, ONE)
    imported = open_trace(str(path))
    try:
        found = replayed(imported)
        times = useful(
            imported, ONE
        ).by_rank()  # of its replay: a call takes a ns, and begins one after the one before,
        calls = sum(len(rows) for rank in range(trace.size) for rows in imported.calls(rank))
        assert (
            abs(times - found).max() <= calls * calls
        )  # in the bursts before, of which each loses one for those after
        return found
    finally:
        imported.close()


def replayed(trace: Trace) -> list[int]:
    program = program_of(trace, cpu_time=False)
    computing = simulate(program, Machine.ideal()).usage["computing"]
    return np.bincount(program.rank, computing, trace.size).astype(int).tolist()


def limited(trace: Trace) -> list[int]:
    """Return the computing time of all ranks, and the rank that computes longest, as `limits` says."""
    found = limits(program_of(trace, cpu_time=False), Machine.ideal(), ONE, jobs=1)
    return [round(found.computing_ns * trace.size), found.longest]


def of_kind(path: PathShares, *kinds: str) -> int:
    return sum(ns for function, ns in path.total_ns.items() if function.kind in kinds)


def in_states(trace: Trace, *states: State) -> int:
    rows = trace.states()
    rows = rows[np.isin(rows["state"], states)]
    return int((rows["end"] - rows["begin"]).sum())


def flushed(trace: Trace) -> int:
    rows = np.concatenate([trace.extra(TracerTime).flushes(rank) for rank in range(trace.size)])
    return int((rows["end"] - rows["begin"]).sum())


def in_segments(trace: Trace) -> dict[int, int]:
    """Return the parts of delays, if nobody waits: ns by activity, calls together."""
    segments, paths = Segments(trace, Lanes(trace)), RegionPaths(trace)
    for ranks, bounds in trace.parts(range(trace.size), 64):
        segments.add(ranks, bounds, np.zeros(0, WAIT), PathChanges.collect(paths, ranks))
    rows, table, sums = segments.rows.mapped(), segments.activities.table(), dict[int, int]()
    for first, last in zip(segments.first, segments.first[1:], strict=False):
        lengths, done = np.diff(rows["begin"][first:last]), table[rows["activity"][first : last - 1], 1]
        for what, ns in zip(done.clip(max=FIRST_CALL).tolist(), lengths.tolist(), strict=True):
            sums[what] = sums.get(what, 0) + ns
    return sums


def check_sums(trace: Trace) -> list[int]:
    """Check the sums, and return the computing time by rank."""
    found = useful(trace, ONE)
    computing, total = found.by_rank().tolist(), int(found.time_ns.sum())
    assert bursts(trace, ONE).time_ns == total == in_states(trace, State.RUNNING)
    profiled = parallelism(trace, ONE, 7)
    assert profiled.mean() * profiled.end_ns == pytest.approx(total, abs=1e-3)
    summary = summarize(trace, ONE)
    said = summary_json(summary)
    assert said["useful_s"]["total"] == pytest.approx(total / 1e9, abs=1e-12)
    assert said["bursts"]["time_s"] == pytest.approx(total / 1e9, abs=1e-12)
    tracer = found.tracer_ns.sum() + flushed(trace)
    assert said["tracer"]["time_s"] == pytest.approx(tracer / 1e9, abs=1e-12)
    factors = efficiencies(trace, ONE)
    longest = found.time_ns if factors.efficiency.published else found.of_ranks(factors.efficiency.runtime_ns)
    assert factors.efficiency.useful_max_ns == pytest.approx(longest.max())
    assert factors.efficiency.useful_max_ns <= factors.efficiency.runtime_ns
    assert factors.work.useful_ns == total
    assert factors.tracer_ns.sum() == tracer
    if factors.work.ipc is not None:
        assert factors.work.ipc == pytest.approx(RATES[0] / RATES[1])
    alive = in_states(trace, *(state for state in State if state != State.NOT_CREATED))
    off, mpi = in_states(trace, State.TRACING_DISABLED), profile(trace, ONE).mpi_ns()
    assert alive == total + mpi.sum() + tracer + off
    assert analyze_waits(trace, ONE, summary.profile).mpi_ns.tolist() == mpi.tolist()
    sums = region_sums(trace, ONE)
    assert (sums.time_ns == sums.useful_ns + sums.mpi_ns + sums.lost_ns).all()
    return computing


def check_path(trace: Trace, computing: list[int]) -> None:
    """Check the critical path. To it a main thread that waits for other threads to end does not compute."""
    path = path_shares(trace, critical_path(trace))
    assert sum(path.rank_path_ns) == sum(share.path_ns for share in path.functions) == trace.duration_ns
    tracer = useful(trace, ONE).tracer_ns.sum() + flushed(trace)
    if not of_kind(path, THREADS):
        assert [slack.computing_ns if slack else 0 for slack in path.rank_slack] == computing
        assert of_kind(path, COMPUTATION) == sum(computing)
        assert of_kind(path, TRACER) == tracer
        assert of_kind(path, UNRECORDED) == in_states(trace, State.TRACING_DISABLED)
    assert of_kind(path, CALL) == profile(trace, ONE).mpi_ns().sum()
    alive = in_states(trace, *(state for state in State if state != State.NOT_CREATED))
    assert sum(path.total_ns.values()) - of_kind(path, LAUNCH) == alive


def check_delays(trace: Trace, computing: list[int]) -> None:
    """Check the parts of delays."""
    found = in_segments(trace)
    assert found.get(COMPUTING, 0) == sum(computing)
    assert found.get(OF_TRACER, 0) == useful(trace, ONE).tracer_ns.sum() + flushed(trace)
    assert found.get(FIRST_CALL, 0) == profile(trace, ONE).mpi_ns().sum()


def test_prv_of_a_tracer_that_takes_no_time_is_ours(tmp_path):
    """Then no state of it says so. A flush of 40 ns is the tracer's there, too; of another tool it is computation."""
    rows = [call("MPI_Init", 10, 20), call("MPI_Barrier", 100, 130, comm=WORLD), call("MPI_Finalize", 190, 200)]
    flush = [event(140, FLUSH_TYPE, 1), event(180, FLUSH_TYPE, 0)]
    trace = open_trace(str(write_run(tmp_path, [{"calls": rows, "events": flush, "overhead_ticks": 0}])))
    with as_prv(trace) as imported:
        assert imported.origin.tracer_times and not in_states(imported, State.TRACER)
        assert check_sums(imported) == check_sums(trace) == [10 + 80 + 10 + 10]
        write_prv(imported, tmp_path / "again.prv")
    assert (tmp_path / "again.prv").read_bytes() == Path(trace.path).with_suffix(".prv").read_bytes()
    text = (tmp_path / "again.prv").read_text()
    cut = tmp_path / "cut.prv"
    cut.write_text(text.replace("49000009:1", "49000099:1"))
    other = open_trace(str(cut))
    assert not other.origin.tracer_times
    other.close()
    trace.close()


@settings(max_examples=15)
@given(runs(most_threads=1))
def test_of_ranks_of_one_thread(run):
    with opened(*run) as trace:
        computing = check_sums(trace)
        assert replayed(trace) == computing == as_dim(trace)
        assert limited(trace) == [sum(computing), computing.index(max(computing))]
        with as_prv(trace) as imported:
            assert check_sums(imported) == computing == replayed(imported)
            for one in (trace, imported):
                check_path(one, computing)
                check_delays(one, computing)


@settings(max_examples=15)
@given(runs(most_threads=3))
def test_of_ranks_of_several_threads(run):
    """Ranks of several threads, whose one sequence a .dim has.

    A .prv does not have the end of a thread's last folded row. In a replay the main thread begins the others: threads
    first seen within one of its calls begin before that call, and compute until then.
    """
    with opened(*run) as trace:
        computing = check_sums(trace)
        assert replayed(trace) == [ns + begun_in_calls(trace, rank) for rank, ns in enumerate(computing)]
        with as_prv(trace) as imported:
            assert check_sums(imported) == computing
        check_path(trace, computing)
        check_delays(trace, computing)


def begun_in_calls(trace: Trace, rank: int) -> int:
    """How long the main thread had been in a call when it first saw other threads, summed over these."""
    rows = np.concatenate(list(trace.calls(rank)))
    main, total = rows[rows["thread"] == 0], 0
    for thread in range(1, int(trace.threads[rank])):
        first = rows["enter"][rows["thread"] == thread].min()
        around = main[main["enter"] <= first][-1:]
        total += int((first - around["enter"])[around["exit"] > first].sum())
    return total
