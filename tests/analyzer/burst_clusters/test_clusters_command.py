"""`analyze clusters` and `--cluster` as they are typed."""

import json
import sys

import numpy as np
import pytest
from phased import write_phases

from analyzer.cli import main


@pytest.fixture
def run(tmp_path):
    """3 ranks: 30 bursts of 1 ms and 10 of 5 ms each, the last ones on rank 2 only."""
    durations = np.full((40, 3), 1_000_000)
    durations[30:] = 0
    durations[30:, 2] = 5_000_000
    return write_phases(tmp_path / "run.prv", durations, 1000)


def answer(capsys, *words):
    assert main([*words]) == 0
    return capsys.readouterr().out


def test_what_it_finds_and_writes(run, capsys):
    data = json.loads(answer(capsys, "clusters", str(run), "--prv", "--json"))
    first, second = data["clusters"]
    assert (first["bursts"], first["time_s"], first["ranks"]) == (90, pytest.approx(0.09), [0, 1, 2])
    assert (second["bursts"], second["time_s"], second["ranks"]) == (10, pytest.approx(0.05), [2])
    names = ["clusters.json", "clusters.png", "clusters.prv", "clusters.pcf", "clusters.row"]
    assert [path.split("run.")[1] for path in data["written"]] == names
    text = " ".join(answer(capsys, "clusters", str(run)).split())
    assert "Cluster 1 has 64.3 % of the computing time" in text and "Cluster 2 is of rank 2 only" in text
    assert json.loads(answer(capsys, "clusters", str(run), "--method", "kmeans", "-k", "2", "--json"))["clusters"] == [
        first, second,
    ]  # fmt: skip


def test_the_choice_in_other_commands(run, capsys):
    """Computing is that of the cluster; what needs all of it refuses, or says why it is missing."""
    answer(capsys, "clusters", str(run))
    data = json.loads(answer(capsys, "efficiency", str(run), "--cluster", "2", "--json"))
    assert data["useful_s"] == pytest.approx(0.05) and data["load_balance"] == pytest.approx(1 / 3)
    assert "cluster 2" in data["not_replayed"]
    both = json.loads(answer(capsys, "efficiency", str(run), "--cluster", "1", "--ranks", "0-1", "--json"))
    assert both["useful_s"] == pytest.approx(0.06)
    assert "3 ranks, only bursts of cluster 1 count as computing" in " ".join(
        answer(capsys, "look", "--no-files", str(run), "--cluster", "1").split()
    )
    assert main(["replay", str(run), "--cluster", "1"]) == 2
    assert "--cluster cannot be used here" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line, said",
    [
        ("look --no-files {0} --cluster 1", "the clusters of {0} are not known"),
        ("clusters {0} --counter PAPI_L1_DCM", "has no counter 'PAPI_L1_DCM'"),
        ("clusters {0} --cluster 1", "--cluster cannot be used here"),
        ("clusters {0} --reach 0", "Invalid value for '--reach'"),
        ("clusters {0} -o {0}/x/y", "cannot"),
    ],
)
def test_what_is_refused(run, capsys, line, said):
    assert main(line.format(run).split()) != 0
    err = capsys.readouterr().err
    assert said.format(run) in err and err.count("\n") == 1


def test_without_scikit_learn_it_says_what_to_install(run, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    assert main(["clusters", str(run)]) == 1
    assert "scikit-learn is not installed (pip install 'tracelib[clusters]')" in capsys.readouterr().err
