"""The scheduling study: what it claims comes out, and `analyze schedule` prints it."""

import json

import numpy as np
import pandas as pd
import pytest

from analyzer.cli import main
from analyzer.jobs.cluster import QueuePolicy
from analyzer.jobs.generator import WorkloadDesign
from analyzer.jobs.study import WorkloadMean, WorkloadStudy, run_study

SEEDS = 6


@pytest.fixture(scope="module")
def found():
    return run_study(WorkloadStudy(WorkloadDesign(), (0.022, 0.3), (1.0, 2.0, 3.0, 4.0), tuple(range(SEEDS))))


def mean_of(rows: pd.DataFrame, name: str, by: str = "policy") -> pd.Series:
    return rows.groupby(by)[name].mean()


@pytest.mark.parametrize("share", [0.022, 0.3])
def test_policies_in_order(found, share):
    """Table 5.6: FCFS takes far longer than all others, which are within 3 % of each other."""
    runs, _ = found
    length = mean_of(runs[runs.share == share], "length_h")
    others = length.drop(QueuePolicy.FCFS.value)
    assert length[QueuePolicy.FCFS.value] > 1.3 * others.max() and others.max() < 1.03 * others.min()


def test_cancellations_fall(found):
    """Table 5.7: with k, to zero at 4 sigma of the better model, while the other needs about 12."""
    runs, _ = found
    easy = runs[(runs.policy == "easy") & (runs.share == 0.3)]
    by_k = easy[~easy.fair].pivot_table(index="k", columns="model", values="cancelled")
    assert (by_k.diff().dropna() <= 0).all().all()
    assert by_k.loc[4, "T_AIC"] < 0.5 and (by_k["T_theo"] > 3 * by_k["T_AIC"]).all()
    fair = mean_of(easy[easy.fair], "k", "model")
    assert 3 <= fair["T_AIC"] <= 5 and 10 <= fair["T_theo"] <= 14
    assert (easy[easy.fair].cancelled == 0).all()


def test_cancellations_do_not_depend_on_the_share(found):
    runs, _ = found
    table = runs.pivot_table(index=["policy", "model", "k", "seed"], columns="share", values="cancelled")
    assert (table[0.022] == table[0.3]).all()


def test_the_better_model_waits_less(found):
    """Table 5.8, in both scenarios and for each policy."""
    _, pairs = found
    gains = pairs.groupby(["share", "policy"])[["wait_gain", "idle_gain", "less_share"]].mean()
    assert len(gains) == 6 and (gains.wait_gain > 0.03).all() and (gains.less_share > 0.4).all()
    assert (pairs.k_first < pairs.k).all()


def test_shares_of_node_time_add_up(found):
    runs, _ = found
    assert np.allclose(runs.finished_share + runs.cancelled_share + runs.idle_share, 1)
    assert (runs.idle_share > 0).all() and ((runs.cancelled_share > 0) == (runs.cancelled > 0)).all()


def test_intervals():
    """The interval of 1, 2, 3 is Student's t with two degrees of freedom, 4.3027, times 1 / sqrt(3)."""
    mean = WorkloadMean.of([1, 2, 3])
    assert mean.value == 2 and mean.half == pytest.approx(4.30265 / np.sqrt(3), rel=1e-4)
    assert WorkloadMean.of([7]) == WorkloadMean(7, None)


def test_command(tmp_path, capsys):
    small = ["--jobs", "300", "--workloads", "2"]
    assert main(["schedule", *small]) == 0
    text = capsys.readouterr().out
    assert "300 jobs, 93 of HPL, on 7 nodes; mean and 95 % interval of 2 workloads" in text
    assert "none from" in text and "T_AIC against T_theo" in text
    assert main(["schedule", *small, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["workloads"] == 2 and {row["policy"] for row in data["runs"]} == {
        policy.value for policy in QueuePolicy
    }
    assert all(row["length_h"]["ci95"] > 0 for row in data["runs"])


def test_command_with_a_log(tmp_path, capsys):
    """The output is read again, and simulated as before and by all policies."""
    path, again = tmp_path / "made.swf", tmp_path / "again.swf"
    generated = ["schedule", "--jobs", "200", "--workloads", "1", "--share", "30", "--policy", "easy"]
    assert main([*generated, "-o", str(path)]) == 0
    assert main(["schedule", str(path), "--policy", "easy", "-o", str(again)]) == 0
    capsys.readouterr()
    with path.open("a") as file:
        file.write("17 words\n")
    assert main(["schedule", str(path), "--json"]) == 0
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert data["jobs"] == 200 and data["asked"] == 200 and data["bad"] == [206]
    assert "1 line is no jobs of 18 numbers and left out: line 206 ('17 words')" in said.err
    lengths = {(one["policy"], one["estimates"]): one["length_s"] for one in data["simulated"]}
    assert len(lengths) == 8 and lengths["fcfs", ""] > lengths["easy", "perfect"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["no.swf"], "cannot read"),
        (["--nodes", "3"], "up to 7 nodes"),
        (["--jobs", "10", "--application-jobs", "10"], "10 of 10 jobs"),
        (["-o", "made.txt"], "as .swf"),
        (["--runs", "no.csv"], "cannot read no.csv"),
        (["log.swf", "--jobs", "3"], "--jobs is for generated ones"),
    ],
)
def test_mistakes(arguments, said, capsys):
    assert main(["schedule", *arguments]) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and said in lines[0]
