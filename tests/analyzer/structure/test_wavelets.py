"""Filters and wavelets against their definitions; phases, perturbed times, representative iterations."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analyzer.structure.levels.literal_regions import literal_period
from analyzer.structure.levels.periodic_stretches import cross_correlation, representative
from analyzer.structure.period import autocorrelation
from analyzer.structure.perturbations import PerturbationCause, PerturbationRules, marked
from analyzer.structure.wavelets import MOST_PIECES, NEIGHBOURS, closing, details, dilation, erosion, levels, opening

signals = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 9))


def active(values):
    """The stretches of the finest level that has few of them."""
    return next(found for found in levels(values) if len(found) <= MOST_PIECES)


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


ROOT_2, ROOT_3 = np.sqrt(2), np.sqrt(3)
TAPS = {
    "haar": np.array([1, 1]) / ROOT_2,
    "db2": np.array([1 + ROOT_3, 3 + ROOT_3, 3 - ROOT_3, 1 - ROOT_3]) / (4 * ROOT_2),
}
"""The low-pass filters as textbooks print them, but for their order."""


@given(arrays(np.float64, 32, elements=st.floats(-9, 9)), st.sampled_from(list(TAPS)))
def test_details_are_the_direct_sums_and_the_values_come_back(x, wavelet):
    """Equations 2.6 and 2.7, and from the details and the mean back again by the transposed ones."""
    low = TAPS[wavelet]
    high = low[::-1] * (-1.0) ** np.arange(len(low))
    smooth, levels = x, []
    while len(smooth) > 1:
        at = [[(2 * i + d) % len(smooth) for d in range(len(low))] for i in range(len(smooth) // 2)]
        levels.append((at, smooth[at] @ high))
        smooth = smooth[at] @ low
    found = details(x, wavelet)
    assert [len(one) for one in found] == [16, 8, 4, 2, 1]
    for one, (_, direct) in zip(found, levels, strict=True):
        assert np.abs(one) == pytest.approx(np.abs(direct), abs=1e-9)
    back = np.array([x.sum() / np.sqrt(len(x))])
    for one, (at, direct) in zip(found[::-1], levels[::-1], strict=True):
        before, sign = np.zeros(2 * len(back)), 1 if np.allclose(one, direct, atol=1e-9) else -1
        np.add.at(before, at, back[:, None] * low + sign * one[:, None] * high)
        back = before
    assert back == pytest.approx(x, abs=1e-8)


def test_details_of_any_number_of_values():
    """They go on with the last one: so does the last pair of five, and what is added has no details."""
    first, *_ = details(np.array([3.0, 1, 4, 1, 5]))
    assert np.abs(first) == pytest.approx(np.array([2, 3, 0, 0]) / ROOT_2)


@pytest.mark.parametrize("transform", [details, autocorrelation])
def test_time_grows_as_the_values_do(transform):
    """16 times as many: by direct sums it would take 256 times as long."""

    def seconds(count):
        values, spent = np.random.default_rng(1).normal(size=count), []
        for _ in range(3):
            begin = process_time()
            transform(values)
            spent.append(process_time() - begin)
        return min(spent)

    assert seconds(1 << 20) < 80 * max(seconds(1 << 16), 1e-3)


# the finest level at which edges of bursts are seen: 3 and 5 are odd, 20 and 50 even but no multiple of 8 and of 4
@pytest.mark.parametrize(("burst", "level"), [(6, 1), (10, 1), (41, 3), (100, 2)])
def test_the_phase_is_where_bursts_are(burst, level):
    """Low, high, low: figures 3.2 to 3.4 of Casas 2009. Levels without any detail are passed over.

    The edges are the last bursts' but for the coefficients that are added on both sides.
    """
    x = np.full(4096, 0.1)
    at = np.arange(1000, 3000)
    x[at] = at // (burst // 2) % 2
    finest = next(k for k, found in enumerate(details(x), 1) if np.abs(found).max() > 1e-9)
    assert finest == level
    ((first, last),) = active(x).tolist()
    added = (NEIGHBOURS + 1) << level
    assert abs(first - 1000) <= added + burst / 2 and abs(last - 3000) <= added + burst / 2


def test_what_does_not_vary_has_no_phase():
    assert not list(levels(np.ones(256))) and not list(levels(np.zeros(0)))


def test_a_loss_of_the_cpu_is_found_where_it_is_and_short_dips_are_not():
    rate = np.ones(4096)
    rate[1000:1400] = 0.4
    rate[3000:3010] = 0.1
    found = np.flatnonzero(marked(PerturbationCause.PREEMPTION, rate, PerturbationRules()))
    assert (found[0], found[-1]) == (1000, 1399)


def test_a_clogged_network_is_found_where_it_is_and_single_bursts_are_not():
    ratio = np.tile([1.0, 2.0, 0.0, 1.5], 1024)
    ratio[2000:2200] = 40
    ratio[100:110] = 90
    found = np.flatnonzero(marked(PerturbationCause.CLOGGED, ratio, PerturbationRules()))
    assert (found[0], found[-1]) == (2000, 2199)


def test_flushes_beside_each_other_are_one_time():
    flushing = np.zeros(4096)
    flushing[[500, 510, 530, 545]] = 0.5
    found = np.flatnonzero(marked(PerturbationCause.FLUSHING, flushing, PerturbationRules()))
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


@pytest.mark.parametrize("count", [3, 6, 23, 130])
def test_the_rule_of_the_thesis_finds_as_many_repeats_as_its_tables_have(count):
    """Table 3.4 has 23 iterations, table 3.5 has 130; the signal is never negative, as in the thesis."""
    assert literal_period(np.tile(np.repeat([2.0, 0.0], [40, 60]), count)) == 100


def test_the_rule_of_the_thesis_refuses_a_rival_that_is_no_multiple():
    """A pattern repeats after 70 and after 100 samples in turn: neither is the period."""
    pattern = np.zeros(1700)
    pattern[np.cumsum([0, *[70, 100] * 9])] = 1.0
    assert literal_period(pattern) in (None, 170)
