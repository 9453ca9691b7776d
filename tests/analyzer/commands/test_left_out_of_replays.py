"""Every command that replays says which calls of the run it leaves out, and how long the run spent in them."""

import json
from contextlib import closing

import pytest
from synthetic import WORLD, call, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.program.program import LeftOut
from analyzer.program.program_file import load_program, save_program

MACHINE = ["--latency", "5us", "--bandwidth", "100MB/s"]
SAID = "4 calls without a model took no time; a rank spent 6.00 us in them on average: "
COMMANDS = (
    ["replay"], ["what-if"], ["sensitivity", "--factor", "latency"], ["limits", "--quick"], ["profile"], ["balance"],
    ["monte-carlo", "--vary", "latency=1us..9us", "-n", "2"], ["validate"],
)  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """Rank 0 is in MPI_File_write_at twice, for 7000 ns together, both are in a neighbourhood collective, for 3000 and
    2000 ns; opening a communicator moves no data."""
    first = [
        call("MPI_Init", 0, 100), call("MPI_File_write_at", 5000, 11000), call("MPI_File_write_at", 12000, 13000),
        call("MPI_Comm_dup", 13500, 14000, comm=WORLD), call("MPI_Neighbor_alltoall", 15000, 18000, comm=WORLD),
        call("MPI_Barrier", 20000, 21000, comm=WORLD), call("MPI_Finalize", 30000, 30100),
    ]  # fmt: skip
    second = [
        call("MPI_Init", 0, 100), call("MPI_Neighbor_alltoall", 15000, 17000, comm=WORLD),
        call("MPI_Barrier", 19000, 21000, comm=WORLD), call("MPI_Finalize", 30000, 30100),
    ]  # fmt: skip
    return str(write_run(tmp_path, [{"calls": first}, {"calls": second}]))


def test_calls_and_the_time_in_them(run, tmp_path):
    with closing(open_trace(run)) as trace:
        program = program_of(trace)
    assert program.left_out == (
        LeftOut("MPI_File_write_at", 2, 7000),
        LeftOut("MPI_Neighbor_alltoall", 2, 5000),
    )
    save_program(program, tmp_path / "saved")
    assert load_program(tmp_path / "saved").left_out == program.left_out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_that_replays_says_so(command, run, capsys):
    name, *more = command
    more += ["--against", run] if name == "validate" else []
    assert main([name, run, *more, *MACHINE]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert SAID in said and "MPI_File_write_at (2), MPI_Neighbor_alltoall (2)" in said


@pytest.mark.parametrize("name", ["replay", "sensitivity", "limits"])
def test_as_json(name, run, capsys):
    assert main([name, run, "--json", *MACHINE]) == 0
    assert json.loads(capsys.readouterr().out)["incomplete"].startswith(SAID)


def test_a_run_of_which_nothing_is_left_out(tmp_path, capsys):
    calls = [call("MPI_Init", 0, 100), call("MPI_Barrier", 200, 300, comm=WORLD), call("MPI_Finalize", 400, 500)]
    whole = str(write_run(tmp_path, [{"calls": calls}] * 2))
    assert main(["replay", whole]) == 0
    assert "without a model" not in "".join(capsys.readouterr())
