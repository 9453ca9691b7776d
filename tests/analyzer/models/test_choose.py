"""Terms that are chosen from the data: planted ones are found, and beyond the data the truth is near."""

from itertools import combinations

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_laws import case

import analyzer
from analyzer.errors import TracelibError
from analyzer.models.averaging import consensus, interval
from analyzer.models.choose import likely_models
from analyzer.models.choose.free_sums import FreeSums, likeliest_pairs
from analyzer.models.choose.likely_models import weigh
from analyzer.models.choose.setting_means import settings_from
from analyzer.models.choose.shapes import PLAIN, SHAPES
from analyzer.models.study import study
from analyzer.models.terms.parsing import parse


def frame(function, noise=0.01, repetitions=3, **levels):
    """All combinations of the levels, with relative noise."""
    random = np.random.default_rng(1)
    grid = [axis.ravel() for axis in np.meshgrid(*levels.values(), indexing="ij")]
    columns = {name: np.repeat(axis.astype(float), repetitions) for name, axis in zip(levels, grid, strict=True)}
    rows = len(next(iter(columns.values())))
    columns["time"] = function(**columns) * (1 + noise * random.standard_normal(rows))
    return pandas.DataFrame(columns)


RANKS = (2, 4, 8, 16, 32, 64)
SIZES = (500, 1000, 2000, 4000)


@pytest.mark.parametrize(
    ("function", "levels", "terms"),
    [
        (lambda p: 3 + 0.1 * p, {"p": RANKS}, {"1", "p"}),
        (lambda p: 3 + 0.5 * np.log2(p), {"p": RANKS}, {"1", "log2(p)"}),
        (lambda p: 40 / p + 2 * np.log2(p), {"p": RANKS}, {"1/p", "log2(p)"}),
        (lambda p, n: 2e-9 * n**3 / p + 1e-6 * n**2 * np.log2(p), {"p": RANKS, "n": SIZES}, {"n^3/p", "log2(p)*n^2"}),
        (lambda p, n: 1 + 1e-4 * n * p, {"p": RANKS, "n": SIZES}, {"1", "n*p"}),
        (lambda n: 2e-5 * n**2 + 0 * n, {"n": SIZES}, None),
    ],
)
def test_planted_terms_are_found(function, levels, terms):
    model = analyzer.fit(frame(function, **levels), "time", list(levels))
    if terms:
        assert set(model.terms) == terms
    beyond = {name: 4.0 * max(level) for name, level in levels.items()}
    found = model.prediction(**beyond)
    assert found.value == pytest.approx(function(**beyond), rel=0.1)
    assert found.interval[0] <= function(**beyond) <= found.interval[1]


def test_three_parameters():
    def truth(p, n, b):
        return 1e-9 * n**3 / p + 2e-2 * b

    model = analyzer.fit(frame(truth, p=RANKS, n=SIZES, b=(8, 16, 32)), "time", ["p", "n", "b"])
    assert model.predict(p=256, n=8000, b=64) == pytest.approx(truth(256, 8000, 64), rel=0.1)


def test_what_does_not_vary_or_matter_is_in_no_term():
    random = np.random.default_rng(2)
    data = pandas.DataFrame({"p": [1, 2, 4, 8] * 5, "one": 7, "time": 5 + 0.05 * random.standard_normal(20)})
    model = analyzer.fit(data, "time", ["p", "one"])
    assert model.terms == ["1"]
    assert model.predict(p=100, one=7) == pytest.approx(5, rel=0.02)


def test_values_without_noise_zeros_and_negative_ones():
    x = np.array([1.0, 2, 4, 8, 16])
    exact = analyzer.fit(pandas.DataFrame({"x": x, "time": 2 + 3 * x}), "time", ["x"])
    assert exact.predict(x=64) == pytest.approx(194, rel=1e-6)
    zeros = analyzer.fit(pandas.DataFrame({"x": x - 1, "time": 3 * (x - 1)}), "time", ["x"])
    assert zeros.predict(x=30) == pytest.approx(90, rel=0.01)


def test_what_is_tried_beside_a_term_explains_most_by_least_squares():
    """It explains most of all products with a coefficient above 0, by fits of numpy one after the other."""
    law = case(37)  # n log n / p + p
    values = {name: law.frame[name].to_numpy(float) for name in law.growth}
    free = FreeSums.of(settings_from(values, law.frame["time"].to_numpy()))
    of = free.settings
    root, scatter = np.sqrt(of.weight), np.sum(of.scatter * of.weight / of.number)
    likely = {}
    for place in range(1, len(free.products)):
        columns = free.columns[:, [0, place]] * root[:, None]
        c = np.linalg.lstsq(columns, of.mean * root, rcond=None)[0]
        left = np.sum((of.mean * root - columns @ c) ** 2) + scatter
        if c[1] > 0:
            likely[place] = free.log_prior[place] - of.rows / 2 * np.log(left)
    assert free.telling([0]) == sorted(likely, key=lambda place: -likely[place])[:40]


def test_few_models_are_weighed_and_few_terms_written(monkeypatch):
    """So that a model of several parts, too, is there in less than 50 ms: these two are nearly all of it."""
    law, weighed, written = case(37), [], []
    weigh_them, term_of = likely_models.weigh, FreeSums._term
    monkeypatch.setattr(
        likely_models, "weigh", lambda columns, of: weighed.append(len(columns)) or weigh_them(columns, of)
    )
    monkeypatch.setattr(FreeSums, "_term", lambda free, place: written.append(place) or term_of(free, place))
    model = analyzer.fit(law.frame, "time", list(law.growth))
    assert set(model.terms) == {"log2(n)*n/p", "p"}
    assert sum(weighed) < 2000 and len(written) < 500


@pytest.mark.parametrize(("law", "terms"), [((-5, 2), {"1", "log2(p)"}), ((-4, -1), {"1", "log2(p)"})])
def test_values_below_0_may_have_coefficients_below_0(law, terms):
    data = frame(lambda p: law[0] + law[1] * np.log2(p), noise=0, p=RANKS)
    data["time"] += 0.02 * np.random.default_rng(1).standard_normal(len(data))
    model = analyzer.fit(data, "time", ["p"])
    assert set(model.terms) == terms
    assert model.predict(p=1024) == pytest.approx(law[0] + 10 * law[1], abs=0.2)


def test_of_many_settings_some_are_drawn_and_many_parameters_are_refused():
    """A million of different values once took all memory, and 30 parameters all time."""
    random = np.random.default_rng(1)
    p = random.uniform(1, 1e6, 20_000)
    data = pandas.DataFrame({"p": p, "time": (3 + 0.1 * p) * (1 + 0.05 * random.standard_normal(len(p)))})
    assert len(settings_from({"p": p}, data["time"].to_numpy()).mean) == 1000
    found = study(data, "time", ["p"])
    assert found.model.predict(p=1e7) == pytest.approx(1e6, rel=0.03)
    assert found.model.cross_validation_error == pytest.approx(0.05, abs=0.005)
    many = pandas.DataFrame(2.0 ** random.integers(0, 4, (50, 30)), columns=[f"x{k}" for k in range(30)])
    with pytest.raises(TracelibError, match="30 parameters vary"):
        analyzer.fit(many.assign(time=many["x3"]), "time", list(many))


@pytest.mark.filterwarnings("error")
def test_values_of_all_sizes_have_an_answer_without_warnings():
    x = 10.0 ** np.arange(-20, 21, 4)
    assert analyzer.fit(pandas.DataFrame({"x": x, "time": 3e-30 * x}), "time", ["x"]).terms == ["x"]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
def test_unit_of_the_observable_does_not_matter(unit):
    data = frame(lambda p: 3 + 0.1 * p * np.log2(p), p=RANKS)
    data["time"] *= unit
    assert analyzer.fit(data, "time", ["p"]).predict(p=256) == pytest.approx(207.8 * unit, rel=0.05)


def test_shapes_are_told_apart_and_plain_ones_are_among_them():
    assert len({(shape.power, shape.log_power) for shape in SHAPES}) == len(SHAPES)
    assert set(PLAIN) <= set(SHAPES)
    assert all(shape.prior > 0 for shape in SHAPES)


def test_no_coefficient_of_positive_data_is_negative():
    """Saturating times, which only terms that cancel each other explain, are not continued by such terms."""
    p = np.array([4.0, 8, 12, 16, 24, 32, 64])
    model = analyzer.fit(pandas.DataFrame({"p": p, "time": 8.3e-4 * (1 - 3 / p)}), "time", ["p"])
    assert all((member.coefficients >= 0).all() for member in model.members)
    assert 8e-4 < model.predict(p=128) < 2e-3


def test_evidence_of_one_column_is_its_integral():
    """By numerical integration over the coefficient of y = c x with relative errors, sigma by its own prior 1 / sigma:
    ratios of two models' evidence."""
    x = np.array([1.0, 2, 3, 4])
    y = np.array([1.02, 2.1, 2.9, 4.05])
    data = settings_from({"x": x}, y)
    columns = np.stack([x[:, None] / 4, x[:, None] ** 1.03 / 4**1.03])
    found = weigh(columns, data).log_evidence

    def integral(column):
        c = np.linspace(3.5, 4.6, 20_001)
        expected = column * c[:, None]
        left = (((y - expected) / expected) ** 2).sum(1)
        return np.log(np.sum(np.exp(-np.log(expected).sum(1) - 2 * np.log(left))) * (c[1] - c[0]))

    assert found[0] - found[1] == pytest.approx(integral(x / 4) - integral(x**1.03 / 4**1.03), abs=0.1)


def test_an_average_of_one_model_is_that_of_students_t():
    low, high = interval(np.array([10.0]), np.array([1.0]), np.array([5]), np.array([1.0]), 0.95)
    assert (low, high) == pytest.approx((10 - 2.5706, 10 + 2.5706), abs=1e-3)
    assert consensus(np.array([10.0]), np.array([1.0])) == 10


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(0.01, 5), st.floats(0.01, 1)), min_size=1, max_size=6))
def test_an_interval_holds_as_much_as_it_says(models):
    values, errors, weights = np.array(models).T
    weights = weights / weights.sum()
    freedom = np.full(len(values), 7)
    low, high = interval(values, errors, freedom, weights, 0.9)
    random = np.random.default_rng(1)
    which = random.choice(len(values), 40_000, p=weights)
    drawn = values[which] + errors[which] * random.standard_t(7, 40_000)
    assert np.mean((drawn > low) & (drawn < high)) == pytest.approx(0.9, abs=0.015)
    assert consensus(values, weights) in values


def test_the_hold_out_error_is_that_of_a_model_without_the_largest():
    data = frame(lambda p: 3 + 0.1 * p, p=RANKS)
    found = study(data, "time", ["p"])
    smaller = analyzer.fit(data[data.p < 64], "time", ["p"])
    held = data[data.p == 64]
    expected = np.sqrt(np.mean((smaller.predict(p=64) / held["time"] - 1) ** 2))
    assert found.hold_out_error == pytest.approx(expected)


def two_parts(x, y, z):
    """A truth of three parameters: a product of powers and another with a logarithm."""
    return 0.3 * x * y**2 * z + 0.5 * x**2 * np.log2(y)


FACTORS = st.sampled_from([1e-6, 1e-3, 0.37, 1.0, 7.0, 1e3, 2.5e5])


@settings(max_examples=6, deadline=None)
@given(st.tuples(FACTORS, FACTORS, FACTORS, FACTORS))
def test_units_of_parameters_do_not_matter(factors):
    """Powers equal the truth's in whatever unit a parameter is written; so do predictions."""
    data = frame(two_parts, repetitions=2, x=(20, 30, 40, 60), y=(1, 2, 3, 5), z=(100, 200, 300, 500))
    units = dict(zip(("x", "y", "z", "time"), factors, strict=True))
    for name, unit in units.items():
        data[name] *= unit
    model = analyzer.fit(data, "time", ["x", "y", "z"])
    log = f"log2(y/{float(data['y'].min())!r})"
    assert set(model.terms) == {str(parse("x*y^2*z")), str(parse(f"x^2*{log}"))}
    beyond = {"x": 120, "y": 10, "z": 1000}
    predicted = model.predict(**{name: value * units[name] for name, value in beyond.items()})
    assert predicted / units["time"] == pytest.approx(two_parts(**beyond), rel=0.01)


@pytest.mark.parametrize("factor", [1.0, 1e-3, 1e-5])
def test_a_logarithm_may_be_of_the_share_of_the_least_value(factor):
    data = frame(lambda n: 3e-6 * n * np.log2(n / 500), n=SIZES, noise=1e-4, repetitions=4)
    data["n"] *= factor
    model = analyzer.fit(data, "time", ["n"])
    assert model.predict(n=32000 * factor) == pytest.approx(3e-6 * 32000 * np.log2(64), rel=0.01)
    assert str(parse(f"n*log2(n/{500 * factor!r})")) in model.terms


def test_the_likeliest_pairs_are_those_of_least_squares_one_by_one():
    random = np.random.default_rng(4)
    columns = random.uniform(0, 1, (9, 40))
    columns[:, 7], columns[:, 9] = columns[:, 3] * 2, 0  # the same direction twice, and nothing
    target, log_prior = columns @ random.uniform(0, 1, 40), np.log(random.uniform(0.1, 1, 40))
    likely = {}
    for pair in combinations(range(40), 2):
        c, left, rank, _ = np.linalg.lstsq(columns[:, pair], target, rcond=None)
        if rank == 2 and (c > 0).all():
            likely[pair] = log_prior[list(pair)].sum() - 18 / 2 * np.log(left[0] + 0.2)
    expected = sorted(likely, key=lambda pair: -likely[pair])
    found = likeliest_pairs(columns, target, 0.2, 18, log_prior, signed=False, number=30)
    assert [tuple(pair) for pair in found.tolist()] == expected[:30]
    every = likeliest_pairs(columns, target, 0.2, 18, log_prior, signed=True, number=10_000)
    assert len(every) == 39 * 38 / 2 - 1


def test_products_that_are_0_in_all_runs_are_no_terms():
    """log2(p/2) log2(n/10) where p and n never vary together; numpy's warnings are errors here."""
    values = {"p": np.array([2.0, 2.0, 4.0, 8.0]), "n": np.array([10.0, 20.0, 10.0, 10.0])}
    with np.errstate(all="raise", under="ignore"):
        measured = values["n"] / values["p"] + 0.1 * values["p"]
        free = FreeSums.of(settings_from(values, measured))
        assert np.abs(free.columns).max(0).tolist() == [1.0] * len(free.products)
        assert free.products[0] == (None, None)
        assert likely_models.choose_models(values, measured)
