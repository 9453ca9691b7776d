"""What the studies compute with: best sums of terms against truths, cachegrind's files against counts by hand."""

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.studies.least_squares import best
from benchmarks.studies.products import of_function
from benchmarks.studies.shown import Row

GRID = pandas.DataFrame([(n, p) for n in (10.0, 20, 30, 50, 80) for p in (1.0, 2, 3, 4)], columns=["n", "p"])
TERMS = ("1", "n", "n**2", "1 / p", "n / p", "n**2 / p")


@settings(max_examples=40, deadline=None)
@given(st.sets(st.sampled_from(range(6)), min_size=1, max_size=3), st.integers(0, 999))
def test_terms_that_made_the_data_are_found(chosen, seed):
    """Each term is a tenth of the value somewhere; noise of a millionth. Further terms may be there, and are small."""
    random = np.random.default_rng(seed)
    true = dict(zip(sorted(chosen), random.uniform(1, 3, len(chosen)), strict=True))
    design = np.stack([GRID.eval(term) * np.ones(len(GRID)) for term in TERMS], axis=1)
    design /= design.max(axis=0)
    values = sum(coefficient * design[:, k] for k, coefficient in true.items())
    frame = GRID.assign(time=values * (1 + 1e-6 * random.standard_normal(len(GRID))))
    found = best(frame, "time", TERMS)
    assert {TERMS[k] for k in true} <= set(found.terms)
    assert np.abs(found.errors(frame, "time")).max() < 1e-5


def test_a_sum_by_hand():
    """2 + 3 n at n = 1, 2, 4 exactly; a row of the table of studies."""
    frame = pandas.DataFrame({"n": [1.0, 2, 3, 4, 5, 6], "time": [5.0, 8, 11, 14, 17, 20]})
    found = best(frame, "time", ("1", "n"))
    assert found.coefficients == pytest.approx([2, 3])
    assert found.errors(pandas.DataFrame({"n": [10.0], "time": [40.0]}), "time") == pytest.approx([-0.2])
    row = Row("a", "time", "n = 10", found, frame, pandas.DataFrame({"n": [10.0], "time": [40.0]}), "time")
    assert row.line == "| a | time | `2 1 + 3 n` | 6 | 0.0 % | n = 10 | 20.0 % |  |"


CACHEGRIND = """desc: LL cache: 262144 B, 64 B, 8-way associative
cmd: ./products A 4
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
fl=products.c
fn=main
40 9 9 9 9 9 9 9 9 9
fn=product_row.constprop.0
30 100 1 2 50 5 3 10 4 6
31 100 0 0 50 5 10 10 4 0
fl=/usr/include/string.h
fn=product_row
90 1 0 0 1 0 1 1 0 1
fn=product_rows
30 1 0 7 1 0 7 1 0 7
summary: 242 10 18
"""


def test_misses_of_a_function():
    assert of_function(CACHEGRIND, "product_row") == 2 + 3 + 6 + 0 + 10 + 0 + 0 + 1 + 1
    assert of_function(CACHEGRIND, "nobody") == 0
