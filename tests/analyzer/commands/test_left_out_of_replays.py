"""Every command that replays says which calls of the run it leaves out, and how long the run spent in them."""

import json
from contextlib import closing

import pytest
from synthetic import WORLD, call, write_run
from thread_team import by_team

from analyzer.cli import main
from analyzer.efficiency.ideal import ideal_replay
from analyzer.metrics.unrecorded import unrecorded
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.program.files import load_program, save_program
from analyzer.program.model import LeftOut

MACHINE = ["--latency", "5us", "--bandwidth", "100MB/s"]
LEFT_OUT = "2 calls without a model took no time; a rank spent 2.50 us in them on average: MPI_Neighbor_alltoall (2)"
AS_THEY_WERE = (
    "2 calls on files took as long as in the run; a rank spent 3.50 us in them on average: MPI_File_write_at (2)"
)
SAID = f"{LEFT_OUT}; {AS_THEY_WERE}"
COMMANDS = (
    ["replay"], ["what-if"], ["sensitivity", "--factor", "latency"], ["limits", "--quick"], ["profile"], ["balance"],
    ["monte-carlo", "--vary", "latency=1us..9us", "-n", "2"], ["validate"],
    ["fit-machine", "--vary", "latency=1us..9us", "-n", "4"],
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


@pytest.fixture
def four_ranks(tmp_path_factory):
    """A run that leaves nothing out."""
    calls = [
        call("MPI_Init", 0, 100), call("MPI_Barrier", 10000, 11000, comm=WORLD), call("MPI_Finalize", 20000, 20100),
    ]  # fmt: skip
    return str(write_run(tmp_path_factory.mktemp("four"), [{"calls": calls}] * 4))


def test_calls_and_the_time_in_them(run, tmp_path):
    with closing(open_trace(run)) as trace:
        program = program_of(trace)
    assert program.left_out == (
        LeftOut("MPI_File_write_at", 2, 7000),
        LeftOut("MPI_Neighbor_alltoall", 2, 5000),
    )
    save_program(program, tmp_path / "saved")
    assert load_program(tmp_path / "saved").left_out == program.left_out


def said_by(command, run, *more):
    """The command line, on a machine of which nothing is varied."""
    name, *given = command
    machine = MACHINE[2:] if name == "fit-machine" else MACHINE
    return [name, run, *(["--against", run] if name == "validate" else []), *given, *more, *machine]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_that_replays_says_so(command, run, capsys):
    assert main(said_by(command, run)) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert SAID in said


@pytest.fixture
def files(tmp_path):
    (tmp_path / "files.toml").write_text("[files]\nbandwidth_mb = 100\n")
    return ["--machine", str(tmp_path / "files.toml")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_on_a_machine_with_files_only_the_others_are_left_out(command, run, files, capsys):
    assert main([*said_by(command, run, *files), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {LEFT_OUT} == {of["incomplete"] for of in found.get("runs", [found])}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_as_json(command, run, capsys):
    assert main(said_by(command, run, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert {SAID} == {of["incomplete"] for of in found.get("runs", [found])}


@pytest.mark.parametrize("name", ["efficiency", "info", "diff", "speedup", "predict"])
def test_what_rests_on_the_ideal_network(name, run, four_ranks, capsys):
    files = [run] if name in ("efficiency", "info") else [run, four_ranks]
    more = ["--ranks", "8"] if name == "predict" else []
    assert main([name, *files, *more]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    speedup = name in ("speedup", "predict")
    factor, rest = ("Real communication", "Micro load balance") if speedup else ("Transfer", "Serialization")
    assert f"n the ideal network {LEFT_OUT}. {factor} counts this time." in said
    assert f"On the ideal network {AS_THEY_WERE}. {rest} counts this time." in said
    assert main([name, *files, *more, "--json"]) == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    if name == "diff":
        assert any(LEFT_OUT in note and AS_THEY_WERE in note for note in found["notes"])
    else:
        assert SAID in {of["incomplete"] for of in _replays(found)}


def _replays(found):
    """Return all parts with `incomplete`, at any depth."""
    if isinstance(found, list):
        return [one for of in found for one in _replays(of)]
    if not isinstance(found, dict):
        return []
    return [found] if "incomplete" in found else [one for of in found.values() for one in _replays(of)]


def test_the_page_of_a_run(run, tmp_path, capsys):
    assert main(["report", run, "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert f"On the ideal network {LEFT_OUT}. Transfer counts this time." in page
    assert f"On the ideal network {AS_THEY_WERE}. Serialization counts this time." in page
    assert f"This is not a replay of the whole run: {SAID}." in page


@pytest.mark.parametrize("members", [1, 2, 3])
def test_a_team_knows_the_calls_of_all_ranks(run, members):
    def ideal(team):
        with closing(open_trace(run, team)) as trace:
            return ideal_replay(trace, unrecorded(trace, team), team).left_out

    every = by_team(members, ideal)
    assert set(every) == {(LeftOut("MPI_File_write_at", 2, 7000), LeftOut("MPI_Neighbor_alltoall", 2, 5000))}


def test_a_run_of_which_nothing_is_left_out(tmp_path, capsys):
    calls = [call("MPI_Init", 0, 100), call("MPI_Barrier", 200, 300, comm=WORLD), call("MPI_Finalize", 400, 500)]
    whole = str(write_run(tmp_path, [{"calls": calls}] * 2))
    assert main(["replay", whole]) == 0
    said = "".join(capsys.readouterr())
    assert "without a model" not in said and "files" not in said
