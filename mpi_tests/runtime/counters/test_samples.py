"""Periodic samples of counters against what the sampled threads noted of themselves before and after."""

from __future__ import annotations

import signal

import matrix
import numpy as np
import pytest
from conftest import LIBRARY, source_of
from region_notes import compile_flags
from result import rank_files
from running import run

from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.recording.run.file_findings import count_findings
from analyzer.recording.run.rank_files import find_ranks
from analyzer.report.look.measurements import samples_json
from analyzer.trace import UNKNOWN, Counters, Regions
from tracelib import schema
from tracelib.recovery import recover

pytestmark = pytest.mark.timed

FAULTS, CPU = "perf::PAGE-FAULTS", "CPU_NS"
EVENTS = "perf::TASK-CLOCK:1000000"
COUNTERS = {"TRACELIB_COUNTERS": f"{FAULTS},{CPU}"}
NEAR_NS = 30_000
"""A time stamp lies within this of both ends of its reading."""
PERIOD_NS = 1_000_000


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """The program without MPI."""
    target = tmp_path_factory.mktemp("alone") / "sampled"
    words = ["cc", "-g", "-O1", "-DALONE", source_of("sampled.c"), "-o", target, *compile_flags()]
    run(words, target.parent, matrix.environment(), 60).check()
    return target


@pytest.fixture
def sampled(alone, tmp_path):
    """sampled("100", "2", TRACELIB_SAMPLE="1ms"): the program without MPI, traced."""

    def start(*args: str, **more: str):
        environment = matrix.environment() | COUNTERS | {"LD_PRELOAD": str(LIBRARY)} | more
        return run([alone, *args], tmp_path, environment, 60)

    return start


def to_monotonic(file, trace):
    """Maps the trace's ns of a rank to CLOCK_MONOTONIC, by the clock's own pairs."""
    ticks, ns = (file.tables["clock"][column].astype(np.int64) for column in ("ticks", "monotonic_ns"))
    order = np.argsort(ticks)
    start = np.interp(file.attributes["start_ticks"] - ticks[0], ticks[order] - ticks[0], ns[order] - ns[0])
    return lambda times: times - trace.span(file.attributes["rank"])[0] + int(start) + ns[0]


def check_thread(times, cpu, faults, notes, hidden_ns):
    """Each sample lies between what was noted last before it and what was noted first after it; up to hidden_ns of CPU
    time were the tracer's own and are not counted."""
    time, *noted = notes
    before, after = slice(1, None, 2), slice(0, None, 2)  # values, then their time; time, then its values
    earlier = np.searchsorted(time[before], times - NEAR_NS) - 1
    later = np.searchsorted(time[after], times + NEAR_NS)
    within = (earlier >= 0) & (later < len(time[after]))
    assert within.sum() >= len(times) // 2 - 1
    if not within.any():
        return  # a thread that hardly got a CPU: what was due is missed, and counted
    bounds = [(own[before][earlier[within]], own[after][later[within]]) for own in noted]
    assert (cpu[within] + hidden_ns >= bounds[0][0]).all()
    assert (cpu[within] <= bounds[0][1]).all()
    more = bounds[1][0] - faults[within], bounds[1][1] - faults[within]
    assert more[0].max() <= more[1].min(), "no number of page faults before the first reading explains all samples"


def numbers_of(trace, rank):
    """The program's own number of each thread."""
    events = trace.extra(Regions).events(rank)
    return {int(e["thread"]): int(e["value"]) for e in events[events["type"] == 1000]}


def check(folder, threads, period_ns, clock=True):
    """All ranks and threads of a run of programs/sampled.c; the number of samples taken."""
    files = rank_files(folder / "run.h5")
    trace = open_trace(str(folder / "run.h5"))
    assert trace.threads.tolist() == [threads] * trace.size
    columns = [[c.name for c in trace.extra(Counters).known].index(name) for name in (CPU, FAULTS)]
    total, hidden_ns = 0, int(useful(trace, Team()).tracer_ns.max())
    for file in files:
        rank = file.attributes["rank"]
        samples = trace.extra(Counters).samples(rank)
        taken, missed = trace.extra(Counters).sampled(rank)
        assert taken == (~samples.at_region).sum() > 0  # few where the sampler is starved; the others are missed
        assert samples.at_region.sum() == 2 * threads
        assert (samples.values != UNKNOWN).all()
        assert (np.diff(samples.time) >= 0).all()
        possible = 0
        for thread, number in numbers_of(trace, rank).items():
            notes = np.loadtxt(folder / f"truth-{rank}-{number}", dtype=np.int64).T
            since = notes[0 if period_ns else 1]
            possible += int(since[-1] - since[0]) // PERIOD_NS
            mine = samples.thread == thread
            times, (cpu, faults) = samples.time[mine], samples.values[mine][:, columns].T
            assert (np.diff(cpu) >= 0).all()
            assert (np.diff(faults) >= 0).all()
            assert cpu[-1] <= notes[1][-1] + 100 * PERIOD_NS
            if clock:
                check_thread(to_monotonic(file, trace)(times), cpu, faults, notes, hidden_ns)
        assert taken <= possible + 12 * threads
        assert taken + missed >= possible // 2 > 5
        total += taken
        check_calls(trace, rank, samples)
        check_events(trace, rank, samples, columns[0])
    trace.close()
    return total


def check_calls(trace, rank, samples):
    """Assert that no sample lies inside a call, and that its readings lie between those before and after it."""
    for counted in trace.extra(Counters).counts(rank):
        for thread in np.unique(counted.calls["thread"]):
            mine = counted.calls["thread"] == thread
            calls, enter, exit = counted.calls[mine], counted.enter[mine], counted.exit[mine]
            chosen = samples.thread == thread
            times, values = samples.time[chosen], samples.values[chosen]
            after = np.searchsorted(calls["enter"], times)
            inner = (after > 0) & (after < len(calls))
            assert (calls["exit"][after[inner] - 1] <= times[inner]).all()
            assert (exit[after[inner] - 1] <= values[inner]).all()
            assert (values[inner] <= enter[after[inner]]).all()


def check_events(trace, rank, samples, cpu):
    """The CPU time of all events of a thread is its last reading."""
    events = trace.events()
    events = events[(events["type"] == schema.CPU_TIME_TYPE) & (events["rank"] == rank)]
    assert (np.diff(events["time"]) >= 0).all()
    for thread in range(trace.threads[rank]):
        last = samples.values[samples.thread == thread][:, cpu].max()
        for counted in trace.extra(Counters).counts(rank):
            last = max(last, counted.exit[counted.calls["thread"] == thread][:, cpu].max(initial=0))
        assert events["value"][events["thread"] == thread].sum() == last


@pytest.mark.parametrize(("sample", "threads"), [("1000us", 2), (EVENTS, 1)])
def test_without_mpi(sampled, tmp_path, sample, threads):
    sampled("200", str(threads), TRACELIB_SAMPLE=sample).check()
    taken = check(tmp_path, threads, PERIOD_NS if sample != EVENTS else 0)
    trace = open_trace(str(tmp_path / "run.h5"))
    assert samples_json(trace)["count"] == taken
    trace.close()
    assert not count_findings(find_ranks(str(tmp_path / "run.h5")).files)


@pytest.mark.parametrize(("mpi_name", "sample"), [("openmpi", "1ms"), ("mpich", EVENTS)])
def test_between_the_calls_of_mpi(request, compiled, traced, mpi_name, sample):
    leg = request.getfixturevalue(mpi_name)
    program = compiled(leg, "sampled.c", *compile_flags())
    result = traced(leg, program, "400", "2", ranks=2, env=COUNTERS | {"TRACELIB_SAMPLE": sample})
    check(result.folder, 2, PERIOD_NS if sample != EVENTS else 0)


def test_what_a_killed_process_sampled_is_there(sampled, tmp_path):
    """In its buffers, and after `tracelib recover`."""
    assert sampled("150", "1", "dies", TRACELIB_SAMPLE="1ms").returncode == -signal.SIGKILL
    before = check(tmp_path, 1, PERIOD_NS, clock=False)
    assert not recover(str(tmp_path / "run.h5")).incomplete
    assert check(tmp_path, 1, PERIOD_NS, clock=False) == before


def test_a_child_is_not_sampled_and_the_parent_goes_on(sampled, tmp_path):
    """The program waits for any child, and finds its own alone."""
    finished = sampled("150", "1", "forks", TRACELIB_SAMPLE="1ms").check()
    assert "children: 1" in finished.stdout
    check(tmp_path, 1, PERIOD_NS)


def test_what_cannot_be_sampled_is_said_once(sampled, tmp_path):
    wrong = sampled("5", TRACELIB_SAMPLE="often").check().stderr
    assert wrong.count("TRACELIB_SAMPLE=often is not a time") == 1
    short = sampled("5", TRACELIB_SAMPLE="1us").check().stderr
    assert short.count("TRACELIB_SAMPLE=1us is less than 10us") == 1
    strange = sampled("5", TRACELIB_SAMPLE="perf::NONSENSE:1000").check().stderr
    assert strange.count("no such perf event") == 1
    nothing = sampled("5", TRACELIB_SAMPLE=EVENTS, TRACELIB_COUNTERS="").check().stderr
    assert nothing.count("there are no counters to sample") == 1
    for file in (f for n in ("run", "run-2", "run-3", "run-4") for f in rank_files(tmp_path / f"{n}.h5")):
        assert not (file.tables["events"]["thread"] == schema.SAMPLER_THREAD).any()


def test_a_pause_is_not_sampled(sampled, tmp_path):
    """Off from the start: no reading at all."""
    sampled("50", TRACELIB_SAMPLE="1ms", TRACELIB_START="off").check()
    trace = open_trace(str(tmp_path / "run.h5"))
    assert trace.extra(Counters).sampled(0) == (0, 0)
