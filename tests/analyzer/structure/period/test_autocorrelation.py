"""The period of samples: exact on what repeats, never a multiple, none of noise and drift."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analyzer.structure.period import autocorrelation, correlation, maxima, period_of

seeds = st.integers(0, 2**32 - 1)


@given(arrays(np.float64, st.integers(1, 60), elements=st.floats(-100, 100)))
def test_the_autocorrelation_is_the_direct_sum(x):
    direct = [float((x[: len(x) - k] * x[k:]).sum()) for k in range(len(x))]
    assert autocorrelation(x) == pytest.approx(direct, abs=1e-6)


def test_the_correlation_of_an_exact_repeat_is_one():
    x = np.tile([1.0, -2.0, 5.0, 0.5], 6)
    assert correlation(x)[[4, 8, 12]] == pytest.approx([1, 1, 1])


def test_maxima_are_places_above_both_neighbours_and_middles_of_plateaus():
    assert maxima(np.array([9, 1, 3, 2, 2, 5, 5, 5, 1, 0, 4])).tolist() == [2, 6]


@settings(max_examples=60)
@given(seeds, st.integers(24, 250), st.integers(3, 200), st.floats(0, 1))
def test_what_repeats_has_its_period_within_a_percent_and_never_a_multiple(seed, length, repeats, noise):
    """Noise up to 30 %, of what repeats a few times only 5 %: there a lag beside it may be as good."""
    noise *= 0.3 if repeats > 4 else 0.05
    rng = np.random.default_rng(seed)
    pieces = int(rng.integers(1, 6))
    widths = rng.multinomial(length - 2 * pieces, np.ones(pieces) / pieces) + 2
    body = np.repeat(rng.random(pieces), widths)
    assume(np.ptp(body) > 0.3)
    assume(repeats > 3 or length >= 50 or noise < 0.1)  # three noisy repeats of few samples may be chance
    signal = np.tile(body, min(repeats, max(3, 8000 // length)))
    found = period_of(signal + noise * body.std() * rng.normal(size=len(signal)))
    assert found is not None
    assert found.samples == pytest.approx(length, rel=0.01)


@settings(max_examples=60)
@given(seeds, st.integers(3, 9), st.integers(2, 8), st.integers(3, 40))
def test_of_nested_repeats_it_is_the_outer_one(seed, piece, inner, outer):
    rng = np.random.default_rng(seed)
    rest = piece * inner  # as long as the inner repeats together
    body = np.concatenate([np.tile(np.repeat([3.0, 0.5], piece), inner), np.repeat([1.7, 4.0], rest)])
    signal = np.tile(body, outer)
    found = period_of(signal + 0.05 * rng.normal(size=len(signal)))
    assert found is not None
    assert found.samples == pytest.approx(len(body), rel=0.01)


@settings(max_examples=150)
@given(seeds, st.integers(4, 3000), st.sampled_from(["noise", "walk", "smooth walk", "drift"]))
def test_noise_and_drift_have_no_period(seed, length, kind):
    noise = np.random.default_rng(seed).normal(size=length)
    signal = {
        "noise": noise,
        "walk": np.cumsum(noise),
        "smooth walk": np.cumsum(np.cumsum(noise)),
        "drift": np.arange(length) * noise[0] + 10 * noise,
    }[kind]
    assert period_of(signal) is None


@pytest.mark.parametrize("signal", [[], [1.0] * 500, [1.0] * 250 + [2.0] * 250, np.arange(500), [np.nan] * 100])
def test_what_does_not_vary_or_varies_once_has_none(signal):
    assert period_of(np.array(signal, np.float64)) is None


@settings(max_examples=200)
@given(arrays(np.float64, st.integers(24, 400), elements=st.sampled_from([0.0, 0.0, 1.0, 3.0])))
def test_anything_has_an_answer(x):
    found = period_of(x)
    assert found is None or 2 <= found.samples <= len(x) / 2


def test_130_repeats_pass_although_multiples_are_as_high():
    """Casas 2009, table 3.5; read literally, equation 3.3 refuses more than about 11 repeats."""
    found = period_of(np.tile(np.repeat([2.0, 0.0, 1.0], [40, 30, 30]), 130))
    assert found is not None
    assert found.samples == pytest.approx(100, rel=1e-6)
    assert found.confirmed
    assert found.repetitions == pytest.approx(130)


@pytest.mark.parametrize(("noise", "coarser"), [(0.2, {1}), (1.0, {2}), (1.5, {4})])
@pytest.mark.parametrize("seed", range(4))
def test_noise_that_hides_the_period_is_filtered(seed, noise, coarser):
    """Noise as large as the steps: only at a half or a quarter of the detail the repeats are alike."""
    signal = np.tile(np.repeat([2.0, 0.0, 1.0], [160, 100, 140]), 30)
    found = period_of(signal + noise * np.random.default_rng(seed).normal(size=len(signal)))
    assert found is not None
    assert found.samples == pytest.approx(400, rel=0.01)
    assert found.coarsened in coarser


def test_values_that_are_not_finite_are_passed_over():
    signal = np.tile(np.repeat([2.0, 0.0, 1.0], [40, 30, 30]), 20)
    signal[[3, 500, 777]] = np.nan, np.inf, -np.inf
    found = period_of(signal)
    assert found is not None
    assert found.samples == pytest.approx(100, rel=0.01)
