"""Output of `analyze waits` for runs whose answers are known, and its findings in published traces."""

import json

import pytest
from paths import EPOCH
from synthetic import WORLD, call, event, label, write_run

from analyzer.cli import main
from tracelib import schema


@pytest.fixture
def run(tmp_path):
    """Rank 1 waits 60 ns for the message of rank 0, which computes in solve; then both 0 and 2 wait for it."""
    marks = [event(5, schema.REGION_TYPE, 1, flags=1), event(105, schema.REGION_TYPE, 1, flags=2)]

    def barrier(enter, exit_):
        return call("MPI_Barrier", enter, exit_, comm=WORLD)

    zero = [call("MPI_Send", 100, 105, comm=WORLD, peer=1, tag=1, sent=8), barrier(120, 200)]
    one = [call("MPI_Recv", 40, 110, comm=WORLD, peer=0, tag=1, received=8), barrier(190, 200)]
    labels = [label(schema.LabelKind.REGION, 1, "solve")]
    ranks = [{"calls": zero, "events": marks, "labels": labels}, {"calls": one}, {"calls": [barrier(180, 200)]}]
    return write_run(tmp_path, ranks)


def output(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def test_json(run, capsys):
    found = json.loads(output(capsys, "waits", run, "--json", "--top", "2"))
    assert (found["file"], found["threads"], found["runtime_s"]) == (str(run), 3, pytest.approx(200e-9))
    assert (found["waiting_s"], found["share"]) == (pytest.approx(140e-9), pytest.approx(140 / 600))
    used = {name: (kind["time_s"], kind["count"]) for name, kind in found["kinds"].items() if kind["count"]}
    assert used == {"late_sender": (pytest.approx(60e-9), 1), "barrier": (pytest.approx(80e-9), 2)}
    assert [(r["rank"], r["waiting_s"]) for r in found["ranks"]] == [
        (0, pytest.approx(70e-9)), (1, pytest.approx(60e-9)), (2, pytest.approx(10e-9))
    ]  # fmt: skip
    assert [(w["kind"], w["rank"], w["cause_rank"], w["call"]) for w in found["longest"]] == [
        ("barrier", 0, 1, "MPI_Barrier"), ("late_sender", 1, 0, "MPI_Recv")
    ]  # fmt: skip
    assert found["longest"][1]["begin_s"] == pytest.approx(40e-9)
    (solve,) = [c for c in found["causes"] if c["region"] == "solve" and c["what"] == "computing"]
    assert solve["rank"] == 0 and solve["direct_s"] == pytest.approx(60e-9)
    total = sum(c["direct_s"] + c["indirect_s"] for c in found["causes"])
    assert total == pytest.approx(found["waiting_s"])


def test_text(run, capsys):
    text = output(capsys, "waits", run)
    assert text.startswith("140 ns of waiting for others, 23.3 % of 3 threads x 200 ns")
    for line in (
        "Wait at barrier",
        "Late sender",
        "solve",
        "Of the 185 ns in MPI, 140 ns (75.7 %) is waiting for other ranks",
    ):
        assert line in text
    assert max(map(len, text.splitlines())) <= 80
    assert output(capsys, "waits", run, "-q") == ""


def test_the_first_look_says_it_in_a_line(run, capsys):
    text = " ".join(output(capsys, "look", "--no-files", run).split())
    assert "Waiting 23.3 % of the time is waiting for others, 57.1 % of it as wait at barrier; rank 0 waits" in text
    assert json.loads(output(capsys, "look", "--no-files", run, "--json"))["waits"]["waiting_s"] == pytest.approx(
        140e-9
    )


def test_a_run_that_waits_little_is_not_told_so(tmp_path, capsys):
    calls = [[call("MPI_Barrier", 900 + r, 1000, comm=WORLD)] for r in range(2)]
    run = write_run(tmp_path, [{"calls": c} for c in calls])
    assert "\nWaiting" not in output(capsys, "look", "--no-files", run)
    assert "1 ns of waiting" in output(capsys, "waits", run)


@pytest.mark.parametrize("calls", [[], [call("MPI_Comm_rank", 10, 20)]])
def test_a_run_without_waiting(tmp_path, capsys, calls):
    text = output(capsys, "waits", write_run(tmp_path, [{"calls": calls}, {"calls": calls}]))
    assert ("No call waited for another rank." if calls else "No MPI calls.") in text


@pytest.mark.skipif(not EPOCH.is_dir(), reason="the published traces are not here")
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_published_traces(ranks, capsys):
    """One rank waits for nobody; of several each waits less than it is in MPI, and delays cost what was waited."""
    found = json.loads(output(capsys, "waits", EPOCH / f"epoch_{ranks}proc.prv.gz", "--json"))
    assert (found["waiting_s"] > 0) == (ranks > 1)
    assert all(rank["waiting_s"] <= rank["mpi_s"] for rank in found["ranks"])
    assert sum(kind["time_s"] for kind in found["kinds"].values()) == pytest.approx(found["waiting_s"])
    assert sum(c["direct_s"] + c["indirect_s"] for c in found["causes"]) == pytest.approx(found["waiting_s"])
    assert all(
        0 <= one["time_s"] <= found["waiting_s"] and one["rank"] != one["cause_rank"] for one in found["longest"]
    )


def test_what_was_not_recorded_is_said(tmp_path, capsys):
    """Recording was off on rank 1, which was killed later: every reader of the trace reports both."""
    off = [event(20, schema.TRACING_TYPE, 0), event(40, schema.TRACING_TYPE, 1)]
    barrier = call("MPI_Barrier", 50, 60, comm=WORLD)
    run = write_run(
        tmp_path, [{"calls": [barrier]}, {"calls": [barrier], "events": off, "state": schema.ProcessState.RECORDING}]
    )
    reason = "part of the run was not recorded"
    assert f"What ranks waited for is not known everywhere: {reason}." in " ".join(output(capsys, "waits", run).split())
    assert json.loads(output(capsys, "waits", run, "--json"))["lacking"] == reason
    commands = (["waits"], ["critical-path"], ["efficiency"], ["replay"], ["limits", "--quick"], ["what-if"])
    for command, *options in commands:
        assert main([command, str(run), *options]) == 0, command
        said = capsys.readouterr()
        assert reason in " ".join(said.out.split()), command
        assert said.err.startswith("run.h5: rank 1: was killed"), command
