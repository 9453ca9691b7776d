"""Ranks that hang in MPI and are killed: the hang is time in MPI for all commands, and no one's computing."""

import json

import matrix
import pytest
from conftest import LIBRARY
from running import run

COMPUTED_S, HUNG_S = 0.2, 2
STARTING_S = 4
"""Seconds until `timeout` ends mpirun: time for the start, and for the ranks' computation."""


@pytest.fixture
def hung(request, compiled, tmp_path, spool):
    """hung(family, way): run.h5 of a run that hung and was killed."""

    def start(family, way):
        leg = request.getfixturevalue(family)
        program = compiled(leg, "hangs.c", "-g", "-O1")
        environment = matrix.environment(leg) | {"TRACELIB_SPOOL": str(spool), "TRACELIB_SAMPLE": "10ms"}
        mpirun = [leg.mpirun, "-n", "2", "env", f"LD_PRELOAD={LIBRARY}", program]
        words = [*mpirun, str(HUNG_S)] if way == "killed" else ["timeout", str(STARTING_S + HUNG_S), *mpirun]
        done = run(words, tmp_path, environment)
        assert done.returncode
        return tmp_path / "run.h5"

    return start


@pytest.mark.timed
@pytest.mark.parametrize("way", ["killed", "timeout"])
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_hang_is_time_in_mpi(hung, analyze, tmp_path, family, way):
    run_file = str(hung(family, way))
    efficiency, waits, hot = (
        json.loads(analyze(command, run_file, "--json").check().stdout) for command in ("efficiency", "waits", "hot")
    )
    whole = 2 * efficiency["runtime_s"]
    assert waits["unfinished_s"] > 0.8 * 2 * HUNG_S
    if way == "killed":
        assert waits["unfinished_s"] < 1.2 * 2 * HUNG_S
    assert waits["unfinished_s"] + waits["starting_s"] <= waits["mpi_s"] <= whole
    assert efficiency["useful_s"] + waits["mpi_s"] <= whole * 1.001
    assert 2 * COMPUTED_S * 0.9 < efficiency["useful_s"] < whole - waits["unfinished_s"]
    assert efficiency["parallel_efficiency"] == pytest.approx(efficiency["useful_s"] / whole)
    assert hot["computing_s"] < whole - waits["unfinished_s"]
    said = " ".join(analyze("waits", run_file).check().stdout.split())
    assert "is in calls that ranks did not come back from, and" in said
    hang = "Ranks 0-1 did not come back from MPI before the end (rank 0 from MPI_Barrier, rank 1 from MPI_Recv)"
    assert f"1. {hang}" in " ".join(analyze("look", run_file).check().stdout.split())
    analyze("report", run_file, "-o", "report.html").check()
    assert hang in " ".join((tmp_path / "report.html").read_text().split())
