"""Models of machines in any complexity: learnt from times, or taken from a stored model."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from analyzer.balance.formula import TimeFormula
from analyzer.balance.learning import machine_of
from analyzer.balance.repository import load_models
from analyzer.cli import main
from analyzer.models.model_file import read_model

SIZES, PROCESSES = (10000, 20000, 40000, 80000), (1, 2, 4)


def truth(speed, n, p):
    return speed * n * math.log2(n) / p + 0.001


@pytest.fixture
def times(tmp_path, monkeypatch):
    """times.csv of two machines, n log n with 1 % noise; one.csv of the fast one as a table for fit."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    rows = [
        (name, n, p, truth(speed, n, p) * (1 + 0.01 * random.standard_normal()))
        for name, speed in (("slow", 8e-7), ("fast", 2e-7))
        for n in SIZES
        for p in PROCESSES
        for _ in range(4)
    ]
    with Path("times.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("machine", "n", "p", "time_s"), *rows])
    with Path("one.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("n", "p", "time"), *(row[1:] for row in rows if row[0] == "fast")])


def test_n_log_n_is_learnt(times, capsys):
    """A polynomial of degree 1 is 3 % off far away, where the terms are not."""
    assert main(["balance", "--models", "m.json", "--learn", "times.csv", "--terms", "{n*log2(n)},{1/p}"]) == 0
    capsys.readouterr()
    models = load_models("m.json")
    for name, speed in (("slow", 8e-7), ("fast", 2e-7)):
        for n in (5000, 20000, 1_000_000):
            assert models[name].time_s(n, 2) == pytest.approx(truth(speed, n, 2), rel=0.012)
        low, high = models[name].interval_s(20000, 2)
        assert low < truth(speed, 20000, 2) < high
    assert main(["balance", "--models", "m.json", "--machines", "slow=2,fast=1", "--size", "40000", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["sizes"]
    assert found["relative"] == pytest.approx([1, 4], rel=0.02)
    assert found["fractions"] == pytest.approx([1 / 6, 4 / 6], rel=0.02)


def test_of_one_number_of_processes_the_time_is_shared(times, capsys):
    """Formula 7, as with polynomials."""
    with Path("times.csv").open() as file:
        rows = [row for row in csv.reader(file) if row[2] in ("p", "2")]
    with Path("two.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert main(["balance", "--models", "m.json", "--learn", "two.csv", "--terms", "{n*log2(n)}*", "-q"]) == 0
    fast = load_models("m.json")["fast"]
    assert fast.time_s(40000, 2) == pytest.approx(truth(2e-7, 40000, 2), rel=0.02)
    assert fast.time_s(40000, 8) == pytest.approx(fast.time_s(40000, 2) / 4)


@pytest.mark.parametrize("terms", ["{n*log2(n),n^(3/2)},{1/p}", "{n,ceil(n/p),min(n,p)}*", "{n*(p+1)/p,sqrt(n)}*"])
def test_a_stored_model_becomes_a_machine(terms, times, capsys):
    """Value and interval at every point equal the model's; the interval widens beyond the data."""
    assert main(["fit", "one.csv", "--parameters", "n,p", "--terms", terms, "-o", "fast", "-q"]) == 0
    assert main(["balance", "--models", "m.json", "--learn", "fast=fast.model.json"]) == 0
    assert "10000 to 80000" in capsys.readouterr().out
    model, machine = read_model("fast.model.json"), load_models("m.json")["fast"]
    for n, p in ((15000, 1), (80000, 4), (1_000_000, 16)):
        assert machine.time_s(n, p) == pytest.approx(model(n=n, p=p), rel=1e-9)
        terms_there = np.array([float(term.value({"n": n, "p": p})) for term in model.whole.terms])
        error = model.whole.sigma * np.linalg.norm(model.whole.spread @ terms_there)
        low, high = machine.low(n, p), machine.high(n, p)
        assert (low + high) / 2 == pytest.approx(model.whole.coefficients @ terms_there, rel=1e-9)
        assert 1.95 * error < (high - low) / 2 < 2.1 * error


def test_what_is_beyond_the_data_is_said(times, capsys):
    assert main(["balance", "--models", "m.json", "--learn", "times.csv", "-q"]) == 0
    words = ["balance", "--models", "m.json", "--machines", "slow=1,fast=1", "--size", "20000"]
    assert main(words) == 0
    assert "Beyond" not in capsys.readouterr().out
    assert main([*words, "--size", "9000", "--size", "90000"]) == 0
    said = capsys.readouterr().out
    assert "Beyond the data of slow (n from 10000 to 80000): n = 9000, 90000." in said and "data of fast" in said
    assert main([*words, "--size", "90000", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["beyond"]) == 2


def test_a_model_of_something_else_is_refused(times, capsys):
    assert main(["fit", "one.csv", "--parameters", "p", "-o", "other", "-q"]) == 0
    assert main(["balance", "--models", "m.json", "--learn", "fast=other.model.json"]) == 2
    assert "a machine's model is one of n and p" in capsys.readouterr().err
    assert main(["balance", "--models", "m.json", "--learn", "fast=one.csv"]) == 1
    assert "one.csv is not a model" in capsys.readouterr().err


def test_functions_of_two_numbers():
    assert TimeFormula("min(n, 3) * max(p, 2) + ceil(n / 4) - floor(p / 2)")(10, 5) == 3 * 5 + 3 - 2


def test_a_model_of_n_alone(times):
    assert main(["fit", "one.csv", "--terms", "{n}*", "-o", "n", "-q"]) == 0
    machine = machine_of("fast", read_model("n.model.json"), {})
    assert machine.time_s(20000, 4) == pytest.approx(machine.time_s(20000) / 4)
