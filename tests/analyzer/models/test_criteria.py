"""Least squares and criteria against statsmodels, which gives what R's lm and AIC do; conditions against a grid."""

import numpy as np
import pytest
import statsmodels.api
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from analyzer.models.fitting.criteria import akaike_weights, criterion_of
from analyzer.models.fitting.cross_validation import cross_validation_error, largest, settings_of
from analyzer.models.fitting.least_squares import constrained_least_squares, fit_columns, relative_weights

X = np.array([1.0, 2, 4, 8, 16, 32, 64])
Y = np.array([3.1, 4.8, 9.2, 17.1, 32.0, 67.0, 127.0])
COLUMNS = np.column_stack([np.ones(7), X])


@pytest.mark.parametrize("weighted", [True, False])
def test_least_squares_and_aic_are_those_of_statsmodels(weighted):
    weight = relative_weights(Y) if weighted else np.ones(7)
    theirs = statsmodels.api.WLS(Y, COLUMNS, weights=weight).fit()
    ours = fit_columns(COLUMNS, Y, weight)
    assert ours.coefficients == pytest.approx(theirs.params)
    assert ours.rss == pytest.approx(theirs.ssr)
    assert ours.sigma**2 == pytest.approx(theirs.scale)
    errors = ours.sigma * np.linalg.norm(ours.spread, axis=0)
    assert errors == pytest.approx(theirs.bse)
    # R counts the variance as a parameter, statsmodels does not
    assert criterion_of("aic", weight).score(2, ours.rss) == pytest.approx(theirs.aic + 2)
    assert criterion_of("bic", weight).score(2, ours.rss) == pytest.approx(theirs.bic + np.log(7))
    assert criterion_of("aicc", weight).score(2, ours.rss) == pytest.approx(theirs.aic + 2 + 2 * 3 * 4 / (7 - 3 - 1))


def test_aicc_by_hand_and_where_it_is_not_defined():
    criterion = criterion_of("aicc", np.ones(10))
    # 10 (log 2 pi + 1 + log 0.2) + 2 * 3 + 2 * 3 * 4 / 6
    assert criterion.score(2, 2.0) == pytest.approx(10 * (1.8378770664 + 1 - 1.6094379124) + 6 + 4)
    assert np.isfinite(criterion.score(7, 1.0))
    assert np.isinf(criterion.score(8, 1.0))


def test_weights_by_hand():
    assert akaike_weights(np.array([10.0, 10, 12])) == pytest.approx(np.array([1, 1, np.exp(-1)]) / (2 + np.exp(-1)))


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_coefficients_that_must_not_be_negative_are_those_of_nnls(seed, terms):
    random = np.random.default_rng(seed)
    columns, y = random.standard_normal((12, terms)), random.standard_normal(12)
    found = constrained_least_squares(columns, y, np.eye(terms))
    assert (found > -1e-9).all()
    assert found == pytest.approx(nnls(columns, y)[0], abs=1e-7)


@given(st.integers(0, 2**32))
def test_nothing_that_meets_the_conditions_is_nearer(seed):
    random = np.random.default_rng(seed)
    columns, y, conditions = (random.standard_normal(shape) for shape in ((9, 3), 9, (5, 3)))
    found = constrained_least_squares(columns, y, conditions)
    assert (conditions @ found > -1e-8).all()
    best = np.linalg.norm(y - columns @ found)
    others = random.standard_normal((4000, 3)) * 0.3 + found
    allowed = others[(others @ conditions.T >= 0).all(1)]
    assert (np.linalg.norm(y[:, None] - columns @ allowed.T, axis=0) >= best - 1e-9).all()


def test_each_setting_is_predicted_from_the_others():
    setting = np.array([0, 1, 2, 3, 4, 5, 6])
    errors = []
    for out in range(7):
        rest = np.arange(7) != out
        theirs = statsmodels.api.WLS(Y[rest], COLUMNS[rest], weights=1 / Y[rest] ** 2).fit()
        errors.append(float(COLUMNS[out] @ theirs.params) / Y[out] - 1)
    ours = cross_validation_error(COLUMNS, Y, relative_weights(Y), setting)
    assert ours == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_repetitions_are_left_out_together_and_too_few_settings_say_nothing():
    twice = np.repeat([0, 1, 2], 2)
    values = np.array([1.0, 1, 2, 2, 4, 4])
    exact = cross_validation_error(np.column_stack([np.ones(6), values]), 1 + values, np.ones(6), twice)
    assert exact == pytest.approx(0, abs=1e-12)
    assert np.isnan(cross_validation_error(np.column_stack([np.ones(6), values, values**2]), values, np.ones(6), twice))


def test_very_many_repetitions_are_left_out_without_a_matrix_of_them():
    """One of three settings has 50 000: the others determine a line, and predict 1 + 4 = 5 from 2 and 3."""
    x = np.repeat([1.0, 2.0, 4.0], [1, 1, 50_000])
    y = np.where(x < 4, 1 + x, 10.0)
    columns = np.column_stack([np.ones(len(x)), x])
    expected = []
    for out in (1.0, 2.0, 4.0):
        rest = columns[x != out], y[x != out]
        c = np.linalg.lstsq(rest[0] / rest[1][:, None], np.ones(len(rest[1])), rcond=None)[0]
        expected += [((c[0] + c[1] * out) / y[x == out][0] - 1) ** 2] * int((x == out).sum())
    found = cross_validation_error(columns, y, relative_weights(y), settings_of({"x": x}))
    assert found == pytest.approx(np.sqrt(np.mean(expected)))
    assert expected[-1] == pytest.approx(0.25)


def test_settings_and_largest_values():
    values = {"p": np.array([1, 1, 2, 2, 4]), "n": np.array([5, 5, 5, 6, 5])}
    assert settings_of(values).tolist() == [0, 0, 1, 2, 3]
    assert largest(values).tolist() == [False, False, False, True, True]
    assert largest({"p": np.array([1, 2, 2]), "one": np.array([3, 3, 3])}).tolist() == [False, True, True]
