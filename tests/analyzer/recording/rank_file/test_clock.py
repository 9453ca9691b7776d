"""Ticks to nanoseconds: exact and ordered; maps in pieces."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.recording.rank_file.clock import LATEST_NS, Clock, Pieces, piece

TICKS = st.integers(0, 2**63)
SLOPES = st.fractions(min_value=Fraction(1, 16), max_value=64).filter(lambda f: f > 0)


@example(0, 2**56, Fraction(64))  # the first tick that is too late
@given(TICKS, st.integers(0, 10**18), SLOPES)
def test_within_a_nanosecond_of_exact_arithmetic_for_10_to_18_ticks(origin, distance, slope):
    clock = Clock.through(origin, 77, slope)
    exact = min(77 + distance * slope, Fraction(LATEST_NS))
    assert abs(clock.ns(origin + distance) - exact) <= Fraction(5, 4) + distance * slope / 10**18


@given(TICKS, st.integers(-(10**18), 10**18), SLOPES)
def test_ticks_is_the_first_tick_that_is_not_earlier(origin, ns, slope):
    clock = Clock.through(origin, 0, slope)
    first = clock.ticks(ns)
    if 0 < first < 2**64 - 1 and abs(first - origin) < 2**63:  # which is a century
        assert clock.ns(first) >= ns > clock.ns(first - 1)


PIECES = st.lists(
    st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.fractions(Fraction(1, 200), 200)), min_size=1, max_size=6
)


@st.composite
def maps(draw):
    """A map that never falls, as rows of (x, value, slope): each begins where the one before it ends, or above."""
    x, value, rows = draw(st.integers(-(10**6), 10**6)), draw(st.integers(-(10**6), 10**6)), []
    for length, jump, slope in draw(PIECES):
        rows.append((x, value, slope))
        x, value = x + length, value + int(length * slope) + 1 + jump
    return rows


def by_definition(rows, x):
    """The value of x by exact fractions."""
    origin, value, slope = [row for row in rows if row[0] <= x][-1] if x >= rows[0][0] else rows[0]
    return value + (x - origin) * slope


@given(maps(), st.lists(st.integers(-(2 * 10**6), 10**7), min_size=1))
def test_a_map_in_pieces_never_falls_and_agrees_with_fractions_and_the_kernel(rows, xs):
    map_ = Pieces.of(*(piece(*row) for row in rows))
    values = [map_.value(x) for x in xs]
    assert values == map_.values(np.array(xs)).tolist()
    assert sorted(values) == [map_.value(x) for x in sorted(xs)]
    assert all(-1 - 1e-9 < v - by_definition(rows, x) <= 0 for x, v in zip(xs, values, strict=True))


@given(maps(), st.integers(-(10**7), 10**8))
def test_first_is_the_least_number_with_that_value_or_more(rows, value):
    map_ = Pieces.of(*(piece(*row) for row in rows))
    first = map_.first(value)
    assert map_.value(first) >= value > map_.value(first - 1)


@given(maps(), maps(), st.integers(-(10**6), 10**7))
def test_ticks_undo_a_corrected_clock(pieces, correction, ns):
    ticks = Pieces.of(*(piece(x + 10**6, value, slope) for x, value, slope in pieces))  # no counter is negative
    clock = Clock(ticks).corrected(Pieces.of(*(piece(*row) for row in correction)))
    first = clock.ticks(ns)
    if first > 0:
        assert clock.ns(first) >= ns > clock.ns(first - 1)


def test_ticks_that_cannot_be_are_no_further_away_than_differences_fit_in_64_bits():
    clock = Clock.through(0, 0, Fraction(1000))
    assert (clock.ns(2**62), clock.ns(0), clock.ns(5)) == (2**62, 0, 5000)
    assert clock.later(-(2**62)).ns(0) == -(2**62)
