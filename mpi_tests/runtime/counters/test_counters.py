"""Counters at the entry and exit of calls: what the traced program counted itself, burst by burst."""

from __future__ import annotations

import random

import campaign
import matrix
import numpy as np
import pytest
from own_counters import ALPHA, BETA, added, barriers

from analyzer.opening import open_trace
from analyzer.trace import UNKNOWN, Counters, Losses
from tracelib import schema

FAULTS, CPU = "perf::PAGE-FAULTS", "CPU_NS"
LONG_NS = 100_000


def truth(folder, rank, thread):
    """Pages touched and ns of CPU of each burst, as the program noted them."""
    return np.loadtxt(folder / f"truth-{rank}-{thread}", dtype=np.int64, ndmin=2).T


def bursts_by_tag(trace, rank, counter):
    """Return the counts before each MPI_Send but the first, by tag, which is the program's own thread number."""
    column = [c.name for c in trace.extra(Counters).known].index(counter)
    name = np.array(trace.procedures)
    parts = list(trace.extra(Counters).counts(rank))
    calls = np.concatenate([p.calls for p in parts])
    burst = np.concatenate([p.burst for p in parts])[:, column]
    sends = name[calls["call"]] == "MPI_Send"
    return {int(tag): burst[sends & (calls["tag"] == tag)][1:] for tag in np.unique(calls["tag"][sends])}


@pytest.mark.parametrize(("mpi_name", "threads"), [("openmpi", 1), ("openmpi", 4), ("mpich", 4)])
def test_page_faults_and_cpu_time_are_those_of_the_program(request, compiled, traced, mpi_name, threads):
    """Also over flushes: the buffer holds fewer calls than are made."""
    mpi = request.getfixturevalue(mpi_name)
    program = compiled(mpi, "counted.c", "-pthread")
    env = {"TRACELIB_COUNTERS": f"{FAULTS},{CPU}", "TRACELIB_BUFFER": "8K"}
    result = traced(mpi, program, "300", str(threads), ranks=2, env=env)
    files = result.ranks
    trace = open_trace(str(result.run))
    assert not trace.problems
    assert [c.name for c in trace.extra(Counters).known] == [CPU, FAULTS]  # in the order of their backends
    for rank, file in enumerate(files):
        assert len(file.tables["blocks"]) > threads
        faults, cpu = (bursts_by_tag(trace, rank, counter) for counter in (FAULTS, CPU))
        assert sorted(faults) == sorted(cpu) == list(range(threads))
        for thread in range(threads):
            pages, ns = truth(result.folder, rank, thread)
            more = faults[thread] - pages  # now and then the kernel takes a page away
            assert more.min() >= 0
            assert (more == 0).mean() > 0.98
            beside = cpu[thread] - ns
            assert beside.min() >= 0
            assert np.median(beside) < LONG_NS


def test_a_counter_that_does_not_exist_is_named_and_left_out(mpich, compiled, traced):
    env = {"TRACELIB_COUNTERS": f"perf::NONSENSE,{FAULTS},NO_SUCH_COUNTER", "TRACELIB_CPUTIME": "off"}
    result = traced(mpich, compiled(mpich, "counted.c", "-pthread"), "10", ranks=2, env=env)
    lines = [line for line in result.finished.stderr.splitlines() if "not counted" in line]
    assert len(lines) == 1, "rank 0 alone says it"
    assert "perf::NONSENSE (no such perf event)" in lines[0]
    assert "NO_SUCH_COUNTER (" in lines[0]
    for file in result.ranks:
        assert [row["name"].decode() for row in file.tables["counters"]] == [FAULTS]


@pytest.mark.parametrize(("wanted", "ranks", "there"), [("auto", 4, True), ("auto", 1, False), ("off", 4, False)])
def test_cpu_time_is_recorded_where_ranks_share_cpus(openmpi, compiled, traced, wanted, ranks, there):
    """Four ranks that may run on one CPU."""
    program = compiled(openmpi, "counted.c", "-pthread")
    env = {"TRACELIB_CPUTIME": wanted, "OMPI_MCA_hwloc_base_binding_policy": "none"}
    result = traced(openmpi, "taskset", "-c", "0", str(program), "20", ranks=ranks, env=env)
    assert ("CPU time" in result.finished.stderr) == there
    for file in result.ranks:
        assert [row["name"].decode() for row in file.tables["counters"]] == [CPU] * there
        assert file.attributes["cpus"].decode() == "0"
    trace = open_trace(str(result.run))
    for rank in range(ranks if there else 0):
        beside = bursts_by_tag(trace, rank, CPU)[0] - truth(result.folder, rank, 0)[1]
        assert beside.min() >= 0
        assert np.median(beside) < LONG_NS


def readings(run):
    """All calls of rank 0 with their readings, each of which must be there, but for a call that did not return."""
    trace = open_trace(str(run))
    parts = list(trace.extra(Counters).counts(0))
    enter, exit = (np.concatenate([getattr(p, side) for p in parts]) for side in ("enter", "exit"))
    calls = np.concatenate([p.calls for p in parts])
    assert len(calls) == sum(len(block) for block in trace.calls(0))
    polls = calls["call"] == trace.procedures.index("MPI_Iprobe")
    unread = (enter == UNKNOWN).any(axis=1) | (exit == UNKNOWN).any(axis=1)
    came_back = ~np.isin(calls["enter"], [call.enter_ns for call in trace.extra(Losses).unfinished])
    assert not unread[~polls & came_back].any()
    assert (exit >= enter).all()
    trace.close()
    return enter, exit


def test_no_call_of_a_killed_rank_is_without_its_readings(openmpi, compiled, tmp_path, monkeypatch):
    """In its buffers, and after `tracelib recover`."""
    monkeypatch.setitem(matrix.ENVIRONMENT, "TRACELIB_COUNTERS", f"{FAULTS},{CPU}")
    program = compiled(openmpi, "dies.c", "-pthread")
    random_ = random.Random("kills with counters")
    for number in range(8):
        folder = tmp_path / str(number)
        running = campaign.start(openmpi, program, folder, 1, random_.choice(["4K", "16K"]), 4, "wait", 0)
        running.wait_for(random_.randrange(2, 500))
        campaign.kill(running.progress()[0].pid, "SIGKILL")
        running.end()
        before = readings(folder / "run.h5")
        campaign.check(folder, 1)
        after = readings(folder / "run.h5")
        assert all((x == y).all() for x, y in zip(before, after, strict=True))


def test_paraver_events_are_what_was_counted(openmpi, compiled, traced, analyze):
    """Between an entry and the exit before it: new pages; and the .pcf names the counter."""
    env = {"TRACELIB_COUNTERS": FAULTS, "TRACELIB_CPUTIME": "off"}
    result = traced(openmpi, compiled(openmpi, "counted.c", "-pthread"), "50", ranks=2, env=env)
    analyze("prv", result.run, "-o", "out.prv").check()
    number = int(result.ranks[0].tables["counters"]["type"][0])
    assert schema.NATIVE_COUNTER_BASE <= number < schema.NATIVE_COUNTER_BASE + 1_000_000
    assert f"7    {number}    {FAULTS}" in (result.folder / "out.pcf").read_text()
    for rank in range(2):
        found: list[int] = []
        for line in (result.folder / "out.prv").read_text().splitlines():
            fields = line.split(":")
            if fields[0] == "2" and fields[3] == str(rank + 1):
                found += [
                    int(v) for t, v in zip(fields[6::2], fields[7::2], strict=True) if int(t) == number and v != "0"
                ]
        touched = [pages for pages in truth(result.folder, rank, 0)[0].tolist() if pages]
        assert any(found[k : k + len(touched)] == touched for k in range(len(found)))  # MPI_Init before, the end after


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_papi_counts_exactly(request, own_counters, traced, mpi_name):
    mpi = request.getfixturevalue(mpi_name)
    env = {"TRACELIB_COUNTERS": f"{BETA},{FAULTS},{ALPHA}", "TRACELIB_CPUTIME": "off", "TRACELIB_BUFFER": "8K"}
    result = traced(mpi, own_counters(mpi), "400", ranks=2, env=env)
    assert "not counted" not in result.finished.stderr
    trace = open_trace(str(result.run))
    assert [c.name for c in trace.extra(Counters).known] == [FAULTS, BETA, ALPHA]
    for rank in range(2):
        found = barriers(trace, rank)
        for name, values in added(rank, 400).items():
            assert found[name].tolist() == values.tolist()


def test_a_program_that_brings_papi_keeps_it(openmpi, own_counters, compiled, traced):
    """The program keeps PAPI unless it is told to share it; a wrong rotation is named."""
    program = compiled(openmpi, "own_counters.c", "-lsde", "-Wl,--no-as-needed", "-lpapi")
    env = {"TRACELIB_COUNTERS": f"{ALPHA};{FAULTS};{CPU}", "TRACELIB_CPUTIME": "off", "TRACELIB_ROTATE": "soon"}
    own_counters(openmpi)
    said = traced(openmpi, program, "10", ranks=1, env=env).finished.stderr
    assert f"{ALPHA} (the program uses PAPI itself" in said
    assert "tracelib: TRACELIB_ROTATE=soon is not such as 500ms" in said
    env |= {"TRACELIB_PAPI": "share", "TRACELIB_COUNTERS": ALPHA, "TRACELIB_OUTPUT": "shared.h5"}
    result = traced(openmpi, program, "10", ranks=1, env=env)
    assert "not counted" not in result.finished.stderr
    trace = open_trace(str(result.folder / "shared.h5"))
    assert barriers(trace, 0)[ALPHA].tolist() == added(0, 10)[ALPHA].tolist()
