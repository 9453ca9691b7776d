"""Short names of source files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.places.readable_names import short_files


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["/home/u/exchange.c"], ["exchange.c"]),
        (["/a/left/x.c", "/a/right/x.c", "/a/y.c"], ["left/x.c", "right/x.c", "y.c"]),
        (["/a/s/x.c", "/b/s/x.c"], ["a/s/x.c", "b/s/x.c"]),
        (["x.c", "d/x.c"], ["x.c", "d/x.c"]),
        (["/a/b/../x.c", "/a/x.c"], ["x.c", "x.c"]),
        ([""], [""]),
    ],
)
def test_short_files(files, expected):
    assert short_files(files) == dict(zip(files, expected, strict=True))


@given(st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)))
def test_short_names_tell_files_apart(files):
    short = short_files(files)
    assert set(short) == files and len(set(short.values())) == len(files)
    assert all(file.endswith(name) for file, name in short.items())
