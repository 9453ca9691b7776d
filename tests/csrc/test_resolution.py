"""Which digits of the time stamp counter say something, on processors of all kinds."""

import ctypes

import compiled
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ALL = 2**64 - 1
READINGS = 256
CLOCK = "#include <stdbool.h>\n#include <stdint.h>\nbool clock_is_tsc;\nuint64_t clock_mask;\n"


@pytest.fixture(scope="module")
def mask_of(tmp_path_factory):
    library = compiled.library(tmp_path_factory.mktemp("resolution"), "clock/resolution.c", code=CLOCK)
    library.resolution_mask.restype = ctypes.c_uint64

    def call(elapsed):
        return library.resolution_mask((ctypes.c_uint64 * len(elapsed))(*elapsed), ctypes.c_size_t(len(elapsed)))

    return call


def elapsed(step, longest, outliers, rng):
    """Return the readings of a counter with this step (maybe a fraction) at delays of up to `longest` steps.

    All delays are equally frequent; between some pairs of readings the process was suspended.
    """
    delays = np.array([1 + k % longest for k in range(READINGS)], float)
    delays[rng.choice(READINGS, outliers, replace=False)] += rng.integers(100, 10000, outliers) + rng.random(outliers)
    times = np.cumsum([rng.random(), *delays * step])
    return np.diff(times.astype(int)).tolist()


@given(st.floats(16.5, 63), st.integers(3, 8), st.integers(0, 20), st.integers(0, 2**32))
def test_what_is_below_the_step_is_left_out_and_no_more(mask_of, step, longest, outliers, seed):
    left_out = ALL - mask_of(elapsed(step, longest, outliers, np.random.default_rng(seed))) + 1
    assert left_out in (16, 32)
    assert left_out <= step + 1.25  # a longer step may fit as well


@given(st.integers(3, 40), st.integers(50, 400), st.integers(0, 2**32))
def test_a_counter_that_counts_one_by_one_is_taken_as_it_is(mask_of, least, spread, seed):
    assert mask_of(np.random.default_rng(seed).integers(least, least + spread, READINGS).tolist()) == ALL


@pytest.mark.parametrize("readings", [[0] * READINGS, [0, 1] * (READINGS // 2), [1, 0, 0, 2] * (READINGS // 4)])
def test_a_slow_counter_is_taken_as_it_is(mask_of, readings):
    assert mask_of(readings) == ALL


def test_as_read_on_an_amd_epyc_in_a_virtual_machine(mask_of):
    """100 MHz scaled to 2596.122: 25.96 a step."""
    assert mask_of([26] * 120 + [25] * 20 + [52, 51, 78, 104, 130] * 20 + [1] * 8 + [2262, 3043] * 4) == ALL - 15
