"""Runs that do not end in order: the rank that ended them is named first, and the rest of them is analyzed.

The launcher kills the others, in the order and with the signals that it likes.
"""

import re
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from building import source_of
from result import rank_files

from analyzer.opening import open_trace
from analyzer.trace import Losses
from tracelib.schema import ProcessState

VICTIM, CODE = 1, 5
ABORTS = ("abort", "abort-part", "abort-handler", "abort-signal", "abort-threads", "abort-finalize")
FORTRAN = ("-cpp", "-fallow-argument-mismatch", "-ffree-line-length-none")
UNSIGNED = 2**64


@dataclass
class Ended:
    """Files of a run, and the output of the commands on it."""

    run: Path
    said: list[str]  # by check
    code: int

    @property
    def first(self) -> str:
        return self.said[0]

    def file(self, rank):
        return rank_files(self.run)[rank]

    def aborts(self, rank):
        """How many rows MPI_Abort has, of a rank."""
        return int((self.file(rank).names == "MPI_Abort").sum())


@pytest.fixture
def ended(launch, compiled, analyze, tmp_path):
    """ended(leg, HOW): a run of ends.c, or of another program; its exit code is the launcher's affair."""

    def start(leg, how, program=None, flags=(), ranks=None, limit_s=30):
        ranks = ranks or min(leg.ranks, 3)
        words = program or [compiled(leg, "ends.c", "-pthread", *flags), how]
        launch(leg, *words, ranks=ranks, limit_s=limit_s)
        checked = analyze("check", tmp_path / "run.h5")
        assert "Traceback" not in checked.stderr
        return Ended(tmp_path / "run.h5", checked.stdout.splitlines(), checked.returncode)

    return start


def assert_aborted(found, code=CODE, comm="MPI_COMM_WORLD", rows=1):
    assert re.match(rf"rank {VICTIM} called MPI_Abort\({code}\) on {re.escape(comm)} after \d", found.first)
    assert found.code == 1
    attributes = found.file(VICTIM).attributes
    assert (attributes["abort_code"], attributes["abort_ticks"] > 0) == (code % UNSIGNED, True)
    assert found.aborts(VICTIM) == rows
    assert all(not file.attributes["abort_ticks"] for file in rank_files(found.run)[:: VICTIM + 1])


def test_abort(mpi, ended):
    """Its row comes after the 2 x 20 calls that it follows."""
    found = ended(mpi, "abort")
    assert_aborted(found)
    names = found.file(VICTIM).names.tolist()
    assert (names[-1], names.count("MPI_Sendrecv"), names.count("MPI_Allreduce")) == ("MPI_Abort", 20, 20)
    assert found.file(VICTIM).attributes["state"] == ProcessState.EXITED


@pytest.mark.parametrize("how", ABORTS[1:])
def test_abort_from_elsewhere(openmpi, ended, how):
    """On a part of the ranks; out of an error or a signal handler; beside a thread inside of MPI_Recv, or of
    MPI_Finalize, which waits for the others and has the file."""
    found = ended(openmpi, how)
    comm = "MPI_COMM_WORLD" if how != "abort-part" else re.search(r"on (communicator \d+ of 1) after", found.first)[1]
    if how == "abort-finalize":
        assert re.match(rf"rank {VICTIM} called MPI_Abort\({CODE}\) on {comm} after", found.first)
    else:
        assert_aborted(found, comm=comm, rows=1 if how in ("abort-part", "abort-threads") else 0)


@pytest.mark.parametrize("leg", ["openmpi", "mpich"])
@pytest.mark.parametrize("interface", ["USE_MPI", "USE_F08"])
def test_abort_of_fortran(request, compiled, ended, tmp_path, leg, interface):
    mpi = request.getfixturevalue(leg)
    program = [compiled(mpi, "aborts.F90", f"-D{interface}", "-J", str(tmp_path), *FORTRAN)]
    assert_aborted(ended(mpi, "", program, ranks=2), 4)


@pytest.mark.parametrize("leg", ["openmpi", "mpich"])
def test_abort_of_mpi4py(request, ended, leg):
    mpi = request.getfixturevalue(leg)
    assert_aborted(ended(mpi, "", [mpi.python, str(source_of("aborts.py"))], ranks=2), 6)


def test_abort_beside_spawned_processes(openmpi, ended):
    """They are a run of their own, of whose end nobody says more."""
    found = ended(openmpi, "spawn")
    assert_aborted(found)
    assert (found.run.parent / "run-2.h5").exists()


@pytest.mark.parametrize("how", ["segv", "fpe", "abrt", "kill", "poll"])
def test_who_died_first(openmpi, ended, how):
    found = ended(openmpi, how)
    why = r"the others waited in MPI; ranks 0,2 were killed after that, likely by the launcher$"
    assert re.match(
        rf"rank {VICTIM} likely died first, outside MPI, [\d.]+ s after its start or later: {why}", found.first
    )


def test_who_died_inside_a_call(openmpi, ended):
    """A message of 4000 bytes from an address that is not there."""
    found = ended(openmpi, "in-call")
    assert "rank 1: it died inside MPI_Send" in "\n".join(found.said)


@pytest.mark.parametrize("leg", ["openmpi", "mpich"])
def test_an_error_that_ends_the_run(request, ended, leg):
    """To the others it is what a time limit is that ends a deadlock. Only what is printed differs."""
    found = ended(request.getfixturevalue(leg), "error")
    assert re.match(
        r"ranks 0-[12] were killed while all ranks waited in MPI: likely from outside, or by MPI, which found an error "
        r"in a call and printed it$",
        found.first,
    )
    assert f"rank {VICTIM}: it died inside MPI_Send" in "\n".join(found.said)


def test_a_collective_that_a_killed_rank_did_not_come_to(openmpi, ended, analyze):
    """Rank 0 has broadcast before."""
    found = ended(openmpi, "bcast")
    assert found.said[0].startswith(f"rank {VICTIM} likely died first, outside MPI")
    assert any(line.startswith("note: 1 call of a collective is left out") for line in found.said)
    for command in ("replay", "limits", "critical-path", "waits", "efficiency"):
        analyze(command, found.run).check()


@pytest.mark.parametrize(("leg", "how"), [("openmpi", "ssend"), ("openmpi", "isend"), ("mpich", "isend")])
def test_a_message_in_flight(request, compiled, ended, analyze, leg, how):
    """Rank 0 has received it when rank 1, stopped before its MPI_Ssend came back, is killed. One message before it has
    both sides; of an MPI_Isend this one has, too. (MPICH delivers no message of a stopped MPI_Ssend.)"""
    mpi = request.getfixturevalue(leg)
    found = ended(mpi, "", [compiled(mpi, "inflight.c"), how], ranks=2, limit_s=8)
    left_out = "1 send or receive is left out, because ranks 0-1 did not end in order"
    with closing(open_trace(str(found.run))) as trace:
        names = [trace.procedures[k] for k in np.concatenate(list(trace.calls(0)))["call"]]
        assert names.count("MPI_Recv") == 2
        assert len(trace.messages()) == (2 if how == "isend" else 1)
        assert trace.extra(Losses).left_out == ("" if how == "isend" else left_out)
    assert "unmatched" not in "\n".join(found.said)
    if how == "ssend":
        assert found.first.startswith("rank 1 likely died first, inside MPI_Ssend")
    for command in ("replay", "limits", "critical-path", "waits", "what-if"):
        analyze(command, found.run).check()
