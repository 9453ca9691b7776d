"""The search over all subsets, against trying them one by one and against least squares of numpy."""

import numpy as np
import pytest
from all_subsets import aicc, all_fits
from hpl_design import TERMS, measured
from hypothesis import given, settings
from hypothesis import strategies as st
from schur_subsets import best_of_each_size

from analyzer.errors import TracelibError
from analyzer.models.fitting.criteria import criterion_of
from analyzer.models.fitting.least_squares import relative_weights
from analyzer.models.search.exact import search_all
from analyzer.models.search.space import make_space
from analyzer.models.terms.language import candidates
from analyzer.models.terms.parsing import parse


def linear_problem(seed, terms, rows, kind="plain"):
    """Names x0, x1, ... that are terms, their values, and y of a few of them with noise."""
    random = np.random.default_rng(seed)
    columns = random.standard_normal((rows, terms))
    if kind == "collinear":
        columns[:, 1:] = columns[:, :1] + 1e-4 * columns[:, 1:]
    columns *= 10.0 ** random.integers(-6, 6, terms)
    true = random.random(terms) < 0.4
    y = (columns / np.abs(columns).max(0))[:, true].sum(1) + 0.1 * random.standard_normal(rows)
    values = {f"x{k}": columns[:, k] for k in range(terms)}
    return [parse(name) for name in values], values, y


def searched(terms, values, y, weight=None, **options):
    weight = np.ones(len(y)) if weight is None else weight
    space = make_space(terms, values, y, weight)
    return search_all(space, criterion_of("aicc", weight), **options)


def named(selection, model):
    return tuple(sorted(str(term) for term in selection.terms_of(model)))


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(4, 30), st.sampled_from(["plain", "collinear"]))
def test_every_model_of_random_problems_is_found_with_its_score(seed, terms, rows, kind):
    names, values, y = linear_problem(seed, terms, rows, kind)
    found = searched(names, values, y)
    columns = np.column_stack(list(values.values()))
    scaled = columns / np.linalg.norm(columns, axis=0)
    scores = {
        tuple(f"x{k}" for k in subset): aicc(rss, rows, len(subset)) for subset, rss in all_fits(scaled, y).items()
    }
    finite = {subset: score for subset, score in scores.items() if np.isfinite(score)}
    assert len(found.models) == len(finite)
    for model, score in zip(found.models, found.scores, strict=True):
        assert score == pytest.approx(finite[named(found, model)], abs=1e-4)
    weights = {subset: np.exp(-(score - min(finite.values())) / 2) for subset, score in finite.items()}
    total = sum(weights.values())
    assert found.weights.sum() == pytest.approx(1, abs=1e-5)
    for term, importance in zip(found.space.terms, found.importance, strict=True):
        assert importance == pytest.approx(sum(w for s, w in weights.items() if str(term) in s) / total, abs=1e-4)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_best_of_2_to_the_14_models(seed):
    names, values, y = linear_problem(seed, 14, 40)
    found = searched(names, values, y, keep=500)
    columns = np.column_stack(list(values.values()))
    gram_scores = sorted(
        (aicc(rss, 40, len(s)), tuple(sorted(f"x{k}" for k in s)))
        for s, rss in all_fits_by_r(columns / np.linalg.norm(columns, axis=0), y)
    )
    assert [named(found, model) for model in found.models[:50]] == [subset for _, subset in gram_scores[:50]]
    best_per_size = {}
    for score, subset in reversed(gram_scores):
        best_per_size[len(subset)] = (subset, score)
    for model, score, _ in found.per_size:
        subset, expected = best_per_size[int(model.sum())]
        assert named(found, model) == subset
        assert score == pytest.approx(expected, abs=1e-6)


def all_fits_by_r(columns, y):
    """(subset, rss) of all subsets by batches of LAPACK's QR, since 2^14 single fits take too long."""
    terms = columns.shape[1]
    bits = (np.arange(1, 2**terms)[:, None] >> np.arange(terms) & 1).astype(bool)
    for size in range(1, terms + 1):
        places = np.nonzero(bits[bits.sum(1) == size])[1].reshape(-1, size)
        q = np.linalg.qr(np.moveaxis(columns[:, places], 0, 1))[0]
        left = y - (q @ (q.transpose(0, 2, 1) @ y[:, None]))[:, :, 0]
        yield from zip(places.tolist(), (left**2).sum(1), strict=True)


def test_the_heap_keeps_the_best_and_the_weights_are_of_all_models():
    names, values, y = linear_problem(3, 10, 30)
    everything, few = searched(names, values, y), searched(names, values, y, keep=7)
    assert (few.models == everything.models[:7]).all()
    assert few.weights == pytest.approx(everything.weights[:7])
    assert few.importance == pytest.approx(everything.importance)
    assert few.importance_90 == pytest.approx(everything.importance_90, abs=2e-3)  # the set's edge is that of a bin
    number = int(np.searchsorted(np.cumsum(everything.weights), 0.9, side="right")) + 1
    assert everything.importance_90 == pytest.approx(everything.weights[:number] @ everything.models[:number])


def test_no_model_is_lost_where_columns_nearly_depend_on_each_other():
    """Columns that differ by 1e-9 of their length: the difference is the truth."""
    random = np.random.default_rng(5)
    a, b, c = random.standard_normal((3, 40))
    values = {"a": a, "b": a + 1e-9 * b, "c": c}
    y = 2 * (values["b"] - a) / 1e-9 + c + 0.01 * random.standard_normal(40)
    found = searched([parse(name) for name in values], values, y)
    scaled = np.column_stack([x / np.linalg.norm(x) for x in values.values()])
    assert np.linalg.cond(scaled) > 1e9
    assert named(found, found.best) == ("a", "b", "c")
    assert found.rss[0] == pytest.approx(float(np.sum((y - 2 * b - c) ** 2)), rel=0.3)
    assert len(found.models) == 7


def test_terms_that_say_the_same_are_named_and_models_of_the_same_span_are_left_out():
    n = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    values = {"n": n, "p": 2 * n, "q": n**2, "r": n**2 + 3 * n, "z": 0 * n}
    found = searched([parse(x) for x in ("n", "p", "q", "r", "z", "1/z")], values, n**2 + 0.1 * np.sin(n))
    assert found.space.excluded["p"] == "is proportional to n in these data"
    assert found.space.excluded["z"] == "is 0 in all rows"
    assert found.space.excluded["z^-1" if "z^-1" in found.space.excluded else "1/z"] == "is not defined in all rows"
    assert len(found.space.dependent) == 1
    assert len(found.models) == 6  # of n, q, r: not all three, which span what two of them do


def test_data_without_noise_select_the_smallest_model_that_is_exact():
    x = np.arange(1.0, 30)
    terms = candidates("{x,x^2,x^3},{log2(x)}")
    found = searched(terms, {"x": x}, 3 * x**2 + 5)
    assert named(found, found.best) == ("1", "x^2")


def test_models_with_a_larger_error_than_allowed_are_left_out():
    names, values, y = linear_problem(4, 8, 30)
    everything = searched(names, values, y)
    sizes = everything.models.sum(1)
    errors = np.sqrt(everything.rss / (30 - sizes))
    limit = float(np.quantile(errors, 0.3))
    some = searched(names, values, y, most_error=limit)
    assert len(some.models) == (errors <= limit).sum()
    with pytest.raises(TracelibError, match="error of at most"):
        searched(names, values, y, most_error=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_only_models_without_negative_coefficients_where_these_are_not_allowed(seed):
    names, values, y = linear_problem(seed, 6, 20)
    positive = np.array([True, True, True, True, False, False])
    everything = searched(names, values, y)
    order = [int(str(term)[1:]) for term in everything.space.terms]
    try:
        found = searched(names, values, y, positive=positive[order])
    except TracelibError:
        found = None
    columns = np.column_stack(list(values.values()))
    allowed = set()
    for model in everything.models:
        subset = sorted(np.array(order)[model])
        c = np.linalg.lstsq(columns[:, subset] / np.linalg.norm(columns[:, subset], axis=0), y, rcond=None)[0]
        if (c[positive[subset]] >= 0).all():
            allowed.add(named(everything, model))
    assert ({named(found, model) for model in found.models} if found else set()) == allowed


@pytest.mark.parametrize("rows", [80, 1680])
def test_hpl_of_24_terms_has_the_winner_of_a_slow_exact_check(rows):
    """2^24 models by the kernel, and again all of them by elimination in numpy (of 80 rows: it takes longer)."""
    values, y = measured(rows)
    weight = relative_weights(y)
    terms = candidates(TERMS)
    found = searched(terms, values, y, weight)
    assert found.tried == 16777215
    assert found.weights.sum() < 1 + 1e-6
    columns = np.column_stack([np.broadcast_to(t.value(values), y.shape) / y for t in found.space.terms])
    scaled, ones = columns / np.linalg.norm(columns, axis=0), np.ones(rows)

    def score(model):
        left = ones - scaled[:, model] @ np.linalg.lstsq(scaled[:, model], ones, rcond=None)[0]
        return aicc(float(left @ left), rows, int(model.sum()), float(np.log(weight).sum()))

    assert found.scores[0] == pytest.approx(score(found.best), abs=1e-5)
    if rows == 80:
        of_size = best_of_each_size(scaled, ones)
        bits = 1 << np.arange(24)
        for model, _, rss in found.per_size:
            assert (int(bits @ model), rss) == (of_size[int(model.sum())][0], pytest.approx(of_size[model.sum()][1]))
        scores = {number: score((number & bits) > 0) for number, _ in of_size.values()}
        assert min(scores, key=scores.__getitem__) == int(bits @ found.best)
    for place in (1, 10, 100, 1000, 9999):
        assert found.scores[place] == pytest.approx(score(found.models[place]), abs=1e-5)
    assert (np.diff(found.scores) >= -1e-6).all()


def test_too_many_terms_and_too_few_rows_are_refused():
    names, values, y = linear_problem(1, 31, 60)
    with pytest.raises(TracelibError, match="31 terms"):
        searched(names, values, y)
    names, values, y = linear_problem(1, 3, 3)
    with pytest.raises(TracelibError, match="3 rows"):
        searched(names, values, y)
