"""No interval is left whose parameters mean nothing: near a limit many sizes have times of either protocol."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_net import Network, measured

from analyzer.loggp.line_fit import CostLine
from analyzer.network_measurement.estimate import estimate
from analyzer.network_measurement.intervals.joined_intervals import NARROW, determined, is_unknown
from analyzer.network_measurement.options import DEFAULTS
from analyzer.network_measurement.sample import curves, sample


def test_a_line_is_unknown_if_its_start_is_known_no_better_than_its_times():
    """2 us at one byte and 1 us for each KB: at 3 KB the line says 5 us."""
    for half_us, unknown in ((1, False), (4.9, False), (5.1, True), (257, True)):
        line = CostLine(2e-6, 1e-6 / 1024, ((2 - half_us) * 1e-6, (2 + half_us) * 1e-6), (0, 2e-9))
        assert is_unknown(line, 1025, 3073) == unknown


@st.composite
def limits(draw):
    """Rows of two protocols, with many sizes near the limit of which each has the times of either."""
    limit = draw(st.integers(2_000, 60_000))
    step = draw(st.floats(1.5, 6.0))
    low = (1.0, 0.3, 2.0, 0.3)
    network = Network(3.0, ((*low, 1, limit), (low[0] * step, 0.3, low[2] * step, 0.3, limit + 1, 1 << 20)))
    width = draw(st.integers(20, max(40, limit // 50)))
    near = np.unique(np.linspace(limit - width, limit + width, draw(st.integers(5, 12))).astype(int))
    sizes = np.unique(np.concatenate([np.geomspace(1, 1 << 20, 60).astype(int), near]))
    rows = measured(network, sizes, draw(st.integers(0, 99)), 0.02)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    for size in near:  # all its rows are moved to somewhere between the two
        of = rows["size"] == size
        share = random.uniform(0.5, 2.0)
        for name in ("one_s", "train_s", "delayed_s"):
            rows[name][of] *= share
    return rows, limit


@settings(max_examples=40)
@given(limits())
def test_no_narrow_interval_is_left_that_says_nothing(planted):
    rows, _ = planted
    found = estimate(rows)
    for i in found.model.intervals:
        if len(found.model.intervals) > 1 and i.to_bytes < NARROW * i.from_bytes:
            lines = (i.overhead, i.gap)
            assert not all(is_unknown(line, i.from_bytes, i.to_bytes) for line in lines)
    ends = [(i.from_bytes, i.to_bytes) for i in found.model.intervals]
    for first, last in found.joined:  # they are in the model all the same
        assert any(a <= first and last <= b for a, b in ends) or len(found.standing_out)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_joined_goes_to_the_neighbour_that_it_fits(seed):
    """Five sizes at the end of the slower protocol, cut off from it by hand."""
    network = Network(3.0, ((1.0, 0.3, 2.0, 0.3, 1, 8192), (9.0, 0.3, 12.0, 0.3, 8193, 1 << 20)))
    sizes = np.unique(np.concatenate([np.geomspace(1, 1 << 20, 60).astype(int), np.arange(8200, 8300, 20)]))
    rows = measured(network, sizes, seed, 0.02)
    of = curves(sample(rows, DEFAULTS.rules, DEFAULTS.window))
    limit, narrow = np.searchsorted(of.size, [8193, 8300])
    found = determined(of, [0, int(limit), int(narrow)], DEFAULTS.tolerance)
    assert found.begins == (0, limit)
    assert found.joined == ((8200, 8280),)
