"""Sizes of a network measurement: the thesis's own, and what a plan promises."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelib.errors import TracelibError
from tracelib.ngmpi import config, plan
from tracelib.schema.net import PairMode

FIGURE_3_8 = """\
CLL_NGMPI_N_PARAMETER 32
CLL_NGMPI_TIMES 1
CLL_NGMPI_SIZE_MAX 100000
CLL_NGMPI_NUM_STEPS 2
CLL_NGMPI_STEP 1024 10000
CLL_NGMPI_STEP 10240 100000
CLL_NGMPI_NUM_PROC 6
CLL_NGMPI_MODE 1
CLL_NGMPI_SUBSIZE 3
CLL_NGMPI_SUBNODES 1 3 5
"""


def test_the_example_of_the_thesis():
    said = config.parse(FIGURE_3_8, "example")
    assert (said.train, said.times, said.largest, said.processes) == (32, 1, 100000, 6)
    assert (said.mode, said.ranks) == (PairMode.SUBGROUP, [1, 3, 5])
    assert plan.by_segments(said.segments, said.largest) == [
        1, 1025, 2049, 3073, 4097, 5121, 6145, 7169, 8193, 9217,
        10241, 20481, 30721, 40961, 51201, 61441, 71681, 81921, 92161,
    ]  # fmt: skip


def test_small_messages_of_the_thesis():
    """Section 3.4.2: every 10 bytes up to 1 KB, every 30 up to 4 KB."""
    sizes = plan.by_segments([(10, 1000), (30, 4096)], 4096)
    assert len(sizes) == 204
    assert sizes[:2] == [1, 11]
    assert sizes[99:102] == [991, 1001, 1031]
    assert sizes[-1] == 4091


@pytest.mark.parametrize("segments", [[(0, 10)], [(5, 10), (5, 10)], [(5, 10), (1, 3)]])
def test_segments_that_do_not_ascend(segments):
    with pytest.raises(TracelibError, match="segment"):
        plan.by_segments(segments, 100)


def test_segments_that_nobody_can_measure():
    with pytest.raises(TracelibError, match="segment 1 2147483648: no message can have"):
        plan.by_segments([(100, 1000), (1, 2**31)], 2**31 - 1)
    with pytest.raises(TracelibError, match="segment 2 200001: more than 100000 sizes"):
        plan.by_segments([(1, 1), (2, 200_001)], 2**31 - 1)
    assert len(plan.by_segments([(2, 199_999)], 2**31 - 1)) == 100_000


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("CLL_NGMPI_N 32", "line 1: CLL_NGMPI_N is not a known key"),
        ("\nN_PARAMETER 32", "line 2"),
        ("CLL_NGMPI_STEP 1024", "takes 2 whole numbers"),
        ("CLL_NGMPI_TIMES many", "takes 1 whole number"),
        ("CLL_NGMPI_SUBNODES", "takes some whole numbers"),
        ("CLL_NGMPI_TIMES 1\nCLL_NGMPI_TIMES 2", "line 2: CLL_NGMPI_TIMES is given twice"),
        ("CLL_NGMPI_MODE 4", "not one of 0"),
        ("CLL_NGMPI_SIZE_MAX 0", "CLL_NGMPI_SIZE_MAX is 0, but must be at least 1"),
        ("CLL_NGMPI_TIMES 0", "must be at least 1"),
        ("CLL_NGMPI_N_PARAMETER 1", "must be at least 2"),
        ("CLL_NGMPI_NUM_PROC 1", "must be at least 2"),
        ("CLL_NGMPI_NUM_STEPS 3\nCLL_NGMPI_STEP 1 5", "there are 1"),
        ("CLL_NGMPI_MODE 1\nCLL_NGMPI_SUBSIZE 3\nCLL_NGMPI_SUBNODES 1 3", "there are 2"),
    ],
)
def test_a_line_that_cannot_be_understood(text, what):
    with pytest.raises(TracelibError, match=what):
        config.parse(text, "file")


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    for path in (tmp_path / "none", tmp_path, tmp_path / "binary"):
        with pytest.raises(TracelibError, match="cannot be read"):
            config.read(path)


@given(st.integers(1, 1 << 22), st.integers(1, 1 << 22), st.integers(1, 16))
def test_logarithmic(a, b, per_octave):
    least, largest = sorted((a, b))
    sizes = plan.logarithmic(least, largest, per_octave)
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (least, largest)
    for size, following in pairwise(sizes):
        assert following - size <= size / per_octave + 1
    octaves = (largest // least).bit_length()
    assert len(sizes) <= per_octave * (octaves + 1) + 2
