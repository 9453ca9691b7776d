"""Node time under a batch scheduler: finished, cancelled and idle, as text and as a picture."""

import json
import re

import pytest
from matplotlib.figure import Figure

from analyzer.cli import main

JOB = "{} {} -1 {} {} -1 -1 {} {} -1 1 1 1 1 1 1 -1 -1"
"""Number, submission, run time, processors, and what was asked for: processors and time."""


@pytest.fixture
def log(tmp_path):
    """Two processors. One job of 10 s on both; one of 10 s on one that asked for 4 s, and is cancelled then."""
    lines = ["; MaxProcs: 2", JOB.format(1, 0, 10, 2, 2, 10), JOB.format(2, 0, 10, 1, 1, 4)]
    (tmp_path / "two.swf").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "two.swf")


def test_of_a_log_by_hand(log, capsys):
    """20 of 28 processor seconds finish, 4 are cancelled, 4 idle; with true estimates none is cancelled: 30 of 40."""
    assert main(["schedule", log, "--policy", "easy"]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "policy estimates finished cancelled idle" in rows
    assert "EASYBackfilling requested 71.43 % 14.29 % 14.29 %" in rows
    assert "EASYBackfilling perfect 75.00 % 0.00 % 25.00 %" in rows


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_picture_of_a_log(log, ending, tmp_path, monkeypatch):
    drawn = tmp_path / f"bars.{ending}"
    widths = kept_bars(monkeypatch)
    assert main(["schedule", log, "--policy", "easy", "-q", "--picture", str(drawn)]) == 0
    assert drawn.stat().st_size > 1000
    assert widths() == [pytest.approx([75, 500 / 7]), pytest.approx([0, 100 / 7]), pytest.approx([25, 100 / 7])]


def kept_bars(monkeypatch):
    """Lengths of the bars of node time, kind by kind."""
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    return lambda: [
        [bar.get_width() for bar in bars]
        for figure in figures
        for axes in figure.axes
        if axes.get_xlabel() != "nodes of a job"
        for bars in axes.containers
    ]


def test_a_study_says_what_its_json_says(tmp_path, capsys, monkeypatch):
    args = ["schedule", "--jobs", "60", "--workloads", "2", "--share", "30", "--sigma", "1"]
    widths = kept_bars(monkeypatch)
    assert main([*args, "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert main([*args, "--picture", str(tmp_path / "bars.png")]) == 0
    said = capsys.readouterr().out
    said = said[said.index("Node time of jobs that finished") :]
    said = said[: said.index("Jobs that ran longer")]
    shares = [[float(x) for x in re.findall(r"(-?[\d.]+) ±[\d.]+ %", line)] for line in said.splitlines()]
    shares = [row for row in shares if row]
    names = ("finished_share", "cancelled_share", "idle_share")
    assert len(shares) == len(runs)
    for row, run in zip(shares, runs, strict=True):
        assert row == pytest.approx([100 * run[name]["mean"] for name in names], abs=0.006)
    assert all(sum(row) == pytest.approx(100, abs=0.02) for row in shares)
    drawn = list(zip(*widths(), strict=True))
    assert len(drawn) == len(shares)
    for bars, row in zip(drawn, shares, strict=True):
        assert bars == pytest.approx(row, abs=0.006)


@pytest.mark.parametrize(
    ("name", "reason"), [("bars.jpg", "its name ends in .png or .svg"), ("nowhere/bars.png", "nowhere")]
)
def test_a_picture_that_cannot_be_drawn(log, name, reason, tmp_path, capsys):
    assert main(["schedule", log, "--picture", str(tmp_path / name)]) != 0
    said = capsys.readouterr().err
    assert reason in said and len(said.splitlines()) == 1
