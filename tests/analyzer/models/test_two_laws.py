"""Two laws along a parameter: found where they were planted, and not where there is one."""

import json

import numpy as np
import pandas as pd
import pytest
from scaling_studies import frame_of, held_out, parameters_of

from analyzer.cli import main
from analyzer.models.choose.likely_models import choose_models
from analyzer.models.measurements import measurements_of
from analyzer.models.two_laws import two_laws

P = np.repeat(2.0 ** np.arange(1, 9), 4)
LAWS = {
    "strong scaling ends": lambda p, k: np.where(p <= k, 1 / p + 0.01, 1 / k * (p / k) ** 0.5),
    "another power": lambda p, k: np.where(p <= k, p, p * p / k * 2),
    "a jump": lambda p, k: np.where(p <= k, 5 + np.log2(p), 20 + np.log2(p)),
}


def found_in(frame, parameters):
    data = measurements_of(frame, "time", parameters)
    return two_laws(data, choose_models(data.values, data.observed)[0])


@pytest.mark.parametrize("name", LAWS)
def test_planted_ones_are_found(name):
    """12 data sets of each; the place is right in most."""
    places = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        k = (8, 16, 32)[seed % 3]
        time = LAWS[name](P, k) * (1 + 0.03 * random.standard_normal(len(P)))
        laws = found_in(pd.DataFrame({"p": P, "time": time}), ["p"])
        places.append(laws is not None and (laws.parameter, laws.last, laws.first) == ("p", k, 2 * k))
    assert sum(places) >= 10


def test_one_law_is_not_two():
    """Among 60 studies of one law, with one or two parameters, at most one is doubted."""
    assert sum(found_in(frame_of(case), parameters_of(case)) is not None for case in held_out(60)[0]) <= 1


def test_the_second_parameter():
    random = np.random.default_rng(3)
    n, p = (column.ravel() for column in np.meshgrid(10.0 * 2 ** np.arange(6), [2.0, 4, 8]))
    n, p = np.repeat(n, 3), np.repeat(p, 3)
    time = np.where(n <= 40, n, 3 * n) / p * (1 + 0.02 * random.standard_normal(len(n)))
    laws = found_in(pd.DataFrame({"p": p, "n": n, "time": time}), ["p", "n"])
    assert (laws.parameter, laws.last, laws.first) == ("n", 40, 80)
    assert laws.closer > 2


def test_it_is_said_and_the_second_law_predicts(tmp_path, capsys):
    random = np.random.default_rng(1)
    time = LAWS["another power"](P, 16) * (1 + 0.02 * random.standard_normal(len(P)))
    pd.DataFrame({"p": P, "time": time}).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", str(tmp_path / "t.csv"), "--parameters", "p", "--predict", "p=1024"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Two laws: up to p = 16 it is" in said and '--where "p >= 32"' in said
    assert main([*words, "--where", "p >= 32", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 16 and found["predictions"][0]["value"] == pytest.approx(1024**2 / 16 * 2, rel=0.06)
    assert main([*words, "--where", "q > 1"]) == 1
    assert "there is no column q" in capsys.readouterr().err
