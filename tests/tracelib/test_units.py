"""Numbers with units: the number as it was written, and the factor of its unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import analyzer.errors
from tracelib import errors
from tracelib.units import BYTES, NS, split_quantity


@pytest.mark.parametrize(
    ("text", "units", "parts"),
    [
        ("100us", NS, ("100", 1000)),
        ("2m", NS, ("2", 60 * 10**9)),
        ("2min", NS, ("2", 60 * 10**9)),
        ("1.5h", NS, ("1.5", 3600 * 10**9)),
        (".5ms", NS, (".5", 10**6)),
        ("64K", BYTES, ("64", 1024)),
        ("64", BYTES, ("64", 1)),
        ("64", NS, None),
        ("64 s", NS, None),
        ("-1s", NS, None),
        ("1e3s", NS, None),
        ("", BYTES, None),
    ],
)
def test_quantities(text, units, parts):
    assert split_quantity(text, units) == parts


@given(st.integers(0, 10**18), st.sampled_from(sorted(NS)))
def test_each_unit_is_found_whole(number, unit):
    """ "m" is not taken for the beginning of "ms"."""
    assert split_quantity(f"{number}{unit}", NS) == (str(number), NS[unit])


def test_both_sides_have_one_error():
    assert analyzer.errors.TracelibError is errors.TracelibError
