"""The distribution of run times over the numbers of nodes: as text, as numbers and as a picture (figure 5.20)."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from analyzer.cli import main
from analyzer.jobs.generator import WorkloadDesign, generate
from analyzer.jobs.workload import NodeRange, Workload, node_ranges, run_times

JOB = "{} {} -1 {} {} -1 -1 {} {} -1 1 1 1 1 1 1 -1 -1"
HOUR = 3600


@pytest.fixture
def log(tmp_path):
    """Four processors: jobs of 1, 2 and 3 h on one, one of 4 h on two, one of 10 h on four."""
    jobs = [(1, 1), (2, 1), (3, 1), (4, 2), (10, 4)]
    lines = [JOB.format(k, k, hours * HOUR, width, width, hours * HOUR) for k, (hours, width) in enumerate(jobs)]
    (tmp_path / "five.swf").write_text("\n".join(["; MaxProcs: 4", *lines]) + "\n")
    return str(tmp_path / "five.swf")


def heights(monkeypatch):
    """Bars of run times that are drawn, kind by kind."""
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    return lambda: [
        [bar.get_height() for bar in bars]
        for figure in figures
        for axes in figure.axes
        if axes.get_xlabel() == "nodes of a job"
        for bars in axes.containers
    ]


def test_of_a_log_by_hand(log, tmp_path, capsys, monkeypatch):
    """6, 4 and 10 of 20 h; the median of three jobs on one processor is 120 min."""
    drawn = heights(monkeypatch)
    assert main(["schedule", log, "--policy", "fcfs", "--picture", str(tmp_path / "a.svg")]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    start = rows.index("Run times of jobs by their nodes")
    assert rows[start + 1 : start + 5] == [
        "nodes jobs run time (h) part median (min)", "1 3 6 30.0 % 120", "2 1 4 20.0 % 240", "4 1 10 50.0 % 600"
    ]  # fmt: skip
    assert drawn() == [pytest.approx([6, 4, 10])]
    assert main(["schedule", log, "--policy", "fcfs", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["run_times"]
    assert [(row["nodes"], row["jobs"], row["run_time_h"]) for row in found] == [
        ([1, 1], 3, 6), ([2, 2], 1, 4), ([4, 4], 1, 10)
    ]  # fmt: skip


def test_a_study_draws_the_sums_of_its_workloads(tmp_path, monkeypatch, capsys):
    """The sums of the application and of all others equal a second summation."""
    drawn = heights(monkeypatch)
    args = ["schedule", "--jobs", "60", "--workloads", "2", "--share", "30", "--sigma", "1", "--policy", "fcfs"]
    assert main([*args, "--picture", str(tmp_path / "a.png")]) == 0
    own, others = np.zeros(8), np.zeros(8)
    for seed in (0, 1):
        workload = generate(WorkloadDesign(60, 19), 0.3, seed)
        for nodes, run, is_own in zip(workload.nodes, workload.run_s, workload.application, strict=True):
            (own if is_own else others)[nodes] += run / HOUR / 2
    there = (own + others) > 0
    assert drawn() == [pytest.approx(own[there].tolist()), pytest.approx(others[there].tolist())]
    assert "of HPL" in capsys.readouterr().out


def test_many_widths_are_put_together():
    """Between powers of two, each job in exactly one range."""
    nodes = np.arange(1, 100)
    workload = Workload(np.zeros(99), nodes, np.ones(99))
    ranges = node_ranges([workload])
    assert ranges[:4] == [NodeRange(1, 1), NodeRange(2, 2), NodeRange(3, 4), NodeRange(5, 8)]
    assert str(ranges[3]) == "5-8"
    found = list(run_times(workload, ranges))
    assert sum(one.total_s for one in found) == 99 and [len(one.run_s) for one in found][:4] == [1, 1, 2, 4]
