"""A traced run records a counter as `tracelib counters` describes it; also the values of PAPI's presets."""

from __future__ import annotations

import json
import sys

import matrix
import numpy as np
import pytest
from own_counters import ALPHA, BETA, added, barriers
from running import run

from analyzer.opening import open_trace
from analyzer.trace import UNKNOWN, Counters

INSTRUCTIONS, CYCLES, BRANCHES = "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_BR_INS"
NO_CPU_TIME = {"TRACELIB_CPUTIME": "off"}


@pytest.fixture
def listed(tmp_path):
    """listed(*names, **env): what the command says of each counter, by its name."""

    def look(*names, **env):
        environment = matrix.environment() | {"PYTHONPATH": str(matrix.ROOT)} | env
        done = run([sys.executable, "-m", "tracelib.cli", "counters", "--json", *names], tmp_path, environment)
        found = {counter["name"]: counter for counter in json.loads(done.stdout)["counters"]}
        assert done.returncode == (0 if any(counter["counts"] for counter in found.values()) else 1), done.stderr
        return found

    return look


def recorded(result):
    """Names of the counters of each rank, with their numbers."""
    tables = [file.tables["counters"] for file in result.ranks]
    return [{row["name"].decode(): int(row["type"]) for row in table} for table in tables]


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_what_counts_is_recorded_and_what_does_not_is_not(request, compiled, traced, listed, mpi_name):
    """All of the kernel's own and the CPU clock, at once; and the values are what the kernel tells the program."""
    mpi = request.getfixturevalue(mpi_name)
    found = listed("CPU_NS", "perf::*")
    software = {name for name, c in found.items() if c["read_by"] != "perf, processor"}
    env = {"TRACELIB_COUNTERS": ",".join(sorted(software))} | NO_CPU_TIME
    result = traced(mpi, compiled(mpi, "usage.c"), "200", ranks=2, env=env)
    expected = {name: found[name]["type"] for name in software if found[name]["counts"]}
    assert recorded(result) == [expected, expected]
    refused = [name for name in software if not found[name]["counts"]]
    assert all(f"{name} ({found[name]['trouble']})" in result.finished.stderr for name in refused)
    trace = open_trace(str(result.run))
    for rank in range(2):
        truth = np.loadtxt(result.folder / f"truth-{rank}", dtype=np.int64).T
        names = ("MINOR-FAULTS", "MAJOR-FAULTS", "CONTEXT-SWITCHES")
        compare_with_the_kernel(trace, rank, dict(zip(names, truth, strict=True)))


def compare_with_the_kernel(trace, rank, truth):
    """Each burst has what getrusage saw in it, seldom more: the thread may lose its CPU, or a page, right beside."""
    parts = list(trace.extra(Counters).counts(rank))
    sends = np.concatenate([p.calls["call"] for p in parts]) == trace.procedures.index("MPI_Send")
    burst = np.concatenate([p.burst for p in parts])[sends][1:]
    for column, counter in enumerate(trace.extra(Counters).known):
        values = truth.get(counter.name.removeprefix("perf::"))
        if values is not None:
            more = burst[:, column] - values
            assert more.min() >= 0, counter.name
            assert (more == 0).mean() > 0.9, counter.name


def test_a_counter_of_the_processor_counts_in_a_run_if_it_is_said_to(openmpi, compiled, traced, listed):
    (counter,) = listed("perf::INSTRUCTIONS").values()
    env = {"TRACELIB_COUNTERS": "perf::INSTRUCTIONS"} | NO_CPU_TIME
    result = traced(openmpi, compiled(openmpi, "usage.c"), "10", ranks=1, env=env)
    assert recorded(result) == [{"perf::INSTRUCTIONS": counter["type"]} if counter["counts"] else {}]
    said = f"perf::INSTRUCTIONS ({counter['trouble']})" in result.finished.stderr
    assert said != counter["counts"]


@pytest.fixture
def made_up_papi(openmpi, compiled):
    """Where a PAPI lies whose processor is made up."""
    return str(compiled(openmpi, "made_up_papi.c", "-shared", "-fPIC", "-ldl"))


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_presets_of_papi_count_exactly(request, compiled, traced, analyze, made_up_papi, mpi_name):
    """Two fit the registers of the processor; the third is named, and Paraver gets Extrae's numbers."""
    mpi = request.getfixturevalue(mpi_name)
    wanted = f"{INSTRUCTIONS},{CYCLES},{BRANCHES},PAPI_NONE"
    env = {"TRACELIB_COUNTERS": wanted, "TRACELIB_PAPI_LIBRARY": made_up_papi, "TRACELIB_BUFFER": "8K"} | NO_CPU_TIME
    result = traced(mpi, compiled(mpi, "work.c", "-rdynamic"), "300", ranks=2, env=env)
    assert recorded(result) == [{INSTRUCTIONS: 42000050, CYCLES: 42000059}] * 2
    assert f"{BRANCHES} (EventSet is currently counting), PAPI_NONE (Event does not exist)" in result.finished.stderr
    trace = open_trace(str(result.run))
    for rank in range(2):
        found, truth = barriers(trace, rank), added(rank, 300)
        assert found[INSTRUCTIONS].tolist() == truth[ALPHA].tolist()
        assert found[CYCLES].tolist() == truth[BETA].tolist()
    analyze("prv", result.run, "-o", "out.prv").check()
    assert f"7    42000050    {INSTRUCTIONS}" in (result.folder / "out.pcf").read_text()


def test_sets_of_presets_take_turns(openmpi, compiled, traced, made_up_papi):
    """Each has the registers to itself while it is read."""
    env = {"TRACELIB_COUNTERS": f"{INSTRUCTIONS},{BRANCHES};{CYCLES}", "TRACELIB_PAPI_LIBRARY": made_up_papi}
    env |= {"TRACELIB_ROTATE": "collectives:10"} | NO_CPU_TIME
    result = traced(openmpi, compiled(openmpi, "work.c", "-rdynamic"), "60", ranks=2, env=env)
    assert "not counted" not in result.finished.stderr
    trace = open_trace(str(result.run))
    turn = np.arange(60) // 10 % 2
    for rank in range(2):
        found, truth = barriers(trace, rank), added(rank, 60)
        assert found[INSTRUCTIONS].tolist() == np.where(turn == 0, truth[ALPHA], UNKNOWN).tolist()
        assert found[CYCLES].tolist() == np.where(turn == 1, truth[BETA], UNKNOWN).tolist()


def test_presets_of_papi_in_the_list(listed, made_up_papi):
    found = listed(INSTRUCTIONS, "PAPI_L1_DCM", TRACELIB_PAPI_LIBRARY=made_up_papi)
    counts = {name: (c["counts"], c["type"], c["trouble"], c["read_by"]) for name, c in found.items()}
    assert counts == {
        INSTRUCTIONS: (True, 42000050, "", "PAPI"),
        "PAPI_L1_DCM": (False, 0, "Event does not exist", "PAPI"),
    }
    assert found[INSTRUCTIONS]["reading_ns"] > 0
    (gone,) = listed(INSTRUCTIONS, TRACELIB_PAPI_LIBRARY="/nowhere/libpapi.so").values()
    assert gone["trouble"] == "no libpapi is found (TRACELIB_PAPI_LIBRARY names one)"
