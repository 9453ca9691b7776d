"""Iterations as a region and as a window of time of the commands."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from synthetic import call, write_run
from test_cuts import ITERATIONS, STEP_NS, numbers, run_of_steps

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.events import recorded
from analyzer.structure.iterations import IterationEvidence
from analyzer.structure.levels.run_structure import iterations

SLOW = 18  # of run_of_steps: it takes four times as long
WINDOWED = [
    ["look", "--no-files", "--region", "iteration"], ["efficiency", "--region", "iteration"],
    ["waits", "--region", "iteration"],
    ["critical-path", "--region", "iteration"], ["limits", "--quick"], ["replay"],
    ["what-if", "--region", "iteration", "--factor", "0.5"], ["balance", "--region", "iteration"],
    ["look"], ["loggp"], ["sensitivity", "--latency", "5us", "--bandwidth", "1000MB/s"],
]  # fmt: skip


def test_each_iteration_is_a_visit(tmp_path, capsys):
    found = numbers(capsys, "efficiency", run_of_steps(tmp_path), "--json", "--region", "iteration")
    runtimes = [visit["runtime_s"] for visit in sorted(found["visits"], key=lambda visit: visit["visit"])]
    assert runtimes == pytest.approx([(4 if k + 1 == SLOW else 1) * STEP_NS / 1e9 for k in range(ITERATIONS)])
    (region,) = found["regions"]
    computed = 39 * (6700 + 5700) + 4 * (6000 + 5000) + 2 * 700  # of both, with 700 ns between the calls
    assert region["parallel_efficiency"] == pytest.approx(computed / (2 * (ITERATIONS + 3) * STEP_NS))


def test_a_window_of_iterations(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    alone = numbers(capsys, "efficiency", run, "--json", "--iteration", str(SLOW))
    assert alone["runtime_s"] == pytest.approx(4 * STEP_NS / 1e9)
    three = numbers(capsys, "efficiency", run, "--json", "--iteration", f"{SLOW - 1}-{SLOW + 1}")
    assert three["runtime_s"] == pytest.approx(6 * STEP_NS / 1e9)
    main(["look", "--no-files", str(run), "--iteration", "2-4"])
    assert "only iterations 2 to 4 of 40, 0.03 ms from 1.2e-05 s on" in capsys.readouterr().err


@pytest.mark.parametrize("words", WINDOWED, ids=lambda words: words[0])
def test_commands_look_at_a_window_and_leave_nothing_behind(tmp_path, capsys, words, monkeypatch):
    run = run_of_steps(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    Path(tempfile.gettempdir()).mkdir()
    name, *options = words
    assert main([name, str(run), "--iteration", "5-9", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert not list(Path(tempfile.gettempdir()).iterdir())


def test_iterations_are_looked_for_in_commands_that_show_regions(tmp_path, capsys):
    data = numbers(capsys, "look", "--no-files", run_of_steps(tmp_path), "--json", "--region", "iteration")
    (region,) = [one for one in data["regions"] if one["name"] == "iteration"]
    assert region["count"] == 2 * ITERATIONS


def test_mistakes_are_one_line(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    for words in (["41"], ["30-41"], ["0"], ["3-2"], ["x"], ["5", "--cluster", "1"], ["5", "--region", "step"]):
        assert main(["look", "--no-files", str(run), "--iteration", *words]) != 0
        assert "Error" in capsys.readouterr().err
    other = tmp_path / "none"
    other.mkdir()
    none = write_run(other, [{"calls": [call("MPI_Init", 10, 1000), call("MPI_Finalize", 9000, 10000)]}])
    for words in (["--iteration", "1"], ["--region", "iteration"]):
        assert main(["waits", str(none), *words]) != 0
        (line,) = capsys.readouterr().err.splitlines()
        assert "no iterations were found" in line


def test_paraver_traces_say_their_iterations_and_are_believed(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    assert main(["prv", str(run), "--iterations", "-q", "-o", str(tmp_path / "said.prv")]) == 0
    assert "49000021    Iteration" in (tmp_path / "said.pcf").read_text()
    lines = (tmp_path / "said.prv").read_text().splitlines()
    found = [line.split(":") for line in lines if ":49000021:" in line]
    times = {(int(one[3]), int(one[one.index("49000021") + 1])): int(one[5]) for one in found}
    assert len(found) == 2 * (ITERATIONS + 1)
    begin = times[1, 1]
    assert [times[1, k + 1] - begin for k in range(SLOW)] == [k * STEP_NS for k in range(SLOW)]
    assert times[1, 0] - begin == (ITERATIONS + 3) * STEP_NS
    trace = open_trace(tmp_path / "said.prv")
    said, own = recorded(trace, Team()), iterations(open_trace(run), Team())
    assert (said.edges == own.edges).all()
    assert said.period_ns == own.period_ns
    assert iterations(trace, Team()).source is IterationEvidence.EVENTS
    trace.close()
    alone = numbers(capsys, "efficiency", tmp_path / "said.prv", "--json", "--iteration", str(SLOW))
    assert alone["runtime_s"] == pytest.approx(4 * STEP_NS / 1e9)


def test_only_some_iterations_are_converted(tmp_path, capsys):
    """The trace of five iterations is as long as they are."""
    run = run_of_steps(tmp_path)
    for command in ("prv", "dim"):
        assert main([command, str(run), "--iteration", "5-9", "-o", str(tmp_path / "part")]) == 0
    capsys.readouterr()
    part = open_trace(str(tmp_path / "part.prv"), Team())
    assert part.duration_ns == pytest.approx(5 * STEP_NS, rel=0.01)
    part.close()
    assert (tmp_path / "part.dim").exists()


def test_a_first_look_at_some_iterations_writes_no_files(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    assert numbers(capsys, "look", run, "--json", "--iteration", "5-9")["files"] == []
    assert not list(tmp_path.glob("**/*.prv"))
