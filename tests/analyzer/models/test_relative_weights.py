"""Relative distances: no bias, intervals that hold what they promise, coefficients with their errors."""

import json

import numpy as np
import pandas
import pytest
import statsmodels.api
from hpl_design import TERMS as HPL
from hpl_design import selected as hpl
from hypothesis import given
from hypothesis import strategies as st

import analyzer
from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.models.described_terms import FitOptions, fitted_as
from analyzer.models.fitting.relative import expected_weights
from analyzer.models.model_file import model_text, read_model
from analyzer.models.study import study

SIZES, BLOCKS = [6144, 12288, 18432, 24576, 30720], [8, 16, 32, 64, 128, 256]


def planted(noise, random):
    n = np.repeat([100, 200, 400, 800, 1600.0], 8)
    return pandas.DataFrame({"n": n, "time": 2e-3 * n * (1 + noise * random.standard_normal(n.size))})


@pytest.mark.parametrize("noise", [0.05, 0.136, 0.25])
def test_noise_makes_no_bias_and_intervals_hold_the_truth(noise):
    random, values, held = np.random.default_rng(11), [], []
    for _ in range(120):
        model = analyzer.fit(planted(noise, random), "time", ["n"], "{n}*")
        low, high = model.prediction(n=1000).interval
        values.append(model(n=1000) / 2)
        held.append(low <= 2 <= high)
    assert np.mean(values) == pytest.approx(1, abs=3 * noise / np.sqrt(40 * 120) + 0.002)
    assert np.mean(held) >= 0.90  # 95 % of 120, less 2.5 standard deviations


def test_weights_by_what_was_measured_have_the_bias_that_theory_says():
    """Least squares by 1 / y^2 of y = c x (1 + e): E[1/y] / E[1/y^2], about (1 + s^2) / (1 + 3 s^2) of the truth."""
    random, noise = np.random.default_rng(3), 0.136
    found = [
        analyzer.fit(planted(noise, random), "time", ["n"], "{n}*", FitOptions(weighting="measured"))(n=1000) / 2
        for _ in range(120)
    ]
    assert np.mean(found) == pytest.approx((1 + noise**2) / (1 + 3 * noise**2), abs=0.01)


@pytest.mark.parametrize("beyond", [False, True])
def test_intervals_of_many_terms_hold_the_truth(beyond):
    random, held = np.random.default_rng(5), []
    for _ in range(8):
        rows = [
            (random.choice(SIZES), random.choice(BLOCKS), random.integers(1, 8), random.integers(1, 9))
            for _ in range(80)
        ]
        frame = pandas.DataFrame(rows, columns=["N", "NB", "P", "Q"]).astype(float)
        frame["time"] = hpl(frame.N, frame.NB, frame.P, frame.Q) * (1 + 0.136 * random.standard_normal(80))
        model = analyzer.fit(frame, "time", ["N", "NB", "P", "Q"], HPL)
        for _ in range(30):
            at = {
                "N": 40960.0 if beyond else float(random.choice(SIZES)), "NB": float(random.choice(BLOCKS)),
                "P": float(random.integers(1, 8)), "Q": float(random.integers(1, 9)),
            }  # fmt: skip
            low, high = model.prediction(**at).interval
            held.append(low <= hpl(at["N"], at["NB"], at["P"], at["Q"]) <= high)
    assert np.mean(held) >= 0.90  # points of one table depend on each other: 8 tables


def test_one_model_of_all_terms_is_what_statsmodels_fits():
    frame = planted(0.1, np.random.default_rng(1))
    found = study(frame, "time", ["n"], "{n,n^2}", FitOptions(search="none"))
    member = found.model.selected
    columns = np.column_stack([np.asarray(t.value({"n": frame.n.to_numpy()})) * np.ones(40) for t in member.terms])
    weight = (columns @ member.coefficients) ** -2
    theirs = statsmodels.api.WLS(frame.time, columns, weight).fit()
    assert sorted(found.model.terms) == ["1", "n", "n^2"]
    np.testing.assert_allclose(member.coefficients, theirs.params, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(member.standard_errors, theirs.bse, rtol=1e-6)
    theirs_at = theirs.get_prediction([[float(t.value({"n": 900.0})) for t in member.terms]]).conf_int()[0]
    np.testing.assert_allclose(found.model.prediction(n=900.0).interval, theirs_at, rtol=1e-5)


@given(st.integers(0, 2**32), st.floats(1e-6, 1e6))
def test_weights_follow_the_unit_of_what_was_measured(seed, unit):
    random = np.random.default_rng(seed)
    x = np.repeat([1.0, 2, 4, 8], 3)
    y = (3 + x) * (1 + 0.1 * random.standard_normal(12))
    columns, setting = np.column_stack([np.ones(12), x, x**2]), np.repeat(np.arange(4), 3)
    mine, scaled = (expected_weights(columns, of, setting, "aicc") for of in (y, unit * y))
    np.testing.assert_allclose(scaled * unit**2, mine, rtol=1e-6)


def test_the_best_of_each_size_has_the_coefficients_of_a_fit_of_its_terms():
    frame = planted(0.1, np.random.default_rng(2))
    found = study(frame, "time", ["n"], "{n,n^2,1/n}*", FitOptions(weighting="measured"))
    for model, _, _ in found.selection.per_size:
        member = fitted_as(found.selection, model)
        columns = np.column_stack([np.asarray(t.value({"n": frame.n.to_numpy()})) * np.ones(40) for t in member.terms])
        theirs = statsmodels.api.WLS(frame.time, columns, frame.time**-2.0).fit()
        np.testing.assert_allclose(member.coefficients, theirs.params, rtol=1e-6)
        np.testing.assert_allclose(member.standard_errors, theirs.bse, rtol=1e-6)


def test_weights_of_all_models_are_on_one_scale(tmp_path, capsys):
    planted(0.2, np.random.default_rng(4)).to_csv(tmp_path / "t.csv", index=False)
    command = ["fit", str(tmp_path / "t.csv"), "--parameters", "n", "--terms", "{n,n^2,n^3,1/n,log2(n),sqrt(n),1/n^2}*"]
    assert main([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["models"][0]["weight"] == said["weight"] >= said["models"][1]["weight"]
    assert sum(model["weight"] for model in said["models"]) < 1
    assert len(said["standard_errors"]) == len(said["coefficients"]) == len(said["terms"])


def test_a_model_file_keeps_the_interval(tmp_path):
    model = analyzer.fit(planted(0.1, np.random.default_rng(1)), "time", ["n"], "{n,n^2}*")
    (tmp_path / "m.json").write_bytes(model_text(model))
    assert read_model(tmp_path / "m.json").prediction(n=3000.0) == model.prediction(n=3000.0)
    old = json.loads(model_text(model))
    del old["whole"]
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert read_model(tmp_path / "old.json").predict(n=3000.0) == model.predict(n=3000.0)


def test_a_stored_model_predicts_from_the_command_line(tmp_path, capsys):
    table, command = tmp_path / "t.csv", ["--predict", "n=1000", "--predict", "n=5000", "--json"]
    planted(0.1, np.random.default_rng(1)).to_csv(table, index=False)
    assert main(["fit", str(table), "--parameters", "n", "--terms", "{n}", "-o", str(tmp_path / "m"), *command]) == 0
    fitted = json.loads(capsys.readouterr().out)
    assert main(["fit", str(tmp_path / "m.model.json"), *command]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert stored["predictions"] == fitted["predictions"] and stored["model"] == fitted["model"]
    assert [one["beyond"] for one in stored["predictions"]] == [
        [],
        ["n = 5000 lies outside of the measured 100 to 1600"],
    ]
    assert main(["fit", str(tmp_path / "m.model.json"), "--predict", "n=5000"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"m.model.json: time = {stored['model']}\n") and "Measured: n from 100 to 1600" in said
    assert "Beyond the data: n = 5000 lies outside" in said
    assert main(["fit", str(tmp_path / "m.model.json"), "--predict", "p=5000"]) == 2
    assert "needs a value of each of n" in capsys.readouterr().err
    assert main(["fit", str(tmp_path / "m.model.json"), "--terms", "{n}"]) == 2
    assert "is a model that was fitted" in capsys.readouterr().err


def test_fewer_rows_than_terms_leave_the_chosen_models():
    frame = pandas.DataFrame({"n": [1.0, 2, 4, 8, 16, 32], "time": [1.1, 1.9, 4.2, 7.9, 16.3, 31.0]})
    model = analyzer.fit(frame, "time", ["n"], "{n,n^2,n^3,1/n,log2(n),sqrt(n)}*")
    low, high = model.prediction(n=64).interval
    assert model.whole is None and low < 64 < high


def test_several_regions_of_a_table_are_not_put_into_one_model(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text(
        "region,n,time\n"
        + "".join(f"{name},{n},{n * k}\n" for name, k in (("mm", 1), ("gath", 1e-3)) for n in (1, 2, 4, 8))
    )
    assert main(["fit", str(path), "--parameters", "n"]) == 2
    assert "has 2 regions: mm, gath" in capsys.readouterr().err
    assert main(["fit", str(path), "--parameters", "n", "--region", "gath"]) == 0
    assert "time = 0.001*n" in capsys.readouterr().out


def test_rows_without_a_value_and_equal_parameters_are_said():
    rows = [(p, p, 1 + 0.1 * p) for p in (1.0, 2, 4, 8, 16)] + [(32.0, 32.0, np.nan)]
    found = study(pandas.DataFrame(rows, columns=["p", "ranks", "time"]), "time", ["p", "ranks"])
    assert found.guidance[0].startswith("One row has no value of time or of a parameter")
    assert "ranks is the same as p in all rows" in found.guidance[1]
    twice = pandas.DataFrame([(p, 2 * p, 1 + p) for p in (1.0, 2, 4, 8)], columns=["p", "q", "time"])
    assert "q is 2 times p in all rows" in study(twice, "time", ["p", "q"]).guidance[0]
    other = pandas.DataFrame([(p, q, 1 + p) for p in (1.0, 2, 4) for q in (1.0, 3)], columns=["p", "q", "time"])
    assert not any("in all rows" in said for said in study(other, "time", ["p", "q"]).guidance)


def test_what_is_0_has_no_relative_distance():
    frame = pandas.DataFrame({"n": [1.0, 2, 3, 4], "time": [0.0, 1, 2, 3]})
    with pytest.raises(TracelibError, match="time is 0 in some rows"):
        analyzer.fit(frame, "time", ["n"], "{n}*")
