"""Calls that come before the library's own constructor has run, or while nothing at all can be used yet."""

import subprocess

import numpy as np
import pytest
from conftest import source_of

from analyzer.metrics.profile import profile
from analyzer.opening import open_trace
from analyzer.parallel import Team

NOW = ("-Wl,-z,now", "-Wl,--no-as-needed", "-Wl,--export-dynamic", "-ldl", "-pthread")
CLOCKS = ("tsc", "monotonic")


@pytest.fixture(params=["apt-openmpi", "apt-mpich"])
def debian(request, legs):
    """Debian's MPIs, whose libraries are linked at the start."""
    if legs[request.param].missing:
        pytest.skip(legs[request.param].missing)
    return legs[request.param]


@pytest.fixture
def library(compiled):
    """library(leg, "THREAD"): before_main.c as a shared library that makes its calls there."""
    return lambda leg, how: compiled(leg, "before_main.c", f"-D{how}", "-DLIBRARY", "-shared", "-fPIC", *NOW)


def assert_one_clock(file):
    """Assert that stamps of a rank lie between its process's start and last stamp, and each thread's are in order."""
    start = int(file.attributes["start_ticks"])
    for table in ("calls", "polls"):
        rows = file.tables[table]
        assert (rows["enter"] >= start).all()
        assert (rows["exit"] >= rows["enter"]).all()
        assert (rows["exit"] <= file.tables["clock"]["ticks"].max()).all()
    for thread in np.unique(file.calls["thread"]):
        mine = file.calls[file.calls["thread"] == thread]
        assert (mine["enter"][1:] >= mine["exit"][:-1]).all()


def assert_counted(result, asked):
    """Each rank called MPI_Initialized so often; what is not in its file is lost and says so. The same in `profile`."""
    trace = open_trace(str(result.run))
    found = profile(trace, Team())
    counts = dict(zip(found.procedures, found.count.T.tolist(), strict=True))
    shown = counts.get("MPI_Initialized", [0] * len(result.ranks))
    trace.close()
    for file, seen in zip(result.ranks, shown, strict=True):
        assert_one_clock(file)
        assert file.counts()["MPI_Initialized"] + file.attributes["lost_calls"] == asked
        assert seen == file.counts()["MPI_Initialized"]
        assert file.counts()["MPI_Barrier"] == 1


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_constructor_of_a_cxx_library(debian, compiled, traced, analyze, clock):
    program = compiled(debian, "nothing.cpp", "-Wl,--no-as-needed")
    result = traced(debian, program, ranks=2, env={"TRACELIB_CLOCK": clock})
    assert_counted(result, 2 if debian.name == "apt-openmpi" else 0)
    analyze("check", "run.h5").check()


@pytest.mark.parametrize(("how", "clock"), [("CONSTRUCTOR", "tsc"), ("CONSTRUCTOR", "monotonic"), ("THREAD", "tsc")])
def test_constructors_of_libraries(debian, compiled, library, traced, analyze, how, clock):
    program = compiled(debian, "before_main.c", *NOW, str(library(debian, how)))
    result = traced(debian, program, ranks=2, env={"TRACELIB_CLOCK": clock})
    assert result.finished.stdout.split() == ["2", "2"]
    assert_counted(result, 2)
    assert {file.attributes["lost_calls"] for file in result.ranks} == {0}
    analyze("check", "run.h5").check()


def test_a_library_that_is_opened_later(debian, compiled, library, traced):
    """Its constructor waits for a thread while the dynamic linker is locked: whoever asks that for a symbol hangs."""
    result = traced(debian, compiled(debian, "before_main.c", *NOW), str(library(debian, "THREAD")), ranks=1)
    assert result.finished.stdout.split() == ["2"]
    assert_counted(result, 2)
    assert {file.attributes["lost_calls"] for file in result.ranks} == {0}


@pytest.mark.parametrize("how", ["RESOLVER", "PREINIT"])
def test_before_libc_has_started(debian, compiled, traced, how):
    result = traced(debian, compiled(debian, "before_main.c", f"-D{how}", *NOW), ranks=2)
    assert result.finished.stdout.split() == ["1", "1"]
    assert_counted(result, 1)


def test_the_resolver_of_a_library(debian, compiled, library, traced):
    """The dynamic linker has not filled in our own addresses when it runs."""
    result = traced(debian, compiled(debian, "before_main.c", *NOW, str(library(debian, "RESOLVER"))), ranks=2)
    assert result.finished.stdout.split() == ["1", "1"]
    assert_counted(result, 1)
    assert {file.attributes["lost_calls"] for file in result.ranks} == {1}


def test_an_audit_library(debian, compiled, traced, tmp_path):
    audits = tmp_path / "audits.so"
    subprocess.run(["cc", "-shared", "-fPIC", source_of("audits.c"), "-o", audits], check=True)
    program = compiled(debian, "before_main.c", "-DCONSTRUCTOR", *NOW)
    result = traced(debian, "env", f"LD_AUDIT={audits}", program, ranks=1)
    said = result.finished.stdout.split()
    audited = int(said[said.index("audited") + 1])
    assert audited == 2
    assert_counted(result, audited + 2)
