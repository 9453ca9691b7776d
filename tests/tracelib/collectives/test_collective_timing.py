"""Timed intervals and their combination, with ranks whose answers are planted."""

import click
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelib.collectives.design import CollectiveDesign, CollectiveSetting
from tracelib.collectives.options import SEGMENTS, SIZES, collective_options, default_ranks, design_of
from tracelib.collectives.timing import time_collective
from tracelib.collectives.trees import ALGORITHMS
from tracelib.errors import TracelibError


class Alone:
    """A communicator seen from rank 0, which decides."""

    def bcast(self, value):
        return value


class Planted:
    """Rank r has it after has_s[r], and its answer alone takes ack_s[r]; now and then anything takes longer."""

    def __init__(self, has_s, ack_s, hiccup_s=0.0, right=True):
        self.setting = CollectiveSetting("binary", len(has_s), 1000, 100)
        self.has_s, self.ack_s, self.hiccup_s, self.right = has_s, ack_s, hiccup_s, right
        self.log = []

    def arrives(self):
        return self.right

    def loop_s(self, n):
        self.log.append(("loop", n))
        busy = 7.0 if len(self.log) == 2 else 0.0  # one of the estimates
        return np.array([0.25, 0.5, 0.75, 1.0][: len(self.has_s)]) + busy

    def answer_s(self, n, responder):
        self.log.append(("answer", n, responder))
        return self._times(n, self.ack_s[responder])

    def answered_s(self, n, responder, wait_s=0.0):
        self.log.append(("answered", n, responder, wait_s))
        return self._times(n, self.has_s[responder] + self.ack_s[responder])

    def _times(self, n, time_s):
        times = np.full(n, time_s)
        times[: n // 4] += self.hiccup_s
        return times


def test_the_critical_responder_is_the_last_to_have_it_and_not_the_one_that_answers_slowly():
    planted = Planted([0, 3.0, 5.0, 4.0], [0, 1.0, 0.5, 9.0])
    timing = time_collective(planted, Alone(), 200)
    assert (timing.responder, timing.time_s, timing.median_s, timing.least_s) == (2, 5.0, 5.0, 5.0)
    assert (timing.ack_s, timing.naive_s, timing.first_s, timing.earliest_s) == (0.5, 0.25, 5.0, 3.0)
    assert (timing.iterations, timing.right) == (200, True)


def test_the_order_of_the_phases():
    """Ranks answer in turn after ten times the slowest rank's estimate, the middle one of three; then the critical one
    without waiting."""
    planted = Planted([0, 3.0, 5.0, 4.0], [0.0] * 4)
    assert time_collective(planted, Alone(), 200).wait_s == 10.0
    first = [call for r in (1, 2, 3) for call in (("answer", 20, r), ("answered", 20, r, 10.0))]
    second = [("loop", 200), ("answer", 200, 2), ("answered", 200, 2, 0.0)]
    assert planted.log == [*[("loop", 20)] * 3, *first, *second]


def test_few_iterations_still_find_the_responder():
    planted = Planted([0, 1.0], [0, 0.1])
    time_collective(planted, Alone(), 5)
    assert planted.log[0] == ("loop", 10)


def test_hiccups_move_the_mean_only():
    timing = time_collective(Planted([0, 3.0, 2.0], [0, 1.0, 1.0], hiccup_s=8.0), Alone(), 100)
    assert (timing.responder, timing.median_s, timing.least_s, timing.ack_s) == (1, 3.0, 3.0, 1.0)
    assert timing.time_s == pytest.approx(5.0)


def test_what_did_not_arrive_is_said():
    assert not time_collective(Planted([0, 1.0], [0, 0.0], right=False), Alone(), 10).right


def test_the_design_of_the_source():
    """Table 4.2: 2 to 10 ranks, 2 to 16 KB, segments of which the whole is a multiple; "unsegmented" is one of them."""
    kib = 1024
    design = CollectiveDesign(ALGORITHMS, range(2, 11), [m * kib for m in (2, 4, 6, 8, 10, 12, 14, 16)],
                    [0, kib, 2 * kib, 4 * kib, 8 * kib])  # fmt: skip
    design.check(10)
    settings = list(design.settings())
    assert len(settings) == len(set(settings)) == 4 * 243
    assert all(s.bytes == s.segments * s.segment_bytes for s in settings)
    assert {s.segments for s in settings if s.bytes == 6 * kib} == {1, 3, 6}


@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.lists(st.integers(0, 60), min_size=1, max_size=4))
def test_settings_are_all_that_make_sense(sizes, segments):
    found = list(CollectiveDesign(("linear",), (2,), sizes, segments).settings())
    expected = {(m, s or m) for m in sizes for s in segments if m % (s or m) == 0}
    assert {(s.bytes, s.segment_bytes) for s in found} == expected


def test_native_collectives_are_in_one_piece():
    assert [s.segments for s in CollectiveDesign(("bcast", "scatter"), (2, 3), (100,), (10, 20)).settings()] == [1] * 4


@pytest.mark.parametrize(
    ("design", "text"),
    [
        (CollectiveDesign(("alltoall",), (2,), (8,)), "cannot time alltoall"),
        (CollectiveDesign(("bcast",), (5,), (8,)), "5 ranks"),
        (CollectiveDesign(("bcast",), (1,), (8,)), "1 ranks"),
        (CollectiveDesign(("bcast",), (2,), (0,)), "0 bytes"),
        (CollectiveDesign(("bcast",), (2,), (1 << 31,)), "2147483648 bytes"),
        (CollectiveDesign(("scatter",), (2,), (1 << 30,)), "1073741824 bytes"),
        (CollectiveDesign(("linear",), (2,), (8,), (-1,)), "positive"),
        (CollectiveDesign(("linear",), (2,), (8,), (0,), iterations=0), "positive"),
        (CollectiveDesign(("linear",), (2,), (8,), (3,)), "no size is a multiple"),
    ],
)
def test_what_cannot_be_timed_is_one_line(design, text):
    with pytest.raises(TracelibError, match=text):
        design.check(4)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], None),
        (["--over", "2"], None),
        (["--broadcast", "binary"], CollectiveDesign(("binary",), (2, 3, 4), SIZES, SEGMENTS, 100, 3)),
        (
            ["--collective", "scatter", "--broadcast", "linear,linear,binomial", "--over", "2,4", "--bytes", "1K,20",
             "--segments", "0,10", "--iterations", "7", "--repeat", "1"],
            CollectiveDesign(("scatter", "linear", "binomial"), (2, 4), (1024, 20), (0, 10), 7, 1),
        ),
    ],
)  # fmt: skip
def test_options(arguments, expected):
    assert design_from(arguments, 4) == expected


def test_one_rank_alone_asks_for_nothing():
    assert design_from(["--broadcast", "linear"], 1) is None


def design_from(arguments, world):
    @click.command()
    @collective_options
    def command(**said):
        design, others = design_of(world, said | {"other": 1})
        assert others == {"other": 1}
        return design

    return command.main(arguments, standalone_mode=False)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--collective", "alltoall"], "cannot time 'alltoall'"),
        (["--broadcast", "bcast"], "cannot time 'bcast'"),
        (["--broadcast", "linear", "--over", "5"], "5 ranks"),
        (["--broadcast", "linear", "--over", "x"], "--over x: expected whole numbers"),
        (["--broadcast", "linear", "--bytes", "0"], "'0' is not a size"),
        (["--broadcast", "linear", "--bytes", "10", "--segments", "3"], "no size is a multiple"),
    ],
)
def test_options_that_cannot_be(arguments, text):
    with pytest.raises(TracelibError, match=text):
        design_from(arguments, 4)


@given(st.integers(2, 3000))
def test_ranks_by_default(world):
    """Few enough to be timed, from the smallest to all."""
    ranks = default_ranks(world)
    assert (ranks[0], ranks[-1]) == (2, world)
    assert list(ranks) == sorted(set(ranks))
    assert len(ranks) <= 12
