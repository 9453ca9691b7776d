"""Loops by their numbers: --loop, --iteration 2:14, a cut of every loop."""

from __future__ import annotations

import re
import tempfile

import pytest
from nested_runs import Loop, Planted, Start, Work
from test_cuts import numbers, run_of_steps
from test_iteration_options import WINDOWED

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.events import recorded

FIRST_MS, SECOND_MS, INNER_MS = 50, 22, 3
"""Passes of the three loops. The first loop, of 24 passes, has 8 of the inner one in each; the second has 30."""
COUNTS = [24, 30, 8]
"""Numbers of iterations of loops 1, 2 and 3."""


@pytest.fixture(scope="module")
def two_phases(tmp_path_factory):
    """A short loop that follows a long one, with an inner loop in the long one."""
    body = (Loop(8, (Work(INNER_MS, "ring"),)), Work(FIRST_MS - 8 * INNER_MS, "reduction"))
    steps = [
        Start(60), Loop(24, body), Start(40),
        Loop(30, (Work(14, "skip"), Work(SECOND_MS - 14, "transposition"))), Start(20),
    ]  # fmt: skip
    planted = Planted(4, jitter=0).run(steps)
    return planted, planted.written(tmp_path_factory.mktemp("run"), counters=False)


def test_all_loops_have_numbers(two_phases, capsys):
    _, run = two_phases
    found = numbers(capsys, "structure", run, "--json")
    assert [(one["loop"], one["level"], one["iterations"]) for one in found["levels"]] == [
        (1, 1, 24), (2, 1, 30), (3, 2, 8),
    ]  # fmt: skip
    assert [part["loop"] for part in found["parts"]] == [None, 1, None, 2, None]
    assert [part["loop"] for part in found["parts"][1]["parts"] if part["loop"]] == [3]
    assert main(["structure", str(run)]) == 0
    text = capsys.readouterr().out
    assert "Beside these, 30 iterations of 22.0 ms (loop 2)" in " ".join(text.split())
    rows = re.findall(r" {5}([123]) +\d[^%]* (24|30|8) [\d.]+ ms ", text)
    assert rows == [("1", "24"), ("3", "8"), ("2", "30")], text


def test_one_loop_needs_no_number(tmp_path, capsys):
    assert main(["structure", str(run_of_steps(tmp_path))]) == 0
    (head,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("part")]
    assert "loop" not in head


@pytest.mark.parametrize(
    ("words", "loop", "first", "count"),
    [
        (["--loop", "1"], 0, 0, 24), (["--loop", "2"], 1, 0, 30), (["--iteration", "2:14"], 1, 13, 1),
        (["--iteration", "14"], 0, 13, 1), (["--iteration", "1:3-5"], 0, 2, 3),
        (["--loop", "2", "--iteration", "3-5"], 1, 2, 3), (["--iteration", "2:7", "--loop", "2"], 1, 6, 1),
    ],
)  # fmt: skip
def test_a_window_of_a_loop(two_phases, capsys, words, loop, first, count):
    planted, run = two_phases
    edges = planted.edges_ns[loop]
    found = numbers(capsys, "efficiency", run, "--json", *words)
    assert found["runtime_s"] == pytest.approx((edges[first + count] - edges[first]) / 1e9, rel=0.02)


def test_what_is_looked_at_is_said(two_phases, capsys):
    _, run = two_phases
    for words, said in (
        (["--loop", "2"], "only loop 2, 30 iterations, 660 ms from"),
        (["--iteration", "2:14"], "only iteration 14 of 30 of loop 2, 22"),
        (["--iteration", "3:2-3"], "only iterations 2 to 3 of 8 of loop 3, 6"),
        (["--iteration", "14"], "only iteration 14 of 24, 50"),
    ):
        assert main(["look", "--no-files", str(run), *words]) == 0
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("words", WINDOWED, ids=lambda words: words[0])
def test_commands_look_at_an_iteration_of_a_loop(two_phases, tmp_path, capsys, words, monkeypatch):
    _, run = two_phases
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    name, *options = words
    found = numbers(capsys, name, run, "--iteration", "2:4-9", *options, "--json")
    assert found
    assert not list(tmp_path.iterdir())


def test_iterations_of_a_loop_as_visits_of_a_region(two_phases, capsys):
    """All of its passes, and nothing else."""
    _, run = two_phases
    for number, count in enumerate(COUNTS, 1):
        found = numbers(capsys, "efficiency", run, "--json", "--region", "iteration", "--loop", number)
        assert len(found["visits"]) == count


def test_a_cut_of_every_loop(two_phases, tmp_path, capsys):
    _, run = two_phases
    found = numbers(capsys, "cut", run, "--all", "--iterations", "1", "-o", tmp_path / "small.h5", "--json")
    assert [(one["loop"], one["level"], one["of_iterations"]) for one in found["cuts"]] == [
        (1, 1, 24), (2, 1, 30), (3, 2, 8),
    ]  # fmt: skip
    for one, length in zip(found["cuts"], (FIRST_MS, SECOND_MS, INNER_MS), strict=True):
        assert one["files"] == [str(tmp_path / f"small-{one['loop']}.h5")]
        assert one["end_s"] - one["begin_s"] == pytest.approx(length / 1e3, rel=0.02)
        assert main(["check", one["files"][0], "-q"]) == 0
    sizes = [one["bytes"] for one in found["cuts"]]
    levels = [(one["level"], one["cuts"], one["mean_bytes"]) for one in found["levels"]]
    assert levels == [(1, 2, (sizes[0] + sizes[1]) / 2), (2, 1, sizes[2])]
    assert found["levels"][0]["times_smaller"] == pytest.approx(found["bytes"] / levels[0][2])
    capsys.readouterr()
    assert main(["cut", str(run), "--all", "-o", str(tmp_path / "text.prv")]) == 0
    text = capsys.readouterr().out
    assert "text-3.prv" in text and "Level 1: 2 cuts, " in text
    assert sorted(path.name for path in tmp_path.glob("text*.prv")) == [f"text-{k}.prv" for k in (1, 2, 3)]


@pytest.mark.parametrize("words", [["--iteration", "2:14"], ["--loop", "2", "--first", "14", "--iterations", "1"]])
def test_a_cut_of_one_loop(two_phases, tmp_path, capsys, words):
    planted, run = two_phases
    done = numbers(capsys, "cut", run, *words, "-o", tmp_path / "small.h5", "--json")
    begin, end = planted.edges_ns[1][13:15]
    assert (done["begin_s"], done["end_s"]) == pytest.approx((begin / 1e9, end / 1e9), abs=1e-5)


def test_events_of_the_iterations_of_a_loop(two_phases, tmp_path, capsys):
    """A converted trace has the loop's iterations, numbered from the first one that is there."""
    _, run = two_phases
    for words, count in ((["--loop", "2"], 30), (["--iteration", "3:2-6"], 5), (["--iteration", "2:4"], 1)):
        assert main(["prv", str(run), "--iterations", *words, "-f", "-q", "-o", str(tmp_path / "said.prv")]) == 0
        trace = open_trace(tmp_path / "said.prv")
        assert recorded(trace, Team()).count == count
        trace.close()


def test_tables_of_the_iterations_of_a_loop(two_phases, tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    _, run = two_phases
    words = ["export", str(run), "--to", "parquet", "--iterations", "--loop", "2", "-q", "-o", str(tmp_path / "part")]
    assert main(words) == 0
    assert len(pd.read_parquet(tmp_path / "part.iterations.parquet")) == 4 * 30
    calls = pd.read_parquet(tmp_path / "part.calls.parquet")
    assert sorted(set(calls["iteration"])) == list(range(30))


def test_a_view_of_an_iteration_of_a_loop(two_phases, capsys):
    planted, run = two_phases
    begin, end = (edge / 1e9 for edge in planted.edges_ns[1][13:15])
    view = ["views", run, "--view", "parallelism", "--show", "bursts", "--json"]
    of_times = numbers(capsys, *view, "--from", begin, "--to", end)
    assert numbers(capsys, *view, "--iteration", "2:14")["views"] == of_times["views"]
    part = numbers(capsys, *view, "--iteration", "2:14", "--from", "2ms", "--to", "5ms")
    times = ["--from", f"{begin + 0.002:.9f}", "--to", f"{begin + 0.005:.9f}"]
    assert part["views"] == numbers(capsys, *view, *times)["views"]


def test_runs_compared_by_a_loop(two_phases, capsys):
    _, run = two_phases
    main_loop, second = (
        numbers(capsys, "speedup", run, run, "--json", *words)["runs"][0] for words in ([], ["--loop", "2"])
    )
    assert main_loop["period_s"] == pytest.approx(FIRST_MS / 1e3, rel=0.02)
    assert second["period_s"] == pytest.approx(SECOND_MS / 1e3, rel=0.02)


def test_mistakes_are_one_line(two_phases, tmp_path, capsys):
    _, run = two_phases
    for words, said in (
        (["--loop", "4"], "no loop 4"), (["--iteration", "2:31"], "no iteration 31 of loop 2"),
        (["--loop", "3", "--iteration", "2:14"], "two loops"), (["--iteration", "0:3"], "is no iteration"),
        (["--iteration", "2:"], "is no iteration"), (["--loop", "0"], "--loop"),
    ):  # fmt: skip
        assert main(["look", "--no-files", str(run), *words]) != 0
        err = capsys.readouterr().err
        assert said in err and "Traceback" not in err
    for words in (["--all", "--loop", "2"], ["--level", "2", "--loop", "2"], ["--from", "0", "--iteration", "3"],
                  ["--iteration", "3", "--first", "2"]):  # fmt: skip
        assert main(["cut", str(run), "-o", str(tmp_path / "x.h5"), *words]) != 0
        assert "leave out" in capsys.readouterr().err
