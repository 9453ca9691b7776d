"""`tracelib run` under each MPI's own launcher, and `tracelib doctor` on programs that can and cannot be traced."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import matrix
import pytest
from conftest import LIBRARY
from matrix import ROOT, Leg
from result import rank_files
from running import Finished, run


@pytest.fixture
def tracelib(tmp_path, spool):
    """tracelib(leg, *args): its command line in the test's folder."""

    def start(leg: Leg, *args: str | Path, **env: str) -> Finished:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = matrix.environment(leg) | {"PYTHONPATH": path, "TRACELIB_SPOOL": str(spool)} | env
        return run([sys.executable, "-m", "tracelib.cli", *args], tmp_path, environment, 60)

    return start


@pytest.fixture
def steady(mpi, compiled) -> Path:
    """A program of many small calls."""
    return compiled(mpi, "steady.c")


def test_run(mpi, steady, tracelib, tmp_path):
    finished = tracelib(mpi, "run", "-o", "first", "--", mpi.mpirun, "-n", "2", steady, "100").check()
    assert finished.stderr.strip().endswith("first.h5; next: analyze first.h5")
    assert [f.counts()["MPI_Sendrecv"] for f in rank_files(tmp_path / "first.h5")] == [100, 100]

    refused = tracelib(mpi, "run", "-o", "first", "--", mpi.mpirun, "-n", "2", steady, "50")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "first.h5 exists" in refused.stderr
    tracelib(mpi, "run", "-f", "-q", "-o", "first", "--", mpi.mpirun, "-n", "2", steady, "50").check()
    assert [f.counts()["MPI_Sendrecv"] for f in rank_files(tmp_path / "first.h5")] == [50, 50]


def test_run_reaches_every_application_context_and_keeps_a_preload(mpi, steady, counter, tracelib, tmp_path):
    command = [mpi.mpirun, "-n", "1", steady, "100", ":", "-n", "1", steady, "100"]
    tracelib(mpi, "run", "--buffer", "64K", "--", *command, LD_PRELOAD=str(counter(mpi))).check()
    files = rank_files(tmp_path / "run.h5")
    assert [f.counts()["MPI_Sendrecv"] for f in files] == [100, 100]
    assert [f.attributes["buffer_bytes"] for f in files] == [65536, 65536]
    assert len(list(tmp_path.glob("truth-*.jsonl"))) == 2  # the other library was loaded, too


def test_exit_code_is_the_commands(mpi, steady, tracelib):
    """Now and then MPICH's mpirun has another one for the same program: three pairs of runs."""
    words = [mpi.mpirun, "-n", "2", steady, "10", "exit"]
    pairs = (
        (run(words, Path("/tmp"), matrix.environment(mpi)).returncode, tracelib(mpi, "run", "--", *words).returncode)
        for _ in range(3)
    )
    assert any(plain == traced != 0 for plain, traced in pairs)


def findings(finished: Finished) -> dict[str, list[tuple[str, str]]]:
    """Topic -> (verdict, text) of a doctor's --json."""
    found: dict[str, list[tuple[str, str]]] = {}
    for finding in json.loads(finished.stdout):
        found.setdefault(finding["topic"], []).append((finding["verdict"], finding["text"]))
    return found


def test_doctor_finds_all_well(mpi, steady, tracelib, tmp_path):
    finished = tracelib(mpi, "doctor", "--json", "--", mpi.mpirun, "-n", "2", steady, "100").check()
    found = findings(finished)
    verdict, text = found["run"][-1]
    assert verdict == "ok"
    assert "410 calls of 2 ranks" in text
    assert any("libmpi" in text for _, text in found["program"])
    assert not list(tmp_path.iterdir())


def test_doctor_and_a_program_with_its_own_mpi_wrappers(openmpi, compiled, tracelib):
    program = compiled(openmpi, "own_wrappers.c")
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "2", program)
    assert finished.returncode == 1
    assert any("MPI_Init" in text and verdict == "problem" for verdict, text in findings(finished)["program"])


def test_doctor_and_a_program_that_finds_mpi_with_dlsym(openmpi, compiled, tracelib):
    program = compiled(openmpi, "by_dlsym.c", "-Wl,--as-needed", "-ldl")
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "2", program).check()
    found = findings(finished)
    assert any("loads MPI while it runs" in text for _, text in found["program"])
    assert found["run"][-1] == ("ok", "4 calls of 2 ranks were recorded under Open MPI")


def test_doctor_and_a_program_that_finds_mpi_by_other_means(openmpi, compiled, tracelib):
    """The library says so at the end, as MPI was initialized in the process."""
    program = compiled(openmpi, "by_dlsym.c", "-DVERSIONED", "-Wl,--as-needed", "-ldl")
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "2", program)
    assert finished.returncode == 1
    found = findings(finished)
    assert found["run"][-1] == ("problem", "MPI was initialized in 2 processes with the library, but not through it")
    assert "let it open libtrace.so instead" in finished.stdout
    assert finished.stderr.count("nothing is recorded: MPI was initialized, but not through this library") == 1


def test_doctors_advice_for_dlsym_works(openmpi, compiled, launch, tmp_path):
    """The program opens libtrace.so in place of libmpi, which is preloaded."""
    program = compiled(openmpi, "by_dlsym.c", "-Wl,--as-needed", "-ldl")
    launch(openmpi, program, str(LIBRARY), preload=False, env={"LD_PRELOAD": "libmpi.so.40"}).check()
    assert [f.counts() for f in rank_files(tmp_path / "run.h5")] == [{"MPI_Init": 1, "MPI_Finalize": 1}] * openmpi.ranks


def test_doctor_and_a_static_program(openmpi, tracelib, tmp_path_factory):
    folder = tmp_path_factory.mktemp("static")
    (folder / "a.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "a.c", "-o", "static"], cwd=folder, check=True)
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "1", folder / "static")
    assert finished.returncode == 1
    assert any("linked statically" in text for _, text in findings(finished)["program"])


def test_doctor_and_a_privileged_program(openmpi, compiled, tracelib, tmp_path_factory):
    program = tmp_path_factory.mktemp("privileged") / "steady"
    shutil.copy(compiled(openmpi, "steady.c"), program)
    program.chmod(0o4755)
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "1", program)
    assert finished.returncode == 1
    assert any("set-user-ID" in text for _, text in findings(finished)["program"])


def test_doctor_and_a_disabled_library(openmpi, compiled, tracelib):
    program = compiled(openmpi, "steady.c")
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "1", program, TRACELIB_DISABLE="1")
    assert finished.returncode == 1
    assert ("problem", "TRACELIB_DISABLE=1: nothing is recorded") in findings(finished)["setting"]


def test_doctor_and_a_program_that_is_not_mpi(openmpi, tracelib):
    finished = tracelib(openmpi, "doctor", "--json", "--", openmpi.mpirun, "-n", "2", "/bin/echo", "hello")
    assert finished.returncode == 1
    verdict, text = findings(finished)["run"][-1]
    assert verdict == "problem"
    assert "none of them called MPI" in text


def test_doctor_for_people(openmpi, compiled, tracelib):
    finished = tracelib(openmpi, "doctor", "--", openmpi.mpirun, "-n", "2", compiled(openmpi, "steady.c"), "10").check()
    assert "MPI: " in finished.stdout
    assert "HDF5: h5py" in finished.stdout
    assert "50 calls of 2 ranks were recorded" in finished.stdout


@pytest.mark.parametrize("where", ["preloaded", "linked"])
@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_doctor_names_another_tool(request, compiled, tracelib, debian, where):
    leg = request.getfixturevalue(debian)
    tool = compiled(leg, "other_tool.c", "-shared", "-fPIC", "-ldl")
    linked = ["-Wl,--no-as-needed", str(tool)] if where == "linked" else []
    words = ("doctor", "--json", "--", leg.mpirun, "-n", "2", compiled(leg, "under_tools.c", *linked))
    finished = tracelib(leg, *words, **({} if linked else {"LD_PRELOAD": str(tool)})).check()
    found = findings(finished)
    assert found["tools"] == [("ok", f"{tool} defines MPI_Init, too, and gets the calls from the library: both count")]
    assert found["run"][-1][0] == "ok"
    assert "24 calls of 2 ranks" in found["run"][-1][1]


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_doctor_names_a_tool_ahead(request, compiled, tracelib, tmp_path, debian):
    """A script of the user preloads it ahead of what the doctor has put there."""
    leg = request.getfixturevalue(debian)
    tool = compiled(leg, "other_tool.c", "-shared", "-fPIC", "-ldl")
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nexec env LD_PRELOAD={tool}:$LD_PRELOAD {compiled(leg, 'under_tools.c')}\n")
    script.chmod(0o755)
    finished = tracelib(leg, "doctor", "--json", "--", leg.mpirun, "-n", "2", script)
    assert finished.returncode == 1
    found = findings(finished)
    text = f"{tool} defines MPI_Init and stands ahead of the library, which gets no call from it"
    assert found["tools"] == [("problem", text)]
    assert found["run"][-1] == ("problem", "MPI was initialized in 2 processes with the library, but not through it")


def test_run_puts_the_library_ahead_of_other_tools(mpi, compiled, tracelib, tmp_path):
    """Whichever stood first in LD_PRELOAD: both count."""
    tool = compiled(mpi, "other_tool.c", "-shared", "-fPIC", "-ldl")
    program = compiled(mpi, "under_tools.c")
    for number, preload in enumerate((f"{tool}", f"{tool}:{LIBRARY}", f"{LIBRARY}:{tool}")):
        words = ("run", "-o", f"run{number}", "--", mpi.mpirun, "-n", "2", program)
        assert tracelib(mpi, *words, LD_PRELOAD=preload).check().stdout.split("\n")[:2] == ["counted 3 5 2"] * 2
        counts = [file.counts() for file in rank_files(tmp_path / f"run{number}.h5")]
        assert [c["MPI_Send"] for c in counts] == [3, 3]


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_a_program_for_address_sanitizer(request, compiled, tracelib, tmp_path, debian):
    """Its runtime must be the first library: `tracelib run` sees to that; doctor says what to do behind a script."""
    leg = request.getfixturevalue(debian)
    program = compiled(leg, "under_tools.c", "-fsanitize=address")
    tracelib(leg, "run", "--", leg.mpirun, "-n", "2", program, ASAN_OPTIONS="detect_leaks=0").check()
    assert [f.counts()["MPI_Barrier"] for f in rank_files(tmp_path / "run.h5")] == [5, 5]
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nexec {program}\n")
    script.chmod(0o755)
    words = ("doctor", "--json", "--", leg.mpirun, "-n", "2", script)
    finished = tracelib(leg, *words, ASAN_OPTIONS="detect_leaks=0")
    assert finished.returncode == 1
    assert ("problem", "the runtime of AddressSanitizer is not the first library") in findings(finished)["run"]
