"""Filters and wavelets against their definitions; phases, perturbed times, representative iterations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analyzer.structure.period.representative import cross_correlation, representative
from analyzer.structure.period.thesis import literal_period
from analyzer.structure.perturbed.morphology import closing, dilation, erosion, opening
from analyzer.structure.perturbed.perturbed import Cause, Rules, marked
from analyzer.structure.phase.wavelet import active, details

signals = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 9))


@given(signals, st.integers(0, 6))
def test_filters_are_what_they_are_defined_as(f, k):
    around = [f[max(x - k, 0) : x + k + 1] for x in range(len(f))]
    assert dilation(f, k).tolist() == [part.max() for part in around]
    assert erosion(f, k).tolist() == [part.min() for part in around]


@given(signals, st.integers(0, 6))
def test_opening_and_closing_are_idempotent_and_on_their_sides(f, k):
    opened, closed = opening(f, k), closing(f, k)
    assert (opened <= f).all() and (f <= closed).all()
    assert (opening(opened, k) == opened).all() and (closing(closed, k) == closed).all()


@given(arrays(np.float64, 32, elements=st.floats(-9, 9)))
def test_details_are_those_of_haar(x):
    smooth, root = x, np.sqrt(0.5)
    for found in details(x):
        assert np.abs(found) == pytest.approx(np.abs(root * (smooth[::2] - smooth[1::2])), abs=1e-9)
        smooth = root * (smooth[::2] + smooth[1::2])


@pytest.mark.parametrize("burst", [6, 10, 41, 100])
def test_the_phase_is_where_bursts_are(burst):
    """Low, high, low: figures 3.2 to 3.4 of Casas 2009, with edges within the coefficients that are added."""
    x = np.full(4096, 0.1)
    at = np.arange(1000, 3000)
    x[at] = at // (burst // 2) % 2
    ((first, last),) = active(x).tolist()
    assert abs(first - 1000) <= max(4 * burst, 44) and abs(last - 3000) <= max(4 * burst, 44)


def test_what_does_not_vary_has_no_phase():
    assert len(active(np.ones(256))) == 0
    assert len(active(np.zeros(0))) == 0


def test_a_loss_of_the_cpu_is_found_where_it_is_and_short_dips_are_not():
    rate = np.ones(4096)
    rate[1000:1400] = 0.4
    rate[3000:3010] = 0.1
    found = np.flatnonzero(marked(Cause.PREEMPTION, rate, Rules()))
    assert (found[0], found[-1]) == (1000, 1399)


def test_a_clogged_network_is_found_where_it_is_and_single_bursts_are_not():
    ratio = np.tile([1.0, 2.0, 0.0, 1.5], 1024)
    ratio[2000:2200] = 40
    ratio[100:110] = 90
    found = np.flatnonzero(marked(Cause.CLOGGED, ratio, Rules()))
    assert (found[0], found[-1]) == (2000, 2199)


def test_flushes_beside_each_other_are_one_time():
    flushing = np.zeros(4096)
    flushing[[500, 510, 530, 545]] = 0.5
    found = np.flatnonzero(marked(Cause.FLUSHING, flushing, Rules()))
    assert (found[0], found[-1], len(found)) == (500, 545, 46)


@given(arrays(np.float64, 9, elements=st.floats(-5, 5)), arrays(np.float64, 30, elements=st.floats(-5, 5)))
def test_the_cross_correlation_is_the_direct_sum(f, g):
    direct = [float(f @ g[u : u + len(f)]) for u in range(len(g) - len(f) + 1)]
    assert cross_correlation(f, g) == pytest.approx(direct, abs=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_a_damaged_iteration_is_never_representative(seed, iterations):
    rng = np.random.default_rng(seed)
    x = np.tile(np.repeat([2.0, 0.0, 1.0], [20, 15, 15]), 12)
    x += 0.02 * rng.normal(size=len(x))
    damaged = int(rng.integers(0, 12))
    x[50 * damaged : 50 * damaged + 50] = rng.random(50) * 6
    start = representative(x, 50.0, iterations)
    assert start + 50 * iterations <= 50 * damaged or start >= 50 * (damaged + 1)
    assert 0 <= start <= len(x) - 50 * iterations


def test_the_rule_to_the_letter_refuses_many_repeats():
    few, many = (np.tile(np.repeat([2.0, 0.0], [40, 60]), count) for count in (6, 130))
    assert literal_period(few - few.mean()) == 100
    assert literal_period(many - many.mean()) is None
