"""`analyze fit --compose`: a parameter that another stored model predicts, and its part of the observable."""

import json

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure

from analyzer.cli import main
from analyzer.models.composed_models import ComposedModel
from analyzer.models.study import study

TERMS = "{n,misses}*"


def table(random, noise):
    """misses = 2 n^2 / p, time = 3 n + 0.5 misses, each times a normal factor."""
    n, p = (axis.ravel().astype(float) for axis in np.meshgrid([4, 8, 12, 16, 20], [1, 2, 4]))
    n, p = np.tile(n, 3), np.tile(p, 3)
    misses = 2 * n * n / p * (1 + noise * random.standard_normal(len(n)))
    time = (3 * n + 0.5 * misses) * (1 + noise * random.standard_normal(len(n)))
    return pandas.DataFrame({"n": n, "p": p, "misses": misses, "time": time})


def true_part(n, p):
    """misses / p + 3 n: n / (n + 3 p)."""
    return n / (n + 3 * p)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table(np.random.default_rng(8), 0.02)
    frame.to_csv("runs.csv", index=False)
    inner = ["fit", "runs.csv", "--observable", "misses", "--parameters", "n,p", "--terms", "{n^2/p}*", "-o", "misses"]
    assert main([*inner, "-q"]) == 0
    return frame


FIT = ["fit", "runs.csv", "--parameters", "n,misses", "--terms", TERMS, "--compose", "misses=misses.model.json"]


def test_the_part_of_each_setting(measured, capsys):
    """By hand n / (n + 3 p) of the time, as the model and as the measured misses say it; predictions need n and p."""
    assert main([*FIT, "--predict", "n=16,p=4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["composed"]
    assert found["parameters"] == ["n", "p"] and len(found["settings"]) == 15
    for row in found["settings"]:
        part = row["shares"]["misses"]
        low, high = part["interval"]
        assert part["value"] == pytest.approx(true_part(**row["at"]), rel=0.05)
        assert low < part["value"] < high < low + 0.1
        assert row["measured_shares"]["misses"] == pytest.approx(true_part(**row["at"]), rel=0.08)
    (asked,) = found["predictions"]
    assert asked["value"] == pytest.approx(3 * 16 + 16 * 16 / 4, rel=0.03) and asked["beyond"] == []
    assert asked["quantities"]["misses"] == pytest.approx(2 * 16 * 16 / 4, rel=0.03)


def test_text_and_picture(measured, capsys, monkeypatch):
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    assert main([*FIT, "--predict", "n=40,p=4", "-o", "both"]) == 0
    said = capsys.readouterr().out
    assert "Part of misses in time" in said and "n = 40 lies outside of the measured 4 to 20" in said
    assert "both.misses.png" in said
    last = figures[-1].axes
    assert [axes.get_xlabel() for axes in last] == ["n", "p"]
    dots = [line for line in last[0].lines if line.get_marker() == "o"]
    assert len(dots) == 3 and all(len(line.get_xdata()) == 5 for line in dots)
    for line, p in zip(dots, (1, 2, 4), strict=True):
        shares = [100 * true_part(n, p) for n in (4, 8, 12, 16, 20)]
        assert line.get_ydata() == pytest.approx(shares, rel=0.1)


def test_of_stored_models(measured, capsys):
    assert main([*FIT, "-o", "both", "-q"]) == 0
    args = ["fit", "both.model.json", "--compose", "misses=misses.model.json", "--predict", "n=16,p=4", "--json"]
    assert main(args) == 0
    (asked,) = json.loads(capsys.readouterr().out)["composed"]["predictions"]
    assert asked["shares"]["misses"]["value"] == pytest.approx(true_part(16, 4), rel=0.03)


def test_a_quantity_that_makes_no_part(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = table(np.random.default_rng(2), 0.02)
    frame["time"] = 3 * frame["n"]
    frame.to_csv("runs.csv", index=False)
    inner = ["fit", "runs.csv", "--observable", "misses", "--parameters", "n,p", "--terms", "{n^2/p}*", "-o", "misses"]
    assert main([*inner, "-q"]) == 0
    assert main(FIT) == 0
    assert "misses is not in the selected model of time: its part is 0" in " ".join(capsys.readouterr().out.split())


def test_intervals_hold():
    """The composed prediction and the part are in their intervals in 93 % of 150 repetitions or more."""
    random = np.random.default_rng(31)
    held = np.zeros(2)
    at = {"n": 12.0, "p": 2.0}
    for _ in range(150):
        frame = table(random, 0.05)
        inner = study(frame, "misses", ["n", "p"], "{n^2/p}*").model
        both = ComposedModel(study(frame, "time", ["n", "misses"], TERMS).model, {"misses": inner})
        said = both.prediction(**at), both.share_prediction("misses", **at)
        truth = 3 * 12 + 12 * 12 / 2, true_part(**at)
        held += [one.interval[0] <= true <= one.interval[1] for one, true in zip(said, truth, strict=True)]
    assert (held >= 0.93 * 150).all(), held


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--compose", "p=misses.model.json"], "p is no parameter of the model"),
        (["--compose", "misses=misses.model.json"], "gives misses two models"),
        (["--predict", "n=3,misses=2"], "a value of each of n, p"),
        (["--next", "2"], "names settings for one model"),
    ],
)
def test_wrong_input(measured, more, reason, capsys):
    assert main([*FIT, *more]) == 2
    said = capsys.readouterr().err
    assert reason in said and len(said.splitlines()) == 1


def test_a_table_without_a_parameter_of_the_quantity(measured, capsys):
    measured.drop(columns="p").to_csv("less.csv", index=False)
    assert main(["fit", "less.csv", *FIT[2:]]) == 2
    assert "no column p" in capsys.readouterr().err
