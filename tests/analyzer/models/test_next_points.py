"""Proposals of the next measurement, compared with the least squares of one more row, and by trying it."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.models.described_terms import FitOptions
from analyzer.models.next_points import next_points
from analyzer.models.study import fit, study


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_one_linear_model_is_that_of_least_squares(seed):
    """a + b n with known noise: sigma^2 t (X^T X + x x^T)^-1 t, of all candidates the least, one after the other."""
    random = np.random.default_rng(seed)
    n = random.choice([1.0, 2, 4, 8], 8)
    if len(set(n)) < 3:
        return
    frame = pd.DataFrame({"n": n, "time": 3 + n + 0.1 * random.standard_normal(8)})
    model = fit(frame, "time", ["n"], "{n}", FitOptions(search="none", weighting="ordinary"))
    found = next_points(model, {"n": n}, [{"n": 100}], 3)
    matrix, target = np.column_stack([np.ones(8), n]), np.array([1, 100.0])
    gram = matrix.T @ matrix
    first = target @ np.linalg.inv(gram) @ target
    for point in found:
        with_row = {value: gram + np.outer([1, value], [1, value]) for value in [*np.unique(n), point.at["n"]]}
        left = {value: target @ np.linalg.inv(more) @ target / first for value, more in with_row.items()}
        assert point.narrower == pytest.approx(np.sqrt(left[point.at["n"]]))
        assert left[point.at["n"]] <= min(left.values()) + 1e-12
        gram = with_row[point.at["n"]]
        assert point.at["n"] <= 2 * n.max() and point.expected == pytest.approx(model.predict(n=point.at["n"]))


def test_it_says_where_likely_models_differ():
    """Five small values of p cannot tell p^(3/2) from p log2(p)^2. Over 12 data sets: with the first suggestion
    measured, the median error at 256 is less than with more measurements of a value that is there."""
    suggested, repeated = [], []
    for seed in range(12):
        random = np.random.default_rng(seed)
        p = np.repeat([2.0, 4, 6, 8, 10], 3)

        def measured(at, random=random):
            return (10 + 0.5 * at**1.5) * (1 + 0.03 * random.standard_normal(len(at)))

        frame = pd.DataFrame({"p": p, "time": measured(p)})
        model = fit(frame, "time", ["p"])
        (point,) = next_points(model, {"p": p}, [{"p": 256.0}], 1)
        for errors, value in ((suggested, point.at["p"]), (repeated, 4.0)):
            more = np.full(3, value)
            longer = pd.concat([frame, pd.DataFrame({"p": more, "time": measured(more)})])
            errors.append(abs(fit(longer, "time", ["p"]).predict(p=256) / (10 + 0.5 * 256**1.5) - 1))
    assert np.median(suggested) < np.median(repeated)


def test_the_command(tmp_path, capsys):
    random = np.random.default_rng(1)
    rows = [
        (p, n, (1 + 1e-3 * n * n / p) * (1 + 0.02 * random.standard_normal())) for p in (2, 4, 8) for n in (50, 400)
    ]
    path = tmp_path / "t.csv"
    path.write_text("p,n,time\n" + "".join(f"{p},{n},{time}\n" for p, n, time in rows + rows))
    words = ["fit", str(path), "--parameters", "p,n", "--predict", "p=64,n=400", "--next", "2"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["next"]
    assert len(found) == 2 and found[1]["narrower"] < found[0]["narrower"] < 1
    assert all(float(value).is_integer() for one in found for value in one["at"].values())
    assert main(words) == 0
    assert "Measure next" in capsys.readouterr().out


def test_too_few_rows_is_one_line(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("p,time\n1,2\n2,3\n4,5.5\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        words = ["fit", str(path), "--terms", "{1,p,p^2}*", "--search", "none"]
        assert main([*words, "--next", "1", "-o", str(tmp_path / "m")]) == 1
        assert "the rows are too few to say what to measure next" in capsys.readouterr().err
        assert not list(tmp_path.glob("m.*"))
        assert main(words) == 0


def test_points_where_a_term_has_no_value_are_left_out():
    frame = pd.DataFrame({"p": [1.0, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]})
    frame["time"] = 1 + 1 / frame.p + np.resize([0.01, -0.02, 0.01], 12)
    found = study(frame, "time", ["p"], "{1/p}", FitOptions(search="none"))
    assert next_points(found.model, found.measurements.values, [{"p": 50.0}], 1)[0].at["p"] > 0
