"""Scaling studies with known truth, like the files of ../shared/data/extrapolation, with seeds of their own."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas
import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "extrapolation"
HELD_OUT = 600
QUARTILES = (25, 50, 75, 90)
POWERS = (0, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1, 5 / 4, 3 / 2, 2, 5 / 2, 3)


def given():
    """The 120 cases and Extra-P's answers."""
    if not DATA.exists():
        pytest.skip("no ../shared/data/extrapolation")
    return [json.loads(gzip.decompress((DATA / name).read_bytes())) for name in ("cases.json.gz", "extrap.json.gz")]


def held_out(number=HELD_OUT):
    """Make studies of the same kind, which no choice in the method was made by, and the values that Extra-P 4.2.5
    predicts for them (default modellers, kept in benchmarks/data)."""
    modes = ["one", "add", "one", "mul"]
    cases = [study(10_000 * (7 + k // 120) + k % 120, modes[k % 4]) for k in range(number)]
    kept = gzip.decompress((ROOT / "benchmarks" / "data" / "extra-p.json.gz").read_bytes())
    return cases, [{"predicted": values} for values in json.loads(kept)[:number]]


def shape(x, term):
    return x ** term[0] * np.log2(x) ** term[1]


def study(seed, mode):
    """A truth c0 + ca p^i log2(p)^j, or with a term in n added ("add") or multiplied ("mul"); noisy data."""
    random = np.random.default_rng(seed)
    ranks = 4 * 2.0 ** np.arange(random.choice([5, 6]))
    sizes = np.array([1.0]) if mode == "one" else 10 * 2.0 ** np.arange(5)
    noise = random.choice([0.01, 0.02, 0.05, 0.1])
    terms = []
    while len(terms) < 2:
        term = (random.choice(POWERS), random.choice([0, 0, 1, 2]))
        if term != (0, 0):
            terms.append(term)
    constant = 10 ** random.uniform(-1, 2)
    of_p = constant * random.uniform(0.5, 5) / shape(ranks[-1], terms[0])
    of_n = random.uniform(0.5, 5) / shape(sizes[-1], terms[1]) if mode != "one" else 0.0

    def value(p, n):
        a, b = of_p * shape(p, terms[0]), of_n * shape(n, terms[1]) if mode != "one" else 0.0
        return constant + (a * b if mode == "mul" else a + constant * b)

    points = [(p, n, value(p, n) * (1 + noise * random.standard_normal(5))) for p in ranks for n in sizes]
    beyond = (1.0,) if mode == "one" else (sizes[-1], 4 * sizes[-1])
    truth = [(p, n, value(p, n)) for p in (4 * ranks[-1], 16 * ranks[-1]) for n in beyond]
    return {"mode": mode, "points": points, "truth": truth}


def frame_of(case):
    rows = [(p, n, value) for p, n, values in case["points"] for value in values]
    return pandas.DataFrame(rows, columns=["p", "n", "time"])


def parameters_of(case):
    return ["p"] if case["mode"] == "one" else ["p", "n"]


def at(case, place):
    """Values of the parameters at a point of the truth."""
    p, n, _ = case["truth"][place]
    return {"p": p} if case["mode"] == "one" else {"p": p, "n": n}


def errors(cases, predicted):
    """{kind: errors} of predictions (case, place) -> value, at the nearest and the farthest truth."""
    found = {}
    for number, case in enumerate(cases):
        kind = "one" if case["mode"] == "one" else "two"
        for name, place in (("near", 0), ("far", len(case["truth"]) - 1)):
            error = abs(predicted(number, place) / case["truth"][place][2] - 1)
            found.setdefault(f"{kind} {name}", []).append(error)
    return found


def inside(cases, models):
    """The part of all truths that the intervals hold."""
    held = []
    for case, model in zip(cases, models, strict=True):
        for place, (_, _, truth) in enumerate(case["truth"]):
            low, high = model.prediction(**at(case, place)).interval
            held.append(low <= truth <= high)
    return np.mean(held)
