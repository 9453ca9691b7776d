"""Results of the studies: errors by hand, cachegrind's files against counts by hand."""

import pandas

import analyzer
from benchmarks.studies.products import of_function
from benchmarks.studies.shown import Row


def test_a_row_of_the_table_by_hand():
    """2 + 3 n at n = 1, 2, 4 exactly; at 10 it is 32 in place of 40."""
    frame = pandas.DataFrame({"n": [1.0, 2, 3, 4, 5, 6], "time": [5.0, 8, 11, 14, 17, 20]})
    found = analyzer.fit(frame, "time", ["n"], "{n}")
    row = Row("a", "time", "n = 10", found, frame, pandas.DataFrame({"n": [10.0], "time": [40.0]}), "time")
    assert row.line == "| a | time | `2 + 3*n` | 6 | 0.0 % | n = 10 | 20.0 % |  |"


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
