"""The model as an object, as a file and as source text; conditions; bad tables."""

import json
import pickle
import subprocess

import numpy as np
import pandas
import pytest
from patience import patient

import analyzer
from analyzer.errors import TracelibError
from analyzer.models.described_terms import FitOptions
from analyzer.models.model_file import c_source, latex_source, model_text, python_source, read_model
from analyzer.models.search.genetic import GeneticOptions
from analyzer.models.study import study

RANDOM = np.random.default_rng(1)
FRAME = pandas.DataFrame(
    [(p, n) for p in (2, 4, 8, 16) for n in (100, 200, 400) for _ in range(3)], columns=["p", "n"]
).astype(float)
FRAME["time"] = (1 + 2e-4 * FRAME.n**2 / FRAME.p + 0.3 * np.ceil(np.log2(FRAME.p))) * (
    1 + 0.02 * RANDOM.standard_normal(len(FRAME))
)
TERMS = "{n,n^2,sqrt(n)},{1/p},{ceil(log2(p))}*"


@pytest.fixture(scope="module")
def model():
    return analyzer.fit(FRAME, "time", ["p", "n"], TERMS)


def test_the_planted_terms_are_selected_and_predict(model):
    assert {"1", "n^2/p", "ceil(log2(p))"} <= set(model.terms)
    assert model.predict(p=32, n=800) == pytest.approx(1 + 4 + 1.5, rel=0.1)
    found = model.prediction(p=32, n=800)
    assert found.interval[0] < found.value < found.interval[1]
    assert model.criterion[0] == "aicc"
    assert 0.01 < model.cross_validation_error < 0.05


def test_a_file_gives_the_same_model_back(model, tmp_path):
    path = tmp_path / "m.model.json"
    path.write_bytes(model_text(model))
    again = read_model(path)
    assert again.predict(p=10, n=300) == model.predict(p=10, n=300)
    assert again.prediction(p=99, n=30) == model.prediction(p=99, n=30)
    assert str(again) == str(model) and again.ranges == {"p": (2, 16), "n": (100, 400)}
    assert pickle.loads(pickle.dumps(model)).predict(p=10, n=300) == model.predict(p=10, n=300)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "tracelib-model", "version": 9}', "x" * 100])
def test_what_is_no_model_file_is_refused(text, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(TracelibError):
        read_model(path)


def test_damaged_members_are_refused(model, tmp_path):
    data = json.loads(model_text(model))
    for change in ({"terms": ["import os"]}, {"coefficients": [1]}, {"weight": "heavy"}, {"terms": ["other"]}):
        damaged = {**data, "members": [{**data["members"][0], **change}]}
        path = tmp_path / "m.json"
        path.write_text(json.dumps(damaged))
        with pytest.raises(TracelibError):
            read_model(path)


def test_source_texts_compute_what_the_model_does(model, tmp_path):
    expected = model(p=12.0, n=345.0)
    space: dict = {}
    exec(python_source(model), space)
    assert space["model_time"](12, 345) == pytest.approx(expected, rel=1e-12)
    main = '#include <stdio.h>\nint main(void) { printf("%.17g", model_time(12, 345)); return 0; }\n'
    (tmp_path / "m.c").write_text(c_source(model) + main)
    subprocess.run(
        ["cc", "-Wall", "-Werror", "-o", tmp_path / "m", tmp_path / "m.c", "-lm"], check=True, timeout=patient(60)
    )
    said = subprocess.run([tmp_path / "m"], capture_output=True, check=True, timeout=patient(10))
    assert float(said.stdout) == pytest.approx(expected, rel=1e-12)
    latex = latex_source(model)
    assert latex.count("{") == latex.count("}") and r"\lceil" in latex


def test_without_negative_coefficients_and_without_negative_values():
    x = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    frame = pandas.DataFrame({"x": x, "time": 10 / x + 0.02 * np.sin(9 * x)})
    plain = analyzer.fit(frame, "time", ["x"], "{x,x^2}", FitOptions(weighting="ordinary"))
    assert plain(x=32.0) < 0 or (plain.selected.coefficients < 0).any()
    found = analyzer.fit(frame, "time", ["x"], "{x,x^2,1/x}", FitOptions(weighting="ordinary", non_negative=True))
    assert all((member.coefficients >= 0).all() for member in found.members)
    physical = analyzer.fit(frame, "time", ["x"], "{x,x^2}", FitOptions(weighting="ordinary", physical=True))
    for member_value in (physical(x=float(at)) for at in (*x, 32)):
        assert member_value >= -1e-9


def test_the_genetic_search_gives_the_same_model_as_the_exact_one(model):
    found = study(
        FRAME, "time", ["p", "n"], TERMS, FitOptions(search="genetic", genetics=(GeneticOptions(32, 2, 20, 1, 2),))
    )
    assert found.found[0].evaluated < 2**9
    assert found.model.terms == model.terms
    assert found.model(p=3, n=7) == pytest.approx(model(p=3, n=7))


def test_the_model_says_what_it_is_of(model):
    with pytest.raises(TracelibError, match="p, n"):
        model.predict(p=3)
    with pytest.raises(TracelibError, match="no value at"):
        model.predict(p=0, n=3)


@pytest.mark.parametrize(
    ("frame", "observable", "parameters", "says"),
    [
        (FRAME, "speed", ["p"], "no column 'speed'"),
        (FRAME, "time", [], "no parameters"),
        (FRAME, "time", ["time"], "observable and a parameter"),
        (FRAME.head(2), "time", ["p"], "2 rows"),
        (FRAME.assign(time=0), "time", ["p"], "is 0 in all rows"),
        (FRAME.assign(p="many"), "time", ["p"], "not all numbers"),
        (FRAME.assign(p=np.inf), "time", ["p"], "too large"),
    ],
)
def test_bad_tables_are_refused(frame, observable, parameters, says):
    with pytest.raises(TracelibError, match=says):
        analyzer.fit(frame, observable, parameters)


def test_terms_of_other_parameters_are_refused():
    with pytest.raises(TracelibError, match="which is no parameter"):
        analyzer.fit(FRAME, "time", ["p"], "{n}")
